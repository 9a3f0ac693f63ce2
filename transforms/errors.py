"""Error bodies of all providers: type and text. A failed call is a call, so these are read, not rejected."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class CallError(NamedTuple):
    """What an error body says; either may be null, not both."""

    type: str | None
    message: str | None


def read_error(body: Mapping[str, Any]) -> CallError | None:
    """Read the error of a body, or of one event of a stream; null where the body holds none.

    Shapes, each seen in recorded traffic: ``{"error": {type, message, code, status}}`` (OpenAI, Anthropic, Google),
    ``{"error": "text"}``, ``{"error": …, "status_code": …}`` (Cerebras), ``{"error": {"error": {…}}}`` (batches),
    ``{"throttlingException": {message}}`` (frames of AWS streams), ``{"detail": …}`` (FastAPI), ``{"code", "message",
    "request_id"}`` (DashScope), ``{"object": "error", "message"}`` (Mistral, vLLM), ``{"message": …}`` alone (AWS),
    ``{"base_resp": {"status_code": ≠ 0}}`` under HTTP 200 (MiniMax).
    """
    found = _stated(body)
    if found is None and _ANSWERS.isdisjoint(body):
        found = _bare(body)
    return found or _minimax_error(body)


_ANSWERS = frozenset({"choices", "output", "content", "candidates"})
_KINDS = ("type", "code", "error_code", "error_type", "__type")


def _stated(body: Mapping[str, Any]) -> CallError | None:
    error = body.get("error")
    if isinstance(error, dict):
        inner = error.get("error")
        if isinstance(inner, dict):
            error = inner
        kind = _first_text(error, "type", "status", "code", "name")
        return _either(kind, _first_text(error, "message", "detail", "msg"))
    if isinstance(error, str) and error:
        return CallError(_first_text(body, *_KINDS), _first_text(body, "message") or error)
    failed = next((name for name in body if name.endswith("Exception")), None)
    if failed is None:
        return None
    frame = body[failed]
    return CallError(failed, _first_text(frame, "message", "Message") if isinstance(frame, dict) else None)


def _bare(body: Mapping[str, Any]) -> CallError | None:
    detail = body.get("detail")
    if detail:
        return CallError(None, detail if isinstance(detail, str) else _joined(detail))
    if isinstance(body.get("message"), str) and _only_an_error(body):
        return _either(_first_text(body, *_KINDS), body["message"])
    return None


_BESIDE_A_MESSAGE = {
    "message", "Message", "code", "type", "__type", "object", "param", "request_id", "requestId", "raw_status_code",
    "status", "status_code", "statusCode", "error_code", "error_type", "id", "success", "ResponseMetadata", "details",
}  # fmt: skip


def _only_an_error(body: Mapping[str, Any]) -> bool:
    return body.keys() <= _BESIDE_A_MESSAGE


def _minimax_error(body: Mapping[str, Any]) -> CallError | None:
    base = body.get("base_resp")
    if isinstance(base, dict) and base.get("status_code") not in (0, None):
        return CallError(str(base["status_code"]), _first_text(base, "status_msg"))
    return None


def _first_text(fields: Mapping[str, Any], *names: str) -> str | None:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def _either(kind: str | None, message: str | None) -> CallError:
    return CallError(kind, message) if kind or message else CallError("error", None)


def _joined(detail: object) -> str:
    if isinstance(detail, list):
        return "; ".join(str(d.get("msg", d)) if isinstance(d, dict) else str(d) for d in detail)
    return str(detail)
