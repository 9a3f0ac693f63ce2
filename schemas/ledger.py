"""The input ledger: which files the lake has read, how far, and by which rules."""

from datetime import date
from typing import NamedTuple

import pyarrow as pa

LEDGER_SCHEMA = pa.schema(
    [
        pa.field("file", pa.string(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("version", pa.string(), nullable=False),
        pa.field("digest", pa.string()),
        pa.field("read_to", pa.int64(), nullable=False),
        pa.field("read_by", pa.string(), nullable=False),
        pa.field("since", pa.date32()),
        pa.field("until", pa.date32()),
        pa.field("normaliser_version", pa.string(), nullable=False),
        pa.field("run_id", pa.string(), nullable=False),
    ]
)


class Entry(NamedTuple):
    """One file as a run has read it; the fields are those of ``LEDGER_SCHEMA``."""

    file: str
    size: int
    """Bytes that were read: what the file had when the run began."""
    version: str
    """The time of the last change as the file system has it; empty where it has none."""
    digest: str | None
    """Hash of the first and the last bytes that were read (``transforms.ledger``); null for files elsewhere."""
    read_to: int
    """Where the last line ends that is complete: a line that grows is read again from its beginning."""
    read_by: str
    """What ``--source`` named."""
    since: date | None
    """The dates that were taken; null: no bound."""
    until: date | None
    normaliser_version: str
    run_id: str
