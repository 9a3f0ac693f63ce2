"""Replicate's predictions: one job with a status, polled until its output is there, or streamed as plain text.

Surface   ``output``: a text, or a list of texts in the order in which they came; thinking only as tags in it. Files
          (images, sound) come as URLs of Replicate's delivery host and are no text.
Tokens    ``metrics.input_token_count`` and ``output_token_count``, where the model reports them.
Effort    Fields of ``input`` in the request, as the model's author named them.
Stream    Events named ``output`` whose data is plain text, up to ``done``; they carry neither id nor model.
Finish    ``status``; a prediction that is starting or processing has not ended.
Sources   Replicate's HTTP API reference (predictions, streaming), and recorded traffic.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from schemas.exchange import Stream
from schemas.reading import Asked, Counts, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind
from schemas.wire.replicate_prediction import Body, Metrics
from transforms.asked import asked_openai_shaped
from transforms.clock import from_iso
from transforms.json_text import to_json
from transforms.wire_models import parse

NAME = "replicate_prediction"
MARKS = frozenset({"status", "event"})
PATHS = ("replicate.com/v1/predictions", "replicate.com/v1/models/", "replicate.com/v1/deployments/")
VENDOR = None
BEGINS = None

_STATUSES = frozenset({"starting", "processing", "succeeded", "failed", "canceled", "aborted"})
_EVENTS = frozenset({"output", "logs", "error", "done"})
_FINISH = {
    "succeeded": FinishReason.STOP,
    "failed": FinishReason.ERROR,
    "canceled": FinishReason.ABORTED,
    "aborted": FinishReason.ABORTED,
}
_STATUS_OF_REASON = {"": "succeeded", "canceled": "canceled", "error": "failed"}
"""How a stream ended: ``done`` names a reason only where it did not end well."""
_FILES = ("https://replicate.delivery/", "https://pbxt.replicate.delivery/", "data:")


# Claims


def claims(body: Mapping[str, Any]) -> bool:
    status = body.get("status")
    if isinstance(status, str):
        return status in _STATUSES and "input" in body and ("urls" in body or "version" in body)
    event = body.get("event")
    return isinstance(event, str) and event in _EVENTS and len(body) == 2 and isinstance(body.get("data"), str)


def claims_request(request: Mapping[str, Any]) -> bool:
    return isinstance(request.get("input"), dict) and "version" in request


# Streams


def fold(stream: Stream) -> dict[str, Any]:
    """Fold events, plain texts or states of one prediction: the last state is the whole one."""
    states = [event for event in stream.events if "status" in event]
    if states:
        return dict(states[-1])
    body: dict[str, Any] = {"output": [event.get("data") for event in stream.events if event.get("event") == "output"]}
    for event in stream.events:
        if event.get("event") == "error":
            body["status"], body["error"] = "failed", event.get("data")
        elif event.get("event") == "done":
            body.setdefault("status", _STATUS_OF_REASON.get(_reason(event.get("data")), "succeeded"))
    if "status" not in body and not stream.cut:
        body["status"] = "aborted"
    return body


def _reason(data: object) -> str:
    """Why a stream is done: the data is a JSON object, mostly empty."""
    try:
        parsed = orjson.loads(data) if isinstance(data, str) else None
    except orjson.JSONDecodeError:
        parsed = None
    reason = parsed.get("reason") if isinstance(parsed, dict) else None
    return reason if isinstance(reason, str) else ""


# Bodies


def read(body: dict[str, Any]) -> Reading:
    parsed = parse(Body, body)
    metrics = body.get("metrics")
    finish = _FINISH.get(parsed.status) if parsed.status else None
    failed = finish is FinishReason.ERROR or bool(parsed.error)
    pieces = [_piece(item) for item in _items(parsed.output)]
    return Reading(
        pieces=pieces,
        response_id=parsed.id or None,
        model=parsed.model or parsed.version or None,
        created_at=from_iso(parsed.created_at) if parsed.created_at else None,
        choices=1 if pieces or finish is FinishReason.STOP else None,
        finish=FinishReason.ERROR if failed else finish,
        finish_raw=parsed.status if finish else None,
        counts=_counts(parsed.metrics) if parsed.metrics else None,
        usage=metrics if isinstance(metrics, dict) else None,
        error_message=_message(parsed.error),
        provider_hint="replicate",
    )


def _items(output: object) -> list[Any]:
    if isinstance(output, list):
        return output
    return [] if output is None else [output]


def _piece(item: object) -> Piece:
    if isinstance(item, str) and not item.startswith(_FILES):
        return Piece(PieceKind.ANSWER, item)
    return Piece(PieceKind.OTHER)


def _message(error: object) -> str | None:
    if isinstance(error, str):
        return error or None
    return to_json(error).decode() if error else None


def _counts(metrics: Metrics) -> Counts | None:
    if metrics.input_token_count is None and metrics.output_token_count is None:
        return None
    return Counts(prompt=metrics.input_token_count, completion=metrics.output_token_count)


# Requests


def asked(request: dict[str, Any]) -> Asked:
    """Read the request: the model's own fields stand in ``input``, and its name is a version or part of the URL."""
    given = request.get("input")
    found = asked_openai_shaped(given if isinstance(given, dict) else {})
    names = (request.get("model"), request.get("version"))
    found.model = next((name for name in names if isinstance(name, str) and name), None)
    stream = request.get("stream")
    found.stream = stream if isinstance(stream, bool) else None
    return found
