"""Cline's session file: one object with all messages, each of the model's with its own counts.

Lines    Messages of the role ``assistant`` with ``modelInfo`` are calls; their content is in Anthropic's blocks.
Tokens   ``inputTokens`` holds cached input: the API's own count, without it, is worked out here, and the counts as they
         were stay beside it. Where the cached parts exceed it, it does not hold them and stays as it is.
Cost     What OpenRouter, Vercel's gateway and Cline's own say; for all others it is reckoned by the client from its own
         prices, and is not read.
Effort   Not recorded.
Source   Reference on envelopes, 3.24, and Cline's code; its tasks of earlier versions are read by ``cline_task``.
"""

from collections.abc import Sequence

from schemas.exchange import Exchange, JsonObject
from transforms.not_calls import NoCall
from transforms.transcript import (
    Result,
    Results,
    cost_in,
    count_in,
    list_in,
    message_body,
    object_in,
    text_in,
    time_in,
)

NAME = "cline"

_NO_CALL = f"{NAME}: a session without a call"
_BILLING = frozenset({"cline", "openrouter", "vercel-ai-gateway"})
"""Providers that state a call's cost in its usage."""


def recognises(head: Sequence[JsonObject]) -> bool:
    return any(any(_is_call(message) for message in list_in(line, "messages")) for line in head if "sessionId" in line)


def _is_call(message: object) -> bool:
    return isinstance(message, dict) and message.get("role") == "assistant" and "modelInfo" in message


def fold(lines: Sequence[JsonObject]) -> Results:
    return [_calls(line) or [NoCall(_NO_CALL)] for line in lines]


def _calls(session: JsonObject) -> list[Result]:
    name = text_in(session, "sessionId")
    return [_exchange(message, name) for message in list_in(session, "messages") if _is_call(message)]


def _exchange(message: JsonObject, session_id: str | None) -> Exchange:
    model, metrics = object_in(message, "modelInfo"), object_in(message, "metrics")
    usage = _usage(metrics) if metrics else None
    return Exchange(
        NAME,
        response=message_body(text_in(model, "id"), message.get("content"), message_id=message.get("id"), usage=usage),
        called_at=time_in(message, "ts"),
        provider=text_in(model, "provider"),
        session_id=session_id,
        cost_usd=cost_in(metrics, "cost") if text_in(model, "provider") in _BILLING else None,
    )


def _usage(metrics: JsonObject) -> JsonObject:
    whole = count_in(metrics, "inputTokens")
    read_back, written = count_in(metrics, "cacheReadTokens"), count_in(metrics, "cacheWriteTokens")
    cached = (read_back or 0) + (written or 0)
    return {
        **metrics,
        "input_tokens": whole - cached if whole is not None and whole >= cached else whole,
        "cache_read_input_tokens": read_back,
        "cache_creation_input_tokens": written,
        "output_tokens": count_in(metrics, "outputTokens"),
    }
