"""Gemini stream chunks to the body that the same answer has when it is not streamed.

Each chunk is a body of its own (reference, section 8). Texts are collected and joined once. Counts are totals so far:
of each field the last value that was sent stays, as far as the values are of one reckoning.
"""

from collections.abc import Mapping
from typing import Any

from schemas.exchange import JsonObject, Stream
from schemas.reading import MalformedBodyError

_FIRST_STAYS = (
    ("responseId", "response_id"),
    ("modelVersion", "model_version"),
    ("createTime", "create_time"),
)

_LAST_STAYS = (("promptFeedback", "prompt_feedback"), ("error", "error"))

_PROMPT = ("promptTokenCount", "prompt_token_count")
_TOTAL = ("totalTokenCount", "total_token_count")
_TOOL_PROMPT = ("toolUsePromptTokenCount", "tool_use_prompt_token_count")
_ANSWERED = ("candidatesTokenCount", "candidates_token_count")
_THOUGHT = ("thoughtsTokenCount", "thoughts_token_count")
_MANY = 1_000
"""No response has so many candidates: an index beyond is none."""


def fold_chunks(stream: Stream) -> JsonObject:
    """Fold chunks, in order, into one body; ``aborted`` marks one whose end never came, though nothing is cut off.

    Raises ``MalformedBodyError`` where candidates or parts are no lists, or a candidate is no object.
    """
    chunks = [unwrapped(event) for event in stream.events]
    body: JsonObject = {}
    for camel, snake in _FIRST_STAYS:
        value = next((found for chunk in chunks if (found := either(chunk, camel, snake)) is not None), None)
        if value is not None:
            body[camel] = value
    for camel, snake in _LAST_STAYS:
        named = [either(chunk, camel, snake) for chunk in chunks if camel in chunk or snake in chunk]
        values = [value for value in named if value is not None]
        if values:
            body[camel] = values[-1]
    usage = _last_counts(chunks)
    candidates: dict[int, _OpenCandidate] = {}
    for chunk in chunks:
        _add_candidates(candidates, chunk.get("candidates"))
    answers = [candidate.close(index) for index, candidate in sorted(candidates.items())]
    ended = any("finishReason" in answer for answer in answers) if answers else "promptFeedback" in body
    if not ended and either(usage, *_ANSWERED) is None:
        # What came after the last count is not in this total: nothing may be worked out from it.
        usage.pop(_TOTAL[0], None)
        usage.pop(_TOTAL[1], None)
    if not (ended or "error" in body or stream.cut):
        body["aborted"] = True
    return {**body, "candidates": answers, "usageMetadata": usage or None}


def unwrapped(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The response inside Code Assist's envelope, else the body itself."""
    inner = body.get("response")
    return inner if isinstance(inner, dict) and "candidates" in inner else body


def either(fields: Mapping[str, Any], camel: str, snake: str) -> Any:
    """A field in REST's spelling, else in the Python SDK's; null where it has neither."""
    value = fields.get(camel)
    return fields.get(snake) if value is None else value


def _last_counts(chunks: list[Mapping[str, Any]]) -> JsonObject:
    """The counts as they stood at the end. Most streams repeat them unchanged in chunk after chunk."""
    usage: JsonObject = {}
    before: Any = None
    for chunk in chunks:
        counts = chunk.get("usageMetadata") or chunk.get("usage_metadata")
        if counts != before and isinstance(counts, dict):
            _take_counts(usage, {name: count for name, count in counts.items() if count is not None})
            before = counts
    return usage


def _take_counts(usage: JsonObject, counts: JsonObject) -> None:
    """Take over a chunk's counts, so that what is kept was true at one time.

    Chunks between two steps of a server's tool, and some last ones, count the prompt alone: their totals are not the
    call's. And where a chunk leaves a count out, the one that was sent before stays only if the new total holds it.
    """
    if _counts_output(usage) and not _counts_output(counts):
        usage.update({name: value for name, value in counts.items() if name not in usage})
        return
    left_out = [names for names in (_ANSWERED, _THOUGHT, _TOOL_PROMPT) if either(counts, *names) is None]
    usage.update(counts)
    if left_out and not _adds_up(usage):
        for camel, snake in left_out:
            usage.pop(camel, None)
            usage.pop(snake, None)


def _counts_output(counts: JsonObject) -> bool:
    return either(counts, *_ANSWERED) is not None or either(counts, *_THOUGHT) is not None


def _adds_up(usage: JsonObject) -> bool:
    """Whether the total holds the parts, with the thoughts beside the candidates or in them; true without a total."""
    parts = [either(usage, *names) for names in (_PROMPT, _TOOL_PROMPT, _ANSWERED, _THOUGHT, _TOTAL)]
    if not all(isinstance(part, int) for part in parts if part is not None) or parts[-1] is None:
        return True
    *input_and_answer, thought, total = (part or 0 for part in parts)
    return total - sum(input_and_answer) in (thought, 0)


class _OpenCandidate:
    """One answer while its chunks come in."""

    __slots__ = ("_fields", "_parts", "_texts")

    def __init__(self) -> None:
        self._fields: JsonObject = {}
        self._parts: list[Any] = []
        self._texts: list[str] = []

    def add(self, candidate: Mapping[str, Any]) -> None:
        finish = either(candidate, "finishReason", "finish_reason")
        if finish is not None:
            self._fields["finishReason"] = finish
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else content
        if parts is None:
            return
        if not isinstance(parts, list):
            raise MalformedBodyError(f"candidates.content.parts is {type(parts).__name__}, not a list")
        for part in parts:
            self._add_part(part)

    def close(self, index: int) -> JsonObject:
        self._close_text()
        return {**self._fields, "index": index, "content": {"parts": self._parts}}

    def _add_part(self, part: Any) -> None:
        """Texts of one kind that follow each other are one text, however chunks cut it; an empty one says nothing."""
        text = part.get("text") if isinstance(part, dict) else None
        if not isinstance(text, str):
            self._close_text()
            self._parts.append(part)
        elif text:
            is_thought = part.get("thought") is True
            if not self._texts or self._parts[-1]["thought"] is not is_thought:
                self._close_text()
                self._parts.append({"thought": is_thought})
            self._texts.append(text)
            signature = either(part, "thoughtSignature", "thought_signature")
            if signature is not None:
                self._parts[-1]["thoughtSignature"] = signature

    def _close_text(self) -> None:
        if self._texts:
            self._parts[-1]["text"] = "".join(self._texts)
            self._texts = []


def _add_candidates(candidates: dict[int, _OpenCandidate], found: object) -> None:
    if found is None:
        return
    if not isinstance(found, list):
        raise MalformedBodyError(f"candidates is {type(found).__name__}, not a list")
    for place, candidate in enumerate(found):
        if not isinstance(candidate, dict):
            raise MalformedBodyError(f"candidates.{place} is {type(candidate).__name__}, not an object")
        index = candidate.get("index")
        known = index if isinstance(index, int) and 0 <= index < _MANY else place
        if known not in candidates:
            candidates[known] = _OpenCandidate()
        candidates[known].add(candidate)
