"""Retain: partitions to partitions without the texts that are due, and accounts that show that no total changed.

A partition is looked at a row group at a time: first the few columns that decide, then the texts where something is
due. Only where something goes is its next file written; the lake knows of it once the run is committed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.pvalue import PCollection

from schemas.account import Outcome, PartitionAccount, PartitionPurge, Purged
from schemas.call import PARTITION_KEY, UNDATED
from schemas.lake import Kind, Pointer, RunContext
from schemas.policy import PolicyInForce
from transforms.clocks import first_due
from transforms.due import FORGET, LOOKED_AT, Calendar, Due
from transforms.metrics import Count, count
from transforms.mirror import local
from transforms.partition_file import with_file
from transforms.purge import Change, changed_rows, changes, columns, take_out
from transforms.totals import totals


class NotPurgedError(RuntimeError):
    """A purge changed what must stay, or left what is due: nothing of it becomes visible."""


class Order(NamedTuple):
    """What is to go by which policy, and as of which day.

    ``names`` are users and sessions to be forgotten in the clear: rejects that hold them go.
    """

    policy: PolicyInForce
    as_of: date
    names: tuple[str, ...] = ()


class Place(NamedTuple):
    """One partition of one relation."""

    kind: Kind
    partition: str


def places(pointer: Pointer, order: Order) -> list[Place]:
    """The partitions that may hold something due; the others need not be opened."""
    found = [Place(kind, partition) for kind in Kind for partition in pointer.files(kind)]
    return [place for place in found if (first_due(order.policy, _day(place)) or date.min) <= order.as_of]


def survey(file: Path, place: Place, order: Order) -> list[Purged]:
    """What goes out of a data file, by the rule that decides; the file stays as it is."""
    found: dict[int, Purged] = {}
    with Calendar(order.policy, order.as_of, order.names) as calendar, pq.ParquetFile(file) as parquet:
        for group, due in _groups(parquet, place, calendar, order):
            if due.any():
                made = changes(place.kind, _read(parquet, group, columns(place.kind, due)), due)
                for rule, purged in _by_rule(made, due, order.policy):
                    found[rule] = found[rule] + purged if rule in found else purged
    return [found[rule] for rule in sorted(found)]


def purge(run: RunContext, place: Place, order: Order) -> PartitionAccount:
    """Write a partition's next file without what is due, unless nothing is; safe to run twice.

    Raises:
        NotPurgedError: the new file's totals are not the old one's, or something due is left in it.
    """
    account = PartitionAccount(kind=place.kind, partition=place.partition)
    live = run.live(*place)
    if live is None:
        return account
    purged = survey(local(run, live.path), place, order)
    if not purged:
        return account
    account = with_file(account, run, _purged(run, local(run, live.path), place, order))
    assert account.file is not None  # no row went
    before, after = (totals(place.kind, local(run, path), run.memory_limit) for path in (live.path, account.file.path))
    if before != after:
        differ = ", ".join(name for name in before if before[name] != after.get(name))
        raise NotPurgedError(f"{live.path}: without the texts that are due, other totals would change: {differ}")
    if left := survey(run.lake / account.file.path, place, order):
        raise NotPurgedError(f"{live.path}: {sum(item.rows for item in left)} rows would still hold what is due")
    return account.model_copy(update={"purge": PartitionPurge(purged=purged, totals_before=before, totals_after=after)})


def _purged(run: RunContext, file: Path, place: Place, order: Order) -> Iterator[pa.RecordBatch]:
    with Calendar(order.policy, order.as_of, order.names) as calendar, pq.ParquetFile(file) as parquet:
        for group, due in _groups(parquet, place, calendar, order):
            batch = _read(parquet, group)
            yield take_out(batch, changes(place.kind, batch, due), run.started_at)


def _groups(parquet: pq.ParquetFile, place: Place, calendar: Calendar, order: Order) -> Iterator[tuple[int, Due]]:
    """The row groups of a file, and what may be due in them."""
    day = pa.scalar(_day(place), pa.date32())
    looked_at = [*LOOKED_AT[place.kind], *(["raw"] if order.names and place.kind is Kind.REJECTS else [])]
    for group in range(parquet.num_row_groups):
        rows = _read(parquet, group, looked_at)
        yield group, calendar.due(place.kind, rows.append_column(PARTITION_KEY, pa.repeat(day, rows.num_rows)))


def _read(parquet: pq.ParquetFile, group: int, names: Sequence[str] | None = None) -> pa.RecordBatch:
    [batch] = parquet.read_row_group(group, columns=names).combine_chunks().to_batches()
    return batch


def _by_rule(made: Sequence[Change], due: Due, policy: PolicyInForce) -> Iterator[tuple[int, Purged]]:
    rows = changed_rows(made)
    sizes = np.sum([change.bytes for change in made], axis=0)
    for rule in np.unique(due.rule[rows]):
        here = rows & (due.rule == rule)
        by_column = {change.column: int((change.rows & here).sum()) for change in made}
        yield (
            int(rule),
            Purged(
                rule="forget" if rule == FORGET else policy.describe(int(rule)),
                rows=int(here.sum()),
                bytes=int(sizes[here].sum()),
                oldest_days=int(due.days[here].max()),
                columns={column: number for column, number in by_column.items() if number},
            ),
        )


def _day(place: Place) -> date | None:
    """The date of a partition; null where it holds what has none."""
    day = place.partition.split("/")[0].removeprefix(f"{PARTITION_KEY}=")
    return None if day == UNDATED else date.fromisoformat(day)


@dataclass
class Retain(beam.PTransform[PCollection[Place], PCollection[Outcome]]):
    """Partitions to what was purged of each."""

    run: RunContext
    order: Order

    def expand(self, input_or_inputs: PCollection[Place]) -> PCollection[Outcome]:
        """Purge each partition once."""
        return input_or_inputs | "PurgePartition" >> beam.ParDo(_RetainFn(self.run, self.order))


class _RetainFn(beam.DoFn):
    def __init__(self, run: RunContext, order: Order) -> None:
        self._run = run
        self._order = order

    def process(self, element: Place) -> Iterator[Outcome]:
        account = purge(self._run, element, self._order)
        count(Count.PUBLISHED_PARTITIONS, int(account.changed))
        yield Outcome(account)
