"""Bodies that are no model's generation, though they come from the same APIs: skipped by rule, not rejected.

Logs of a gateway or a proxy hold everything that passed: jobs that will run later, files, lists, vectors, counts of
tokens, and objects as they looked while somebody polled them. Only what a body says of itself decides; a body that
fits nothing here stays unknown, and is rejected with the keys that it has.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

_BATCH = "a batch job: its results are the calls"
_FILE = "a file"
_EMBEDDINGS = "embeddings"
_MODELS = "models"
_TOKENS = "a count of tokens"
_CACHE = "cached content"
_UNFINISHED = "a run that has not ended: its usage comes with its end"
_SESSION = "a session in which nothing was generated"
_PARTS_OF_RUNS = "an assistant, a thread, or a part of one"

_OBJECTS = {
    "batch": _BATCH,
    "file": _FILE,
    "upload": _FILE,
    "upload.part": _FILE,
    "embedding": _EMBEDDINGS,
    "model": _MODELS,
    "response.input_tokens": _TOKENS,
    "assistant": _PARTS_OF_RUNS,
    "thread": _PARTS_OF_RUNS,
    "thread.message": _PARTS_OF_RUNS,
    "thread.run": _UNFINISHED,
    "thread.run.step": _PARTS_OF_RUNS,
    "vector_store": "a vector store",
    "vector_store.file": "a vector store",
    "vector_store.file_batch": "a vector store",
    "vector_store.search_results.page": "a search",
    "fine_tuning.job": "a fine-tuning job",
    "fine_tuning.job.event": "a fine-tuning job",
    "conversation": "a conversation's head",
    "bucket": "a report of usage or costs",
    "page": "a report of usage or costs",
}
"""By ``object``. A run that has ended, or has used something, is a call: its protocol claims it first."""
_TYPES = {
    "message_batch": _BATCH,
    "message_batch_deleted": "a deletion",
    "model": _MODELS,
    "file": _FILE,
    "file_deleted": "a deletion",
    "session.created": _SESSION,
    "session.updated": _SESSION,
    "session.update": _SESSION,
}
"""By ``type`` where there is no ``object``."""
_KEYS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"batch_id", "state"}), _BATCH),  # xAI
    (frozenset({"embeddings"}), _EMBEDDINGS),  # Cohere, Gemini, Ollama
    (frozenset({"embedding"}), _EMBEDDINGS),  # Gemini, Titan, Ollama
    (frozenset({"setupComplete"}), _SESSION),
    (frozenset({"setup"}), _SESSION),
)
"""By keys that no generation has."""
_ALONE: tuple[tuple[frozenset[str], frozenset[str], str], ...] = (
    (
        frozenset({"totalTokens"}),
        frozenset({"totalBillableCharacters", "promptTokensDetails", "cachedContentTokenCount", "cacheTokensDetails"}),
        _TOKENS,
    ),  # Gemini
    (frozenset({"input_tokens"}), frozenset({"context_management"}), _TOKENS),  # Anthropic
    (frozenset({"inputTokens"}), frozenset(), _TOKENS),  # Bedrock
    (frozenset({"models"}), frozenset({"nextPageToken"}), _MODELS),  # Gemini, Ollama
    (frozenset({"file"}), frozenset(), _FILE),  # Gemini
    (frozenset({"files"}), frozenset({"nextPageToken"}), _FILE),
    (frozenset({"tokens"}), frozenset({"count", "token_strings", "meta"}), _TOKENS),  # vLLM, Cohere: tokenize
    (frozenset({"input"}), frozenset({"metadata", "metrics", "tags"}), "an input whose output was not kept"),
)
"""By keys that must be there, and others that may: any further key makes the body something else."""
_NAMES = {"cachedContents/": _CACHE, "batches/": _BATCH, "files/": _FILE, "models/": _MODELS, "tunedModels/": _MODELS}
"""By what Google's resource names begin with."""
_NO_GENERATION = ("load", "unload")
_GIVEN = "a message that was given to a model"
_NOT_BY_MODELS = frozenset({"ToolMessage", "HumanMessage", "SystemMessage"})


class NoCall(NamedTuple):
    """What is no model's generation, and the rule that says so."""

    rule: str


def rule_of(body: Mapping[str, Any]) -> str | None:
    """Say why a body, or an event of a stream, is no generation; null where it may be one."""
    what = _what(body)
    return None if what is None else f"no generation: {what}"


def _what(body: Mapping[str, Any]) -> str | None:
    if body.get("deleted") is True:
        return "a deletion"
    if "lc" in body:  # LangChain names its classes
        return _GIVEN if str(_last(body.get("id"))) in _NOT_BY_MODELS else None
    kind = body.get("object")
    if kind == "list":
        return _list(body)
    if isinstance(kind, str):
        return _OBJECTS.get(kind)
    if kind is None and isinstance(body.get("type"), str):
        return _TYPES.get(body["type"])
    return _by_keys(body) or _by_values(body)


def _last(items: object) -> object:
    return items[-1] if isinstance(items, list) and items else None


def _list(body: Mapping[str, Any]) -> str | None:
    """A list is what its first item is; stored answers are listed too, and are not of these."""
    items = body.get("data")
    if not isinstance(items, list) or not items:
        return "an empty list" if items == [] else None
    return _what(items[0]) if isinstance(items[0], dict) else None


def _by_keys(body: Mapping[str, Any]) -> str | None:
    keys = body.keys()
    for must, rule in _KEYS:
        if must <= keys:
            return rule
    for must, may, rule in _ALONE:
        if must <= keys <= must | may:
            return rule
    return None


def _by_values(body: Mapping[str, Any]) -> str | None:
    if body.get("done_reason") in _NO_GENERATION:
        return "a model loaded or let go"  # Ollama
    name = body.get("name")
    named = name if isinstance(name, str) and "candidates" not in body else ""
    return next((rule for start, rule in _NAMES.items() if named.startswith(start)), None) or _by_results(body)


def _by_results(body: Mapping[str, Any]) -> str | None:
    first = next((body[key][0] for key in ("results", "data") if isinstance(body.get(key), list) and body[key]), None)
    if isinstance(first, dict):
        if "flagged" in first:
            return "a moderation"
        if "relevance_score" in first:
            return "a ranking"
        if "b64_json" in first or ("url" in first and "created" in body):
            return "images"
    return None
