"""What a run is told to do."""

from datetime import date
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from schemas.envelope import Envelope


class Settings(BaseModel):
    """The settings of one normalising run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    inputs: tuple[str, ...]
    """Files, folders and globs."""
    lake: Path
    envelopes: tuple[Envelope, ...]
    """One: every record is read by it. Several: each by the one that recognises it."""
    transcripts: tuple[str, ...] = ()
    """The forms of agent transcripts whose files are read whole, where they are recognised."""
    since: date | None = None
    until: date | None = None
    workers: int = 1
    beam_options: tuple[str, ...] = ()
