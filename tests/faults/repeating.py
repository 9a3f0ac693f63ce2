"""An engine that tries again: steps that fail after they did their work, or run twice with either output kept."""

from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any, NamedTuple

import pytest

from transforms import accounts, expand, normalise, publish, read, stage


class Fault(StrEnum):
    """What happens to the elements of a step."""

    FAILS_ONCE = "fails once after its side effects"
    FIRST_KEPT = "runs twice, the first output is kept"
    SECOND_KEPT = "runs twice, the second output is kept"


class Step(NamedTuple):
    """Where a step's work is defined."""

    owner: Any
    name: str


STEPS = {
    "expand": Step(expand, "_expand_pack"),
    "read": Step(read, "_read_together"),
    "normalise": Step(normalise._NormaliseFn, "process"),
    "stage": Step(stage._StageFn, "process"),
    "publish": Step(publish._PublishFn, "process"),
    "add up": Step(accounts._AddUpFn, "process"),
}
tries: Counter[str] = Counter()
"""How often each step ran since the last ``disturb``."""
_now: dict[str, Fault] = {}
"""The steps that are faulty now."""


def disturb(step: str, fault: Fault, patch: pytest.MonkeyPatch) -> None:
    """Let a step of the pipeline be faulty."""
    tries.clear()
    patch.setitem(_now, step, fault)
    patch.setattr(*STEPS[step], _FAULTY.get(step) or _faulty(step))


def _faulty(step: str) -> Callable[..., Iterator[Any]]:
    def process(*arguments: Any) -> Iterator[Any]:
        return _run(step, arguments)

    return process


def _expand(*arguments: Any) -> Iterator[Any]:
    return _run("expand", arguments)


def _read(*arguments: Any) -> Iterator[Any]:
    return _run("read", arguments)


_FAULTY: dict[str, Callable[..., Iterator[Any]]] = {"expand": _expand, "read": _read}
"""In place of plain functions, which travel by name: so their workers count here too."""


def _run(step: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
    real, fault = _REAL[step], _now[step]
    first = list(real(*arguments) or ())
    tries[step] += 1
    if fault is Fault.FAILS_ONCE:
        if tries[step] == 1:
            raise ConnectionError("the worker died")
        return iter(first)
    second = list(real(*arguments) or ())
    tries[step] += 1
    return iter(first if fault is Fault.FIRST_KEPT else second)


_REAL: dict[str, Callable[..., Any]] = {step: getattr(owner, name) for step, (owner, name) in STEPS.items()}
