"""The command line, one subcommand a module.

Exit codes: 0 done; 1 done, but ``--strict`` was given and records were rejected; 2 wrong use or unreadable input,
nothing written.
"""

import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.table import Table

from pipelines import demo as demo_job
from pipelines import inspection, query
from pipelines import normalise as normalise_job
from schemas.envelope import Envelope, MappingError, built_in, load
from transforms.expand import InputNotFoundError
from transforms.protocols import PROTOCOLS
from transforms.unwrap import Unwrapper

T = TypeVar("T")

_AUTO = "auto"
_DATE = click.DateTime(["%Y-%m-%d"])


class _Commands(click.Group):
    """Subcommands with one accepted other spelling."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, "normalise" if cmd_name == "normalize" else cmd_name)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="thinkledger")
def main() -> None:
    """What LLM reasoning costs, and what to do with its traces.

    Stored LLM traffic goes in; one ledger of calls comes out, which DuckDB queries.
    """


def _lake_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--lake", required=True, type=click.Path(file_okay=False), help="The lake's folder.")(command)


_source_option = click.option(
    "--source",
    default=_AUTO,
    show_default=True,
    help="How the records are stored: a name that 'thinkledger sources' lists, or a mapping of your own (FILE.yaml).",
)


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="INPUT...", required=True)
@_lake_option
@_source_option
@click.option("--since", type=_DATE, help="Only calls of this UTC date and later (undated calls are kept).")
@click.option("--until", type=_DATE, help="Only calls of this UTC date and earlier (undated calls are kept).")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes on this machine.")
@click.option("--strict", is_flag=True, help="End with exit code 1 where records were rejected.")
def normalise(
    arguments: tuple[str, ...],
    lake: str,
    source: str,
    since: datetime | None,
    until: datetime | None,
    workers: int,
    strict: bool,  # noqa: FBT001 - click passes it by name
) -> None:
    """Read logs (files, folders, globs) into a lake.

    JSONL, JSON arrays and objects, plain, gzip or zstd, and Parquet; told apart by their content. Any Beam option is
    passed through, such as --runner=NAME. The same input twice changes nothing.
    """
    inputs, beam_options = _usage(lambda: normalise_job.split_beam_options(arguments))
    settings = _usage(
        lambda: normalise_job.Settings(
            inputs=inputs,
            lake=Path(lake),
            envelopes=_envelopes(source),
            since=since.date() if since else None,
            until=until.date() if until else None,
            workers=workers,
            beam_options=beam_options,
        )
    )
    account = _usage(lambda: normalise_job.run(settings, Console(stderr=True)))
    normalise_job.print_account(account, Console())
    if strict and account.rejects:
        sys.exit(1)


@main.command()
@click.argument("file", metavar="FILE|-")
@_source_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object per call, with every column.")
@click.option("--strict", is_flag=True, help="End with exit code 1 where records were rejected.")
def inspect(file: str, source: str, as_json: bool, strict: bool) -> None:  # noqa: FBT001 - click passes them by name
    """Show what each record of a file becomes, and by which rules. Writes nothing."""
    unwrapper = Unwrapper(_usage(lambda: _envelopes(source)))
    if file != inspection.STDIN and not Path(file).is_file():
        raise click.UsageError(f"{file}: there is no such file; name a file of records, or - for the standard input")
    if as_json:
        rejects = inspection.print_json(file, unwrapper)
    else:
        rejects = inspection.print_readable(file, unwrapper, Console())
    if strict and rejects:
        sys.exit(1)


@main.command(name="query")
@click.argument("question", required=False, metavar="[NAME|FILE.sql|-]")
@click.option("--lake", type=click.Path(file_okay=False), help="The lake's folder.")
@click.option("--since", type=_DATE, help="First UTC date.")
@click.option("--until", type=_DATE, help="Last UTC date.")
@click.option("--set", "variables", multiple=True, metavar="KEY=VALUE", help="A variable of the SQL.")
@click.option("--format", "form", type=click.Choice(query.FORMATS), default="table", show_default=True)
def ask(
    question: str | None,
    lake: str | None,
    since: datetime | None,
    until: datetime | None,
    variables: tuple[str, ...],
    form: str,
) -> None:
    """Answer a question from the lake; without a name, list the questions."""
    if question is None:
        _print_questions(Console())
        return
    if lake is None:
        raise click.UsageError("--lake FOLDER is missing: which lake shall answer?")
    values: dict[str, str | None] = {
        "since": since.date().isoformat() if since else None,
        "until": until.date().isoformat() if until else None,
    }
    for variable in variables:
        name, found, value = variable.partition("=")
        if not found:
            raise click.UsageError(f"--set {variable}: write it as KEY=VALUE")
        values[name] = value
    table = _usage(lambda: query.ask(lake, query.sql_of(question), values))
    query.print_table(table, form, Console())


@main.command()
def sources() -> None:
    """List every envelope and every protocol that is read."""
    console = Console()
    envelopes = Table(title="Envelopes: how records are stored", title_justify="left", header_style="bold")
    envelopes.add_column("--source")
    envelopes.add_column("what it is")
    for envelope in built_in():
        envelopes.add_row(envelope.name, envelope.title)
    protocols = Table(
        title="Protocols: the bodies inside, whole or streamed", title_justify="left", header_style="bold"
    )
    protocols.add_column("protocol")
    protocols.add_column("what it is")
    for protocol in PROTOCOLS:
        protocols.add_row(protocol.NAME, (protocol.__doc__ or "").split("\n", maxsplit=1)[0])
    console.print(envelopes)
    console.print(protocols)


@main.command()
@click.option("--folder", default="demo", show_default=True, type=click.Path(file_okay=False), help="Where it is made.")
@click.option("--calls", default=4000, show_default=True, type=click.IntRange(100), help="How many calls.")
def demo(folder: str, calls: int) -> None:
    """Write a sample of traffic, normalise it into a lake, and answer the first questions from it."""
    _usage(lambda: demo_job.run(Path(folder), calls, Console()))


def _envelopes(source: str) -> tuple[Envelope, ...]:
    return built_in() if source == _AUTO else (load(source),)


def _usage(action: Callable[[], T]) -> T:
    """Wrong use gets one clear line and exit code 2, whichever room noticed it."""
    try:
        return action()
    except (InputNotFoundError, MappingError, query.QueryError, normalise_job.JobError) as error:
        raise click.UsageError(str(error)) from error


def _print_questions(console: Console) -> None:
    table = Table(header_style="bold")
    table.add_column("question")
    table.add_column("what it answers")
    for question in query.listed():
        table.add_row(question.name, question.answers)
    console.print(table)
    console.print("Ask one with: thinkledger query NAME --lake LAKE", style="dim")
