"""Partitions: which folder a row belongs to, and which folders may hold the same call under another date.

A slot is a partition as a number: days, or at the grain of hours hours, since 1970; null where no clock dated the row.
"""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from schemas.call import PARTITION_KEY, UNDATED
from schemas.lake import Grain, Kind, Pointer

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HOUR_US = 3_600_000_000
_UNDATED = {Grain.DATE: f"{PARTITION_KEY}={UNDATED}", Grain.HOUR: f"{PARTITION_KEY}={UNDATED}/hour={UNDATED}"}
_FORMAT = {Grain.DATE: f"{PARTITION_KEY}=%Y-%m-%d", Grain.HOUR: f"{PARTITION_KEY}=%Y-%m-%d/hour=%H"}
_STEP = {Grain.DATE: timedelta(days=1), Grain.HOUR: timedelta(hours=1)}


def grain_of(kind: Kind, grain: Grain) -> Grain:
    """The grain of a relation: an envelope may date a reject, but hardly ever to the hour."""
    return grain if kind is Kind.CALLS else Grain.DATE


def slots(batch: pa.RecordBatch, grain: Grain) -> pa.Array:
    """The slot of each row, int64."""
    days = batch[PARTITION_KEY].cast(pa.int32()).cast(pa.int64())
    if grain is Grain.DATE:
        return days
    hours = pc.divide(batch["called_at"].cast(pa.int64()), _HOUR_US)
    return pc.if_else(pc.is_null(days), None, hours)


def partition_of(slot: int | None, grain: Grain) -> str:
    """The partition's name, as its folder has it: ``date=2026-11-03``."""
    return _UNDATED[grain] if slot is None else (_EPOCH + slot * _STEP[grain]).strftime(_FORMAT[grain])


def slot_of(partition: str, grain: Grain) -> int | None:
    """The slot of a partition by its name."""
    if partition == _UNDATED[grain]:
        return None
    return (datetime.strptime(partition, _FORMAT[grain]).replace(tzinfo=UTC) - _EPOCH) // _STEP[grain]


def pruned_to(pointer: Pointer, since: str | None, until: str | None) -> Pointer:
    """The pointer without the files of other dates; undated ones stay. Both bounds are inclusive, as 2026-11-03."""

    def is_kept(partition: str) -> bool:
        day = partition.split("/", maxsplit=1)[0].partition("=")[2]
        return day == UNDATED or (since or "") <= day <= (until or "9999-12-31")

    return pointer.model_copy(
        update={name: {p: f for p, f in getattr(pointer, name).items() if is_kept(p)} for name in _BY_PARTITION}
    )


_BY_PARTITION = ("calls", "rejects", "costs")


def neighbours(slot: int) -> tuple[int | None, ...]:
    """Where else a dated call may be: two logs may date it on both sides of midnight, a third not at all.

    Of an undated call nothing says where else it may be.
    """
    return slot - 1, slot + 1, None
