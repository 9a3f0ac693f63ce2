"""Options that several commands share."""

import hashlib
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import click

from pipelines.wrong_use import WrongUseError
from schemas.envelope import Envelope, MappingError, built_in, load
from transforms.envelopes import NAMES

DATE = click.DateTime(["%Y-%m-%d"])


class _Day(click.ParamType[date]):
    """A UTC date: as it is written, or seen from today."""

    name = "day"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> date:
        if isinstance(value, date):
            return value
        try:
            return day(str(value), datetime.now(UTC).date())
        except ValueError as error:
            self.fail(str(error), param, ctx)


def day(text: str, today: date) -> date:
    """A date as people give it: ``2026-11-03``, ``today``, ``yesterday``, ``7d`` for seven days ago.

    Raises:
        ValueError: it is none of these.
    """
    if ago := _DAYS_AGO.fullmatch({"today": "0d", "yesterday": "1d"}.get(text, text)):
        return today - timedelta(int(ago[1]))
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is no day: write 2026-11-03, today, yesterday or 7d (seven days ago)") from None


_DAYS_AGO = re.compile(r"(\d{1,5})d")


class _Size(click.ParamType[int]):
    """A number of bytes, with a unit or without."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            return size(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


def size(text: str) -> int:
    """A number of bytes as people give it: ``500MB``, ``16GB``, powers of 1,024.

    Raises:
        ValueError: it is none.
    """
    found = _SIZE.fullmatch(text)
    if not found or not int(found[1]):
        raise ValueError(f"{text!r} is no size: write 500MB, 16GB or a number of bytes")
    return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[found[2].upper()]


_SIZE = re.compile(r"(\d+) ?([KMGT]?)B?", re.IGNORECASE)
DAY = _Day()
SIZE = _Size()
_AUTO = "auto"
_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

lake_option: _Decorator = click.option(
    "--lake", required=True, type=click.Path(file_okay=False), help="The lake's folder."
)
strict_option: _Decorator = click.option(
    "--strict", is_flag=True, help="End with exit code 1 where records were rejected."
)
source_option: _Decorator = click.option(
    "--source",
    default=_AUTO,
    show_default=True,
    help="How the records are stored: a name that 'thinkledger sources' lists, or a mapping of your own (FILE.yaml).",
)


def envelopes_of(source: str) -> tuple[Envelope, ...]:
    """The envelopes that ``--source`` names: all that are built in, or one; none where it names a transcript."""
    if source in NAMES:
        return ()
    try:
        return built_in() if source == _AUTO else (load(source, NAMES),)
    except MappingError as error:
        raise WrongUseError(f"--source {error}") from error


def source_id(source: str, envelopes: Sequence[Envelope]) -> str:
    """What the ledger says of how a file was read: a mapping of one's own that was changed since is another one."""
    if len(envelopes) != 1 or envelopes[0].name == source:
        return source
    return f"{envelopes[0].name}:{hashlib.sha256(envelopes[0].model_dump_json().encode()).hexdigest()[:16]}"


def transcripts_of(source: str) -> tuple[str, ...]:
    """The forms of agent transcripts that ``--source`` names: all, one, or none where it names an envelope."""
    if source == _AUTO:
        return NAMES
    return (source,) if source in NAMES else ()


def date_of(moment: datetime | None) -> date | None:
    """The date of a date option."""
    return moment.date() if moment else None
