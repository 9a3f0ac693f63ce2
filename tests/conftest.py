"""Fixtures and options of all tests.

- ``--update-golden`` rewrites every ``expected.jsonl`` from what comes out now; the diff is the review.
- ``shared`` is the folder of cases and recorded traffic beside the repository; tests that need it skip without it.
"""

from pathlib import Path

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
