"""``thinkledger query``: the questions in ``sql/``, or anybody's own SQL, against a lake. Read-only."""

import re
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
from transforms.partitions import pruned_to
from transforms.views import create_views

DATABASE = "thinkledger.duckdb"
_FOLDERS = ("spend", "effort", "health", "retention")
_PAGE_WIDTH = 180
FORMATS = ("table", "csv", "json", "parquet")


_FIELD = re.compile(r"(grain|reads|parameters): (.*)")
_VARIABLE = re.compile(r"getvariable\('(\w+)'\)")
_REQUIRED = re.compile(r"^-- .*?\b(\w+) \(required", re.MULTILINE)
"""As a question's header says it."""


class Question(NamedTuple):
    """A file of ``sql/`` as its header describes it; ``parameters`` is empty where there are none."""

    name: str
    answers: str
    grain: str
    reads: str
    parameters: str


@click.command(name="query")
@click.argument("question", required=False, metavar="[NAME|FILE.sql|-]")
@click.option("--lake", type=click.Path(file_okay=False), help="The lake's folder.")
@click.option("--since", type=DATE, help="First UTC date.")
@click.option("--until", type=DATE, help="Last UTC date.")
@click.option("--set", "variables", multiple=True, metavar="KEY=VALUE", help="A variable of the SQL.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="How to print.")
@click.option("--explain", is_flag=True, help="Print the question itself: what it answers, its parameters, its SQL.")
def command(
    question: str | None,
    lake: str | None,
    since: datetime | None,
    until: datetime | None,
    variables: tuple[str, ...],
    form: str,
    *,
    explain: bool,
) -> None:
    """Answer a question from the lake; without a name, list the questions."""
    if question is None:
        _print_questions(_console())
        return
    if explain:
        click.echo(sql_of(question), nl=False)
        return
    if lake is None:
        raise WrongUseError("--lake FOLDER is missing: which lake shall answer?")
    sql = sql_of(question)
    dates = {"since": date_of(since), "until": date_of(until)}
    values = {name: str(value) for name, value in dates.items() if value is not None} | dict(map(_variable, variables))
    _check_read(question, sql, values)
    print_table(ask(lake, sql, values), form, _console())


def _variable(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found or not name.isidentifier():
        raise WrongUseError(f"--set {text}: write it as KEY=VALUE, the key in letters, digits and underscores")
    return name, value


def _check_read(question: str, sql: str, values: Mapping[str, str]) -> None:
    """A variable that the SQL does not read would change nothing without a word."""
    known = sorted(set(_VARIABLE.findall(sql)))
    for name in values:
        if name not in known:
            raise WrongUseError(f"{question} does not read {name!r}; it reads: {', '.join(known) or 'no variables'}")
    for name in _REQUIRED.findall(sql):
        if name not in values:
            raise WrongUseError(f"{question} needs a value for {name}: --set {name}=VALUE")


def _console() -> Console:
    """The terminal, or a page wide enough for every table."""
    return Console() if sys.stdout.isatty() else Console(width=_PAGE_WIDTH)


def _print_questions(console: Console) -> None:
    table = Table(header_style="bold", row_styles=["", "dim"])
    table.add_column("question", no_wrap=True)
    for column in ("what it answers", "grain", "parameters"):
        table.add_column(column)
    for question in listed():
        table.add_row(question.name, question.answers, question.grain, question.parameters)
    console.print(table)
    console.print("Ask one with: thinkledger query NAME --lake LAKE; --explain shows its SQL", style="dim")


def listed() -> list[Question]:
    """Every question as its header describes it."""
    return [_described(name, text(file)) for name, file in _files().items()]


def _described(name: str, sql: str) -> Question:
    """Read a header: the first line says what is answered; fields may go on over lines; an empty line ends them."""
    fields = {"answers": sql.splitlines()[0].removeprefix("-- ")}
    field = "answers"
    for line in sql.splitlines()[1:]:
        if not line.startswith("-- "):
            break
        said = line.removeprefix("-- ")
        if found := _FIELD.match(said):
            field, said = found.groups()
            fields[field] = said
        else:
            fields[field] += f" {said}"
    return Question(name, fields["answers"], fields["grain"], fields["reads"], fields.get("parameters", ""))


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
        if len(name.split()) > 1:
            raise WrongUseError("SQL is read from a file that ends in .sql, or from '-', which is the standard input")
        near = get_close_matches(name, files, n=1)
        hint = f"did you mean {near[0]}?" if near else "'thinkledger query' lists the questions"
        raise WrongUseError(f"there is no question {name!r}; {hint}")
    return text(files[name])


def _files() -> dict[str, str]:
    """The questions by name, with their files."""
    return {file.rpartition("/")[2]: file for folder in _FOLDERS for file in names(folder)}


def connect(lake: str, variables: Mapping[str, str] | None = None) -> duckdb.DuckDBPyConnection:
    """Open a lake's views, read-only, from wherever the caller stands; of one elsewhere, fetch these dates' files."""
    if "://" in lake:
        return _connect_there(lake, variables or {})
    database = Path(lake) / DATABASE
    if not database.is_file():
        raise WrongUseError(
            f"{lake} is no lake: it holds no {DATABASE}; 'thinkledger normalise INPUT --lake {lake}' makes one"
        )
    connection = duckdb.connect(str(database), read_only=True)
    connection.execute("SET VARIABLE lake = $path", {"path": str(Path(lake).resolve())})
    return connection


def _connect_there(lake: str, variables: Mapping[str, str]) -> duckdb.DuckDBPyConnection:
    # Beam, whose filesystems this needs, takes a second to load, which a lake on the disk does without.
    from transforms.mirror import Mirror  # noqa: PLC0415
    from transforms.object_pointer import StoreError  # noqa: PLC0415

    since, until = (variables.get(name) for name in ("since", "until"))
    try:
        mirror = Mirror(lake)
        pointer = mirror.pull()
        if pointer is None:
            raise WrongUseError(f"{lake} is no lake: it holds no lake.json")
        pruned = pruned_to(pointer, since, until)
        mirror.fetch([*pruned.paths(), *(f"runs/{run}.json" for run in pruned.runs)])
    except StoreError as error:
        raise WrongUseError(str(error)) from error
    connection = duckdb.connect(config={"autoinstall_known_extensions": False})
    create_views(connection, mirror.folder, pruned)
    return connection


def prepare(connection: duckdb.DuckDBPyConnection, variables: Mapping[str, str]) -> None:
    """Set what ``getvariable`` reads. Names are quoted: a parameter may have the name of a keyword."""
    for name, value in variables.items():
        connection.execute(f'SET VARIABLE "{name}" = $value', {"value": value})


def ask(lake: str, sql: str, variables: Mapping[str, str]) -> pa.Table:
    """Run SQL against a lake; ``variables`` are what ``getvariable`` reads in it.

    Raises:
        WrongUseError: the SQL is wrong; DuckDB's message shows the line and the place in it.
    """
    with connect(lake, variables) as connection:
        prepare(connection, variables)
        try:
            result = connection.sql(sql)
            if result is not None:
                return result.to_arrow_table()
        except (duckdb.BinderException, duckdb.CatalogException) as error:
            raise WrongUseError(_with_place(connection, sql, error)) from error
        except duckdb.Error as error:
            raise WrongUseError(str(error)) from error
    raise WrongUseError("the SQL gives no rows; a query is one SELECT")


def _with_place(connection: duckdb.DuckDBPyConnection, sql: str, error: duckdb.Error) -> str:
    """A name that is not found: ``sql`` leaves out the line and the place that ``execute`` tells."""
    try:
        connection.execute(sql)
    except duckdb.Error as told:
        return str(told)
    return str(error)


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
