"""The lake in the duckdb shell from PyPI: its views are enough, wherever the lake lies."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.query import listed, sql_of
from pipelines.sample_traffic import write_sample
from tests.lakes import thinkledger

SHELL = shutil.which("duckdb", path=Path(sys.executable).parent) or shutil.which("duckdb")
pytestmark = pytest.mark.skipif(SHELL is None, reason="the duckdb shell is not installed: pip install duckdb-cli")
COUNT = "SELECT count(*) AS calls FROM calls"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shell")
    write_sample(folder / "logs", 200)
    assert thinkledger("normalise", folder / "logs", "--lake", folder / "lake").returncode == 0
    return folder / "lake"


def shell(sql: str, folder: Path, database: str | Path = "thinkledger.duckdb") -> str:
    """What the shell prints when it is started in a folder; CSV without a header."""
    assert SHELL is not None
    command = [SHELL, "-readonly", "-bail", "-csv", "-noheader", str(database)]
    done = subprocess.run(
        command, cwd=folder, input=f"{sql};", capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_in_the_lake_nothing_needs_to_be_set(lake: Path) -> None:
    assert shell(COUNT, lake) == "211"


def test_a_moved_lake_still_works(lake: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(lake, tmp_path / "elsewhere" / "renamed")
    assert shell(COUNT, moved) == "211"
    asked = thinkledger("query", "totals", "--lake", moved, "--format", "json")
    assert '"calls":211,' in asked.stdout


def test_from_elsewhere_a_variable_says_where_the_lake_is(lake: Path, tmp_path: Path) -> None:
    sql = f"SET VARIABLE lake = '{lake}'; {COUNT}"
    assert shell(sql, tmp_path, lake / "thinkledger.duckdb") == "211"


@pytest.mark.parametrize("name", [question.name for question in listed()])
def test_a_question_can_be_pasted(name: str, lake: Path) -> None:
    shell(sql_of(name), lake)
