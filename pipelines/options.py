"""Options that several commands share."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import click

from pipelines.wrong_use import WrongUseError
from schemas.envelope import Envelope, MappingError, built_in, load
from transforms.envelopes import NAMES

DATE = click.DateTime(["%Y-%m-%d"])
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
        return built_in() if source == _AUTO else (load(source),)
    except MappingError as error:
        raise WrongUseError(f"--source {error}") from error


def transcripts_of(source: str) -> tuple[str, ...]:
    """The forms of agent transcripts that ``--source`` names: all, one, or none where it names an envelope."""
    if source == _AUTO:
        return NAMES
    return (source,) if source in NAMES else ()


def date_of(moment: datetime | None) -> date | None:
    """The date of a date option."""
    return moment.date() if moment else None
