"""``thinkledger query``: the questions in ``sql/``, or anybody's own SQL, against a lake. Read-only."""

import sys
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import click
import duckdb
import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from rich.console import Console
from rich.table import Table

from pipelines.options import DATE, date_of
from pipelines.wrong_use import WrongUseError
from sql import names, text

DATABASE = "thinkledger.duckdb"
_FOLDERS = ("spend", "effort", "health", "retention")
_PAGE_WIDTH = 180
FORMATS = ("table", "csv", "json", "parquet")


class Question(NamedTuple):
    """A file of ``sql/``: its name, and what its header says it answers."""

    name: str
    answers: str


@click.command(name="query")
@click.argument("question", required=False, metavar="[NAME|FILE.sql|-]")
@click.option("--lake", type=click.Path(file_okay=False), help="The lake's folder.")
@click.option("--since", type=DATE, help="First UTC date.")
@click.option("--until", type=DATE, help="Last UTC date.")
@click.option("--set", "variables", multiple=True, metavar="KEY=VALUE", help="A variable of the SQL.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="How to print.")
def command(
    question: str | None,
    lake: str | None,
    since: datetime | None,
    until: datetime | None,
    variables: tuple[str, ...],
    form: str,
) -> None:
    """Answer a question from the lake; without a name, list the questions."""
    if question is None:
        _print_questions(_console())
        return
    if lake is None:
        raise WrongUseError("--lake FOLDER is missing: which lake shall answer?")
    values = {"since": date_of(since), "until": date_of(until), **dict(map(_variable, variables))}
    table = ask(lake, sql_of(question), {name: str(value) for name, value in values.items() if value is not None})
    print_table(table, form, _console())


def _variable(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found or not name.isidentifier():
        raise WrongUseError(f"--set {text}: write it as KEY=VALUE, the key in letters, digits and underscores")
    return name, value


def _console() -> Console:
    """The terminal, or a page wide enough for every table."""
    return Console() if sys.stdout.isatty() else Console(width=_PAGE_WIDTH)


def _print_questions(console: Console) -> None:
    table = Table(header_style="bold")
    table.add_column("question", no_wrap=True)
    table.add_column("what it answers")
    for question in listed():
        table.add_row(question.name, question.answers)
    console.print(table)
    console.print("Ask one with: thinkledger query NAME --lake LAKE", style="dim")


def listed() -> list[Question]:
    """Every question with the first line of its header."""
    return [Question(name, text(file).splitlines()[0].removeprefix("-- ")) for name, file in _files().items()]


def sql_of(name: str) -> str:
    """The SQL of a question by name, of a file that ends in ``.sql``, or of ``-``, the standard input."""
    if name == "-":
        return sys.stdin.read()
    if name.endswith(".sql"):
        try:
            return Path(name).read_text()
        except OSError as error:
            raise WrongUseError(f"{name}: {error.strerror}; name an existing .sql file or a question") from error
    files = _files()
    if name not in files:
        near = get_close_matches(name, files, n=1)
        hint = f"did you mean {near[0]}?" if near else "'thinkledger query' lists the questions"
        raise WrongUseError(f"there is no question {name!r}; {hint}")
    return text(files[name])


def _files() -> dict[str, str]:
    """The questions by name, with their files."""
    return {file.rpartition("/")[2]: file for folder in _FOLDERS for file in names(folder)}


def connect(lake: str) -> duckdb.DuckDBPyConnection:
    """Open a lake's views, read-only, from wherever the caller stands."""
    database = Path(lake) / DATABASE
    if not database.is_file():
        raise WrongUseError(
            f"{lake} is no lake: it holds no {DATABASE}; 'thinkledger normalise INPUT --lake {lake}' makes one"
        )
    connection = duckdb.connect(str(database), read_only=True)
    connection.execute("SET VARIABLE lake = $path", {"path": str(Path(lake).resolve())})
    return connection


def ask(lake: str, sql: str, variables: Mapping[str, str]) -> pa.Table:
    """Run SQL against a lake; ``variables`` are what ``getvariable`` reads in it."""
    with connect(lake) as connection:
        for name, value in variables.items():
            connection.execute(f"SET VARIABLE {name} = $value", {"value": value})
        try:
            result = connection.sql(sql)
        except duckdb.Error as error:
            raise WrongUseError(str(error)) from error
        if result is None:
            raise WrongUseError("the SQL gives no rows; a query is one SELECT")
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
    rows = [[_cell(value) for value in row.values()] for row in table.to_pylist()]
    for place, field in enumerate(table.schema):
        name = field.name.replace("_", " ")
        if _is_number(field.type):  # a number is shown whole or it is another number
            width = max(len(cell) for cell in [*name.split(), *(row[place] for row in rows)])
            shown.add_column(name, justify="right", min_width=width)
        else:
            shown.add_column(name, overflow="fold")
    for row in rows:
        shown.add_row(*row)
    return shown


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _cell(value: Any) -> str:
    if value is None:
        return "·"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, Decimal):
        return f"{value:,f}"
    return str(value)
