"""Every question of ``sql/`` runs, says what it answers, and reads no more than it says."""

import re
from pathlib import Path

import orjson
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from pipelines.cli import main
from pipelines.query import listed, sql_of
from pipelines.sample_traffic import write_sample
from tests.lakes import thinkledger

QUESTIONS = [question.name for question in listed()]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("query")
    write_sample(folder / "logs", 200)
    assert thinkledger("normalise", folder / "logs", "--lake", folder / "lake").returncode == 0
    return folder / "lake"


@pytest.mark.parametrize("name", QUESTIONS)
def test_question_runs(name: str, lake: Path) -> None:
    result = CliRunner().invoke(main, ["query", name, "--lake", str(lake), "--format", "json"])
    assert result.exit_code == 0, result.output
    for line in result.stdout_bytes.splitlines():
        orjson.loads(line)


@pytest.mark.parametrize("name", QUESTIONS)
def test_question_has_a_header(name: str) -> None:
    header = [line for line in sql_of(name).splitlines() if line.startswith("--")]
    assert header[0].endswith((".", "?"))
    assert any(re.match(r"-- grain: ", line) for line in header)
    assert any(re.match(r"-- reads: ", line) for line in header)


def test_dates_bound_a_question(lake: Path) -> None:
    arguments = ["query", "tokens_by_day", "--lake", str(lake), "--format", "json"]
    result = CliRunner().invoke(main, [*arguments, "--since", "2026-10-05", "--until", "2026-10-06"])
    dates = {orjson.loads(line)["date"] for line in result.stdout_bytes.splitlines()}
    assert dates == {"2026-10-05", "2026-10-06"}


def test_formats(lake: Path, tmp_path: Path) -> None:
    sql = tmp_path / "mine.sql"
    sql.write_text("SELECT count(*) AS calls, getvariable('who') AS who FROM calls")
    base = ["query", str(sql), "--lake", str(lake), "--set", "who=me"]
    assert CliRunner().invoke(main, [*base, "--format", "csv"]).output == '"calls","who"\n211,"me"\n'
    parquet = tmp_path / "out.parquet"
    parquet.write_bytes(CliRunner().invoke(main, [*base, "--format", "parquet"]).stdout_bytes)
    assert pq.read_table(parquet).to_pylist() == [{"calls": 211, "who": "me"}]
    assert "211" in CliRunner().invoke(main, base).output


def test_sql_from_the_standard_input_and_its_errors(lake: Path) -> None:
    result = CliRunner().invoke(main, ["query", "-", "--lake", str(lake), "--format", "csv"], input="SELECT 1 AS one")
    assert result.output == '"one"\n1\n'
    wrong = CliRunner().invoke(main, ["query", "-", "--lake", str(lake)], input="SELECT nothing FROM calls")
    assert wrong.exit_code == 2
    assert "nothing" in wrong.stderr
    writing = CliRunner().invoke(main, ["query", "-", "--lake", str(lake)], input="CREATE TABLE t AS SELECT 1")
    assert writing.exit_code == 2
    assert "read-only" in writing.stderr
