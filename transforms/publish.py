"""Publish: one partition's live file and the parts staged for it become its next file, one row per call.

Rows are streamed batch by batch: memory is bounded by a batch and a row group, whatever the partition's size. The file
appears under a new name by rename; the lake does not know it before the run is committed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import PCollection

from schemas.account import Outcome, PartitionAccount, Tally
from schemas.lake import Kind, LakeFile, RunContext
from transforms.dedupe import Purge, Rows, Verdict, judge
from transforms.due import Calendar
from transforms.metrics import Count, count
from transforms.mirror import local
from transforms.partition_file import with_file
from transforms.partitions import grain_of, neighbours, partition_of, slot_of
from transforms.parts import Part
from transforms.policies import policy_of
from transforms.purge import changed_rows, changes, replaced, take_out
from transforms.stage import ACCOUNT, Descriptor


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
    staying = ((part, batch) for n, part in own.items() for batch in _staying(part, n, verdict))
    policy = policy_of(run.lake, run.base)
    if policy is None:
        return with_file(account, run, (batch for _, batch in staying))
    with Calendar(policy, run.started_at.date()) as calendar:
        arrivals = _Arrivals(kind, calendar, run.started_at)
        account = with_file(account, run, (batch if part.live else arrivals.checked(batch) for part, batch in staying))
    return account.model_copy(update={"expired": arrivals.expired})


@dataclass(slots=True)
class _Arrivals:
    """Rows that arrive, without what is past its retention already: a backfill must not bring it back."""

    kind: Kind
    calendar: Calendar
    at: datetime
    expired: int = 0

    def checked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch without what is due."""
        due = self.calendar.due(self.kind, batch)
        if not due.any():
            return batch
        made = changes(self.kind, batch, due)
        self.expired += int(changed_rows(made).sum())
        return take_out(batch, made, self.at)


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
    return with_file(account, run, _staying(Part(local(run, file.path), own=True), 0, verdict))


def _parts(kind: Kind, partition: str, staged: Sequence[Descriptor], run: RunContext) -> list[Part]:
    """Everything that may hold this partition's calls: its live file first, then what was staged, then neighbours."""
    folder = run.staging
    live = run.live(kind, partition)
    parts = [Part(local(run, live.path), own=True, slot=_slot(kind, partition, run))] if live else []
    parts += [Part(folder / d.file, own=True, batch=batch) for d in staged for batch in d.own]
    parts += [Part(folder / d.file, own=False, batch=batch) for d in staged for batch in d.near]
    if kind is Kind.CALLS and any(d.own for d in staged):
        parts += [Part(local(run, file.path), own=False, slot=slot) for slot, file in _near(partition, run)]
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
    if "raw" in batch.schema.names:  # a reject, which has no column that says when
        for text in ("raw", "detail"):
            batch = replaced(batch, text, pc.if_else(pa.array(mask), None, batch[text]))
        return batch
    for text, stamps in (("thinking", purge.thinking_purged_at), ("answer", purge.answer_purged_at)):
        column = f"{text}_purged_at"
        new = pc.replace_with_mask(
            pa.nulls(batch.num_rows, batch[column].type),
            pa.array(mask),
            stamps.filter(pa.array(inside)).cast(batch[column].type),
        )
        batch = replaced(batch, text, pc.if_else(pc.is_valid(new), None, batch[text]))
        batch = replaced(batch, column, pc.coalesce(batch[column], new))
    return batch


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
