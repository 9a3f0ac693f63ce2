"""pi's agent sessions: a tree of entries, of which each assistant message is one call.

Lines    ``message`` entries with the role ``assistant``, of all branches: each was paid for. Their bodies are pi-ai's.
Effort   ``thinkingLevel`` of the message is what was asked for, ``providerThinkingLevel`` what ran. Older files have
         ``thinking_level_change`` entries only, which hold for what follows them on their branch. The head's own level
         is that of the moment when the file was written, and says nothing of messages copied from another file.
Tags     Policy ``paired_pi``.
Source   Reference on envelopes, 3.23.
"""

from collections.abc import Sequence

from schemas.exchange import Exchange, JsonObject
from schemas.vocabulary import TagPolicy
from transforms.not_calls import NoCall
from transforms.transcript import Result, Results, number_in, object_in, tags_of, text_in, time_in

NAME = "pi"

_KINDS = (
    "session", "message", "thinking_level_change", "model_change", "compaction", "branch_summary", "label", "custom",
    "custom_message", "session_info",
)  # fmt: skip
_RULES = {kind: f"{NAME}: {kind} entry" for kind in _KINDS}
_OTHER = f"{NAME}: another kind of entry"
_TAGS = {"cwd": "cwd"}


def recognises(head: Sequence[JsonObject]) -> bool:
    return any(_is_head(line) or _is_entry(line) for line in head)


def _is_head(line: JsonObject) -> bool:
    return line.get("type") == "session" and "cwd" in line and "timestamp" in line and "id" in line


def _is_entry(line: JsonObject) -> bool:
    message = object_in(line, "message")
    return line.get("type") == "message" and "stopReason" in message and message.get("role") == "assistant"


def fold(lines: Sequence[JsonObject]) -> Results:
    session = _Session()
    return [[session.read(line)] for line in lines]


class _Session:
    """What is in force while the entries are read."""

    def __init__(self) -> None:
        self._head: JsonObject = {}
        self._level: str | None = None
        self._levels: dict[str, str | None] = {}
        """The level in force behind each entry that has an id."""

    def read(self, line: JsonObject) -> Result:
        kind = line.get("type")
        if kind == "session" and not self._head:
            self._head = line
        self._follow(line)
        message = line.get("message")
        if kind == "message" and isinstance(message, dict) and message.get("role") == "assistant":
            return self._call(line, message)
        return NoCall(_RULES.get(kind, _OTHER) if isinstance(kind, str) else _OTHER)

    def _follow(self, line: JsonObject) -> None:
        """Go to this entry's branch; entries of the first versions have no ids, and stand in one row."""
        parent, own = text_in(line, "parentId"), text_in(line, "id")
        if parent is not None:
            self._level = self._levels.get(parent)
        if line.get("type") == "thinking_level_change":
            self._level = text_in(line, "thinkingLevel")
        if own is not None:
            self._levels[own] = self._level

    def _call(self, line: JsonObject, message: JsonObject) -> Exchange:
        level = text_in(message, "thinkingLevel") or self._level
        called_at = time_in(message, "timestamp")
        return Exchange(
            NAME,
            request={"thinkingLevel": level} if level else None,
            response=message,
            called_at=time_in(line, "timestamp") if called_at is None else called_at,
            latency_ms=number_in(message, "durationMs"),
            provider=text_in(message, "provider"),
            model_requested=text_in(message, "model"),
            streamed=True,  # pi-ai asks for nothing else
            session_id=text_in(self._head, "id"),
            tags=tags_of(self._head, _TAGS),
            tag_policy=TagPolicy.PAIRED_PI,
        )
