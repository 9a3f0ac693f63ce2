"""OpenTelemetry GenAI: a span's ``gen_ai.*`` attributes, plain or as OTLP's typed list, or its output messages alone.

Surface  ``gen_ai.output.messages``: ``parts`` of type reasoning (``thinking`` in pydantic-ai's) and text, the text
         under ``content``; one message is one candidate. Older instrumentations: ``gen_ai.completion.{i}.content``.
Tokens   Input holds the cache and output holds the reasoning by definition; unofficial names of the counts are read
         too. ``gen_ai.aggregated_usage`` sums up whole runs and is not read.
Effort   ``gen_ai.request.reasoning.level``: the value that was sent. Nothing says what was applied.
Stream   A list of attributes or of messages, folded into one object.
Source   Reference protocols-native 21.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Asked, Counts, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ReasoningBasis
from schemas.wire.otel_genai import Attributes, Message
from transforms.asked import asked_openai_shaped
from transforms.attributes import flat, parsed, plain
from transforms.content_blocks import pieces_of, thought
from transforms.finish_words import to_finish
from transforms.wire_models import parse

NAME = "otel_genai"
PATHS = ()
VENDOR = None
BEGINS = None

_MESSAGES = "gen_ai.output.messages"
_SIGNS = (
    _MESSAGES,
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.prompt_tokens",
    "gen_ai.usage.completion_tokens",
    "gen_ai.response.id",
    "gen_ai.response.model",
    "gen_ai.response.finish_reasons",
    "gen_ai.completion.0.content",
    "gen_ai.completion.0.finish_reason",
    "gen_ai.request.model",
)
_SIGN_SET = frozenset(_SIGNS)
MARKS = frozenset({*_SIGNS, "key", "parts"})
_USAGE = "gen_ai.usage."
_COMPLETION = "gen_ai.completion."
_PART_KEYS = frozenset({"content", "name", "arguments", "response", "id", "data", "uri", "modality"})


def claims(body: Mapping[str, Any]) -> bool:
    key = body.get("key")
    if key is not None and "value" in body:
        return key in _SIGNS
    return not _SIGN_SET.isdisjoint(body) or _is_message(body)


def _is_message(body: Mapping[str, Any]) -> bool:
    """Parts have a type, and a text under ``content``; the AI SDK's have it under ``text``, Gemini's have no type."""
    parts = body.get("parts")
    if not isinstance(parts, list) or body.get("role") != "assistant" or "kind" in body or not parts:
        return False
    first = parts[0]
    if not isinstance(first, dict) or not isinstance(first.get("type"), str) or "text" in first:
        return False
    return not _PART_KEYS.isdisjoint(first) and "toolCallId" not in first


def claims_request(request: Mapping[str, Any]) -> bool:
    return "gen_ai.request.model" in request or "gen_ai.input.messages" in request


def fold(stream: Stream) -> dict[str, Any]:
    """The attributes as one object; a list of messages as the attribute that holds them."""
    if any("key" in event and "value" in event for event in stream.events):
        return flat(stream.events)
    merged: dict[str, Any] = {}
    messages = [event for event in stream.events if _is_message(event)]
    if messages:
        last = messages if _are_candidates(stream.events) else messages[-1:]
        return {_MESSAGES: last}
    for event in stream.events:
        merged.update(event)
    return merged


def _are_candidates(messages: list[dict[str, Any]]) -> bool:
    """Several answers to one request; a conversation has other roles between its answers."""
    return all(message.get("role") == "assistant" for message in messages)


def asked(request: dict[str, Any]) -> Asked:
    """Read the request's attributes; a request in a provider's own shape is read as that."""
    attributes = parse(Attributes, request)
    wire = {
        **request,
        "model": attributes.request_model or request.get("model"),
        "reasoning_effort": attributes.reasoning_level or request.get("reasoning_effort"),
        "max_tokens": attributes.max_tokens or request.get("max_tokens"),
        "stream": request.get("stream") if attributes.stream is None else attributes.stream,
        "service_tier": attributes.tier_requested or request.get("service_tier"),
    }
    if attributes.enable_reasoner is not None:
        wire["enable_thinking"] = attributes.enable_reasoner
    asked = asked_openai_shaped({key: value for key, value in wire.items() if value is not None})
    asked.session_id = attributes.conversation_id or None
    return asked


def read(body: dict[str, Any]) -> Reading:
    stored = {_MESSAGES: [body]} if _is_message(body) else {key: plain(value) for key, value in body.items()}
    attributes = parse(Attributes, stored)
    messages = _messages(parsed(attributes.output_messages))
    model = attributes.response_model or attributes.request_model or None
    pieces = [piece for number, message in enumerate(messages) for piece in _pieces(message, number, model)]
    if not messages:
        pieces = list(_numbered(stored, model))
    raw = _finish_raw(attributes, messages, stored)
    usage = {key: value for key, value in stored.items() if key.startswith(_USAGE)}
    reading = Reading(
        listed=True,
        pieces=pieces,
        response_id=attributes.response_id or None,
        model=model,
        choices=len(messages) or (1 if pieces else None),
        finish=to_finish(raw),
        finish_raw=raw,
        counts=_counts(attributes) if usage else None,
        usage=usage or None,
        service_tier=attributes.service_tier or None,
        provider_hint=attributes.provider or None,
    )
    if attributes.error_type:
        reading.error_type, reading.finish = attributes.error_type, FinishReason.ERROR
    return reading


def _messages(stored: object) -> list[Message]:
    if stored is None:
        return []
    if not isinstance(stored, list):
        raise MalformedBodyError(f"{_MESSAGES}: {type(stored).__name__}, not a list")
    return [parse(Message, one) for one in stored if isinstance(one, dict)]


def _pieces(message: Message, choice: int, model: str | None) -> Iterator[Piece]:
    return pieces_of(message.parts, model=model, choice=choice, apart=True)


def _numbered(attributes: Mapping[str, Any], model: str | None) -> Iterator[Piece]:
    """Answers under numbered keys, as instrumentations before the convention's messages write them."""
    choice = 0
    while any(f"{_COMPLETION}{choice}.{name}" in attributes for name in ("content", "role", "finish_reason")):
        prefix = f"{_COMPLETION}{choice}."
        thinking = attributes.get(f"{prefix}reasoning", attributes.get(f"{prefix}reasoning_content"))
        if isinstance(thinking, str) and thinking:
            yield thought(thinking, model=model, choice=choice, field=True)
        yield from pieces_of(_blocks_or_text(attributes.get(f"{prefix}content")), model=model, choice=choice)
        call = 0
        while f"{prefix}tool_calls.{call}.name" in attributes:
            yield Piece(PieceKind.TOOL_CALL, choice=choice)
            call += 1
        choice += 1


def _blocks_or_text(content: object) -> object:
    """Blocks where the text holds them as JSON; an answer that is JSON itself is a text."""
    blocks = parsed(content)
    if isinstance(blocks, list) and blocks and all(isinstance(block, dict) and "type" in block for block in blocks):
        return blocks
    return content


def _finish_raw(attributes: Attributes, messages: list[Message], stored: Mapping[str, Any]) -> str | None:
    reasons = parsed(attributes.finish_reasons)
    first = reasons[0] if isinstance(reasons, list) and reasons else reasons
    places = (messages[0].finish_reason if messages else None, first, stored.get(f"{_COMPLETION}0.finish_reason"))
    return next((word for word in places if isinstance(word, str) and word), None)


def _counts(attributes: Attributes) -> Counts:
    return Counts(
        prompt=attributes.input_tokens,
        completion=attributes.output_tokens,
        reasoning=attributes.reasoning_tokens,
        total=attributes.total_tokens,
        cached=attributes.cache_read_tokens,
        cache_write=attributes.cache_write_tokens,
        convention=ReasoningBasis.INSIDE,
    )
