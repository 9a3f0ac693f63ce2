"""Lakes in tests: run the command, read the rows back with DuckDB."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb


def thinkledger(*arguments: str | Path, timeout: float = 240) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, as a user does."""
    command = [sys.executable, "-m", "pipelines", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


def rows(lake: Path, relation: str = "calls") -> list[dict[str, Any]]:
    """Every row of a view in a fixed order, all columns but the run's id."""
    with duckdb.connect(str(lake / "thinkledger.duckdb"), read_only=True) as shell:
        shell.execute("SET VARIABLE lake = $lake", {"lake": str(lake)})
        shell.execute("SET TimeZone = 'UTC'")
        found = shell.table(relation).select("* EXCLUDE (run_id)").order("ALL")
        table: list[dict[str, Any]] = found.to_arrow_table().to_pylist()
    return table


def ask(lake: Path, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a query against the views."""
    with duckdb.connect(str(lake / "thinkledger.duckdb"), read_only=True) as shell:
        shell.execute("SET VARIABLE lake = $lake", {"lake": str(lake)})
        return shell.sql(sql).fetchall()
