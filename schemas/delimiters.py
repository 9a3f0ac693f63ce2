"""The registry of inline delimiters: ``delimiters.yaml``, checked and compiled.

What the file's fields mean is said at its head. ``delimiters_for`` gives the splitter what one model's text needs.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple, Self

from pydantic import BaseModel, ConfigDict, model_validator

from schemas.vocabulary import Effort, TagPolicy
from schemas.yaml_text import load_yaml

_LAST_BRACKET = re.compile(r"(?<!\|)(\\\]|[>▷])\Z")
"""Of a tag; special tokens (`<|…|>`) are written in one piece."""
_FIXED = re.compile(r"[\w:]{0,3}")
"""Up to three characters that every case-blind match of a spelling has in these places."""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Pair(_Entry):
    """One pair of delimiters, with every spelling of its two marks."""

    name: str
    open: tuple[str, ...]
    close: tuple[str, ...]
    needle: str = "</"
    models: str | None = None
    closes_alone: bool = True
    answer_open: tuple[str, ...] = ()
    answer_close: tuple[str, ...] = ()
    effort: Effort | None = None
    """The effort that ran, where the tag's name tells it."""

    @model_validator(mode="after")
    def _every_closing_spelling_holds_the_needle(self) -> Self:
        if not all(self.needle in spelling for spelling in self.close):
            raise ValueError(f"{self.name}: a closing spelling lacks the needle {self.needle!r}")
        if self.closes_alone and self.needle.lower() != self.needle.upper():
            raise ValueError(f"{self.name}: the needle {self.needle!r} has letters, which may come in another case")
        return self


class QuietFamily(_Entry):
    """Models that never write a closing tag without its opening tag, apart from the pairs named."""

    models: str
    apart_from: tuple[str, ...]


class UnmarkedFamily(_Entry):
    """Models whose thinking and answer are one text without a mark where a request asks for this format."""

    models: str
    reasoning_format: str


class Registry(_Entry):
    """The whole file."""

    pairs: tuple[Pair, ...]
    quiet_families: tuple[QuietFamily, ...]
    harmony_models: str
    unmarked: tuple[UnmarkedFamily, ...] = ()
    policies: dict[TagPolicy, tuple[str, ...]]

    @model_validator(mode="after")
    def _names_are_unique_and_known(self) -> Self:
        names = [pair.name for pair in self.pairs]
        if len(set(names)) < len(names):
            raise ValueError("two pairs have one name")
        named = [*self.policies.values(), *(family.apart_from for family in self.quiet_families)]
        if unknown := {name for some in named for name in some} - set(names):
            raise ValueError(f"no such pair: {', '.join(sorted(unknown))}")
        return self


class Delimiter(NamedTuple):
    """One pair, compiled. ``answer_open`` matches from the text's start, ``answer_close`` up to its end."""

    open: re.Pattern[str]
    close: re.Pattern[str]
    answer_open: re.Pattern[str] | None
    answer_close: re.Pattern[str] | None
    effort: Effort | None


class Closing(NamedTuple):
    """Closing marks that begin alike; most texts hold none of them, and three steps tell so at rising cost."""

    character: str
    guard: re.Pattern[str]
    marks: re.Pattern[str]

    def first(self, text: str) -> re.Match[str] | None:
        """Find the first of the marks."""
        return self.marks.search(text) if self.character in text and self.guard.search(text) else None


class Delimiters(NamedTuple):
    """What the texts of one model may be delimited with."""

    pairs: tuple[Delimiter, ...]
    starts: re.Pattern[str]
    """White space and any opening mark, for matching at the text's start."""
    opened: re.Pattern[str]
    """Any opening mark, also one that carries attributes: whether a closing mark stands alone."""
    lone: tuple[Closing, ...]
    """The marks that end a trace without an opening mark; none for a family known never to write so."""
    harmony: bool
    """The model's raw text is known to be Harmony."""


@cache
def registry() -> Registry:
    """Read the file. Raises ``pydantic.ValidationError`` where it is not as described."""
    return Registry.model_validate(load_yaml((files("schemas") / "delimiters.yaml").read_text("utf-8")))


@lru_cache(maxsize=4096)
def delimiters_for(model: str | None) -> Delimiters:
    """Give the delimiters for a model's name in any spelling; an unknown or missing name may write every common tag."""
    known, name = registry(), (model or "").lower()
    usable = [pair for pair in known.pairs if pair.models is None or re.search(pair.models, name)]
    lone = {pair.name for pair in usable if pair.closes_alone}
    for family in known.quiet_families:
        if re.search(family.models, name):
            lone &= set(family.apart_from)
    harmony = bool(re.search(known.harmony_models, name))
    return _compiled(tuple(pair.name for pair in usable), frozenset(lone), harmony=harmony)


def leaves_no_mark(model: str | None, reasoning_format: str | None) -> bool:
    """Tell whether a model's thinking and answer come as one text that nothing can split, by what the request asked."""
    if reasoning_format is None:
        return False
    name, wanted = (model or "").lower(), reasoning_format.lower()
    return any(family.reasoning_format == wanted and re.search(family.models, name) for family in registry().unmarked)


@cache
def policy_delimiters(policy: TagPolicy) -> tuple[Delimiter, ...]:
    """Give the pairs that a policy other than ``leading`` reads."""
    return tuple(_delimiter(name) for name in registry().policies[policy])


@cache
def _compiled(names: tuple[str, ...], lone: frozenset[str], *, harmony: bool) -> Delimiters:
    pairs = [pair for pair in registry().pairs if pair.name in names]
    by_needle: dict[str, list[str]] = {}
    for pair in pairs:
        if pair.name in lone:
            by_needle.setdefault(pair.needle, []).extend(pair.close)
    every_open = [spelling for pair in pairs for spelling in pair.open]
    return Delimiters(
        pairs=tuple(_delimiter(pair.name) for pair in pairs),
        starts=re.compile(rf"\s*(?:{_any(every_open)})", re.IGNORECASE),
        opened=re.compile(_any(every_open, before_bracket=r"(?:\s[^<>]*)?"), re.IGNORECASE),
        lone=tuple(_closing(needle, close) for needle, close in by_needle.items()),
        harmony=harmony,
    )


def _closing(needle: str, spellings: list[str]) -> Closing:
    """Compile closing marks. The guard is the needle and what may stand in the places behind it: one pass."""
    heads = [_FIXED.findall(spelling.removeprefix(needle))[0] for spelling in spellings if spelling.startswith(needle)]
    guard = re.escape(needle)
    if len(heads) == len(spellings):
        for place in zip(*heads, strict=False):
            guard += f"[{re.escape(''.join(sorted({case for c in place for case in (c.lower(), c.upper())})))}]"
    return Closing(needle[0], re.compile(guard), re.compile(_any(spellings), re.IGNORECASE))


@cache
def _delimiter(name: str) -> Delimiter:
    [pair] = [pair for pair in registry().pairs if pair.name == name]
    return Delimiter(
        open=re.compile(_any(pair.open), re.IGNORECASE),
        close=re.compile(_any(pair.close), re.IGNORECASE),
        answer_open=re.compile(rf"\s*(?:{_any(pair.answer_open)})", re.IGNORECASE) if pair.answer_open else None,
        answer_close=re.compile(rf"(?:{_any(pair.answer_close)})\s*\Z", re.IGNORECASE) if pair.answer_close else None,
        effort=pair.effort,
    )


def _any(spellings: Iterable[str], *, before_bracket: str = r"\s*") -> str:
    """Give the pattern of any spelling, the longest first; no group, so that a search can skip to the common start."""
    longest_first = sorted(set(spellings), key=lambda spelling: (-len(spelling), spelling))
    return "|".join(_pattern(spelling, before_bracket) for spelling in longest_first)


def _pattern(spelling: str, before_bracket: str) -> str:
    escaped = re.escape(spelling).replace(r"\*", r"[\w.\-]+")
    pieces = re.sub(r"(?<=\\\|>)(?=.)", lambda _: r"\s*", escaped, flags=re.DOTALL)
    pieces = re.sub(r"(?<=[\w>])(?=<\\\|)", lambda _: r"\s*", pieces)
    return _LAST_BRACKET.sub(lambda match: before_bracket + match.group(), pieces)
