"""What an earlier run has read is not read again: listed files and the lake's ledger to what is left to do.

A file that has only grown, and whose lines each stand for themselves, is read on from its last complete line. Any other
file that has changed is read whole: what the lake has of it already counts as duplicates.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.call import NORMALISER_VERSION
from schemas.lake import Pointer, RunContext
from schemas.ledger import LEDGER_SCHEMA, Entry
from transforms.durable import flush
from transforms.expand import Source, continues
from transforms.inputs import Listed

_END_BYTES = 16 << 10
"""So much of a file's beginning, and of the end of what was read, tells whether it is the same file, grown."""
_BLOCK_BYTES = 64 << 10

Ledger = Mapping[str, Entry]
"""The entries by file."""


class State(StrEnum):
    """A listed file beside what the ledger says of it."""

    NEW = "new"
    UNCHANGED = "unchanged"
    GROWN = "grown"
    """It has only grown, and is read on from where an earlier run stopped."""
    CHANGED = "changed"
    """It is read whole: it is another file now, or one that cannot be read in parts."""
    AGAIN = "again"
    """It is read whole since it was asked for: ``--full``, another ``--source``, dates that were left out before."""


class Way(NamedTuple):
    """How a run reads its files."""

    read_by: str
    transcripts: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    full: bool = False


class Todo(NamedTuple):
    """A file that is left to read, and from where on."""

    listed: Listed
    start: int = 0
    stale_rejects_from: int | None = None
    """Its rejects from this position on are derived anew: what was half written then may be complete now."""

    @property
    def bytes(self) -> int:
        """So much of it is stored and not yet read."""
        return self.listed.size - self.start

    @property
    def source(self) -> Source:
        """What to read."""
        return Source(self.listed.file, self.start, self.listed.size)


@dataclass(slots=True)
class Plan:
    """What a run has to read, and what it need not."""

    todo: list[Todo] = field(default_factory=list)
    states: Counter[State] = field(default_factory=Counter)
    outdated: int = 0
    """Unchanged files that another normaliser has read."""


def read_ledger(lake: Path, pointer: Pointer) -> dict[str, Entry]:
    """The ledger of a lake; empty where nothing has been read yet."""
    if pointer.ledger is None:
        return {}
    columns = pq.read_table(lake / pointer.ledger, schema=LEDGER_SCHEMA).to_pydict()
    return {row[0]: Entry(*row) for row in zip(*columns.values(), strict=True)}


def write_ledger(run: RunContext, ledger: Ledger) -> str:
    """Write a run's ledger under a new name; gives it, relative to the lake."""
    rows = [ledger[file] for file in sorted(ledger)]
    columns = zip(*rows, strict=True) if rows else [[] for _ in LEDGER_SCHEMA]
    table = pa.table(list(map(list, columns)), schema=LEDGER_SCHEMA)
    path = f"ledger/ledger-{run.generation:06d}-{run.token}.parquet"
    target = run.lake / path
    target.parent.mkdir(exist_ok=True)
    aside = run.staging / target.name
    pq.write_table(table, aside, compression="zstd")
    flush(aside)
    aside.replace(target)
    return path


def plan(files: Iterable[Listed], ledger: Ledger, way: Way) -> Plan:
    """Decide what is left to read."""
    planned = Plan()
    for listed in files:
        known = ledger.get(listed.file)
        state = _state(listed, known, way)
        planned.states[state] += 1
        if state is State.UNCHANGED:
            planned.outdated += int(known is not None and known.normaliser_version != NORMALISER_VERSION)
        elif known is None:
            planned.todo.append(Todo(listed))
        elif state is State.GROWN:
            # A line that was complete cannot come to another end now.
            planned.todo.append(Todo(listed, known.read_to, known.read_to if known.read_to < known.size else None))
        else:
            planned.todo.append(Todo(listed, 0, 0 if _is_same_file(listed, known) else None))
    return planned


def first_step(todo: Sequence[Todo], step_bytes: int) -> list[Todo]:
    """The files to read before the next commit: about so many bytes, at least one file."""
    sizes = accumulate(item.bytes for item in todo)
    return [item for n, (item, size) in enumerate(zip(todo, sizes, strict=True)) if n == 0 or size <= step_bytes]


def _state(listed: Listed, known: Entry | None, way: Way) -> State:
    if known is None:
        return State.NEW
    if way.full or known.read_by != way.read_by or not _covers(known, way):
        return State.AGAIN
    if listed.size == known.size and listed.version == known.version and listed.version:
        return State.UNCHANGED
    is_grown = listed.size > known.size and known.digest is not None and _is_same_file(listed, known)
    return State.GROWN if is_grown and continues(listed.file, way.transcripts) else State.CHANGED


def _covers(known: Entry, way: Way) -> bool:
    """Tell whether all dates that are asked for were taken before."""
    since = known.since is None or (way.since is not None and known.since <= way.since)
    until = known.until is None or (way.until is not None and way.until <= known.until)
    return since and until


def _is_same_file(listed: Listed, known: Entry) -> bool:
    """Tell whether a file begins with what was read of it: it may have grown."""
    if known.digest is None:
        return not known.version  # nothing of it could be read
    return listed.size >= known.size and _digest(listed.file, known.size) == known.digest


def entry(listed: Listed, way: Way, run_id: str) -> Entry:
    """What the ledger says of a file once it has been read; look before it is read."""
    is_local = "://" not in listed.file
    digest = _digest(listed.file, listed.size) if is_local else None
    read_to = _last_line_end(listed.file, listed.size) if digest else None
    return Entry(
        file=listed.file,
        size=listed.size,
        # Whoever reads a file that cannot be opened reports why; without a version the next run tries it again.
        version="" if is_local and read_to is None else listed.version,
        digest=digest,
        read_to=read_to or 0,
        read_by=way.read_by,
        since=way.since,
        until=way.until,
        normaliser_version=NORMALISER_VERSION,
        run_id=run_id,
    )


def after_reading(looked_at: Entry) -> Entry:
    """The entry of a file that has been read: where it was cut, rewritten or gone meanwhile, nothing counts as read.

    Then the next run reads it whole, whatever it has become.
    """
    if looked_at.digest is None or _digest(looked_at.file, looked_at.size) == looked_at.digest:
        return looked_at
    return looked_at._replace(version="", digest=None, read_to=0)


def _digest(file: str, size: int) -> str | None:
    """Hash the beginning of a file and the end of its first ``size`` bytes; null where it cannot be opened."""
    try:
        with Path(file).open("rb", buffering=0) as opened:
            ends = opened.read(min(size, _END_BYTES))
            opened.seek(max(0, size - _END_BYTES))
            ends += opened.read(min(size, _END_BYTES))
    except OSError:
        return None
    return hashlib.blake2b(ends, digest_size=16).hexdigest()


def _last_line_end(file: str, size: int) -> int | None:
    """Where the last complete line within the first ``size`` bytes of a file ends; null where it cannot be opened."""
    end = size
    try:
        with Path(file).open("rb", buffering=0) as opened:
            while end > 0:
                start = max(0, end - _BLOCK_BYTES)
                opened.seek(start)
                newline = opened.read(end - start).rfind(b"\n")
                if newline >= 0:
                    return start + newline + 1
                end = start
    except OSError:
        return None
    return 0
