"""Copilot's chat sessions in VS Code: one object with all requests, or in newer versions the log of its changes.

Lines    Each request of the user is answered in rounds (``toolCallRounds``), of which each is a call; a request without
         rounds is one call with the text that was shown. A log is replayed up to its end: it sets, adds and takes away
         parts of the object (VS Code's ``objectMutationLog``).
Tokens   Of a round's ``usage`` and of its thinking, where it has any; older versions keep none.
Effort   Not recorded.
Times    A round's own, else that of the request that it is for.
Source   A recorded session (version 3), VS Code's and Copilot Chat's code.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from schemas.exchange import Exchange, JsonObject
from schemas.vocabulary import Fate
from transforms.not_calls import NoCall
from transforms.transcript import (
    Result,
    Results,
    chat_body,
    count_in,
    function_call,
    list_in,
    object_in,
    provider_and_model,
    text_in,
    time_in,
)

NAME = "vscode_copilot"

_NO_CALL = f"{NAME}: a session without a call"
_NAMED = ("responderUsername", "requesterUsername")
_INITIAL, _SET, _PUSH, _DELETE = range(4)


def recognises(head: Sequence[JsonObject]) -> bool:
    return any(
        _is_session(line) or (line.get("kind") == _INITIAL and _is_session(object_in(line, "v"))) for line in head
    )


def _is_session(value: JsonObject) -> bool:
    """As VS Code tells a chat that was exported or stored; older versions name the one who asks."""
    return isinstance(value.get("requests"), list) and any(isinstance(value.get(name), str) for name in _NAMED)


def fold(lines: Sequence[JsonObject]) -> Results:
    if not any("kind" in line for line in lines):
        return [_calls(line) or [NoCall(_NO_CALL)] for line in lines]
    calls = _calls(_replayed(lines))
    rest: list[list[Result]] = [[Fate.PART if calls else NoCall(_NO_CALL)] for _ in lines[1:]]
    return [calls or [NoCall(_NO_CALL)], *rest]


# The log


def _replayed(lines: Sequence[JsonObject]) -> JsonObject:
    state: JsonObject = {}
    for line in lines:
        kind, path = line.get("kind"), list_in(line, "k")
        change = {**line, "v": deepcopy(line.get("v"))}  # what is changed later is not the line's own
        if kind == _INITIAL:
            state = object_in(change, "v")
        elif path and kind in (_SET, _PUSH, _DELETE):
            _change(state, path, kind, change)
    return state


def _change(state: Any, path: list[Any], kind: Any, change: JsonObject) -> None:
    """Change what is at a path; a path that leads nowhere changes nothing."""
    *parents, last = path
    for key in parents:
        state = _at(state, key)
    if kind == _PUSH:
        holder = _at(state, last)
        if isinstance(holder, list):
            length = count_in(change, "i")
            holder[len(holder) if length is None else length :] = list_in(change, "v")
        elif isinstance(state, dict) and isinstance(last, str):
            state[last] = list_in(change, "v")
    elif isinstance(state, dict) and isinstance(last, str):
        if kind == _SET:
            state[last] = change.get("v")
        else:
            state.pop(last, None)
    elif isinstance(state, list) and kind == _SET and _at(state, last) is not None:
        state[last] = change.get("v")


def _at(holder: Any, key: Any) -> Any:
    if isinstance(holder, dict):
        return holder.get(key) if isinstance(key, str) else None
    fits = isinstance(holder, list) and isinstance(key, int) and 0 <= key < len(holder)
    return holder[key] if fits else None


# Calls


def _calls(session: JsonObject) -> list[Result]:
    requests = [request for request in list_in(session, "requests") if isinstance(request, dict)]
    return [call for request in requests for call in _of_request(request, text_in(session, "sessionId"))]


def _of_request(request: JsonObject, session_id: str | None) -> list[Exchange]:
    result = object_in(request, "result")
    rounds = [one for one in list_in(object_in(result, "metadata"), "toolCallRounds") if isinstance(one, dict)]
    vendor, model = provider_and_model(text_in(request, "modelId"))
    calls = [_exchange(request, session_id, vendor, _body(model, one), one) for one in rounds]
    error = object_in(result, "errorDetails")
    shown = "" if rounds else _shown(request)
    if shown or (error and not rounds):
        calls.append(_exchange(request, session_id, vendor, _body(model, {"response": shown}) if shown else None, {}))
        calls[-1].model_requested = model
    if calls and error:
        calls[-1].error_type = text_in(error, "code")
        calls[-1].error_message = text_in(error, "message") or "an error of the chat"
    return calls


def _exchange(
    request: JsonObject, session_id: str | None, vendor: str | None, body: JsonObject | None, one: JsonObject
) -> Exchange:
    own_time = time_in(one, "timestamp")
    return Exchange(
        NAME,
        response=body,
        called_at=time_in(request, "timestamp") if own_time is None else own_time,
        provider=vendor,
        response_id=text_in(one, "id") or text_in(request, "responseId"),
        session_id=session_id,
    )


def _body(model: str | None, one: JsonObject) -> JsonObject:
    thinking = object_in(one, "thinking")
    message: JsonObject = {
        "content": text_in(one, "response"),
        "reasoning_content": _joined(thinking.get("text")),
        "tool_calls": [
            function_call(call.get("id"), call.get("name"))
            for call in list_in(one, "toolCalls")
            if isinstance(call, dict)
        ],
    }
    if encrypted := text_in(thinking, "encrypted"):
        message["reasoning_details"] = [{"type": "reasoning.encrypted", "data": encrypted}]
    tokens = count_in(thinking, "tokens")
    counted = {} if tokens is None else {"completion_tokens_details": {"reasoning_tokens": tokens}}
    return chat_body(model, message, usage={**counted, **object_in(one, "usage")})


def _joined(text: Any) -> str | None:
    parts = text if isinstance(text, list) else [text]
    return "".join(part for part in parts if isinstance(part, str)) or None


def _shown(request: JsonObject) -> str:
    """The pieces of markdown that were shown; what tools and references showed stands between them."""
    parts = [part for part in list_in(request, "response") if isinstance(part, dict) and "kind" not in part]
    return "".join(text for part in parts if (text := text_in(part, "value")) is not None)
