"""Publish: one partition's live file and the parts staged for it become its next file, one row per call.

Rows are streamed batch by batch: memory is bounded by a batch and a row group, whatever the partition's size. The file
appears under a new name by rename; the lake does not know it before the run is committed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from uuid import uuid4

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from apache_beam.pvalue import PCollection

from schemas.account import Outcome, PartitionAccount, Tally
from schemas.call import PARTITION_KEY
from schemas.lake import Kind, LakeFile, RunContext
from transforms.dedupe import Purge, Rows, Verdict, judge
from transforms.metrics import Count, count
from transforms.partitions import grain_of, neighbours, partition_of, slot_of
from transforms.parts import Part
from transforms.stage import ACCOUNT, SCHEMAS, Descriptor

ROW_GROUP_BYTES = 16 << 20
ROW_GROUP_ROWS = 50_000
_UNSORTED_TEXTS = {"thinking", "answer", "usage_raw", "error_message", "raw", "detail"}
"""Columns whose smallest and largest value help no query."""


def publish(kind: Kind, partition: str, descriptors: Iterable[Descriptor], run: RunContext) -> PartitionAccount:
    """Write a partition's next file, unless nothing changes; safe to run twice."""
    staged = sorted(descriptors, key=lambda d: d.file)
    parts = _parts(kind, partition, staged, run)
    if not any(part.own for part in parts):  # only looked at, and there is nothing to see
        return PartitionAccount(kind=kind, partition=partition)
    verdict = judge(run, kind, partition, parts)
    own = {number: part for number, part in enumerate(parts) if part.own}
    lost = {live: sum(len(verdict.lost.get(n, ())) for n, p in own.items() if p.live is live) for live in (True, False)}
    account = PartitionAccount(
        kind=kind,
        partition=partition,
        arrived=sum(descriptor.rows for descriptor in staged),
        duplicates=lost[False],
        duplicates_by=verdict.duplicates,
        replaced=lost[True],
        id_conflicts=verdict.id_conflicts,
        beaten=verdict.beaten,
    )
    if account.added == 0 and account.replaced == 0:
        return account
    return _with_file(account, run, chain.from_iterable(_staying(part, n, verdict) for n, part in own.items()))


def rewrite(
    run: RunContext, account: PartitionAccount, lost: Rows | None = None, purged: Purge | None = None
) -> PartitionAccount:
    """Write a partition's file again without some rows, or with some rows' texts taken out; all else stays.

    The file is the one that ``account`` says this run wrote, else the live one. Row numbers are ascending.
    """
    file = account.file if account.changed else run.live(account.kind, account.partition)
    if file is None:
        return account
    verdict = Verdict({} if lost is None else {0: lost}, {} if purged is None else {0: purged})
    return _with_file(account, run, _staying(Part(run.lake / file.path, own=True), 0, verdict))


def _parts(kind: Kind, partition: str, staged: Sequence[Descriptor], run: RunContext) -> list[Part]:
    """Everything that may hold this partition's calls: its live file first, then what was staged, then neighbours."""
    folder = run.staging
    live = run.live(kind, partition)
    parts = [Part(run.lake / live.path, own=True, slot=_slot(kind, partition, run))] if live else []
    parts += [Part(folder / d.file, own=True, batch=batch) for d in staged for batch in d.own]
    parts += [Part(folder / d.file, own=False, batch=batch) for d in staged for batch in d.near]
    if kind is Kind.CALLS and any(d.own for d in staged):
        parts += [Part(run.lake / file.path, own=False, slot=slot) for slot, file in _near(partition, run)]
    return parts


def _near(partition: str, run: RunContext) -> Iterator[tuple[int | None, LakeFile]]:
    slot = _slot(Kind.CALLS, partition, run)
    if slot is None:  # nothing says where else an undated call may be
        for other, file in run.base.calls.items():
            if other != partition:
                yield _slot(Kind.CALLS, other, run), file
        return
    for neighbour in neighbours(slot):
        near = run.live(Kind.CALLS, partition_of(neighbour, run.base.grain))
        if near:
            yield neighbour, near


def _slot(kind: Kind, partition: str, run: RunContext) -> int | None:
    return slot_of(partition, grain_of(kind, run.base.grain))


def _staying(part: Part, number: int, verdict: Verdict) -> Iterator[pa.RecordBatch]:
    """The rows of a part that stay, in order."""
    lost = verdict.lost.get(number)
    purge = verdict.purged.get(number)
    start = 0
    for batch in part.batches():
        end = start + batch.num_rows
        kept = batch if purge is None else _purged(batch, purge, start)
        if lost is not None:
            gone = lost[np.searchsorted(lost, start) : np.searchsorted(lost, end)]
            mask = np.ones(batch.num_rows, dtype=bool)
            mask[gone - start] = False
            kept = kept.filter(pa.array(mask))
        if kept.num_rows:
            yield kept
        start = end


def _purged(batch: pa.RecordBatch, purge: Purge, start: int) -> pa.RecordBatch:
    """Take the texts out of purged rows, and say when that was."""
    inside = (purge.rows >= start) & (purge.rows < start + batch.num_rows)
    mask = np.zeros(batch.num_rows, dtype=bool)
    mask[purge.rows[inside] - start] = True
    for text, stamps in (("thinking", purge.thinking_purged_at), ("answer", purge.answer_purged_at)):
        column = f"{text}_purged_at"
        new = pc.replace_with_mask(
            pa.nulls(batch.num_rows, batch[column].type),
            pa.array(mask),
            stamps.filter(pa.array(inside)).cast(batch[column].type),
        )
        batch = _replaced(batch, text, pc.if_else(pc.is_valid(new), None, batch[text]))
        batch = _replaced(batch, column, pc.coalesce(batch[column], new))
    return batch


def _replaced(batch: pa.RecordBatch, name: str, values: pa.Array) -> pa.RecordBatch:
    place = batch.schema.get_field_index(name)
    return batch.set_column(place, batch.schema.field(place), values)


def _with_file(account: PartitionAccount, run: RunContext, batches: Iterator[pa.RecordBatch]) -> PartitionAccount:
    """Write the rows as the partition's next file; no file where there is no row."""
    first = next(batches, None)
    if first is None:
        return account.model_copy(update={"changed": True, "file": None})
    target = run.lake / run.target(account.kind, account.partition)
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = run.staging / f"{uuid4().hex}.parquet"
    rows = _write_rows(chain([first], batches), SCHEMAS[account.kind], aside)
    # Arrow's pool keeps what it once had; over many partitions that grows with the input.
    pa.default_memory_pool().release_unused()
    aside.replace(target)
    file = LakeFile(path=run.target(account.kind, account.partition), rows=rows, bytes=target.stat().st_size)
    return account.model_copy(update={"changed": True, "file": file})


def _write_rows(batches: Iterable[pa.RecordBatch], schema: pa.Schema, path: Path) -> int:
    """Write Parquet; the partition key is in the folder's name alone. Gives the number of rows."""
    stored = schema.remove(schema.get_field_index(PARTITION_KEY))
    rows = 0
    with pq.ParquetWriter(path, stored, **_parquet_options(stored)) as writer:
        for group in _row_groups(batches, stored):
            writer.write_table(group, row_group_size=group.num_rows)
            rows += group.num_rows
    return rows


def _parquet_options(schema: pa.Schema) -> Mapping[str, object]:
    words = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    return {
        "compression": "zstd",
        "compression_level": 1,
        "use_dictionary": [*words, "segments.list.element.kind", "tags.key_value.key", "tags.key_value.value"],
        "write_statistics": [field.name for field in schema if field.name not in _UNSORTED_TEXTS],
        "write_page_index": True,
    }


def _row_groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Gather small batches and cut large ones, so that a row group's size is bounded in bytes and rows."""
    pending: list[pa.RecordBatch] = []
    size = rows = 0
    for batch in chain.from_iterable(_pieces(batch) for batch in batches):
        if pending and (size + batch.nbytes > ROW_GROUP_BYTES or rows + batch.num_rows > ROW_GROUP_ROWS):
            yield pa.Table.from_batches(pending).unify_dictionaries()
            pending, size, rows = [], 0, 0
        pending.append(_conform(batch, schema))
        size += batch.nbytes
        rows += batch.num_rows
    if pending:
        yield pa.Table.from_batches(pending).unify_dictionaries()


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    pieces = max(-(-batch.nbytes // ROW_GROUP_BYTES), -(-batch.num_rows // ROW_GROUP_ROWS))
    step = -(-batch.num_rows // pieces)
    return (batch.slice(start, step) for start in range(0, batch.num_rows, step))


def _conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch in today's schema: columns that an older file does not have are null."""
    present = set(batch.schema.names)
    columns = [batch[f.name] if f.name in present else pa.nulls(batch.num_rows, f.type) for f in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@dataclass
class Publish(beam.PTransform[PCollection[tuple[str, Descriptor]], PCollection[Outcome]]):
    """Descriptors, grouped by partition, to the next file of each; gives what happened to it, and the tally."""

    run: RunContext

    def expand(self, input_or_inputs: PCollection[tuple[str, Descriptor]]) -> PCollection[Outcome]:
        """Publish each partition once."""
        grouped = input_or_inputs | "GroupByPartition" >> beam.GroupByKey()
        return grouped | "PublishPartition" >> beam.ParDo(_PublishFn(self.run))


class _PublishFn(beam.DoFn):
    def __init__(self, run: RunContext) -> None:
        self._run = run

    def process(self, element: tuple[str, Iterable[Descriptor]]) -> Iterator[Outcome]:
        key, descriptors = element
        if key == ACCOUNT:
            yield Outcome(tally=add_up(d.tally for d in descriptors if d.tally))
            return
        kind, partition = key.split("/", 1)
        account = publish(Kind(kind), partition, descriptors, self._run)
        count(Count.PUBLISHED_PARTITIONS, int(account.changed))
        count(Count.DUPLICATES, account.duplicates)
        count(Count.REPLACED, account.replaced)
        yield Outcome(account)


def add_up(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies."""
    total = Tally()
    for tally in tallies:
        total.add(tally)
    return total
