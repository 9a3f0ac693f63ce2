"""``thinkledger normalise``: the main job. Files in, a run of the pipeline, one commit of the lake."""

import argparse
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import apache_beam as beam
import click
from apache_beam.options.pipeline_options import PipelineOptions
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.table import Table

from pipelines.options import (
    DATE,
    date_of,
    envelopes_of,
    lake_option,
    source_option,
    strict_option,
    transcripts_of,
)
from pipelines.wrong_use import WrongUseError
from schemas.account import RunAccount
from schemas.lake import RunContext
from schemas.settings import Settings
from transforms.accounts import AddUp, NoAccountError, read_account
from transforms.expand import Expand, InputNotFoundError, find
from transforms.lake import Lake, NotALakeError, UnbalancedError
from transforms.lock import LakeLockedError, LockLostError
from transforms.normalise import Normalise, Window
from transforms.progress import done
from transforms.publish import Publish
from transforms.read import Read
from transforms.stage import Stage

DEFAULT_RUNNER = "FnApiRunner"
"""Named outright: Beam's ``DirectRunner`` first tries to fetch another engine from the network."""
_EPOCH = date(1970, 1, 1)
_BAR_SECONDS = 0.5
_LINE_SECONDS = 30


@click.command(name="normalise", context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="INPUT...", required=True)
@lake_option
@source_option
@click.option("--since", type=DATE, help="Only calls of this UTC date and later; undated calls are kept.")
@click.option("--until", type=DATE, help="Only calls of this UTC date and earlier; undated calls are kept.")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes on this machine.")
@strict_option
def command(
    arguments: tuple[str, ...],
    lake: str,
    source: str,
    since: datetime | None,
    until: datetime | None,
    workers: int,
    strict: bool,  # noqa: FBT001 - click passes by name
) -> None:
    """Read logs (files, folders, globs) into a lake.

    JSONL, JSON arrays and objects, plain, gzip or zstd, and Parquet, told apart by their content. Any Beam option is
    passed through, such as --runner=NAME. The same input twice changes nothing.
    """
    inputs, beam_options = split_beam_options(arguments)
    if since and until and since > until:
        raise WrongUseError(f"--since {since:%Y-%m-%d} is after --until {until:%Y-%m-%d}")
    settings = Settings(
        inputs=inputs,
        lake=Path(lake),
        envelopes=envelopes_of(source),
        transcripts=transcripts_of(source),
        since=date_of(since),
        until=date_of(until),
        workers=workers,
        beam_options=beam_options,
    )
    account = run(settings, Console(stderr=True))
    print_account(account, Console())
    if strict and account.rejects:
        sys.exit(1)


def split_beam_options(arguments: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tell inputs from Beam's own options; gives both.

    Raises:
        WrongUseError: an option that neither thinkledger nor Beam knows, or no input.
    """
    parser: Any = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    for options in PipelineOptions.__subclasses__():
        options._add_argparse_args(parser)  # noqa: SLF001 - Beam offers no other list of its options
    try:
        _, rest = parser.parse_known_args(list(arguments))
    except argparse.ArgumentError as error:
        raise WrongUseError(f"Beam option: {error}") from error
    unknown = [argument for argument in rest if argument.startswith("-") and argument != "-"]
    if unknown:
        name = unknown[0].partition("=")[0]
        known = [*parser._option_string_actions, "--lake", "--source", "--since", "--until", "--workers", "--strict"]  # noqa: SLF001
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else "see 'thinkledger normalise --help'"
        raise WrongUseError(f"there is no option {name}; {hint}")
    if not rest:
        raise WrongUseError("INPUT is missing: name files, folders or globs")
    inputs = tuple(rest)
    return inputs, tuple(argument for argument in arguments if argument not in rest)


def run(settings: Settings, console: Console) -> RunAccount:
    """Normalise the inputs into the lake and commit it; gives the account of the run.

    Raises:
        WrongUseError: an input names nothing, the lake cannot be written now or was taken away, or records got lost.
            Nothing became visible.
    """
    try:
        files = find(settings.inputs)
        lake = Lake.create(settings.lake)
        context = lake.begin_run(settings.inputs)
    except (InputNotFoundError, NotALakeError, LakeLockedError, OSError) as error:
        raise WrongUseError(str(error)) from error
    try:
        with _progress(files, context, console):
            build(files, settings, context).run().wait_until_finish()
        return lake.commit(context, read_account(context))
    except (UnbalancedError, LockLostError, NoAccountError) as error:
        lake.abort(context)
        raise WrongUseError(str(error)) from error
    except BaseException:
        lake.abort(context)
        raise


def build(files: Sequence[str], settings: Settings, context: RunContext) -> beam.Pipeline:
    """The pipeline, in the shape that every runner gets right: one line, no side inputs, no tags, one leaf."""
    pipeline = beam.Pipeline(options=PipelineOptions(_options(settings)))
    _ = (
        pipeline
        | "Files" >> beam.Create(files, reshuffle=False)
        | "Expand" >> Expand(settings.transcripts)
        | "SpreadShards" >> beam.Reshuffle()
        | "Read" >> Read()
        | "Normalise" >> Normalise(settings.envelopes, _window(settings))
        | "Stage" >> Stage(context)
        | "Publish" >> Publish(context)
        | "AddUp" >> AddUp(context)
    )
    return pipeline


def print_account(account: RunAccount, console: Console) -> None:
    """Print what came in and what became of it; the parts add up to the records in."""
    table = Table(title=f"run {account.run_id}", title_justify="left", show_header=False, box=None)
    table.add_column(style="cyan")
    table.add_column(justify="right")
    table.add_column(style="dim")
    tally = account.tally
    table.add_row("records in", f"{tally.records:,}", f"{tally.bytes:,} bytes")
    table.add_row("= calls", f"{account.calls:,}", _in_words(tally.calls_by))
    table.add_row("+ parts of calls", f"{tally.parts:,}", "")
    table.add_row("+ duplicates", f"{account.duplicates:,}", "the lake or this run had them already")
    table.add_row("+ skipped", f"{account.skipped:,}", _in_words(tally.skipped))
    table.add_row("+ rejects", f"{account.rejects:,}", _in_words(tally.rejects))
    console.print(table)
    changed = sum(partition.changed for partition in account.partitions)
    console.print(f"{changed} partitions changed, generation {account.generation}; {account.replaced} rows replaced")


def _in_words(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))


def _options(settings: Settings) -> list[str]:
    options = list(settings.beam_options)
    if not any(option.split("=")[0] == "--runner" for option in options):
        options.append(f"--runner={DEFAULT_RUNNER}")
    if settings.workers > 1:
        options += ["--direct_running_mode=multi_processing", f"--direct_num_workers={settings.workers}"]
    return options


def _window(settings: Settings) -> Window:
    since, until = ((day - _EPOCH).days if day else None for day in (settings.since, settings.until))
    return Window(since, until)


@contextmanager
def _progress(files: Sequence[str], context: RunContext, console: Console) -> Iterator[None]:
    """Show how far the run is: a bar on a terminal, a line now and then elsewhere."""
    total = sum(Path(file).stat().st_size for file in files)
    stop = threading.Event()
    show = _bar if console.is_terminal else _lines
    watcher = threading.Thread(target=show, args=(total, context, console, stop), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _bar(total: int, context: RunContext, console: Console, stop: threading.Event) -> None:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TextColumn("{task.fields[records]:,} records"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("normalise", total=total, records=0)
        while not stop.wait(_BAR_SECONDS):
            now = done(context)
            # Compressed files hold more than their size: the bar then has no end.
            progress.update(task, completed=now.bytes, records=now.records, total=total if now.bytes <= total else None)


def _lines(total: int, context: RunContext, console: Console, stop: threading.Event) -> None:
    while not stop.wait(_LINE_SECONDS):
        now = done(context)
        console.print(f"normalise: {now.records:,} records, {now.bytes:,} bytes read of {total:,} on disk")
