"""The shared cases: lines in, rows out, through ``inspect --json`` and through a real run into a lake of its own."""

from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import orjson
import pytest
from click.testing import CliRunner

from pipelines.cli import main
from tests.conftest import SHARED

CASES = SHARED / "cases"


class Case(NamedTuple):
    """One line of a shared case file."""

    id: str
    lines: list[Any]
    expect: list[dict[str, Any]]

    def write(self, folder: Path) -> Path:
        path = folder / "input.jsonl"
        path.write_bytes(b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in self.lines))
        return path


def cases() -> list[Case]:
    rows = [orjson.loads(line) for path in sorted(CASES.glob("*.jsonl")) for line in path.read_bytes().splitlines()]
    return [Case(row["id"], row["lines"], row["expect"]) for row in rows]


def named(rows: list[dict[str, Any]], expect: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The columns that the case names; the others are free."""
    return [{name: row[name] for name in want} for row, want in zip(rows, expect, strict=True)]


needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason=f"the shared cases are not at {CASES}")


@needs_cases
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_case_through_inspect(case: Case, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["inspect", str(case.write(tmp_path)), "--json"])
    assert result.exit_code == 0, result.output
    rows = [orjson.loads(line) for line in result.stdout_bytes.splitlines()]
    assert named(rows, case.expect) == case.expect


@needs_cases
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_case_through_a_lake(case: Case, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    result = CliRunner().invoke(main, ["normalise", str(case.write(tmp_path)), "--lake", str(lake)])
    assert result.exit_code == 0, result.output
    with duckdb.connect(str(lake / "thinkledger.duckdb"), read_only=True) as shell:
        shell.execute("SET VARIABLE lake = $lake", {"lake": str(lake)})
        rows = shell.sql("FROM calls ORDER BY source_file, source_position").to_arrow_table().to_pylist()
    assert named(rows, case.expect) == case.expect
