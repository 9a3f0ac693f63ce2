"""Stored responses that hold several calls (a socket's or an agent's session, a finished batch), or a part of one.

A socket has no response of its own: what one side sent and the other received stands in one list, and a session's
set-up is the request of all its turns. Each turn (Gemini Live) or response (OpenAI Realtime) becomes an exchange with
the request that was in force, so that protocols see one answer at a time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import orjson

from schemas.exchange import Exchange, JsonObject, Stream
from transforms import adk_response, clock
from transforms.sessions import calls_in

_LIVE = frozenset({"setup", "setupComplete", "setup_complete", "serverContent", "server_content"})
_REALTIME = ("session.created", "session.update")
_SERVER_CALLS = ("tool_search_call", "web_search_call", "file_search_call", "code_interpreter_call", "mcp_call")
_ITEMS = (*_SERVER_CALLS, "message", "reasoning")
_ASKED = ("messages", "prompt")
_FIRST = 3
"""A session shows what it is within its first messages."""


def unbundled(exchange: Exchange) -> list[Exchange]:
    """The exchanges that one stored response holds; nearly always the one that is given.

    A session of an agent in which no model was called holds none.
    """
    calls = calls_in(exchange)
    if calls is not None:
        return calls
    response = exchange.response
    if isinstance(response, Stream):
        return _of_socket(exchange, response) if _is_socket(response) else [_whole(exchange, response)]
    if response is not None and "metadata" in response and "name" in response:
        return list(_of_batch(exchange, response)) or [exchange]
    if response is not None and adk_response.is_response(response):
        return [replace(exchange, response=adk_response.body_of(response))]
    if response is not None and response.keys() == {"text"} and _is_answer(response["text"], exchange.request):
        return [replace(exchange, response={"role": "assistant", "content": response["text"]})]
    return [exchange]


def _is_answer(text: object, request: JsonObject | None) -> bool:
    """Transcriptions of speech are such bodies too: only what a model was asked for in writing is its answer."""
    return isinstance(text, str) and request is not None and "file" not in request and any(k in request for k in _ASKED)


def _whole(exchange: Exchange, stream: Stream) -> Exchange:
    """Items of a Responses output that were stored without the response around them, where a tool of the server ran."""
    if not stream.events or stream.events[0].get("type") not in _ITEMS:
        return exchange
    kinds = [event.get("type") for event in stream.events]
    by_model = all(event.get("role", "assistant") == "assistant" for event in stream.events)
    if by_model and any(kind in _SERVER_CALLS for kind in kinds) and all(isinstance(kind, str) for kind in kinds):
        return replace(exchange, response={"object": "response", "output": stream.events})
    return exchange


# Sockets


def _is_socket(stream: Stream) -> bool:
    if not stream.events:
        return False
    first = stream.events[0]
    return "direction" in first or first.get("type") in _REALTIME or not _LIVE.isdisjoint(first)


def _of_socket(exchange: Exchange, stream: Stream) -> list[Exchange]:
    messages = [message for frame in stream.events if (message := _message(frame)) is not None]
    if any(not _LIVE.isdisjoint(message) for message in messages[:_FIRST]):
        found = _turns(exchange, messages)
    elif any(message.get("type") in _REALTIME for message in messages[:_FIRST]):
        found = _responses(exchange, messages)
    else:
        found = []
    if not found:
        return [replace(exchange, response=Stream(messages, stream.cut))]
    if isinstance(last := found[-1].response, Stream):
        last.cut = stream.cut
    return found


def _message(frame: JsonObject) -> JsonObject | None:
    """The message in a recorder's frame (``data``, an object or text); frames that close a socket have none."""
    if "direction" not in frame:
        return frame
    data = frame.get("data")
    if isinstance(data, str):
        try:
            data = orjson.loads(data)
        except orjson.JSONDecodeError:
            return None
    return data if isinstance(data, dict) else None


def _turns(exchange: Exchange, messages: list[JsonObject]) -> list[Exchange]:
    """The turns of a Gemini Live session. A turn ends where the server says so; its counts may follow alone."""
    setup = next((message["setup"] for message in messages if isinstance(message.get("setup"), dict)), None)
    session = next((found for message in messages if (found := _live_session(message))), None)
    turns: list[list[JsonObject]] = [[]]
    ended = False
    for message in messages:
        if ended and (_content(message) is not None or _usage(message) is None):
            turns.append([])
            ended = False
        turns[-1].append(message)
        content = _content(message)
        ended = ended or bool(content and (content.get("turnComplete") or content.get("turn_complete")))
    return [
        replace(
            exchange,
            request=exchange.request or {"setup": setup or {}, "turn": number, "sent": _sent(turn)},
            response=Stream(turn),
            session_id=exchange.session_id or session,
        )
        for number, turn in enumerate(turns)
        if any(_usage(message) is not None or _says_something(message) for message in turn)
    ]


def _content(message: JsonObject) -> JsonObject | None:
    content = message.get("serverContent", message.get("server_content"))
    return content if isinstance(content, dict) else None


def _usage(message: JsonObject) -> Any:
    return message.get("usageMetadata", message.get("usage_metadata"))


def _says_something(message: JsonObject) -> bool:
    content = _content(message) or {}
    return "toolCall" in message or "tool_call" in message or "modelTurn" in content or "model_turn" in content


def _sent(turn: list[JsonObject]) -> list[JsonObject]:
    """What the client said in a turn; speech comes in thousands of messages, and is left out."""
    return [message for message in turn if "client_content" in message or "clientContent" in message]


def _live_session(message: JsonObject) -> str | None:
    done = message.get("setupComplete", message.get("setup_complete"))
    session = done.get("sessionId", done.get("session_id")) if isinstance(done, dict) else None
    return session if isinstance(session, str) and session else None


def _responses(exchange: Exchange, messages: list[JsonObject]) -> list[Exchange]:
    """The responses of an OpenAI Realtime session, each with the settings that were in force when it began.

    The model stands in the server's account of the session, all else in what the client asked to set.
    """
    wanted: JsonObject = {}
    model = session_id = None
    seen: set[object] = set()
    found: list[Exchange] = []
    events: list[JsonObject] = []
    for message in messages:
        kind, session = message.get("type"), message.get("session")
        if isinstance(session, dict):
            if kind == "session.update":
                wanted = {**wanted, **session}
            else:
                model, session_id = _text(session, "model") or model, session_id or _text(session, "id")
        response = message.get("response")
        if kind == "response.created" and isinstance(response, dict) and str(response.get("id")) not in seen:
            seen.add(str(response.get("id")))
            events = []
            found.append(
                replace(
                    exchange,
                    request=exchange.request or {"session": {"model": model, **wanted}},
                    response=Stream(events),
                    session_id=exchange.session_id or session_id,
                )
            )
        events.append(message)
    return found


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) and value else None


# Batches


def _of_batch(exchange: Exchange, operation: JsonObject) -> Iterator[Exchange]:
    """The results within a finished Gemini batch (a long-running operation), each with the key that its row had."""
    metadata = operation["metadata"] if isinstance(operation["metadata"], dict) else {}
    output = operation.get("response") or metadata.get("output")
    rows = output.get("inlinedResponses") if isinstance(output, dict) else None
    if isinstance(rows, dict):
        rows = rows.get("inlinedResponses")
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict):
            continue
        response, error = row.get("response"), row.get("error")
        if isinstance(response, dict) or error:
            yield replace(
                exchange,
                request=None,
                response=response if isinstance(response, dict) else {"error": error},
                called_at=exchange.called_at or clock.from_any(metadata.get("createTime")),
                status_code=None,
                url=None,
                model_requested=(_text(metadata, "model") or "").removeprefix("models/") or None,
                is_batch=True,
                tags=_tags(exchange.tags, row.get("metadata")),
            )


def _tags(tags: dict[str, str] | None, own: object) -> dict[str, str] | None:
    named = {str(key): value for key, value in own.items() if isinstance(value, str)} if isinstance(own, dict) else {}
    return {**(tags or {}), **named} or None
