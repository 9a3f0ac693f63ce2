"""Gemini CLI sessions: an event log of messages, or in older versions the whole conversation as one object.

Lines    Messages of type ``gemini`` are calls. The same id comes again with more fields: the last says it all.
         ``$set.messages`` is a checkpoint of all messages; what ``$rewindTo`` takes back was paid for all the same.
Tokens   ``thoughts`` stands beside ``output``, ``tool`` beside ``input``, as in the API.
Effort   Not recorded.
Ids      The client's own, one for each message: no provider's, but they tell copies of a message apart from others.
Source   Reference on envelopes, 3.24.
"""

from collections.abc import Sequence
from typing import Any

from schemas.exchange import Exchange, JsonObject
from schemas.vocabulary import Fate
from transforms.not_calls import NoCall
from transforms.transcript import Result, Results, list_in, object_in, text_in, time_in

NAME = "gemini_cli"

_HEAD = f"{NAME}: the session's head"
_EVENT = f"{NAME}: an event without messages"
_OTHER = f"{NAME}: another kind of message"
_COUNTS = {
    "input": "promptTokenCount",
    "output": "candidatesTokenCount",
    "cached": "cachedContentTokenCount",
    "thoughts": "thoughtsTokenCount",
    "tool": "toolUsePromptTokenCount",
    "total": "totalTokenCount",
}


def recognises(head: Sequence[JsonObject]) -> bool:
    return any(("sessionId" in line and "projectHash" in line) or _is_call(line) for line in head)


def _is_call(message: JsonObject) -> bool:
    return message.get("type") == "gemini" and "content" in message


def fold(lines: Sequence[JsonObject]) -> Results:
    session = _Session()
    return [session.read(line) for line in lines]


class _Session:
    """The calls of a session while its lines are read."""

    def __init__(self) -> None:
        self._id: str | None = None
        self._messages: dict[str, JsonObject] = {}
        self._exchanges: dict[str, Exchange] = {}

    def read(self, line: JsonObject) -> list[Result]:
        self._id = self._id or text_in(line, "sessionId")
        if _is_call(line):
            return [self._message(line)]
        if "sessionId" in line or "$set" in line:
            return self._several(list_in(line, "messages") or list_in(object_in(line, "$set"), "messages"))
        return [NoCall(_EVENT if "$rewindTo" in line else _OTHER)]

    def _several(self, messages: list[Any]) -> list[Result]:
        results = [self._message(message) for message in messages if isinstance(message, dict)]
        calls: list[Result] = [result for result in results if isinstance(result, Exchange)]
        if calls:
            return calls
        return [Fate.PART if Fate.PART in results else NoCall(_EVENT if results else _HEAD)]

    def _message(self, message: JsonObject) -> Result:
        if not _is_call(message):
            return NoCall(_OTHER)
        name = text_in(message, "id")
        if name is None:
            return self._exchange(None, message)
        known = self._exchanges.get(name)
        message = {**self._messages.get(name, {}), **message}
        self._messages[name] = message
        if known is None:
            self._exchanges[name] = self._exchange(name, message)
            return self._exchanges[name]
        known.response = _body(message)
        return Fate.PART

    def _exchange(self, name: str | None, message: JsonObject) -> Exchange:
        return Exchange(
            NAME,
            response=_body(message),
            called_at=time_in(message, "timestamp"),
            response_id=name,
            session_id=self._id,
        )


def _body(message: JsonObject) -> JsonObject:
    """The message as the API's own body."""
    tokens = message.get("tokens")
    body: JsonObject = {"candidates": [{"index": 0, "content": {"role": "model", "parts": _parts(message)}}]}
    if isinstance(tokens, dict):
        body["usageMetadata"] = {name: tokens[key] for key, name in _COUNTS.items() if key in tokens}
    if model := text_in(message, "model"):
        body["modelVersion"] = model
    return body


def _parts(message: JsonObject) -> list[JsonObject]:
    thoughts = [_thought(thought) for thought in list_in(message, "thoughts") if isinstance(thought, dict)]
    parts: list[JsonObject] = []
    if text := "\n\n".join(thought for thought in thoughts if thought):
        parts.append({"text": text, "thought": True})
    content = message.get("content")
    if isinstance(content, str):
        parts.append({"text": content})
    elif isinstance(content, list):
        parts += [{"text": part} if isinstance(part, str) else part for part in content if isinstance(part, str | dict)]
    calls = [call for call in list_in(message, "toolCalls") if isinstance(call, dict)]
    return parts + [{"functionCall": {"id": call.get("id"), "name": call.get("name")}} for call in calls]


def _thought(thought: JsonObject) -> str:
    """A thought as the model wrote it: its subject in bold, then the description."""
    subject, description = text_in(thought, "subject"), text_in(thought, "description")
    return "\n\n".join(part for part in (f"**{subject}**" if subject else None, description) if part)
