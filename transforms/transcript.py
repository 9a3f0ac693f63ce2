"""What a reader of agent transcripts must offer, and the few look-ups that all of them need.

A transcript is a file of one session whose lines make sense together only: a call has several lines, settings stand in
lines before it, counts come behind it or are repeated. A reader sees all lines of a session at once and says of each
what it came to. Bodies go on in a protocol's own shape: a reader knows nothing of thinking or of what tokens mean.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from hashlib import blake2b
from typing import Any, Literal, Protocol

from schemas.exchange import Exchange, JsonObject
from schemas.vocabulary import Fate
from transforms import clock
from transforms.not_calls import NoCall

Result = Exchange | NoCall | Literal[Fate.PART]
Results = list[list[Result]]
"""What each line came to, in the order of the lines: at least one result each, several where it holds several calls.

A call stands at its first line; its further lines are parts.
"""


class TranscriptReader(Protocol):
    """One form of transcripts. The module's name is the value of the column ``source``."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a module constant
        """The reader's name: the module's own."""

    def recognises(self, head: Sequence[JsonObject]) -> bool:
        """Tell by a file's first lines whether it is of this form, and of no other's."""

    def fold(self, lines: Sequence[JsonObject]) -> Results:
        """Fold a session's lines into its calls; never raises, whatever the lines hold."""


def text_in(fields: Mapping[str, Any], *names: str) -> str | None:
    """The first of these fields that holds a text; null where none does."""
    return next((value for name in names if isinstance(value := fields.get(name), str) and value), None)


def object_in(fields: Mapping[str, Any], name: str) -> JsonObject:
    """The object in this field; empty where there is none."""
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def list_in(fields: Mapping[str, Any], name: str) -> list[Any]:
    """The list in this field; empty where there is none."""
    value = fields.get(name)
    return value if isinstance(value, list) else []


def count_in(fields: Mapping[str, Any], name: str) -> int | None:
    """The count in this field; null where there is none. Booleans and negative numbers are no counts."""
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def number_in(fields: Mapping[str, Any], name: str) -> float | None:
    """The number in this field that is not negative; null where there is none."""
    value = fields.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def cost_in(fields: Mapping[str, Any], name: str) -> Decimal | None:
    """The cost in this field, in US dollars, as it was spelled; null where there is none."""
    value = number_in(fields, name)
    return None if value is None else Decimal(repr(value))


def time_in(fields: Mapping[str, Any], name: str) -> int | None:
    """The time in this field, as microseconds since 1970 UTC."""
    return clock.from_any(fields.get(name))


def tags_of(fields: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str] | None:
    """The texts of these fields under their tags' names; null where there are none."""
    tags = {tag: value for name, tag in names.items() if (value := text_in(fields, name)) is not None}
    return tags or None


def chat_body(
    model: str | None, message: JsonObject, *, finish: str | None = None, usage: JsonObject | None = None
) -> JsonObject:
    """A message as the body of Chat Completions that it would have come in; without a usage it counts nothing."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    body: JsonObject = {"object": "chat.completion", "model": model, "choices": [choice]}
    return {**body, "usage": usage} if usage else body


def message_body(
    model: str | None, content: Any, *, message_id: Any = None, usage: JsonObject | None = None
) -> JsonObject:
    """Anthropic's blocks as the body of the Messages API that they would have come in."""
    body: JsonObject = {"id": message_id, "type": "message", "role": "assistant", "model": model, "content": content}
    body["stop_reason"] = None
    return {**body, "usage": usage} if usage else body


def with_cache(fresh: int | None, read_back: int | None, written: int | None) -> int | None:
    """The whole input of clients that leave the cache out of theirs; null where they count none."""
    return None if fresh is None else fresh + (read_back or 0) + (written or 0)


def provider_and_model(name: str | None) -> tuple[str | None, str | None]:
    """The two parts of a name that begins with who provides the model; one without a slash is the model's alone."""
    provider, slash, model = (name or "").partition("/")
    return (provider, model) if slash else (None, name)


def function_call(call_id: object, name: object) -> JsonObject:
    """A call for the client as Chat Completions spells it; its arguments are not read."""
    return {"id": call_id, "type": "function", "function": {"name": name}}


class Said:
    """What a conversation held so far, as a digest: two equal answers in it are two calls, and a copy's are the same.

    For transcripts that keep neither ids nor times.
    """

    def __init__(self) -> None:
        self._digest = blake2b(digest_size=16)

    def add(self, *texts: str | None) -> None:
        """Go on by these texts."""
        for text in texts:
            self._digest.update(f"{text}\0".encode("utf-8", "replace"))

    def mark(self) -> str:
        """The digest of all that was said before."""
        return self._digest.hexdigest()
