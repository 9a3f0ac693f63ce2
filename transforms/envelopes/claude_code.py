"""Claude Code: sessions of one line per content block, its stream-json output, and iFlow's copy of the form.

Lines    Each block of a response has a line of its own with the same ``message.id`` and the usage once more: blocks are
         united in file order, and the usage is that of the line with the largest total. Summed, it counts about twice.
Copies   Side chains and resumed sessions repeat a message under another ``requestId``; the main chain's copy stays.
Errors   ``<synthetic>`` messages are the client's own: notices of the API's errors are failed calls, others no calls.
Cost     ``costUSD`` of older files is reckoned by the client from its own prices, and is not read.
Effort   Not recorded, and there is no request: both stay null.
Source   Reference on envelopes, 3.21.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from schemas.exchange import Exchange, JsonObject
from schemas.vocabulary import Fate
from transforms.json_text import to_json
from transforms.not_calls import NoCall
from transforms.transcript import (
    Result,
    Results,
    count_in,
    list_in,
    number_in,
    object_in,
    tags_of,
    text_in,
    time_in,
)

NAME = "claude_code"

_SYNTHETIC = "<synthetic>"
_API = "/v1/messages"
"""The one path that Claude Code calls: error notices are of this protocol."""
_IFLOW_ID = "response-"
_BESIDE_A_MESSAGE = frozenset({"sessionId", "session_id", "parentUuid", "parent_tool_use_id", "uuid", "timestamp"})
_FIRST_LINES = {"summary": "leafUuid", "file-history-snapshot": "messageId", "queue-operation": "sessionId"}
"""Lines with which a session may begin before its first message: their types, and a key of each."""
_TAGS = {"cwd": "cwd", "gitBranch": "git_branch", "agentId": "agent"}
_USAGE_PARTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_RULES = {
    kind: f"{NAME}: {kind} line"
    for kind in (
        "user", "system", "summary", "attachment", "progress", "result", "file-history-snapshot", "queue-operation",
        "stream_event",
    )
}  # fmt: skip
_OTHER = f"{NAME}: another kind of line"
_COPY = f"{NAME}: a message's copy in another branch"
_NOTICE = f"{NAME}: the client's own message"


def recognises(head: Sequence[JsonObject]) -> bool:
    return any(_is_of_a_session(line) for line in head)


def _is_of_a_session(line: JsonObject) -> bool:
    kind = line.get("type")
    if kind in ("user", "assistant"):
        message = line.get("message")
        return isinstance(message, dict) and "content" in message and not _BESIDE_A_MESSAGE.isdisjoint(line)
    if kind == "system":
        return "isSidechain" in line or (line.get("subtype") == "init" and "session_id" in line)
    return isinstance(kind, str) and _FIRST_LINES.get(kind) in line


def fold(lines: Sequence[JsonObject]) -> Results:
    session = _Session(_kept_copies(lines))
    return [[session.read(line)] for line in lines]


def _kept_copies(lines: Sequence[JsonObject]) -> dict[str, str]:
    """Of each message the request whose lines count: the first of the main chain, else the first of all."""
    main: dict[str, str] = {}
    side: dict[str, str] = {}
    for line in lines:
        message, request = text_in(object_in(line, "message"), "id"), text_in(line, "requestId")
        if message and request:
            (side if line.get("isSidechain") is True else main).setdefault(message, request)
    return {**side, **main}


class _Session:
    """The calls of a session while its lines are read."""

    def __init__(self, kept: Mapping[str, str]) -> None:
        self._kept = kept
        self._calls: dict[object, _Call] = {}
        self._turn = 0
        self._last: _Call | None = None
        """The call of the line before, where that was a message without an id."""
        self._streamed: dict[str | None, JsonObject] = {}
        """The message that is being streamed, by the tool call whose agent runs."""

    def read(self, line: JsonObject) -> Result:
        kind = line.get("type")
        message = line.get("message")
        if kind == "assistant" and isinstance(message, dict):
            return self._message(line, message)
        self._last = None
        if kind == "user":
            self._turn += 1
        elif kind == "stream_event":
            self._event(text_in(line, "parent_tool_use_id"), object_in(line, "event"))
        return NoCall(_RULES.get(kind, _OTHER) if isinstance(kind, str) else _OTHER)

    def _message(self, line: JsonObject, message: JsonObject) -> Result:
        if message.get("model") == _SYNTHETIC or line.get("isApiErrorMessage") is True:
            return _failed_call(line, message) if line.get("isApiErrorMessage") is True else NoCall(_NOTICE)
        name, request = text_in(message, "id"), text_in(line, "requestId")
        if name and request and self._kept.get(name, request) != request:
            return NoCall(_COPY)
        call = self._call_of(line, message, name)
        is_new = call is None
        if call is None:
            call = _Call(line, message)
            key = self._key(line, name)
            if key is not None:
                self._calls[key] = call
        call.add(line, message)
        self._last = None if name else call
        return call.exchange if is_new else Fate.PART

    def _key(self, line: JsonObject, name: str | None) -> object:
        """What the lines of one call share. iFlow numbers its lines, and repeats blocks: a call is all of a turn."""
        if name and name.startswith(_IFLOW_ID):
            return "turn", self._turn
        return name or text_in(line, "uuid")

    def _call_of(self, line: JsonObject, message: JsonObject, name: str | None) -> "_Call | None":
        """The call that a line belongs to. Neighbours without any id are one call where their usage is the same."""
        key = self._key(line, name)
        if key is not None:
            return self._calls.get(key)
        if self._last is not None and message.get("usage") and self._last.like == _likeness(line, message):
            return self._last
        return None

    def _event(self, agent: str | None, event: JsonObject) -> None:
        """Events of a stream whose messages stand in lines too; only the last of them has the final usage."""
        if event.get("type") == "message_start":
            self._streamed[agent] = object_in(event, "message")
        elif event.get("type") == "message_delta":
            message = self._streamed.get(agent, {})
            call = self._calls.get(text_in(message, "id"))
            if call is not None:
                call.count({**object_in(message, "usage"), **object_in(event, "usage")})
                call.end(object_in(event, "delta"))


class _Call:
    """One response while its lines are gathered; ``exchange`` holds what has been gathered so far."""

    def __init__(self, line: JsonObject, message: JsonObject) -> None:
        self.body: JsonObject = {
            "id": message.get("id"),
            "type": "message",
            "role": "assistant",
            "model": message.get("model"),
            "content": [],
            "stop_reason": None,
        }
        self.exchange = _exchange(line)
        self.exchange.response = self.body
        self.exchange.latency_ms = number_in(line, "durationMs")
        self.like: object = None
        """What its last line shares with a next one that has no id."""
        self._largest = 0
        self._seen: set[bytes | str] = set()

    def add(self, line: JsonObject, message: JsonObject) -> None:
        """Add a line's blocks, where they are new, and its usage."""
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if isinstance(content, list):
            for block in content:
                identity = _identity(block)
                if identity not in self._seen:
                    self._seen.add(identity)
                    self.body["content"].append(block)
        self.like = _likeness(line, message)
        self.count(object_in(message, "usage"))
        self.end(message)

    def count(self, usage: JsonObject) -> None:
        """Keep the usage with the largest total; one of zeros counts nothing (iFlow, test servers)."""
        total = sum(count_in(usage, part) or 0 for part in _USAGE_PARTS)
        if total and total >= self._largest:
            self._largest = total
            self.body["usage"] = usage

    def end(self, fields: JsonObject) -> None:
        """Keep why the response ended, where it is said."""
        for name in ("stop_reason", "stop_sequence"):
            if fields.get(name) is not None:
                self.body[name] = fields[name]


def _likeness(line: JsonObject, message: JsonObject) -> object:
    return line.get("parent_tool_use_id"), message.get("usage")


def _identity(block: Any) -> bytes | str:
    return (text_in(block, "id") if isinstance(block, dict) else None) or to_json(block)


def _exchange(line: JsonObject) -> Exchange:
    tags = tags_of(line, _TAGS) or {}
    if line.get("isSidechain") is True or text_in(line, "parent_tool_use_id"):
        tags["sidechain"] = "true"
    return Exchange(
        NAME,
        called_at=time_in(line, "timestamp"),
        session_id=text_in(line, "sessionId", "session_id"),
        tags=tags or None,
    )


def _failed_call(line: JsonObject, message: JsonObject) -> Exchange:
    """An error of the API, of which the client's notice is all that is left."""
    content = message.get("content")
    texts = [content] if isinstance(content, str) else [_text(block) for block in list_in(message, "content")]
    text = "\n".join(text for text in texts if text)
    exchange = _exchange(line)
    exchange.url = _API
    exchange.response_id = text_in(line, "uuid") or text_in(message, "id")
    exchange.status_code = count_in(line, "apiErrorStatus") or _status_in(text)
    exchange.error_type = text_in(line, "error")
    exchange.error_message = text or "an error of the API"
    return exchange


def _text(block: Any) -> str | None:
    return text_in(block, "text") if isinstance(block, dict) else None


def _status_in(text: str) -> int | None:
    """Earlier versions have the status in the text alone: ``API Error: 529 {…}``."""
    word = text.removeprefix("API Error: ")[:3]
    return int(word) if text.startswith("API Error: ") and word.isascii() and word.isdigit() else None
