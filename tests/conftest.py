"""Fixtures and options of all tests.

- ``--update-golden`` rewrites every ``expected.jsonl`` from what comes out now; the diff is the review.
- ``shared`` is the folder of cases and recorded traffic beside the repository; tests that need it skip without it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("default")

SHARED = Path(__file__).parents[2] / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the expected rows of the golden cases")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


class Killed(BaseException):
    """Stands for SIGKILL: nothing catches it, nothing cleans up."""


@pytest.fixture
def kill_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Die instead of the n-th rename; gives the function that sets n, and counts renames."""
    real, state = Path.replace, {"n": 0, "at": -1}

    def replace(self: Path, target: Path) -> Path:
        state["n"] += 1
        if state["n"] == state["at"]:
            raise Killed
        return real(self, target)

    def arm(number: int) -> dict[str, int]:
        state.update(n=0, at=number)
        return state

    monkeypatch.setattr(Path, "replace", replace)
    yield arm
    arm(-1)
