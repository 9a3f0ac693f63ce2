"""Paths of a mapping: where in a record a value is.

A path is made of keys with dots between them, and of

- ``['key.with.dots']`` and ``[n]`` (an index, from the end where negative),
- ``^`` at its beginning: the record that the exploded one was in (``^.^`` the one around that),
- ``name{key=value}``: the first object of a list that has this value (case ignored). Where the key is ``key``, as in
  OTLP, it stands for the attribute's value,
- ``[*]``, in ``records`` only: each item of a list.

A text that holds JSON is looked into like an object. A missing path is null.
"""

import re
from typing import NamedTuple

_STEP = re.compile(
    r"""(?P<up>\^) | (?P<all>\[\*\]) | \[(?P<index>-?\d+)\] | \['(?P<quoted>[^']+)'\]
    | (?P<key>[^.\[\]{}^'\s]+) (?:\{(?P<pick>\w+)=(?P<value>[^}]+)\})?""",
    re.VERBOSE,
)


class Up(NamedTuple):
    """To the record around this one."""


class All(NamedTuple):
    """Each item of a list."""


class Pick(NamedTuple):
    """The first object of a list whose ``key`` is ``value`` (casefolded)."""

    key: str
    value: str


Step = str | int | Pick | Up | All


def parse_path(text: str) -> tuple[Step, ...]:
    """The steps of a path. Raises ``ValueError`` where the text is none."""
    steps: list[Step] = []
    position = 0
    while position < len(text):
        if steps and text[position] == ".":
            position += 1
        found = _STEP.match(text, position)
        if found is None:
            raise ValueError(f"{text!r} is no path from {text[position:]!r} on")
        steps += _steps(found)
        position = found.end()
    ups = sum(isinstance(step, Up) for step in steps)
    if not steps or not all(isinstance(step, Up) for step in steps[:ups]):
        raise ValueError(f"{text!r} is no path: ^ stands at the beginning only")
    return tuple(steps)


def _steps(found: re.Match[str]) -> list[Step]:
    if found["up"]:
        return [Up()]
    if found["all"]:
        return [All()]
    if found["index"]:
        return [int(found["index"])]
    key = found["quoted"] or found["key"]
    return [key, Pick(found["pick"], found["value"].casefold())] if found["pick"] else [key]
