"""What is redacted at ingest: patterns by name, and anybody's own."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from pathlib import Path

import re2
from pydantic import BaseModel, ConfigDict

from schemas.yaml_text import load_yaml

_FILE = Path(__file__).with_name("redaction.yaml")
ALL = "all"


class RedactionError(ValueError):
    """A pattern that cannot be used; the text is one line that says which and why."""


class Check(StrEnum):
    """What a match must also meet."""

    LUHN = "luhn"
    IBAN = "iban"


class Pattern(BaseModel):
    """One pattern; what it matches is replaced by its name in brackets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    what: str
    pattern: str
    check: Check | None = None
    source: str = ""


@cache
def known_patterns() -> Mapping[str, Pattern]:
    """The patterns that have names."""
    content = load_yaml(_FILE.read_text("utf-8"))
    return {name: Pattern(name=name, **fields) for name, fields in content.items()}


def patterns_of(wanted: Sequence[str]) -> tuple[Pattern, ...]:
    """Patterns by name, ``all`` of them, or one's own as ``NAME=PATTERN``, each once.

    Raises:
        RedactionError: there is no such name, or the pattern is none.
    """
    found: dict[str, Pattern] = {}
    for text in wanted:
        name, is_own, pattern = text.partition("=")
        if is_own:
            found[name] = _own(name, pattern)
        elif name == ALL:
            found |= known_patterns()
        elif name in known_patterns():
            found[name] = known_patterns()[name]
        else:
            near = get_close_matches(name, [ALL, *known_patterns()], n=1)
            hint = f"did you mean {near[0]}?" if near else "write one of your own as NAME=PATTERN"
            raise RedactionError(f"there is no pattern {name!r} ({', '.join(known_patterns())}, {ALL}); {hint}")
    return tuple(found.values())


def _own(name: str, pattern: str) -> Pattern:
    if not name.isidentifier() or not name.isascii():
        raise RedactionError(f"{name!r} is no name for a pattern: use letters, digits and underscores")
    try:
        compiled = re2.compile(pattern, _quiet())
    except re2.error as error:
        told = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
        raise RedactionError(f"{name}={pattern}: {told} (patterns are RE2's, without look-around)") from None
    if compiled.search(""):
        raise RedactionError(f"{name}={pattern}: matches nothing at all, so it would match everywhere")
    if compiled.search(f"[{name}]"):
        raise RedactionError(f"{name}={pattern}: matches its own mark [{name}]; give it another name")
    return Pattern(name=name, what="your own", pattern=pattern)


def _quiet() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    return options
