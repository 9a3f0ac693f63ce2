"""OpenCode: a session as ``opencode export`` gives it, or single messages of its storage.

Lines    A session's messages of the role ``assistant`` are calls, and so are such messages of the storage, which have
         no texts: there these are files of their own (``part``), and are skipped.
Tokens   ``input`` leaves the cache out. Older versions count reasoning inside ``output``, newer ones beside it: the
         total, which only newer ones have, says so. What the API did not count is written as 0, and is null here.
Cost     Reckoned by the client from models.dev's prices, and not read.
Effort   Requested: the model's ``variant``, of the message itself or of the user's that it answers.
Ids      The client's own, one for each message.
Source   Reference on envelopes, 3.24.
"""

from collections.abc import Mapping, Sequence

from schemas.exchange import Exchange, JsonObject
from transforms.attributes import parsed
from transforms.not_calls import NoCall
from transforms.transcript import (
    Result,
    Results,
    chat_body,
    count_in,
    function_call,
    list_in,
    object_in,
    tags_of,
    text_in,
    time_in,
    with_cache,
)

NAME = "opencode"

_NO_CALL = f"{NAME}: a session without a call"
_PART = f"{NAME}: a part of a message, which is a call by itself"
_OTHER = f"{NAME}: a message or a head that no model wrote"
_ABORTED = "MessageAbortedError"
_TAGS = {"agent": "agent", "mode": "mode"}


def recognises(head: Sequence[JsonObject]) -> bool:
    return any(_is_session(line) or _is_stored(line) for line in head)


def _is_session(line: JsonObject) -> bool:
    messages = list_in(line, "messages")
    return "info" in line and any(isinstance(one, dict) and "info" in one and "parts" in one for one in messages)


def _is_stored(line: JsonObject) -> bool:
    own = text_in(line, "sessionID", "session_id")
    return own is not None and own.startswith("ses_") and ("role" in _message_of(line) or "messageID" in line)


def _message_of(line: JsonObject) -> JsonObject:
    """A message's own fields; rows of the database have them under ``data``, as an object or as text."""
    data = parsed(line.get("data"))
    return {**line, **data} if isinstance(data, dict) else line


def fold(lines: Sequence[JsonObject]) -> Results:
    return [_calls(line) if _is_session(line) else [_stored(line)] for line in lines]


def _stored(line: JsonObject) -> Result:
    message = _message_of(line)
    if message.get("role") == "assistant":
        exchange = _exchange(message, [], None)
        exchange.text_truncated = True
        return exchange
    return NoCall(_PART if "messageID" in line else _OTHER)


def _calls(session: JsonObject) -> list[Result]:
    messages = [one for one in list_in(session, "messages") if isinstance(one, dict)]
    variants = {text_in(info, "id"): _variant(info) for one in messages if (info := object_in(one, "info"))}
    calls: list[Result] = []
    for one in messages:
        info = object_in(one, "info")
        if info.get("role") == "assistant":
            parts = [part for part in list_in(one, "parts") if isinstance(part, dict)]
            calls.append(_exchange(info, parts, variants.get(text_in(info, "parentID"))))
    return calls or [NoCall(_NO_CALL)]


def _variant(info: Mapping[str, object]) -> str | None:
    return text_in(info, "variant") or text_in(object_in(info, "model"), "variant")


def _exchange(info: JsonObject, parts: list[JsonObject], asked: str | None) -> Exchange:
    effort, model = _variant(info) or asked, text_in(info, "modelID")
    error = object_in(info, "error")
    exchange = Exchange(
        NAME,
        request={"model": model, "reasoning_effort": effort} if effort else None,
        response=_body(info, parts, model, is_aborted=error.get("name") == _ABORTED),
        called_at=time_in(object_in(info, "time"), "created"),
        provider=text_in(info, "providerID"),
        streamed=True,  # OpenCode asks for nothing else
        response_id=text_in(info, "id"),
        session_id=text_in(info, "sessionID", "session_id"),
        tags={**(tags_of(info, _TAGS) or {}), **(tags_of(object_in(info, "path"), {"cwd": "cwd"}) or {})} or None,
    )
    if error and error.get("name") != _ABORTED:
        data = object_in(error, "data")
        exchange.error_type, exchange.error_message = text_in(error, "name"), text_in(data, "message")
        exchange.status_code = count_in(data, "statusCode")
    return exchange


def _body(info: JsonObject, parts: list[JsonObject], model: str | None, *, is_aborted: bool) -> JsonObject:
    def joined(kind: str) -> str | None:
        return "".join(text_in(part, "text") or "" for part in parts if part.get("type") == kind) or None

    calls = [function_call(part.get("callID"), part.get("tool")) for part in parts if part.get("type") == "tool"]
    finish = "aborted" if is_aborted else (text_in(info, "finish") or "").replace("-", "_")
    message = {"content": joined("text"), "reasoning_content": joined("reasoning"), "tool_calls": calls}
    return chat_body(model, message, finish=finish or None, usage=_usage(object_in(info, "tokens")))


def _usage(tokens: JsonObject) -> JsonObject | None:
    fresh, output, cache = count_in(tokens, "input"), count_in(tokens, "output"), object_in(tokens, "cache")
    read_back, written = count_in(cache, "read") or None, count_in(cache, "write") or None
    if not (fresh or output or read_back or written):  # as a message has them before its answer
        return None
    return {
        **tokens,
        "prompt_tokens": with_cache(fresh or 0, read_back, written),
        "completion_tokens": output,
        "total_tokens": count_in(tokens, "total"),
        "prompt_tokens_details": {"cached_tokens": read_back, "cache_write_tokens": written},
        "completion_tokens_details": {"reasoning_tokens": count_in(tokens, "reasoning") or None},
    }
