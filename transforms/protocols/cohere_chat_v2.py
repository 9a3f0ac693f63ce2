"""Cohere chat, version 2: content with thinking blocks, a plan for tools beside it, and billed units as counts.

Surface   ``message.content[]``: ``thinking`` and ``text`` parts; ``message.tool_plan`` is the model's visible plan for
          its tool calls, and thinking as well.
Tokens    ``usage.billed_units`` is what is paid for and fills the columns; ``usage.tokens`` also counts Cohere's own
          preamble, and ``usage.cached_tokens`` is a part of that. No reasoning count; thinking is in the output.
Effort    ``thinking.type`` and ``thinking.token_budget`` in the request; the response says nothing.
Stream    ``message-start``, ``content-start/delta/end``, ``tool-plan-delta``, ``tool-call-start/delta/end``,
          ``citation-start/end``, ``message-end`` (finish and usage).
Sources   Reference protocols-native 10: Cohere's SDK and recorded traffic.
"""

from collections.abc import Mapping
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Asked, Counts, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ThinkingForm, ThinkingSource
from schemas.wire.cohere_chat_v2 import Body, Message, Part, Request, Thinking, Usage
from transforms.asked import merged, read_budget, read_level, read_switch
from transforms.errors import read_error
from transforms.wire_models import parse

NAME = "cohere_chat_v2"
MARKS = frozenset({"type", "message"})
PATHS = ("cohere.com/v2/chat", "cohere.ai/v2/chat", "/cohere/v2/chat")
VENDOR = "cohere"
BEGINS = None

_EVENTS = frozenset(
    {
        "message-start", "content-start", "content-delta", "content-end", "tool-plan-delta", "tool-call-start",
        "tool-call-delta", "tool-call-end", "citation-start", "citation-end", "message-end",
    }
)  # fmt: skip
_FINISH = {
    "COMPLETE": FinishReason.STOP,
    "STOP_SEQUENCE": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    "TOOL_CALL": FinishReason.TOOL_CALLS,
    "ERROR": FinishReason.ERROR,
    "TIMEOUT": FinishReason.ERROR,
}
_NOT_OURS = ("index", "choices", "done", "output")
_REQUEST_MARKS = frozenset({"documents", "citation_options", "safety_mode", "p", "k"})


# Claims


def claims(body: Mapping[str, Any]) -> bool:
    kind = body.get("type")
    if kind.__class__ is str and kind in _EVENTS:
        return True
    message = body.get("message")
    return (
        message.__class__ is dict
        and isinstance(body.get("finish_reason"), str)
        and ("content" in message or "tool_calls" in message or "tool_plan" in message)
        and not any(name in body for name in _NOT_OURS)
    )


def claims_request(request: Mapping[str, Any]) -> bool:
    if not isinstance(request.get("messages"), list):
        return False
    thinking = request.get("thinking")
    budget = isinstance(thinking, dict) and "token_budget" in thinking
    return budget or not _REQUEST_MARKS.isdisjoint(request)


# Streams


def fold(stream: Stream) -> dict[str, Any]:
    """Fold the events of one message; ``aborted`` marks one whose end never came, though nothing is cut off."""
    body: dict[str, Any] = {}
    parts: dict[object, dict[str, Any]] = {}
    plan: list[str] = []
    calls: list[Any] = []
    ended = False
    for event in stream.events:
        kind = event.get("type")
        delta = event.get("delta")
        if kind == "message-start":
            body["id"] = event.get("id")
        elif kind == "message-end":
            ended = True
            body.update(delta if isinstance(delta, dict) else {})
        elif not isinstance(delta, dict):
            _take_error(body, event)
        elif kind == "tool-plan-delta":
            _add_text(plan, _message_of(delta).get("tool_plan"))
        elif kind == "tool-call-start":
            calls.append(_message_of(delta).get("tool_calls"))
        elif kind in ("content-start", "content-delta"):
            _add_content(parts, event.get("index"), _message_of(delta).get("content"))
    content = [{**part, key: "".join(part[key])} for part in parts.values() for key in _TEXTS if key in part]
    body["message"] = {"content": content, "tool_plan": "".join(plan), "tool_calls": calls}
    if not ended and not stream.cut and "error" not in body:
        body["aborted"] = True
    return body


_TEXTS = ("thinking", "text")


def _message_of(delta: dict[str, Any]) -> dict[str, Any]:
    message = delta.get("message")
    return message if isinstance(message, dict) else {}


def _add_content(parts: dict[object, dict[str, Any]], index: object, content: object) -> None:
    """Add a start or a delta to its part; the delta's key says which kind of text it is."""
    if not isinstance(content, dict):
        return
    for key in _TEXTS:
        if key in content:
            place = (index if isinstance(index, int) else 0, key)
            part = parts.setdefault(place, {"type": key, key: []})
            _add_text(part[key], content[key])


def _add_text(texts: list[str], text: object) -> None:
    if isinstance(text, str):
        texts.append(text)
    elif text is not None:
        raise MalformedBodyError(f"delta.message: a text is {type(text).__name__}, not a text")


def _take_error(body: dict[str, Any], event: dict[str, Any]) -> None:
    error = read_error(event)
    if error is not None:
        body["error"] = {"type": error.type, "message": error.message}


# Bodies


def read(body: dict[str, Any]) -> Reading:
    parsed = parse(Body, body)
    usage = body.get("usage")
    failure = read_error(body) if body.get("error") else None
    raw = parsed.finish_reason or None
    finish = _FINISH.get(raw, FinishReason.OTHER) if raw else None
    if body.get("aborted") is True:
        finish = FinishReason.ABORTED
    return Reading(
        pieces=_pieces(parsed.message),
        response_id=parsed.id or None,
        choices=1,
        finish=FinishReason.ERROR if failure else finish,
        finish_raw=raw,
        counts=_counts(parsed.usage) if parsed.usage else None,
        usage=usage if isinstance(usage, dict) else None,
        error_type=failure.type if failure else None,
        error_message=failure.message if failure else None,
    )


def _pieces(message: Message) -> list[Piece]:
    content = message.content
    if isinstance(content, str):
        pieces = [Piece(PieceKind.ANSWER, content)]
    else:
        pieces = [_piece(part) for part in content or []]
    if message.tool_plan:
        pieces.append(_thinking(message.tool_plan, ThinkingSource.FIELD))
    return pieces + [Piece(PieceKind.TOOL_CALL)] * len(message.tool_calls or [])


def _piece(part: Part) -> Piece:
    if part.type == "thinking":
        return _thinking(part.thinking or "", ThinkingSource.BLOCK)
    return Piece(PieceKind.ANSWER, part.text or "") if part.type == "text" else Piece(PieceKind.OTHER)


def _thinking(text: str, source: ThinkingSource) -> Piece:
    return Piece(PieceKind.THINKING, text, source=source, form=ThinkingForm.FULL)


def _counts(usage: Usage) -> Counts:
    """The billed units. Servers of one's own bill nothing: there the model's own counts, with their cached part."""
    if usage.billed_units is not None and usage.billed_units.output_tokens is not None:
        return Counts(prompt=usage.billed_units.input_tokens, completion=usage.billed_units.output_tokens)
    if usage.tokens is None:
        return Counts()
    return Counts(prompt=usage.tokens.input_tokens, completion=usage.tokens.output_tokens, cached=usage.cached_tokens)


# Requests


def asked(request: dict[str, Any]) -> Asked:
    wanted = Request.model_validate(request)
    thinking = wanted.thinking or Thinking()
    budget = thinking.token_budget if thinking.token_budget is not None else thinking.tokenBudget
    wish = merged([read_level(wanted.reasoning_effort), read_switch(thinking.type), read_budget(budget)])
    return Asked(
        model=wanted.model,
        stream=wanted.stream,
        thinking=wish.switch,
        budget=wish.budget,
        effort=wish.effort,
        effort_raw=wish.raw,
        max_output_tokens=wanted.max_tokens,
    )
