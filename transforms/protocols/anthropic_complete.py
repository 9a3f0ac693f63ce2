"""Anthropic Text Completions (``/v1/complete``, before Messages), also as Bedrock InvokeModel sends it.

Surface   ``completion``, one text. Models of that time did not think; tags that a prompt asked for are in the text.
Tokens    None are reported, but on Bedrock in the metrics beside a stream's last chunk.
Effort    None.
Stream    ``completion`` events, each with the next part of the text; the last has a ``stop_reason``.
"""

from collections.abc import Mapping
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Asked, Counts, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind
from schemas.wire.anthropic_complete import Metrics
from transforms.errors import read_error

NAME = "anthropic_complete"
MARKS = frozenset({"completion"})
PATHS = ("/v1/complete",)
VENDOR = "anthropic"
BEGINS = None

_FINISH = {"stop_sequence": FinishReason.STOP, "max_tokens": FinishReason.LENGTH}
_METRICS = "amazon-bedrock-invocationMetrics"
_LARGEST_LIMIT = 2**53


def claims(body: Mapping[str, Any]) -> bool:
    return "completion" in body and (body.get("type") == "completion" or "stop_reason" in body)


def claims_request(request: Mapping[str, Any]) -> bool:
    return "max_tokens_to_sample" in request


def fold(stream: Stream) -> dict[str, Any]:
    """``aborted`` marks a completion whose end never came, though nothing is cut off."""
    body: dict[str, Any] = {}
    texts: list[str] = []
    for event in stream.events:
        if isinstance(event.get("completion"), str):
            texts.append(event["completion"])
        body.update({name: value for name, value in event.items() if value is not None and name != "type"})
    if not (body.get("stop_reason") or "error" in body or stream.cut):
        body["aborted"] = True
    return {**body, "completion": "".join(texts)}


def read(body: dict[str, Any]) -> Reading:
    text, reason = body.get("completion"), _text(body, "stop_reason")
    if not isinstance(text, str):
        raise MalformedBodyError(f"completion: a {type(text).__name__}, and no text")
    failure = read_error(body) if body.get("error") else None
    usage = body.get(_METRICS)
    metrics = Metrics.model_validate(usage) if isinstance(usage, dict) else None
    finish = _FINISH.get(reason, FinishReason.OTHER) if reason else None
    if failure is not None:
        finish = FinishReason.ERROR
    elif body.get("aborted") is True:
        finish = FinishReason.ABORTED
    return Reading(
        pieces=[Piece(PieceKind.ANSWER, text)] if text else [],
        response_id=_text(body, "id"),
        model=_text(body, "model"),
        choices=1,
        finish=finish,
        finish_raw=reason,
        counts=Counts(prompt=metrics.inputTokenCount, completion=metrics.outputTokenCount) if metrics else None,
        usage=usage if metrics else None,
        error_type=failure.type if failure else None,
        error_message=failure.message if failure else None,
    )


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) and value else None


def asked(request: dict[str, Any]) -> Asked:
    stream, limit, metadata = request.get("stream"), request.get("max_tokens_to_sample"), request.get("metadata")
    is_limit = isinstance(limit, int) and not isinstance(limit, bool) and 0 < limit <= _LARGEST_LIMIT
    return Asked(
        model=_text(request, "model"),
        stream=stream if isinstance(stream, bool) else None,
        max_output_tokens=limit if is_limit else None,
        user_id=_text(metadata, "user_id") if isinstance(metadata, dict) else None,
    )
