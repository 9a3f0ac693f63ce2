"""Golden cases: a folder holds input lines and the rows that must come out. A new case is data only.

``tests/golden/<group>/<case>/input.jsonl`` and ``expected.jsonl``; an optional ``source.yaml`` is the mapping to use.
Every column is expected, nulls included, so that "absent" is asserted too. ``pytest --update-golden`` rewrites the
expected rows.
"""

import pkgutil
from pathlib import Path
from typing import Any

import orjson
import pytest

from pipelines.inspection import json_rows, outcomes
from schemas.envelope import built_in, load
from transforms import protocols
from transforms.protocols import PROTOCOLS
from transforms.unwrap import Unwrapper

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(path.parent for path in GOLDEN.rglob("input.jsonl"))
# Where a row was found and by which version says nothing of what it means.
LINEAGE = ("source_file", "normaliser_version")


def rows_of(case: Path) -> list[dict[str, Any]]:
    mapping = case / "source.yaml"
    envelopes = [load(str(mapping))] if mapping.exists() else built_in()
    found = outcomes(str(case / "input.jsonl"), Unwrapper(envelopes))
    rows = [row for outcome in found for row in json_rows(outcome)]
    return [{name: value for name, value in row.items() if name not in LINEAGE} for row in rows]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.relative_to(GOLDEN)))
def test_golden(case: Path, *, update_golden: bool) -> None:
    rows = rows_of(case)
    expected = case / "expected.jsonl"
    if update_golden:
        expected.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
    assert [orjson.loads(line) for line in expected.read_bytes().splitlines()] == orjson.loads(orjson.dumps(rows))


PAIRS = sorted(case for case in CASES if case.name.endswith("_whole"))


@pytest.mark.parametrize("whole", PAIRS, ids=lambda case: str(case.relative_to(GOLDEN)))
def test_a_stream_and_the_whole_body_give_the_same_row(whole: Path) -> None:
    stream = whole.with_name(whole.name.removesuffix("_whole") + "_stream")
    may_differ = {"call_id", "streamed", "source_position", "usage_raw"}
    [one], [other] = rows_of(whole), rows_of(stream)
    assert {k: v for k, v in one.items() if k not in may_differ} == {
        k: v for k, v in other.items() if k not in may_differ
    }


def test_every_protocol_has_a_golden_folder_and_a_registry_line() -> None:
    modules = {module.name for module in pkgutil.iter_modules(protocols.__path__)}
    assert sorted(protocol.NAME for protocol in PROTOCOLS) == sorted(modules)
    assert modules <= {folder.name for folder in GOLDEN.iterdir()}
