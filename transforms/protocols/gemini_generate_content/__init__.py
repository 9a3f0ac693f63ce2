"""Gemini generateContent and streamGenerateContent, of the Gemini API and of Vertex; also what the Python SDK dumps.

Surface   ``candidates[].content.parts[]`` in order: ``text`` with ``thought: true`` (a summary of the thinking),
          ``text`` (answer), ``functionCall`` (a call for the client). A ``thoughtSignature`` on a part shows nothing.
Tokens    ``thoughtsTokenCount`` stands beside ``candidatesTokenCount`` (some older bodies have it inside: the total
          tells), ``toolUsePromptTokenCount`` beside ``promptTokenCount``. Counts of zero are left out, and stay null.
Effort    Requested only: no field of the response says it.
Stream    Chunks are bodies: parts follow each other per candidate, counts are totals so far. The hops of a CONTINUATION
          are calls of their own, and each is billed.
Sources   Reference, section 8 (the types of Google's SDK; what gateways were seen to do).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Asked, Counts, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ReasoningBasis, ThinkingForm, ThinkingSource, ThinkingSwitch
from schemas.wire.gemini_generate_content import (
    Body,
    Candidate,
    GenerationConfig,
    PromptFeedback,
    Request,
    ThinkingConfig,
    UsageMetadata,
)
from transforms import clock
from transforms.asked import spelled
from transforms.effort import to_effort
from transforms.errors import read_error
from transforms.protocols.gemini_generate_content.stream import either, fold_chunks, unwrapped
from transforms.wire_models import parse

NAME = "gemini_generate_content"
MARKS = frozenset(
    {
        "candidates", "response", "usageMetadata", "usage_metadata", "promptFeedback", "prompt_feedback",
        "modelVersion", "model_version",
    }
)  # fmt: skip
PATHS = (":generateContent", ":streamGenerateContent")
VENDOR = "google"
BEGINS = None

_FINISH = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    "SAFETY": FinishReason.CONTENT_FILTER,
    "RECITATION": FinishReason.CONTENT_FILTER,
    "BLOCKLIST": FinishReason.CONTENT_FILTER,
    "PROHIBITED_CONTENT": FinishReason.CONTENT_FILTER,
    "SPII": FinishReason.CONTENT_FILTER,
    "MODEL_ARMOR": FinishReason.CONTENT_FILTER,
    "IMAGE_SAFETY": FinishReason.CONTENT_FILTER,
    "IMAGE_PROHIBITED_CONTENT": FinishReason.CONTENT_FILTER,
    "IMAGE_RECITATION": FinishReason.CONTENT_FILTER,
}
"""All others are ``other``: a malformed or unexpected tool call is bad output of a call that ran and was billed."""
_FINISH_NUMBERS = {
    1: FinishReason.STOP,
    2: FinishReason.LENGTH,
    3: FinishReason.CONTENT_FILTER,
    4: FinishReason.CONTENT_FILTER,
    7: FinishReason.CONTENT_FILTER,
    8: FinishReason.CONTENT_FILTER,
}
"""The enum's numbers as far as the protos of Vertex and of the Gemini API give them one meaning."""
_UNSPECIFIED = ("FINISH_REASON_UNSPECIFIED", "BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED", "0")
_MANY = 1_000
"""No response has so many candidates: an index beyond is none."""
_AS_IT_LIKES = -1
"""The budget that leaves it to the model."""
_LARGEST_BUDGET = 2**53
_NO_LEVEL = "THINKING_LEVEL_UNSPECIFIED"
_RESPONSE_FIELDS = frozenset(
    {
        "candidates", "promptFeedback", "usageMetadata", "modelVersion", "responseId", "createTime", "turnToken",
        "modelStatus", "prompt_feedback", "usage_metadata", "model_version", "response_id", "create_time", "turn_token",
        "model_status", "sdk_http_response", "automatic_function_calling_history", "parsed",
    }
)  # fmt: skip
"""All fields of a response. Live messages, cached contents and embeddings share some of them, but have others too."""


# Claims


def claims(body: Mapping[str, Any]) -> bool:
    answer = unwrapped(body)
    if isinstance(answer.get("candidates"), list):
        return True
    if not answer.keys() <= _RESPONSE_FIELDS:
        return False
    usage = either(answer, "usageMetadata", "usage_metadata")
    counted = isinstance(usage, dict) and ("promptTokenCount" in usage or "prompt_token_count" in usage)
    blocked = either(answer, "promptFeedback", "prompt_feedback") is not None
    named = either(answer, "modelVersion", "model_version") is not None
    live = isinstance(usage, dict) and "responseTokenCount" in usage
    return (counted or blocked or named) and not live


def claims_request(request: Mapping[str, Any]) -> bool:
    return "contents" in _inner_request(request)


def _inner_request(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The request inside Code Assist's envelope, else the request itself."""
    inner = request.get("request")
    return inner if isinstance(inner, dict) and "contents" in inner else request


# Streams


def fold(stream: Stream) -> dict[str, Any]:
    return fold_chunks(stream)


# Bodies


def read(body: dict[str, Any]) -> Reading:
    answer = unwrapped(body)
    response = parse(Body, answer)
    candidates = _numbered(response.candidates or [])
    usage = either(answer, "usageMetadata", "usage_metadata")
    failure = read_error(body) if body.get("error") else None
    finish, finish_raw = _finish(candidates, response.prompt_feedback)
    if answer.get("aborted") is True:
        finish = FinishReason.ABORTED
    return Reading(
        pieces=[piece for index, candidate in candidates for piece in _pieces(index, candidate)],
        response_id=response.response_id,
        model=response.model_version,
        created_at=clock.from_any(response.create_time),
        choices=len(candidates) or None,
        finish=FinishReason.ERROR if failure else finish,
        finish_raw=finish_raw,
        counts=_counts(response.usage_metadata) if response.usage_metadata else None,
        usage=usage if isinstance(usage, dict) else None,
        service_tier=response.usage_metadata.service_tier if response.usage_metadata else None,
        error_type=failure.type if failure else None,
        error_message=failure.message if failure else None,
    )


def _numbered(candidates: list[Candidate]) -> list[tuple[int, Candidate]]:
    """The candidates by their index; proto JSON leaves a zero out, and some dumps leave out all of them."""
    numbered = [
        (place if one.index is None or one.index >= _MANY else one.index, one) for place, one in enumerate(candidates)
    ]
    return sorted(numbered, key=lambda pair: pair[0])


def _pieces(index: int, candidate: Candidate) -> Iterable[Piece]:
    for part in (candidate.content and candidate.content.parts) or ():
        text = part.get("text")
        if isinstance(text, str):
            if not text:  # carries a signature, or ends a stream
                continue
            if part.get("thought") is True:
                yield Piece(PieceKind.THINKING, text, index, source=ThinkingSource.BLOCK, form=ThinkingForm.SUMMARY)
            else:
                signed = either(part, "thoughtSignature", "thought_signature") is not None
                yield Piece(PieceKind.ANSWER, text, index, signed=signed)
        elif text is not None:
            raise MalformedBodyError(f"candidates.{index}.content.parts: a text is {type(text).__name__}")
        elif either(part, "functionCall", "function_call") is not None:
            yield Piece(PieceKind.TOOL_CALL, choice=index)
        elif not part.keys() <= _NO_CONTENT:
            yield Piece(PieceKind.OTHER, choice=index)


_NO_CONTENT = frozenset({"thoughtSignature", "thought_signature", "thought", "text"})


def _finish(
    candidates: list[tuple[int, Candidate]], feedback: PromptFeedback | None
) -> tuple[FinishReason | None, str | None]:
    """Why the first answer ended, or why the prompt got none; as one word for all hosts, and as it was sent."""
    if candidates:
        word = candidates[0][1].finish_reason
        raw = _word(word)
        if raw is None:
            return None, None
        if isinstance(word, int):
            return _FINISH_NUMBERS.get(word, FinishReason.OTHER), raw
        # Dumps of SDK objects spell ``FinishReason.STOP`` or ``stop``.
        return _FINISH.get(raw.rpartition(".")[2].upper(), FinishReason.OTHER), raw
    reason = _word(feedback.block_reason) if feedback else None
    blocked = reason is not None or (feedback is not None and feedback.block_reason_message is not None)
    return (FinishReason.CONTENT_FILTER if blocked else None), reason


def _word(enum: str | int | None) -> str | None:
    """An enum as it was sent; its unspecified value says nothing."""
    word = None if enum is None else str(enum)
    return None if word in _UNSPECIFIED else word


def _counts(usage: UsageMetadata) -> Counts:
    """A missing count of candidates stays null: what the total leaves for it is worked out for all protocols alike."""
    prompt = usage.prompt_token_count
    return Counts(
        prompt=None if prompt is None else prompt + (usage.tool_use_prompt_token_count or 0),
        completion=usage.candidates_token_count,
        reasoning=usage.thoughts_token_count,
        total=usage.total_token_count,
        cached=usage.cached_content_token_count,
        convention=ReasoningBasis.ON_TOP,
    )


# Requests


def asked(request: dict[str, Any]) -> Asked:
    inner = _inner_request(request)
    wanted = Request.model_validate(inner)
    config = wanted.generation_config or GenerationConfig()
    thinking = config.thinking_config or ThinkingConfig()
    budget = _budget(thinking.thinking_budget)
    effort = spelled(thinking.thinking_level)
    if effort is not None and effort.upper() == _NO_LEVEL:
        effort = None
    elif effort is None and budget is None:
        effort = spelled(thinking.thinking_budget)  # a level in the budget's place
    model = wanted.model or request.get("model")
    return Asked(
        model=model.rpartition("models/")[2] if isinstance(model, str) else None,
        thinking=_switch(budget),
        budget=None if budget == _AS_IT_LIKES else budget,
        effort=to_effort(effort),
        effort_raw=effort,
        max_output_tokens=config.max_output_tokens,
        service_tier=wanted.service_tier or config.service_tier,
        tags=_tags(wanted.labels or config.labels),
    )


def _budget(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():  # a protobuf struct keeps all numbers as floats
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if _AS_IT_LIKES <= value <= _LARGEST_BUDGET else None


def _switch(budget: int | None) -> ThinkingSwitch | None:
    """What a budget switches. A level is no switch, nor is ``includeThoughts``."""
    if budget is None:
        return None
    if budget == _AS_IT_LIKES:
        return ThinkingSwitch.ADAPTIVE
    return ThinkingSwitch.ON if budget else ThinkingSwitch.OFF


def _tags(labels: object) -> dict[str, str] | None:
    if not isinstance(labels, dict):
        return None
    return {key: value for key, value in labels.items() if isinstance(value, str)} or None
