"""Qwen Code sessions: Claude Code's lines around Gemini's messages.

Lines    ``assistant`` lines with ``message.parts`` are calls. The ``ui_telemetry`` event before one has the response's
         id, status and latency; an ``api_error`` event is a failed call.
Tokens   ``usageMetadata`` as Gemini spells it, filled from whatever API was called: its total decides.
Effort   Not recorded.
Source   Seen in recorded sessions (version 0.18).
"""

from collections.abc import Sequence

from schemas.exchange import Exchange, JsonObject
from transforms.not_calls import NoCall
from transforms.transcript import Result, Results, count_in, number_in, object_in, tags_of, text_in, time_in

NAME = "qwen_code"

_RULES = {kind: f"{NAME}: {kind} line" for kind in ("user", "assistant", "system", "tool_result")}
_OTHER = f"{NAME}: another kind of line"
_ANSWER, _ERROR = "qwen-code.api_response", "qwen-code.api_error"
_PROVIDER = "qwen"
"""Whom the client calls unless it is set to another API, whose models' names then say so."""
_TAGS = {"cwd": "cwd"}


def recognises(head: Sequence[JsonObject]) -> bool:
    return any(_has_parts(line) for line in head)


def _has_parts(line: JsonObject) -> bool:
    return line.get("type") in ("user", "assistant") and "sessionId" in line and "parts" in object_in(line, "message")


def fold(lines: Sequence[JsonObject]) -> Results:
    results: Results = []
    answered: JsonObject = {}
    for line in lines:
        event = object_in(object_in(line, "systemPayload"), "uiEvent")
        result, answered = _read(line, event, answered)
        results.append([result])
    return results


def _read(line: JsonObject, event: JsonObject, answered: JsonObject) -> tuple[Result, JsonObject]:
    """What a line came to, and the telemetry of the response whose line is to come."""
    kind = line.get("type")
    if kind == "assistant" and _has_parts(line):
        return _call(line, answered), {}
    if event.get("event.name") == _ERROR:
        return _failed_call(line, event), {}
    if event.get("event.name") == _ANSWER:
        answered = event
    return NoCall(_RULES.get(kind, _OTHER) if isinstance(kind, str) else _OTHER), answered


def _call(line: JsonObject, answered: JsonObject) -> Exchange:
    usage = object_in(line, "usageMetadata")
    body: JsonObject = {"candidates": [{"index": 0, "content": object_in(line, "message")}]}
    if usage:
        body["usageMetadata"] = usage
    if model := text_in(line, "model"):
        body["modelVersion"] = model
    exchange = _exchange(line)
    exchange.response = body
    if answered and _is_of(answered, usage):
        exchange.response_id = text_in(answered, "response_id")
        exchange.status_code = count_in(answered, "status_code")
        exchange.latency_ms = number_in(answered, "duration_ms")
    exchange.response_id = exchange.response_id or text_in(line, "uuid")
    return exchange


def _is_of(answered: JsonObject, usage: JsonObject) -> bool:
    return count_in(answered, "input_token_count") == count_in(usage, "promptTokenCount") and count_in(
        answered, "output_token_count"
    ) == count_in(usage, "candidatesTokenCount")


def _failed_call(line: JsonObject, event: JsonObject) -> Exchange:
    exchange = _exchange(line)
    exchange.response_id = text_in(event, "response_id") or text_in(line, "uuid")
    exchange.model_requested = text_in(event, "model")
    exchange.status_code = count_in(event, "status_code")
    exchange.latency_ms = number_in(event, "duration_ms")
    exchange.error_type = text_in(event, "error_type")
    exchange.error_message = text_in(event, "error_message", "error") or "an error of the API"
    return exchange


def _exchange(line: JsonObject) -> Exchange:
    return Exchange(
        NAME,
        called_at=time_in(line, "timestamp"),
        provider=_PROVIDER,
        session_id=text_in(line, "sessionId"),
        tags=tags_of(line, _TAGS),
    )
