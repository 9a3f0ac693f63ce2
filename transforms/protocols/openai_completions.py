"""Text Completions, OpenAI's first shape; base models, vLLM, Together, Writer and many servers still speak it.

Surface   ``choices[].text``: what a reasoning model thinks stands in it as tags; OpenRouter has it in ``reasoning``.
Tokens    As in Chat Completions: the record's own total says whether the reasoning is in the completion count.
Effort    Requested only.
Stream    Chunks with the next part of a choice's text, under ``text_completion`` as well; the last one may hold the
          usage alone. Writer's chunks are ``{"value": text}``.
Sources   Reference on OpenAI-shaped protocols, sections 1.3, 2.10, 2.24, and recorded traffic.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from schemas.exchange import JsonObject, Stream
from schemas.reading import Asked, Counts, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ReasoningBasis, ThinkingSource
from schemas.wire.openai_completions import Body, Choice, Usage
from transforms.asked import asked_openai_shaped
from transforms.clock import from_epoch
from transforms.echoes import prompts_of
from transforms.errors import read_error
from transforms.wire_models import parse

NAME = "openai_completions"
MARKS = frozenset({"object", "choices", "value"})
PATHS = ("/v1/completions",)
VENDOR = None
BEGINS = None

_OBJECTS = ("text_completion", "text.completion", "completion.chunk")
_FINISH = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
    "error": FinishReason.ERROR,
    "abort": FinishReason.ABORTED,
}
_REQUESTS_OF_OTHERS = frozenset(
    {
        "messages", "max_tokens_to_sample",  # Anthropic
        "options", "keep_alive", "think", "raw", "template", "context",  # Ollama
        "size", "quality", "image", "aspect_ratio",  # images
        "n_predict", "input", "max_gen_len",  # llama.cpp, Replicate, Bedrock
        "maximum_tokens", "max_new_tokens",  # Aleph Alpha, TGI
        "k", "p", "num_generations", "return_likelihoods", "end_sequences",  # Cohere
    }
)  # fmt: skip
_OTHER_CHOICES = frozenset({"message", "delta", "stop_reason"})
"""Of Chat Completions, and of DeepSeek's own shape on Bedrock; vLLM's ``stop_reason`` stands under an ``object``."""
_CHUNK_TEXTS = ("text", "reasoning", "reasoning_content")


def claims(body: Mapping[str, Any]) -> bool:
    kind, choices = body.get("object"), body.get("choices")
    if kind is not None:
        return kind in _OBJECTS
    if isinstance(choices, list) and choices:
        first = choices[0]
        return isinstance(first, dict) and "text" in first and _OTHER_CHOICES.isdisjoint(first)
    return len(body) == 1 and isinstance(body.get("value"), str)


def claims_request(request: Mapping[str, Any]) -> bool:
    prompt = request.get("prompt")
    is_text = isinstance(prompt, str) or (isinstance(prompt, list) and not any(isinstance(one, dict) for one in prompt))
    return is_text and "model" in request and _REQUESTS_OF_OTHERS.isdisjoint(request)


def fold(stream: Stream) -> dict[str, Any]:
    body: JsonObject = {}
    choices: dict[int, JsonObject] = {}
    for event in stream.events:
        if "value" in event and len(event) == 1:
            event = {"choices": [{"text": event["value"]}]}  # noqa: PLW2901 - Writer's chunk in the shape of all others
        body.update({name: value for name, value in event.items() if value is not None and name != "choices"})
        chunks = event.get("choices")
        for chunk in chunks if isinstance(chunks, list) else ():
            if isinstance(chunk, dict):
                _add(choices.setdefault(_index(chunk), {}), chunk)
    body["choices"] = [
        {**choice, "index": index, **{name: "".join(choice[name]) for name in _CHUNK_TEXTS if name in choice}}
        for index, choice in sorted(choices.items())
    ]
    return body


def _index(chunk: JsonObject) -> int:
    index = chunk.get("index")
    return index if isinstance(index, int) and index >= 0 else 0


def _add(choice: JsonObject, chunk: JsonObject) -> None:
    for name in _CHUNK_TEXTS:
        text = chunk.get(name)
        if isinstance(text, str):
            choice.setdefault(name, []).append(text)
    if chunk.get("finish_reason") is not None:
        choice["finish_reason"] = chunk["finish_reason"]


def read(body: dict[str, Any]) -> Reading:
    if "choices" not in body and "value" in body:  # one of Writer's chunks that was stored alone
        body = fold(Stream([body]))
    parsed = parse(Body, body)
    choices = parsed.choices or []
    if len(choices) > 1 and all(choice.index is not None for choice in choices):
        choices = sorted(choices, key=lambda choice: choice.index or 0)
    raw = (choices[0].finish_reason if choices else None) or None
    failure = read_error(body) if body.get("error") else None
    finish = _FINISH.get(raw, FinishReason.OTHER) if raw else None
    usage = parsed.usage
    return Reading(
        pieces=[piece for number, choice in enumerate(choices) for piece in _pieces(number, choice)],
        response_id=parsed.id or None,
        model=parsed.model or None,
        created_at=from_epoch(parsed.created) if parsed.created else None,
        choices=len(choices) or None,
        finish=FinishReason.ERROR if failure else finish,
        finish_raw=raw,
        counts=_counts(usage) if usage else None,
        usage=body["usage"] if usage else None,
        service_tier=parsed.service_tier or None,
        cost_usd=Decimal(repr(usage.cost)) if usage and usage.cost is not None else None,
        error_type=failure.type if failure else None,
        error_message=failure.message if failure else None,
        provider_hint="openrouter" if (parsed.id or "").startswith("gen-") and "provider" in body else None,
    )


def _pieces(number: int, choice: Choice) -> list[Piece]:
    thinking = choice.reasoning or choice.reasoning_content
    pieces = []
    if thinking and not thinking.isspace():
        pieces.append(Piece(PieceKind.THINKING, thinking, number, source=ThinkingSource.FIELD))
    if choice.text:
        pieces.append(Piece(PieceKind.ANSWER, choice.text, number))
    return pieces


def _counts(usage: Usage) -> Counts:
    into, out = usage.prompt_tokens_details, usage.completion_tokens_details
    thought = out.reasoning_tokens if out else None
    return Counts(
        prompt=usage.prompt_tokens,
        completion=usage.completion_tokens,
        reasoning=usage.reasoning_tokens if thought is None else thought,
        total=usage.total_tokens,
        cached=into.cached_tokens if into else None,
        convention=ReasoningBasis.INSIDE,
    )


def asked(request: dict[str, Any]) -> Asked:
    found = asked_openai_shaped(request)
    if request.get("echo") is True:
        found.echoed = prompts_of(request.get("prompt"))
    return found
