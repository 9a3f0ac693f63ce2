"""What is known of a model's effort: ``model_profiles.yaml``, checked, and found by a model's name and a day.

What the file's fields mean is said at its head.
"""

import re
from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from schemas.vocabulary import Effort
from schemas.yaml_text import load_yaml

_EPOCH = date(1970, 1, 1).toordinal()
_BEFORE_THE_NAME = re.compile(
    r"""
    (?: ft: | databricks- | zai-(?=glm) | openai-(?=gpt|o\d)
      | (?: (?:us|us-gov|eu|apac|global|jp|au|ca|sa|me|af) \. )?
        (?: ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai
          | qwen|writer|xai|zai) \.
    )
    """,
    re.VERBOSE,
)
"""What Bedrock, Databricks, Cerebras and fine-tuning put before a model's name."""
_POINT_OF_FIREWORKS = re.compile(r"(?<=\d)p(?=\d)")
_CLAUDE = re.compile(r"claude-(?P<version>\d+(?:-\d)?)-(?P<tier>[a-z]+)")
_PARTS = re.compile(r"[-:@_ ]")
_A_FURTHER_VERSION = re.compile(r"-[1-9]\d?(?![\da-z])")


class OffSwitch(StrEnum):
    """What the coarse switch "off" does to a model."""

    LOWEST_LEVEL = "lowest_level"
    ENDS_THINKING = "ends_thinking"
    BY_HOST = "by_host"


class Remap(BaseModel):
    """What a host made of the levels that it was asked for, by its own word of one day: a record, never a rule."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str
    seen: date
    levels: dict[str, Effort]
    source: str


class ModelProfile(BaseModel):
    """One family's effort. ``scale`` null is not known, empty is known to have none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    names: tuple[str, ...]
    scale: tuple[Effort, ...] | None = None
    default: Effort | None = None
    thinks_by_default: bool | None = None
    off_switch: OffSwitch = OffSwitch.LOWEST_LEVEL
    valid_from: date | None = None
    valid_to: date | None = None
    remaps: tuple[Remap, ...] = ()
    source: str

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        levels = list(Effort)
        if self.scale is not None and list(self.scale) != sorted(set(self.scale), key=levels.index):
            raise ValueError(f"{self.names[0]}: the scale must go from least to most")
        if self.default is not None and self.default not in (self.scale or ()):
            raise ValueError(f"{self.names[0]}: the default is no level of the scale")
        if any(level not in (self.scale or ()) for remap in self.remaps for level in remap.levels.values()):
            raise ValueError(f"{self.names[0]}: a remap leads to no level of the scale")
        if other := [name for name in self.names if bare_name(name) != name]:
            raise ValueError(f"{', '.join(other)}: not spelled as names are looked for, see `bare_name`")
        return self

    def holds_on(self, day: int | None) -> bool:
        """Tell whether it holds on a day, counted since 1970; a call without a day matches no dated profile."""
        if self.valid_from is None and self.valid_to is None:
            return True
        if day is None:
            return False
        moment = date.fromordinal(_EPOCH + day)
        return (self.valid_from or moment) <= moment <= (self.valid_to or moment)


class PromptSwitch(BaseModel):
    """Words in a prompt by which a family is told whether, or how much, to think."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: re.Pattern[str]
    apart_from: re.Pattern[str] | None = None
    words: dict[str, Effort | Literal["on", "off"]]
    of_users: bool = False
    source: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Any of the words standing by itself: no part of a longer word, a closing tag (``</think>``) or a path."""
        words = "|".join(re.escape(word) for word in sorted(self.words, key=len, reverse=True))
        return re.compile(rf"(?<![A-Za-z\d_/<.:-])(?:{words})(?![A-Za-z\d_/])")

    def is_read_by(self, name: str) -> bool:
        """Tell whether a model, by its bare name, reads the words."""
        if self.models.search(name) is None:
            return False
        return self.apart_from is None or self.apart_from.search(name) is None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt_switches: tuple[PromptSwitch, ...]
    profiles: tuple[ModelProfile, ...]


def model_profiles() -> tuple[ModelProfile, ...]:
    """Read the file. Raises ``pydantic.ValidationError`` where it is not as described."""
    return _file().profiles


@lru_cache(maxsize=4096)
def prompt_switches_of(model: str) -> tuple[PromptSwitch, ...]:
    """Give the words that a model, named in any host's spelling, reads out of its prompt; most models read none."""
    name = bare_name(model)
    return tuple(switch for switch in _file().prompt_switches if switch.is_read_by(name))


@cache
def prompt_words() -> dict[str, str]:
    """Give the meaning of every word of the prompt switches: a level, ``on`` or ``off``."""
    return {word: meaning for switch in _file().prompt_switches for word, meaning in switch.words.items()}


@cache
def _file() -> _File:
    return _File.model_validate(load_yaml((files("schemas") / "model_profiles.yaml").read_text("utf-8")))


@lru_cache(maxsize=4096)
def profile_of(model: str, day: int | None) -> ModelProfile | None:
    """Give the profile of a model, named in any host's spelling, on a day since 1970; null where none is known."""
    by_name = _by_name()
    for name in covering_names(bare_name(model)):
        for profile in by_name.get(name, ()):
            if profile.holds_on(day):
                return profile
    return None


@cache
def _by_name() -> dict[str, list[ModelProfile]]:
    by_name: dict[str, list[ModelProfile]] = {}
    for profile in model_profiles():
        for name in profile.names:
            by_name.setdefault(name, []).append(profile)
    return by_name


def bare_name(model: str) -> str:
    """A model's own name in lower case, without what hosts put before it.

    ``us.anthropic.claude-opus-4-8-v1:0``, ``anthropic/claude-opus-4.8``, ``accounts/fireworks/models/glm-4p6`` and
    ``openai/gpt-5`` lose their prefixes; Claude's names get one order, and dashes (OpenRouter: ``claude-4.6-sonnet``).
    """
    lowered = model.lower().strip().rstrip("/")
    name = _BEFORE_THE_NAME.sub("", lowered.rpartition("/")[2], count=1)
    if "fireworks/" in lowered:
        name = _POINT_OF_FIREWORKS.sub(".", name)
    if name.startswith("claude"):
        name = _CLAUDE.sub(r"claude-\g<tier>-\g<version>", name.replace(".", "-"), count=1)
    return name


def covering_names(name: str) -> Iterator[str]:
    """The names that may cover a bare name, longest first: ``gpt-5-nano-2025``, ``gpt-5-nano``, ``gpt-5``, ``gpt``.

    A name is never cut before a further version: ``gpt-5`` does not cover ``gpt-5-1``, nor ``claude-opus-4``
    ``claude-opus-4-9``; of the digits behind a version only a date or a size goes.
    """
    yield name
    for part in reversed(list(_PARTS.finditer(name))):
        head = name[: part.start()]
        if head[-1:].isdigit() and _A_FURTHER_VERSION.match(name, part.start()):
            continue
        yield head
