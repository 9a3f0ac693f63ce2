"""``thinkledger query``: the questions in ``sql/``, or anybody's own SQL, against a lake. Read-only."""

import sys
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from rich.console import Console
from rich.table import Table

from sql import questions, text

DATABASE = "thinkledger.duckdb"
FORMATS = ("table", "csv", "json", "parquet")


class QueryError(ValueError):
    """A question that cannot be asked; the text is one line that says what to do."""


class Question(NamedTuple):
    """A file of ``sql/``: its name, and what its header says it answers."""

    name: str
    answers: str


def listed() -> list[Question]:
    """Every question with the first line of its header."""
    return [Question(name, text(name).splitlines()[0].removeprefix("-- ")) for name in questions()]


def sql_of(name: str) -> str:
    """The SQL of a question by name, of a file that ends in ``.sql``, or of ``-``, the standard input."""
    if name == "-":
        return sys.stdin.read()
    if name.endswith(".sql"):
        try:
            return Path(name).read_text()
        except OSError as error:
            raise QueryError(f"{name}: {error.strerror}; name an existing .sql file or a question") from error
    names = questions()
    if name not in names:
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}?" if near else "'thinkledger query' lists the questions"
        raise QueryError(f"there is no question {name!r}; {hint}")
    return text(name)


def connect(lake: str) -> duckdb.DuckDBPyConnection:
    """Open a lake's views, read-only, from wherever the caller stands."""
    database = Path(lake) / DATABASE
    if not database.is_file():
        raise QueryError(
            f"{lake} is no lake: it holds no {DATABASE}; 'thinkledger normalise INPUT --lake {lake}' makes one"
        )
    connection = duckdb.connect(str(database), read_only=True)
    connection.execute("SET VARIABLE lake = $path", {"path": str(Path(lake).resolve())})
    return connection


def ask(lake: str, sql: str, variables: Mapping[str, str | None]) -> pa.Table:
    """Run SQL against a lake; ``variables`` are what ``getvariable`` reads in it."""
    with connect(lake) as connection:
        for name, value in variables.items():
            if not name.isidentifier():
                raise QueryError(f"--set {name}=…: a variable's name is letters, digits and underscores")
            connection.execute(f"SET VARIABLE {name} = $value", {"value": value})
        try:
            result = connection.sql(sql)
        except duckdb.Error as error:
            raise QueryError(str(error)) from error
        if result is None:
            raise QueryError("the SQL gives no rows; a query is one SELECT")
        return result.to_arrow_table()


def print_table(table: pa.Table, form: str, console: Console) -> None:
    """Print a result: a table that fits the terminal, or csv, json (an object a line) or parquet on stdout."""
    if form == "table":
        console.print(_rich(table))
    elif form == "csv":
        pyarrow.csv.write_csv(table, sys.stdout.buffer)
    elif form == "parquet":
        pyarrow.parquet.write_table(table, sys.stdout.buffer)
    else:
        for row in table.to_pylist():
            sys.stdout.buffer.write(orjson.dumps(row, default=str, option=orjson.OPT_APPEND_NEWLINE))
    sys.stdout.flush()


def _rich(table: pa.Table) -> Table:
    shown = Table(header_style="bold", row_styles=["", "dim"])
    for field in table.schema:
        numeric = pa.types.is_integer(field.type) or pa.types.is_floating(field.type) or pa.types.is_decimal(field.type)
        shown.add_column(field.name.replace("_", " "), justify="right" if numeric else "left", overflow="fold")
    for row in table.to_pylist():
        shown.add_row(*[_cell(value) for value in row.values()])
    return shown


def _cell(value: Any) -> str:
    if value is None:
        return "·"
    if isinstance(value, bool) or not isinstance(value, int):
        return str(value)
    return f"{value:,}"
