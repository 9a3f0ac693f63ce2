"""OpenAI Realtime: one response of a session, as OpenAI, Azure and xAI send it over a socket.

Surface   ``output[]``: ``message`` items with text or a spoken answer's transcript (commentary by ``phase``), and
          ``function_call`` items for the client. No thinking is shown.
Tokens    ``usage.input_tokens`` and ``output_tokens``, speech among them; some models count the reasoning inside.
Effort    Requested only, in the session's settings.
Stream    ``response.done`` holds the whole response (xAI's its usage beside it); of a response that was cut off, the
          finished items and the text deltas are read. A session may hold several responses, each is a call.
Sources   Reference on OpenAI-shaped protocols, section 2.1 (neighbours), and recorded sessions.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.exchange import JsonObject, Stream
from schemas.reading import Asked, Counts, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ReasoningBasis
from schemas.wire.openai_realtime import Item, Response, StatusDetails, Usage
from transforms.asked import asked_openai_shaped
from transforms.errors import read_error
from transforms.wire_models import parse

NAME = "openai_realtime"
MARKS = frozenset({"object", "type"})
PATHS = ("/realtime",)
VENDOR = "openai"
BEGINS = ("response.created", "response")

_OBJECT = "realtime.response"
_OF_THE_CLIENT = ("response.create", "response.cancel")
_TEXT_DELTAS = (
    "response.output_text.delta",
    "response.text.delta",
    "response.output_audio_transcript.delta",
    "response.audio_transcript.delta",
)
_FINISH = {
    "completed": FinishReason.STOP,
    "failed": FinishReason.ERROR,
    "cancelled": FinishReason.ABORTED,
    "in_progress": None,
}
_INCOMPLETE = {"max_output_tokens": FinishReason.LENGTH, "content_filter": FinishReason.CONTENT_FILTER}
_NOTHING_CAME = (FinishReason.ERROR, FinishReason.ABORTED, None)


def claims(body: Mapping[str, Any]) -> bool:
    if body.get("object") == _OBJECT:
        return True
    kind = body.get("type")
    if not isinstance(kind, str) or not kind.startswith("response.") or kind in _OF_THE_CLIENT:
        return False
    response = body.get("response")
    return "event_id" in body or (isinstance(response, dict) and response.get("object") == _OBJECT)


def claims_request(request: Mapping[str, Any]) -> bool:
    return isinstance(request.get("session"), dict)


def fold(stream: Stream) -> dict[str, Any]:
    begun: JsonObject = {}
    items: list[JsonObject] = []
    for event in stream.events:
        kind, response, item = event.get("type"), event.get("response"), event.get("item")
        if isinstance(response, dict) and kind == "response.done":
            return _with_usage(response, event)
        if isinstance(response, dict) and kind == "response.created":
            begun = response
        elif isinstance(item, dict) and kind == "response.output_item.done":
            items.append(item)
    return {**begun, "output": items or _draft(stream.events)}


def _with_usage(response: JsonObject, event: JsonObject) -> JsonObject:
    beside = event.get("usage")
    return {**response, "usage": beside} if not response.get("usage") and isinstance(beside, dict) else response


def _draft(events: list[JsonObject]) -> list[JsonObject]:
    deltas = [event.get("delta") for event in events if event.get("type") in _TEXT_DELTAS]
    text = "".join([delta for delta in deltas if isinstance(delta, str)])
    return [{"type": "message", "content": [{"type": "text", "text": text}]}] if text else []


def read(body: dict[str, Any]) -> Reading:
    if body.get("object") != _OBJECT and isinstance(body.get("type"), str):  # one event that was stored alone
        body = fold(Stream([body]))
    response = parse(Response, body)
    details = response.status_details or StatusDetails()
    pieces = list(_pieces(response.output or []))
    finish, raw = _finish(response.status, details.reason)
    failure = read_error({"error": details.error}) if details.error else None
    usage = response.usage
    return Reading(
        pieces=pieces,
        response_id=response.id or None,
        choices=1 if pieces or finish not in _NOTHING_CAME else None,
        finish=finish,
        finish_raw=raw,
        counts=_counts(usage) if usage else None,
        usage=body["usage"] if usage else None,
        error_type=failure.type if failure else None,
        error_message=failure.message if failure else None,
    )


def _finish(status: str | None, reason: str | None) -> tuple[FinishReason | None, str | None]:
    if status == "incomplete":
        return _INCOMPLETE.get(reason or "", FinishReason.OTHER), reason or status
    if not status:
        return None, None
    return _FINISH.get(status, FinishReason.OTHER), status


def _pieces(items: list[Item]) -> Iterator[Piece]:
    for part, item in enumerate(items):
        if item.type == "message":
            kind = PieceKind.COMMENTARY if item.phase == "commentary" else PieceKind.ANSWER
            for content in item.content or ():
                text = content.text or content.transcript
                yield Piece(kind, text, part=part) if text else Piece(PieceKind.OTHER)
        else:
            yield Piece(PieceKind.TOOL_CALL if item.type == "function_call" else PieceKind.OTHER)


def _counts(usage: Usage) -> Counts:
    into, out = usage.input_token_details, usage.output_token_details
    return Counts(
        prompt=usage.input_tokens,
        completion=usage.output_tokens,
        reasoning=out.reasoning_tokens if out else None,
        total=usage.total_tokens,
        cached=into.cached_tokens if into else None,
        convention=ReasoningBasis.INSIDE,
    )


def asked(request: dict[str, Any]) -> Asked:
    session = request.get("session")
    return asked_openai_shaped(session) if isinstance(session, dict) else Asked()
