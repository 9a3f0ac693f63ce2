"""A shard to batches of raw records: what was stored, cut into records, and nothing understood yet.

A bad file never raises: what could be read of it is delivered, and a batch says why and where reading stopped.
Memory is bounded by a few blocks and one record, whatever a file's size.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import apache_beam as beam
from apache_beam.pvalue import PCollection

from schemas.exchange import RawRecord, RecordBatch, RecordBatches
from transforms.expand import FILE_FAULTS, Form, Shard, Shards, blocks, reason
from transforms.parquet_rows import read_rows
from transforms.records import Broken, Found, split_elements, split_lines

BATCH_BYTES = 16 << 20
BATCH_RECORDS = 8192
MAX_TRANSCRIPT_BYTES = 256 << 20
"""A transcript is held at once; the lines of a longer one are read each for itself."""


def read(shard: Shard) -> Iterator[RecordBatch]:
    """Read a shard's records in batches of up to ``BATCH_BYTES`` and ``BATCH_RECORDS``; one record may be larger.

    Records of LINES and DOCUMENT are bytes as they stand in the file, rows of PARQUET are dicts.
    """
    if shard.form == Form.PARQUET:
        return read_rows(shard, BATCH_BYTES, BATCH_RECORDS)
    is_document = shard.form == Form.DOCUMENT
    found = split_elements(blocks(shard.file, shard.compression)) if is_document else _read_lines(shard)
    if shard.folded_by is not None:
        return _together(shard.file, found, shard.folded_by)
    return _batched(shard.file, found)


@dataclass
class Read(beam.PTransform[PCollection[Shards], PCollection[RecordBatches]]):
    """Shards to batches of their records."""

    def expand(self, input_or_inputs: PCollection[Shards]) -> PCollection[RecordBatches]:
        """Wire shards to their batches."""
        return input_or_inputs | "ReadShards" >> beam.FlatMap(_read_together)


def _read_together(shards: Shards) -> Iterator[RecordBatches]:
    """Batches of small files go on together, as long as they are no larger than a batch of a large one."""
    batches: list[RecordBatch] = []
    size = records = 0
    for batch in chain.from_iterable(map(_read_or_nothing, shards)):
        if batches and (size + batch.size > BATCH_BYTES or records + len(batch.records) > BATCH_RECORDS):
            yield tuple(batches)
            batches, size, records = [], 0, 0
        batches.append(batch)
        size += batch.size
        records += len(batch.records)
    yield tuple(batches)


def _read_or_nothing(shard: Shard) -> Iterator[RecordBatch]:
    """A shard without records gives one empty batch: a run that finds nothing has an account too."""
    batch = None
    for batch in read(shard):
        yield batch
    if batch is None:
        yield RecordBatch(shard.file, [])


def _batched(file: str, found: Iterable[Found]) -> Iterator[RecordBatch]:
    batch = RecordBatch(file, [])
    for item in found:
        if isinstance(item, Broken):
            batch.broken, batch.broken_at, batch.broken_rest = item.reason, item.position, item.rest
            yield batch
            batch = RecordBatch(file, [])
            continue
        size = len(item.value)
        if batch.records and (batch.size + size > BATCH_BYTES or len(batch.records) >= BATCH_RECORDS):
            yield batch
            batch = RecordBatch(file, [])
        batch.records.append(item)
        batch.size += size
    if batch.records:
        yield batch


def _together(file: str, found: Iterator[Found], folded_by: str) -> Iterator[RecordBatch]:
    """All records of a transcript in one batch, what could not be read before them; too many are batched as always."""
    records: list[RawRecord] = []
    size = 0
    for item in found:
        if isinstance(item, Broken):
            yield RecordBatch(file, [], broken=item.reason, broken_at=item.position, broken_rest=item.rest)
            continue
        records.append(item)
        size += len(item.value)
        if size > MAX_TRANSCRIPT_BYTES:
            yield from _batched(file, chain(records, found))
            return
    yield RecordBatch(file, records, size, folded_by=folded_by)


def _read_lines(shard: Shard) -> Iterator[Found]:
    start: int | None = shard.start
    if shard.start > 0:
        try:
            start = _first_line_start(blocks(shard.file, None, shard.start - 1), shard.start - 1, shard.end)
        except FILE_FAULTS as fault:
            yield Broken(shard.start, reason(fault))
            return
    if start is not None:
        end = shard.end if shard.end >= 0 else None
        yield from split_lines(blocks(shard.file, shard.compression, start), start, end)


def _first_line_start(content: Iterable[bytes], position: int, end: int) -> int | None:
    """Where the first line begins behind a position; null where none begins before ``end``."""
    for block in content:
        newline = block.find(b"\n")
        if newline >= 0:
            begin = position + newline + 1
            return begin if begin < end else None
        position += len(block)
        if position >= end:
            return None
    return position
