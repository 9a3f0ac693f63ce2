"""The retention policy: how long texts stay, by which rule, what is held, and who is to be forgotten."""

from datetime import date
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from schemas.clocks import Clock, Clocks, Part, Privacy, Retained, Word, shortest
from schemas.vocabulary import ThinkingForm


def _listed(value: object) -> object:
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) and name for name in names):
        said = "empty" if value is None else repr(value)
        raise ValueError(f"is {said}; write a name or a list of names, in quotes where YAML reads a number")
    return tuple(names)


Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
"""One name or several; ``*`` and ``?`` stand for any characters and any one."""


class When(Part):
    """Which calls are meant: all conditions hold, each by one of its names. A call without the value is not meant."""

    provider: Names | None = None
    model: Names | None = None
    source: Names | None = None
    team: Names | None = None
    user: Names | None = None
    session: Names | None = None
    tag: Annotated[dict[str, Names], Field(min_length=1)] | None = None
    thinking_form: Names | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set or None in self.conditions().values():
            raise ValueError('is empty; name at least one condition (source: "*" means every call)')
        unknown = set(self.thinking_form or ()) - set(ThinkingForm)
        if unknown:
            raise ValueError(f"thinking_form {min(unknown)!r} is none of {', '.join(ThinkingForm)}")
        return self

    def conditions(self) -> dict[str, Any]:
        """The conditions that are named."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}

    def __str__(self) -> str:
        """Say it in one line."""
        told = []
        for name, wanted in self.conditions().items():
            pairs = {f"tag {key}": names for key, names in wanted.items()} if name == "tag" else {name: wanted}
            told += [f"{place}={'|'.join(names)}" for place, names in pairs.items()]
        return ", ".join(told)


class Rule(Clocks):
    """Other clocks for some calls. The first rule that a call meets decides; the defaults say what it leaves out."""

    when: When

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if self.model_fields_set == {"when"}:
            raise ValueError("names no clock; a rule without one decides nothing")
        if self.rejects is not None and self.when.model_fields_set != {"source"}:
            raise ValueError("rejects: of a reject only its source is known; name no other condition beside it")
        return self


class Hold(Part):
    """What must stay until the end of a day, whatever else the policy says."""

    when: When
    until: date
    reason: Annotated[str, Field(min_length=1)]


class Forget(Part):
    """A user or a session whose texts go at once, and whose name is replaced."""

    user: Annotated[str, Field(min_length=1)] | None = None
    session: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.user is None) is (self.session is None):
            raise ValueError("name a user or a session, and one of them only")
        return self


class Rules(Part):
    """What decides over a call: clocks and holds."""

    defaults: Clocks = Clocks()
    rules: tuple[Rule, ...] = ()
    holds: tuple[Hold, ...] = ()

    @field_validator("defaults")
    @classmethod
    def _defaults_say_something(cls, defaults: Clocks) -> Clocks:
        if not defaults.model_fields_set:
            raise ValueError("is empty; name a clock, as thinking: 30, or leave defaults out, which keeps everything")
        return defaults

    def retained(self, place: int) -> Retained:
        """The clocks of the calls that meet the rule at this place, from 1 on; 0: of those that meet none."""
        named = self.rules[place - 1] if place else Clocks()
        privacy = named.privacy or self.defaults.privacy
        if privacy is Privacy.TEXT_FREE:
            otherwise: Clock = Word.IMMEDIATELY
            thinking, answer, error = named.thinking, named.answer, named.error_message
        else:
            otherwise = Word.KEEP
            thinking = named.thinking or self.defaults.thinking
            answer = named.answer or self.defaults.answer
            error = named.error_message or self.defaults.error_message
        thinking, answer = thinking or otherwise, answer or otherwise
        return Retained(
            thinking=thinking,
            answer=answer,
            error_message=error or shortest((thinking, answer)),
            tags=named.tags or self.defaults.tags or Word.KEEP,
        )

    def everywhere(self) -> list[Retained]:
        """The clocks of the defaults and of each rule."""
        return [self.retained(place) for place in range(len(self.rules) + 1)]

    def rejects(self) -> Clock:
        """The clock of rejects that no rule for their source names: whose texts they hold is not known."""
        return self.defaults.rejects or shortest(clocks.rest for clocks in self.everywhere())

    def describe(self, place: int) -> str:
        """The name of a rule by its place."""
        return f"rule {place} ({self.rules[place - 1].when})" if place else "defaults"


class Policy(Rules):
    """A policy as people write it."""

    forget: tuple[Forget, ...] = ()


class Forgotten(Part):
    """Users and sessions to forget, as SHA-256 hashes with the lake's own salt."""

    salt: str
    users: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()


class PolicyInForce(Rules):
    """A policy as the lake keeps it: ``retention/policy-….json``. It names nobody who is to be forgotten."""

    forgotten: Forgotten
