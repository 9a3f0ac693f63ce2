"""Mistral's conversations and agents: a list of outputs, messages with thinking chunks among tools and handoffs.

Surface   ``outputs[]``: ``message.output`` with a text or a list of chunks (``thinking``, ``text``, references),
          ``function.call`` for the client; ``tool.execution`` and ``agent.handoff`` are the server's own work.
Tokens    ``usage``: thinking is in ``completion_tokens`` and has no count of its own. ``connector_tokens`` stand beside
          the prompt where the total says so, and are input.
Effort    Requested only: ``completion_args.reasoning_effort``.
Stream    ``conversation.response.started``, ``message.output.delta`` (a text or one chunk), ``tool.execution.*``,
          ``function.call.delta``, ``conversation.response.done`` (usage) or ``.error``.
Finish    No body says why it ended: null, but for calls that the client must answer.
Sources   Reference protocols-native 12: the types of Mistral's SDK.
"""

from collections.abc import Mapping
from typing import Any

from schemas.exchange import JsonObject, Stream
from schemas.reading import Asked, Counts, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ThinkingForm, ThinkingSource
from schemas.wire.mistral_conversations import Body, Entry, Usage
from transforms.asked import asked_openai_shaped
from transforms.clock import from_iso
from transforms.errors import CallError, read_error
from transforms.wire_models import parse

NAME = "mistral_conversations"
MARKS = frozenset({"type", "outputs"})
PATHS = ("mistral.ai/v1/conversations",)
VENDOR = "mistral"
BEGINS = None

_EVENTS = frozenset(
    {
        "conversation.response.started", "conversation.response.done", "conversation.response.error",
        "message.output.delta", "function.call.delta", "tool.execution.started", "tool.execution.delta",
        "tool.execution.done", "agent.handoff.started", "agent.handoff.done",
    }
)  # fmt: skip
_ENTRY_OF_EVENT = {
    "message.output.delta": "message.output",
    "function.call.delta": "function.call",
    "tool.execution.started": "tool.execution",
    "agent.handoff.started": "agent.handoff",
}
_FACTS = ("id", "model", "created_at")
_CITATIONS = ("reference", "tool_reference")
"""Chunks that cut one text into pieces without being a piece of their own."""


# Claims


def claims(body: Mapping[str, Any]) -> bool:
    kind = body.get("type")
    if isinstance(kind, str) and kind in _EVENTS:
        return True
    return body.get("object") == "conversation.response" and "outputs" in body


def claims_request(request: Mapping[str, Any]) -> bool:
    return "inputs" in request and ("agent_id" in request or "completion_args" in request)


# Streams


def fold(stream: Stream) -> dict[str, Any]:
    """Fold the events of one response; ``aborted`` marks one whose end never came, though nothing is cut off."""
    body: dict[str, Any] = {"object": "conversation.response"}
    entries: dict[tuple[int, str], JsonObject] = {}
    ended = False
    for event in stream.events:
        kind = event.get("type")
        if event.get("conversation_id"):
            body.setdefault("conversation_id", event["conversation_id"])
        if kind == "conversation.response.done":
            body["usage"] = event.get("usage")
            ended = True
        elif kind == "conversation.response.error" or "error" in event:
            body["error"] = _error_in(event)
        elif isinstance(kind, str) and kind in _ENTRY_OF_EVENT:
            _grow_entry(entries, event, _ENTRY_OF_EVENT[kind])
    body["outputs"] = [entry for _, entry in sorted(entries.items(), key=lambda item: item[0][0])]
    if not ended and not stream.cut and "error" not in body:
        body["aborted"] = True
    return body


def _grow_entry(entries: dict[tuple[int, str], JsonObject], event: JsonObject, kind: str) -> None:
    """Add an event to its output; a text and a chunk are both one more chunk of its content."""
    index = event.get("output_index")
    place = (index if isinstance(index, int) else len(entries), kind)
    entry = entries.setdefault(place, {"type": kind, "content": []})
    for name in _FACTS:
        if event.get(name):
            entry.setdefault(name, event[name])
    if kind == "message.output" and event.get("content"):
        entry["content"].append(event["content"])


def _error_in(event: JsonObject) -> JsonObject:
    error = read_error(event) or CallError(None, None)
    code = event.get("code")
    kind = error.type if error.type not in (None, event.get("type")) else (None if code is None else str(code))
    message = event.get("message")
    return {"type": kind, "message": error.message or (message if isinstance(message, str) else None)}


# Bodies


def read(body: dict[str, Any]) -> Reading:
    parsed = parse(Body, body)
    usage, outputs = body.get("usage"), parsed.outputs
    pieces = [piece for place, entry in enumerate(outputs) for piece in _pieces(entry, place)]
    failure = read_error(body) if body.get("error") else None
    calls = any(piece.kind is PieceKind.TOOL_CALL for piece in pieces)
    finish = FinishReason.TOOL_CALLS if calls else None
    if body.get("aborted") is True:
        finish = FinishReason.ABORTED
    created_at = next((entry.created_at for entry in outputs if entry.created_at), None)
    return Reading(
        pieces=pieces,
        response_id=next((entry.id for entry in outputs if entry.id), None),
        session_id=parsed.conversation_id or None,
        model=next((entry.model for entry in outputs if entry.model), None),
        created_at=from_iso(created_at) if created_at else None,
        choices=1,
        finish=FinishReason.ERROR if failure else finish,
        counts=_counts(parsed.usage) if parsed.usage else None,
        usage=usage if isinstance(usage, dict) else None,
        error_type=failure.type if failure else None,
        error_message=failure.message if failure else None,
    )


def _pieces(entry: Entry, place: int) -> list[Piece]:
    if entry.type == "function.call":
        return [Piece(PieceKind.TOOL_CALL)]
    if entry.type != "message.output":
        return [Piece(PieceKind.OTHER)]
    chunks = [entry.content] if isinstance(entry.content, str) else entry.content or []
    return [piece for chunk in chunks for piece in _chunk_pieces(chunk, place)]


def _chunk_pieces(chunk: object, place: int) -> list[Piece]:
    if isinstance(chunk, str):
        return [Piece(PieceKind.ANSWER, chunk, part=place)]
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if not isinstance(chunk, dict) or kind in _CITATIONS:
        return []
    if kind == "thinking":
        return [
            Piece(PieceKind.THINKING, text, part=place, source=ThinkingSource.BLOCK, form=ThinkingForm.FULL)
            for text in _texts(chunk.get("thinking"))
        ]
    text = chunk.get("text")
    return [Piece(PieceKind.ANSWER, text, part=place) if isinstance(text, str) else Piece(PieceKind.OTHER)]


def _texts(thinking: object) -> list[str]:
    """The texts of a thinking chunk; references stand between them."""
    if isinstance(thinking, str):
        return [thinking]
    items = thinking if isinstance(thinking, list) else []
    return [item["text"] for item in items if isinstance(item, dict) and isinstance(item.get("text"), str)]


def _counts(usage: Usage) -> Counts:
    prompt, connectors = usage.prompt_tokens, usage.connector_tokens or 0
    apart = usage.total_tokens is None or usage.total_tokens != (prompt or 0) + (usage.completion_tokens or 0)
    if prompt is not None and apart:
        prompt += connectors
    return Counts(prompt=prompt, completion=usage.completion_tokens, total=usage.total_tokens)


# Requests


def asked(request: dict[str, Any]) -> Asked:
    """Read the request; how to complete stands in an object of its own."""
    arguments = request.get("completion_args")
    return asked_openai_shaped({**arguments, **request} if isinstance(arguments, dict) else request)
