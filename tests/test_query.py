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
    required = ["--set", "to_model=gpt-5-mini"] if name == "what_if_model" else []
    result = CliRunner().invoke(main, ["query", name, "--lake", str(lake), "--format", "json", *required])
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


def test_errors_show_the_line(lake: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.sql"
    mine.write_text("SELECT\n    model,\n    modle\nFROM calls")
    wrong = CliRunner().invoke(main, ["query", str(mine), "--lake", str(lake)])
    assert wrong.exit_code == 2
    assert "LINE 3:     modle" in wrong.stderr


def test_an_error_while_running_is_no_traceback(lake: Path) -> None:
    wrong = CliRunner().invoke(main, ["query", "-", "--lake", str(lake)], input="SELECT model::DATE FROM calls")
    assert wrong.exit_code == 2
    assert "Conversion Error" in wrong.stderr


def test_a_variable_that_nothing_reads_is_wrong_use(lake: Path) -> None:
    wrong = CliRunner().invoke(main, ["query", "outliers", "--lake", str(lake), "--set", "tims=3"])
    assert wrong.exit_code == 2
    assert "outliers does not read 'tims'; it reads: since, times, top, until" in wrong.stderr
    wrong = CliRunner().invoke(main, ["query", "accounts", "--lake", str(lake), "--since", "2026-10-01"])
    assert "accounts does not read 'since'; it reads: no variables" in wrong.stderr


def test_a_question_explains_itself_without_a_lake() -> None:
    explained = CliRunner().invoke(main, ["query", "spend_by_team", "--explain"])
    assert explained.output == sql_of("spend_by_team")


def test_questions_are_listed_with_their_headers() -> None:
    [team] = [question for question in listed() if question.name == "spend_by_team"]
    assert team.answers == "What each team spent in a month, and how much of its budget that is."
    assert team.reads == "call_costs"
    assert team.parameters.endswith("and, where a budget is one month's only, month as 2026-11)")
    shown = CliRunner().invoke(main, ["query"]).output
    assert "spend_by_team" in shown
    assert "retry_seconds" in shown


def test_the_header_names_every_variable_that_is_read() -> None:
    for question in listed():
        read = set(re.findall(r"getvariable\('(\w+)'\)", sql_of(question.name)))
        assert [name for name in read if not re.search(rf"\b{name}\b", question.parameters)] == [], question.name


def test_budgets_come_from_a_file(lake: Path, tmp_path: Path) -> None:
    budgets = tmp_path / "bob's budgets.csv"
    budgets.write_text("team,budget_usd\nnobody,10\n")
    base = ["query", "spend_by_team", "--lake", str(lake), "--format", "json", "--set"]
    result = CliRunner().invoke(main, [*base, f"budgets={budgets}"])
    assert '"team":"nobody","calls":0,' in result.output
    missing = CliRunner().invoke(main, [*base, "budgets=nowhere.csv"])
    assert missing.exit_code == 2
    assert "nowhere.csv" in missing.stderr


def test_a_question_without_what_it_requires_says_what(lake: Path) -> None:
    result = CliRunner().invoke(main, ["query", "what_if_model", "--lake", str(lake)])
    assert result.exit_code == 2
    assert "what_if_model needs a value for to_model: --set to_model=VALUE" in result.stderr
