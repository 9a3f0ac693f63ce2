"""``thinkledger inspect``: what each record becomes, and by which rules. Reads like a run does, writes nothing."""

import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
import orjson
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from pipelines.options import envelopes_of, source_option, strict_option, transcripts_of
from pipelines.wrong_use import WrongUseError
from schemas.call import COLUMNS
from schemas.redaction import RedactionError, patterns_of
from schemas.reject import Reject
from transforms.columns import to_batch
from transforms.envelopes import NAMES
from transforms.expand import expand
from transforms.normalise import Outcome, normalise
from transforms.read import read
from transforms.redaction import Redactor
from transforms.unwrap import Unwrapper

STDIN = "-"
_LINEAGE_OF_A_RUN = ("run_id",)
_SHOWN_CHARS = 600


@click.command(name="inspect")
@click.argument("file", metavar="FILE|-")
@source_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object per call, with every column.")
@click.option("--redact", multiple=True, metavar="NAME", help="As for 'normalise': see what it takes out.")
@strict_option
def command(
    file: str,
    source: str,
    *,
    as_json: bool,
    redact: tuple[str, ...],
    strict: bool,
) -> None:
    """Show what each record of a file becomes, and by which rules. Writes nothing."""
    if file != STDIN and not Path(file).is_file():
        raise WrongUseError(f"{file}: there is no such file; name a file of records, or - for the standard input")
    unwrapper = Unwrapper(envelopes_of(source))
    found = outcomes(file, unwrapper, transcripts_of(source))
    if redact:
        try:
            found = _redacted(found, Redactor(patterns_of(redact)))
        except RedactionError as error:
            raise WrongUseError(f"--redact: {error}") from error
    rejects = print_json(found) if as_json else print_readable(found, Console())
    if strict and rejects:
        sys.exit(1)


def outcomes(path: str, unwrapper: Unwrapper, transcripts: Collection[str] = NAMES) -> Iterator[Outcome]:
    """Every batch of a file (``-`` is the standard input), normalised; transcripts of these forms are read whole."""
    if path != STDIN:
        for shard in expand(path, transcripts):
            for batch in read(shard):
                yield normalise(batch, unwrapper)
        return
    with tempfile.NamedTemporaryFile(prefix="thinkledger-") as copy:
        copy.write(sys.stdin.buffer.read())
        copy.flush()
        for outcome in outcomes(copy.name, unwrapper, transcripts):
            for call in outcome.calls:
                call.source_file = STDIN
            for reject in outcome.rejects:
                reject.source_file = STDIN
            yield outcome


def _redacted(found: Iterable[Outcome], redactor: Redactor) -> Iterator[Outcome]:
    for outcome in found:
        for call in outcome.calls:
            redactor.redact_call(call)
        for reject in outcome.rejects:
            redactor.redact_reject(reject)
        yield outcome


def json_rows(outcome: Outcome) -> Iterator[dict[str, Any]]:
    """The rows of one batch as they print: first the calls, then the rejects as ``{"reject": reason, …}``."""
    for row in to_batch(outcome.calls).to_pylist():
        yield {name: _plain(value) for name, value in row.items() if name not in _LINEAGE_OF_A_RUN}
    for reject in outcome.rejects:
        yield _reject_row(reject)


def print_json(found: Iterable[Outcome]) -> int:
    """Print one JSON object per call and reject; gives the number of rejects."""
    rejects = 0
    for outcome in found:
        rejects += len(outcome.rejects)
        for row in json_rows(outcome):
            sys.stdout.buffer.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()
    return rejects


def print_readable(found: Iterable[Outcome], console: Console) -> int:
    """Print each call as a short page: what was asked, what ran, what it cost, and the texts; gives the rejects."""
    calls = rejects = skipped = parts = 0
    for outcome in found:
        for row in json_rows(outcome):
            console.print(_page(row))
        calls += len(outcome.calls)
        rejects += len(outcome.rejects)
        skipped += sum(outcome.tally.skipped.values())
        parts += outcome.tally.parts
    console.print(Rule(style="dim"))
    further = f", {parts} further lines of calls" if parts else ""
    console.print(f"{calls} calls{further}, {rejects} rejects, {skipped} skipped by rule")
    return rejects


def _page(row: dict[str, Any]) -> Text:
    page = Text()
    if "reject" in row:
        page.append(f"reject  {row['reject']}", style="bold red")
        page.append(f"  at {row['source_file']}:{row['source_position']}\n  {row['detail']}\n")
        return page
    page.append(f"call  {row['call_id']}", style="bold")
    page.append(f"  at {row['source_file']}:{row['source_position']}\n")
    for column in COLUMNS:
        value = row.get(column.name)
        if value is None or column.name in _OWN_PLACE:
            continue
        page.append(f"  {column.name:<26}", style="cyan")
        page.append(f"{value}\n")
    for name in ("thinking", "answer"):
        if row[name] is not None:
            shown = row[name][:_SHOWN_CHARS] + ("…" if len(row[name]) > _SHOWN_CHARS else "")
            page.append(f"  {name}\n", style="cyan")
            page.append("".join(f"    {line}\n" for line in shown.splitlines()))
    return page


_OWN_PLACE = {"call_id", "source_file", "source_position", "thinking", "answer", "segments"}


def _reject_row(reject: Reject) -> dict[str, Any]:
    return {
        "reject": str(reject.reason),
        "detail": reject.detail,
        "source": reject.source,
        "source_file": reject.source_file,
        "source_position": reject.source_position,
        "raw": reject.raw.decode(errors="replace"),
    }


def _plain(value: Any) -> Any:
    """A value of an Arrow row in its JSON form: times in ISO with Z, costs as numbers, maps as objects."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return dict(value)
    return value
