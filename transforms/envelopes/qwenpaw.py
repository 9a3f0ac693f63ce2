"""QwenPaw sessions: one object with an agent's memory, whose messages are AgentScope's.

Lines    Messages of the role ``assistant`` are calls; their blocks are Anthropic's.
Tokens   Not recorded, nor are the model and the effort.
Times    Without a zone; they are read as UTC, as all such times are.
Ids      The client's own, one for each message.
Source   Seen in recorded sessions.
"""

from collections.abc import Sequence
from typing import Any

from schemas.exchange import Exchange, JsonObject
from transforms.not_calls import NoCall
from transforms.transcript import Result, Results, list_in, object_in, text_in, time_in

NAME = "qwenpaw"

_NO_CALL = f"{NAME}: a session without a call"


def recognises(head: Sequence[JsonObject]) -> bool:
    return any(_is_memory(_memory(line).get("content")) for line in head)


def _memory(line: JsonObject) -> JsonObject:
    return object_in(object_in(line, "agent"), "memory")


def _is_memory(content: Any) -> bool:
    """Each message stands in a pair with the marks that the memory gave it."""
    return isinstance(content, list) and all(isinstance(pair, list) for pair in content)


def fold(lines: Sequence[JsonObject]) -> Results:
    return [_calls(line) or [NoCall(_NO_CALL)] for line in lines]


def _calls(session: JsonObject) -> list[Result]:
    pairs = [pair for pair in list_in(_memory(session), "content") if isinstance(pair, list) and pair]
    messages = [pair[0] for pair in pairs if isinstance(pair[0], dict)]
    agent = text_in(object_in(session, "agent"), "name")
    return [_exchange(message, agent) for message in messages if message.get("role") == "assistant"]


def _exchange(message: JsonObject, agent: str | None) -> Exchange:
    return Exchange(
        NAME,
        response={"role": "assistant", "content": message.get("content") or ""},
        called_at=time_in(message, "timestamp"),
        response_id=text_in(message, "id"),
        tags={"agent": agent} if agent else None,
    )
