"""Golden cases of the questions: ``tests/golden/sql/<question>/<case>/``. A new case is data only.

``calls.json`` holds rows with only the columns that matter, of ``calls`` and of ``call_costs`` alike; all others are
null. ``prices.json``, ``rejects.json`` and ``runs.json`` may stand beside it. ``params.json`` holds the variables; one
that names a file of the case becomes its path. ``expected.json`` is the answer, which ``--update-golden`` rewrites.
"""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pytest

from pipelines.query import listed, prepare, sql_of
from pipelines.sample_traffic import write_sample
from schemas.lake import Pointer
from sql import text
from tests.lakes import thinkledger
from transforms.lake import POINTER
from transforms.views import build_views

GOLDEN = Path(__file__).parent / "golden" / "sql"
CASES = sorted(path.parent for path in GOLDEN.rglob("calls.json"))
QUESTIONS = [question.name for question in listed()]
TABLES = {
    "calls": "calls.json",
    "call_costs": "calls.json",
    "prices": "prices.json",
    "rejects": "rejects.json",
    "runs": "runs.json",
    "call_retention": "call_retention.json",
    "holds": "holds.json",
    "data_files": "data_files.json",
}
TEXTS = {"thinking", "answer", "segments", "usage_raw"}
READS_TEXTS = {
    # By their texts alone two finished records of one id are one call or two; read for repeated ids only.
    "cross_partition_duplicates",
}


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The views of a lake without any call: what every relation's columns and types are."""
    folder = tmp_path_factory.mktemp("empty")
    pointer = Pointer(committed_at=datetime(2026, 1, 1, tzinfo=UTC))
    (folder / POINTER).write_text(pointer.model_dump_json())
    build_views(folder / "views.duckdb", folder, pointer)
    return folder / "views.duckdb"


@pytest.fixture
def shell(empty: Path) -> duckdb.DuckDBPyConnection:
    """A database whose views are empty tables of the same types; views built on those stay views."""
    db = duckdb.connect()
    db.execute("SET TimeZone = 'UTC'")
    db.execute(f"ATTACH '{empty}' AS views (READ_ONLY)")
    db.execute("SET VARIABLE lake = $path", {"path": str(empty.parent)})
    for table in TABLES:
        db.execute(f"CREATE TABLE {table} AS FROM views.{table}")
    db.execute(text("views/focus_charges"))
    # A lake has the date itself there: its files are named by it.
    db.execute("CREATE MACRO newest_date() AS (SELECT max(date) FROM calls)")
    return db


def load(db: duckdb.DuckDBPyConnection, table: str, file: Path) -> set[str]:
    """Add the rows of a file; a column that the table lacks is left out. Gives the table's columns."""
    types = {name: kind for name, kind, *_ in db.execute(f"DESCRIBE {table}").fetchall()}
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in types.items())
    db.execute(f"INSERT INTO {table} BY NAME FROM read_json('{file}', columns = {{{columns}}}, format = 'array')")
    return set(types)


def answer(db: duckdb.DuckDBPyConnection, case: Path) -> list[dict[str, Any]]:
    for table, name in TABLES.items():
        if (case / name).exists():
            load(db, table, case / name)
    parameters = json.loads((case / "params.json").read_text())
    values = {key: str(case / value) if (case / value).is_file() else value for key, value in parameters.items()}
    prepare(db, values)
    rows = db.sql(sql_of(case.parent.name)).to_arrow_table().to_pylist()
    plain: list[dict[str, Any]] = orjson.loads(orjson.dumps(rows, default=str, option=orjson.OPT_NON_STR_KEYS))
    return plain


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_golden(case: Path, shell: duckdb.DuckDBPyConnection, *, update_golden: bool) -> None:
    found = answer(shell, case)
    expected = case / "expected.json"
    if update_golden:
        lines = ",\n".join(orjson.dumps(row).decode() for row in found)
        expected.write_text(f"[\n{lines}\n]\n")
    assert found == json.loads(expected.read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_rows_of_a_case_name_columns_that_exist(case: Path, shell: duckdb.DuckDBPyConnection) -> None:
    known = load(shell, "calls", case / "calls.json") | load(shell, "call_costs", case / "calls.json")
    assert {name for row in json.loads((case / "calls.json").read_text()) for name in row} <= known


def test_every_question_has_a_case() -> None:
    assert {case.parent.name for case in CASES} == set(QUESTIONS)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    write_sample(folder / "logs", 200)
    assert thinkledger("normalise", folder / "logs", "--lake", folder / "lake").returncode == 0
    return folder / "lake"


def scanned(lake: Path, sql: str) -> set[str]:
    """The columns that a query reads of the lake's Parquet files, by the plan."""
    with duckdb.connect(str(lake / "thinkledger.duckdb"), read_only=True) as db:
        db.execute("SET VARIABLE lake = $lake", {"lake": str(lake)})
        [(_, plan)] = db.execute(f"EXPLAIN (FORMAT json) {sql}").fetchall()
    return set(_projections(json.loads(plan)))


def _projections(nodes: list[dict[str, Any]]) -> list[str]:
    found: list[str] = []
    for node in nodes:
        info = node.get("extra_info", {})
        if "PARQUET" in node["name"]:
            projected = info.get("Projections", [])
            found += [projected] if isinstance(projected, str) else projected
            found += re.findall(r"\w+", str(info.get("Filters", "")))
        found += _projections(node.get("children", []))
    return found


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_reads_no_text(name: str, lake: Path) -> None:
    columns = scanned(lake, sql_of(name))
    assert bool(columns & TEXTS) == (name in READS_TEXTS), columns


def test_the_plan_shows_what_is_read(lake: Path) -> None:
    """Else the test above would hold of any question."""
    assert scanned(lake, "SELECT model, strlen(thinking) FROM calls") == {"model", "thinking"}
    assert scanned(lake, "SELECT model FROM calls WHERE answer < 'b'") >= {"model", "answer"}
