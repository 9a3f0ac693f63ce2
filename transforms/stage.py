"""Stage: a batch's rows, sorted and cut by partition, go to an Arrow file; descriptors tell the partitions of it.

A part lives in the run's staging folder until the run is committed: publishing may be retried and reads it again. Its
name is new at every try and only its descriptors make it known, so what a failed try left behind is never read.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import apache_beam as beam
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import PCollection

from schemas.account import Tally
from schemas.call import SCHEMA
from schemas.lake import Grain, Kind, RunContext
from schemas.reject import REJECT_SCHEMA
from transforms.metrics import Count, count
from transforms.partitions import grain_of, neighbours, partition_of, slots
from transforms.progress import tell

ACCOUNT = "account"
"""The key of what belongs to no partition: the tallies."""
SCHEMAS = {Kind.CALLS: SCHEMA, Kind.REJECTS: REJECT_SCHEMA}
_PACKED = pa.ipc.IpcWriteOptions(compression="lz4")
"""Plain Arrow takes two to thirteen times the disk of the Parquet that comes of it, lz4 two to three times; zstd would
take no more than the Parquet, and twice lz4's time."""
_ORDER = {
    Kind.CALLS: ("date", "called_at", "call_id"),
    Kind.REJECTS: ("date", "source_file", "source_position"),
}


@dataclass(slots=True)
class Normalised:
    """One batch of one file, normalised. Rows of any dates, in any order; their ``run_id`` is not yet known."""

    calls: pa.RecordBatch
    rejects: pa.RecordBatch
    tally: Tally


class Descriptor(NamedTuple):
    """What one part holds for one partition; a few bytes, which is all that is ever shuffled."""

    kind: Kind | None
    """Null for a tally."""
    partition: str = ""
    file: str = ""
    """The part's name in the run's staging folder."""
    own: tuple[int, ...] = ()
    """The record batches of this partition in the part."""
    near: tuple[int, ...] = ()
    """The record batches of partitions that may hold the same calls (``partitions.neighbours``)."""
    rows: int = 0
    bytes: int = 0
    tally: Tally | None = None

    @property
    def key(self) -> str:
        """What descriptors are grouped by."""
        return f"{self.kind}/{self.partition}" if self.kind else ACCOUNT


def stage(batch: Normalised, folder: Path, run_id: str, grain: Grain = Grain.DATE) -> list[Descriptor]:
    """Write a batch's rows into ``folder`` and say which partitions they concern; the tally comes last.

    Raises:
        ValueError: a batch has another schema than its relation.
    """
    tables = ((Kind.CALLS, batch.calls), (Kind.REJECTS, batch.rejects))
    parts = [part for kind, rows in tables if rows.num_rows for part in _stage_rows(kind, rows, folder, run_id, grain)]
    return [*parts, Descriptor(None, tally=batch.tally)]


def _stage_rows(kind: Kind, rows: pa.RecordBatch, folder: Path, run_id: str, grain: Grain) -> list[Descriptor]:
    if not rows.schema.equals(SCHEMAS[kind]):
        raise ValueError(f"a batch of {kind} has another schema than theirs: {rows.schema}")
    rows = _with_run_id(rows, run_id)
    order = [(column, "ascending") for column in _ORDER[kind]]
    rows = rows.take(pc.sort_indices(rows, sort_keys=order))
    cut = _cut(rows, grain_of(kind, grain))
    file = _write([part for _, part in cut], folder, kind)
    return _describe(kind, file, cut, grain_of(kind, grain))


def _with_run_id(rows: pa.RecordBatch, run_id: str) -> pa.RecordBatch:
    place = rows.schema.get_field_index("run_id")
    field = rows.schema.field(place)
    return rows.set_column(place, field, pa.repeat(run_id, rows.num_rows).cast(field.type))


def _cut(rows: pa.RecordBatch, grain: Grain) -> list[tuple[int | None, pa.RecordBatch]]:
    """Cut sorted rows where their slot changes: views of the same memory."""
    runs = pc.run_end_encode(slots(rows, grain))
    parts, start = [], 0
    for end, slot in zip(runs.run_ends.to_pylist(), runs.values.to_pylist(), strict=True):
        parts.append((slot, rows.slice(start, end - start)))
        start = end
    return parts


def _write(parts: list[pa.RecordBatch], folder: Path, kind: Kind) -> str:
    name = f"{kind}-{uuid4().hex}.arrow"
    aside = folder / f"{name}.tmp"
    with pa.OSFile(str(aside), "wb") as sink, pa.ipc.new_file(sink, parts[0].schema, options=_PACKED) as writer:
        for part in parts:
            writer.write_batch(part)
    aside.replace(folder / name)
    return name


def _describe(kind: Kind, file: str, cut: list[tuple[int | None, pa.RecordBatch]], grain: Grain) -> list[Descriptor]:
    """A descriptor for each partition that has rows here, and for each that should look at them.

    Rejects name the place they came from, so a reject cannot come again under another date.
    """
    own = {slot: (place, part) for place, (slot, part) in enumerate(cut)}
    near: dict[int | None, list[int]] = defaultdict(list)
    for slot, (place, _) in own.items():
        if slot is not None and kind is Kind.CALLS:
            for neighbour in neighbours(slot):
                near[neighbour].append(place)
    return [
        Descriptor(
            kind,
            partition_of(slot, grain),
            file,
            own=(own[slot][0],) if slot in own else (),
            near=tuple(near.get(slot, ())),
            rows=own[slot][1].num_rows if slot in own else 0,
            bytes=own[slot][1].nbytes if slot in own else 0,
        )
        for slot in own.keys() | near.keys()
    ]


@dataclass
class Stage(beam.PTransform[PCollection[Normalised], PCollection[tuple[str, Descriptor]]]):
    """Normalised batches to staged parts; gives their descriptors, keyed by what has to be published together."""

    run: RunContext

    def expand(self, input_or_inputs: PCollection[Normalised]) -> PCollection[tuple[str, Descriptor]]:
        """Stage each batch."""
        return input_or_inputs | "StageBatch" >> beam.ParDo(_StageFn(self.run))


class _StageFn(beam.DoFn):
    def __init__(self, run: RunContext) -> None:
        self._run = run

    def process(self, element: Normalised) -> Iterator[tuple[str, Descriptor]]:
        count(Count.STAGED_CALLS, element.calls.num_rows)
        count(Count.STAGED_REJECTS, element.rejects.num_rows)
        count(Count.STAGED_BYTES, element.calls.nbytes + element.rejects.nbytes)
        for descriptor in stage(element, self._run.staging, self._run.run_id, self._run.base.grain):
            yield descriptor.key, descriptor
        tell(self._run, element.tally)
