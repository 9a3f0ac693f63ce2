"""What a run is told to do."""

from datetime import date
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from schemas.envelope import Envelope
from schemas.lake import Grain
from schemas.redaction import Pattern

STEP_BYTES = 2 << 30
STEPS = 8
"""A long run commits after each eighth of its input, but not before it has read so many bytes: staged parts are not
compressed, so this is also what bounds the temporary disk."""


class Settings(BaseModel):
    """The settings of one normalising run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    inputs: tuple[str, ...]
    """Files, folders, globs, URLs and time templates; none where the lake's rejects are tried again."""
    lake: Path | str
    """A folder, or a URL of an object store."""
    envelopes: tuple[Envelope, ...]
    """One: every record is read by it. Several: each by the one that recognises it."""
    transcripts: tuple[str, ...] = ()
    """The forms of agent transcripts whose files are read whole, where they are recognised."""
    source: str = "auto"
    """What named the envelopes: files that were read by another source are read again."""
    skip: tuple[str, ...] = ()
    """Globs of files in folders that are passed over."""
    since: date | None = None
    until: date | None = None
    full: bool = False
    """Read what has been read before, too."""
    replace: bool = False
    """As ``full``, and take out first what came from these files."""
    rejects: bool = False
    """Try the lake's rejects again in place of reading inputs."""
    redact: tuple[Pattern, ...] = ()
    """What is taken out of every text before anything is stored."""
    no_text: bool = False
    """Store counts only."""
    partition: Grain | None = None
    """The grain of a new lake; null: by date, or whatever an existing one has."""
    wait: float = 0
    """Seconds to wait for another run to end."""
    step_bytes: int | None = None
    """Commit after so many bytes of input, so that a stop loses no more; null: after each eighth (``STEPS``)."""
    workers: int = 1
    beam_options: tuple[str, ...] = ()
