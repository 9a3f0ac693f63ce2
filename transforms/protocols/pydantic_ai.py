"""pydantic-ai's ModelResponse, alone, in a message list, in a run's result, or as its stream events.

Surface  ``parts[]`` by ``part_kind``: thinking, text, tool-call. A thinking part without content carries its payload
         in ``signature``: redacted (its id says so), encrypted (OpenAI's) or merely omitted.
Tokens   ``usage`` is normalised: input holds the cache, output holds the reasoning. Old rows count the reasoning in
         ``details`` only. ``unmeasured_requests`` says that the provider sent no usage: its zeros are no counts.
Effort   Not stored in messages; a request beside them has it as ``model_settings`` or at its top.
Stream   ``part_start``, ``part_delta``, ``part_end`` by ``event_kind``. Of a message list the last response is read.
Source   Reference protocols-native 20.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Asked, Counts, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ReasoningBasis, ThinkingForm
from schemas.wire.pydantic_ai import ModelResponse, Part, RequestUsage
from transforms import clock
from transforms.asked import asked_openai_shaped
from transforms.content_blocks import thought
from transforms.finish_words import to_finish
from transforms.wire_models import parse

NAME = "pydantic_ai"
MARKS = frozenset({"event_kind", "parts", "response"})
PATHS = ()
VENDOR = None
BEGINS = None

_EVENTS = ("part_start", "part_delta", "part_end", "final_result")
_REDACTED_IDS = frozenset({"redacted_thinking", "redacted_content"})
_REASONING_DETAILS = ("reasoning_tokens", "thoughts_tokens", "thinking_tokens")
_RUN_RESULT = "response"


def claims(body: Mapping[str, Any]) -> bool:
    if "event_kind" in body:
        return body["event_kind"] in _EVENTS
    if "parts" in body:
        return body.get("kind", "response") in ("request", "response") and _has_kinds(body["parts"])
    return _is_response(body.get(_RUN_RESULT))


def _is_response(value: object) -> bool:
    return isinstance(value, dict) and value.get("kind", "response") == "response" and _has_kinds(value.get("parts"))


def _has_kinds(parts: object) -> bool:
    return isinstance(parts, list) and bool(parts) and isinstance(parts[0], dict) and "part_kind" in parts[0]


def claims_request(request: Mapping[str, Any]) -> bool:
    messages = request.get("messages", request.get("message_history"))
    if not isinstance(messages, list) or not messages:
        return False
    return isinstance(messages[0], dict) and messages[0].get("kind") in ("request", "response")


def asked(request: dict[str, Any]) -> Asked:
    """Read the request beside a message: its ``model_settings``, whose provider keys are spelled as the wire's."""
    stored = request.get("model_settings")
    settings: dict[str, Any] = stored if isinstance(stored, dict) else request
    wire = {_WIRE_NAMES.get(key, key): value for key, value in settings.items() if value is not None}
    for key in _GOOGLE_CONFIGS:
        if isinstance(settings.get(key), dict):
            wire["google"] = {"thinking_config": settings[key]}
    asked = asked_openai_shaped(wire)
    name = request.get("model_name")
    if asked.model is None and isinstance(name, str):
        asked.model = name or None
    return asked


_WIRE_NAMES = {
    "openai_reasoning_effort": "reasoning_effort",
    "anthropic_effort": "reasoning_effort",
    "groq_reasoning_effort": "reasoning_effort",
    "anthropic_thinking": "thinking",
    "openai_service_tier": "service_tier",
    "openai_user": "user",
}
_GOOGLE_CONFIGS = ("google_thinking_config", "gemini_thinking_config")


# Streams and lists


def fold(stream: Stream) -> dict[str, Any]:
    """The last response of a message list; else the response that the events of a stream build up.

    Raises ``MalformedBodyError`` where an event adds to a part of another kind than it names.
    """
    for event in reversed(stream.events):
        if _is_response(event):
            return event
    parts: dict[int, dict[str, Any]] = {}
    for event in stream.events:
        place = event.get("index")
        if isinstance(place, bool) or not isinstance(place, int):
            continue
        part, delta = event.get("part"), event.get("delta")
        if isinstance(part, dict):
            parts[place] = dict(part)
        elif isinstance(delta, dict):
            _apply(delta, parts.setdefault(place, {"part_kind": delta.get("part_delta_kind"), "content": ""}))
    return {"kind": "response", "event_kind": "part_end", "parts": [parts[place] for place in sorted(parts)]}


def _apply(delta: Mapping[str, Any], part: dict[str, Any]) -> None:
    if (delta.get("part_delta_kind"), part.get("part_kind")) in (("text", "thinking"), ("thinking", "text")):
        raise MalformedBodyError("an event adds text to thinking, or thinking to text")
    text, before = delta.get("content_delta"), part.get("content")
    if isinstance(text, str) and (before is None or isinstance(before, str)):
        part["content"] = (before or "") + text
    if isinstance(delta.get("signature_delta"), str):  # replaces, unlike the texts
        part["signature"] = delta["signature_delta"]


# Bodies


def read(body: dict[str, Any]) -> Reading:
    message = body[_RUN_RESULT] if _is_response(body.get(_RUN_RESULT)) else body
    if message.get("kind") == "request":
        raise MalformedBodyError("kind: a request message alone, without its response")
    response = parse(ModelResponse, message)
    usage = message.get("usage")
    details = response.provider_details or {}
    native = details.get("finish_reason")
    raw = native if isinstance(native, str) and native else response.finish_reason
    return Reading(
        listed="event_kind" not in body,
        pieces=[piece for number, part in enumerate(response.parts) for piece in _pieces(part, number, response)],
        response_id=response.provider_response_id or None,
        model=response.model_name or None,
        created_at=clock.from_any(response.timestamp),
        choices=1,
        finish=_finish(response, raw),
        finish_raw=raw or None,
        counts=_counts(response.usage) if response.usage else None,
        usage=usage if isinstance(usage, dict) else None,
        provider_hint=response.provider_name or None,
    )


def _finish(response: ModelResponse, raw: str | None) -> FinishReason | None:
    if response.state == "interrupted":
        return FinishReason.ABORTED
    return to_finish(response.finish_reason or raw)


def _pieces(part: Part, number: int, response: ModelResponse) -> Iterator[Piece]:
    match part.part_kind:
        case "thinking":
            piece = thought(_text(part), model=response.model_name, part=number)
            yield piece if piece.kind is PieceKind.THINKING else piece._replace(form=_withheld(part, response))
        case "text":
            yield Piece(PieceKind.ANSWER, _text(part))
        case "tool-call":
            yield Piece(PieceKind.TOOL_CALL)
        case _:
            yield Piece(PieceKind.OTHER)


def _text(part: Part) -> str:
    if part.content is None or isinstance(part.content, str):
        return part.content or ""
    raise MalformedBodyError(f"parts: the content of a {part.part_kind} part is {type(part.content).__name__}")


def _withheld(part: Part, response: ModelResponse) -> ThinkingForm:
    if part.id in _REDACTED_IDS:
        return ThinkingForm.REDACTED
    provider = part.provider_name or response.provider_name or ""
    return (
        ThinkingForm.ENCRYPTED if part.signature and provider.startswith(("openai", "azure")) else ThinkingForm.OMITTED
    )


def _counts(usage: RequestUsage) -> Counts:
    if usage.unmeasured_requests:
        return Counts()
    details = usage.details or {}
    reasoning = usage.output_reasoning_tokens
    if reasoning is None:
        reasoning = next((details[name] for name in _REASONING_DETAILS if details.get(name) is not None), None)
    return Counts(
        prompt=usage.input_tokens,
        completion=usage.output_tokens,
        reasoning=reasoning,
        total=usage.total_tokens,
        cached=usage.cache_read_tokens,
        cache_write=usage.cache_write_tokens,
        cache_write_1h=usage.cache_write_1h_tokens,
        convention=ReasoningBasis.INSIDE,
    )
