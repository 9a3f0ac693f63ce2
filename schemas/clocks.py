"""Clocks of retention: after how many days something goes.

Days are positive whole numbers; beside them only two words exist, ``keep`` and ``immediately``. What is 0, negative,
empty or of another type is an error, so that no slip of the pen deletes anything.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

MOST_DAYS = 36_525


class Word(StrEnum):
    """What may stand in the place of a number of days."""

    KEEP = "keep"
    IMMEDIATELY = "immediately"


class Privacy(StrEnum):
    """What a call may keep at all."""

    FULL = "full"
    """Its texts, as long as the clocks say."""
    TEXT_FREE = "text-free"
    """Counts only: every text goes at once."""


def _check_clock(value: object) -> object:
    if isinstance(value, str) and value in set(Word):
        return Word(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_DAYS:
        return value
    said = "empty" if value is None else repr(value)
    raise ValueError(
        f"is {said}; write a whole number of days from 1 to {MOST_DAYS:,}, or keep, or immediately (deletes at once)"
    )


Clock = int | Word
"""After how many days something goes."""


def shortest(clocks: Iterable[Clock]) -> Clock:
    """The clock that runs out first; ``keep`` never does."""
    return min(clocks, key=_days, default=Word.KEEP)


def _days(clock: Clock) -> float:
    return {Word.IMMEDIATELY: 0.0, Word.KEEP: float("inf")}[clock] if isinstance(clock, Word) else clock


class Part(BaseModel):
    """A part of a policy; a key that is not known is an error that names the nearest one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _name_nearest_key(cls, content: object) -> object:
        for key in content if isinstance(content, Mapping) else ():
            if key not in cls.model_fields:
                near = get_close_matches(str(key), cls.model_fields, n=1)
                hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(cls.model_fields)}"
                raise ValueError(f"there is no key {key!r}; {hint}")
        return content


class Clocks(Part):
    """Clocks, as far as they are named; null is not named. What is not named here is said by ``retained``."""

    privacy: Privacy | None = None
    thinking: Clock | None = None
    answer: Clock | None = None
    error_message: Clock | None = None
    tags: Clock | None = None
    """All values of tags. Without it only those go that read as text; labels stay."""
    rejects: Clock | None = None

    @field_validator("thinking", "answer", "error_message", "tags", "rejects", mode="before")
    @classmethod
    def _clock_is_named(cls, value: object) -> object:
        return _check_clock(value)

    @field_validator("privacy", mode="before")
    @classmethod
    def _privacy_is_named(cls, value: object) -> object:
        if value not in set(Privacy):
            raise ValueError(f"is {value!r}; write {' or '.join(Privacy)}")
        return value

    @model_validator(mode="after")
    def _one_way_to_say_it(self) -> Self:
        if self.privacy is Privacy.TEXT_FREE and (self.thinking or self.answer or self.error_message):
            raise ValueError("privacy: text-free takes every text at once; leave the clocks of texts out")
        return self


class Retained(BaseModel):
    """The clocks that hold for a call, every one of them."""

    model_config = ConfigDict(frozen=True)

    thinking: Clock
    answer: Clock
    error_message: Clock
    tags: Clock

    @property
    def rest(self) -> Clock:
        """Free text in any other place goes with the first of the texts."""
        return shortest((self.thinking, self.answer, self.error_message))
