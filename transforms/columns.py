"""Calls and rejects to Arrow: column by column, without a dictionary per row."""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import accumulate
from operator import attrgetter
from typing import Any

import pyarrow as pa

from schemas.call import COLUMNS, NORMALISER_VERSION, SCHEMA, SEGMENT, TAGS, Call, Segment
from schemas.reject import REJECT_SCHEMA, Reject


def to_batch(calls: Sequence[Call]) -> pa.RecordBatch:
    """Calls as one RecordBatch of ``schemas.call.SCHEMA``, in the order given."""
    arrays = [_to_array(column.type, list(map(attrgetter(column.name), calls))) for column in COLUMNS]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def to_reject_batch(rejects: Sequence[Reject]) -> pa.RecordBatch:
    """Rejects as one RecordBatch of ``schemas.reject.REJECT_SCHEMA``; the run's id is filled in by staging."""
    rows = [
        {
            "reject_id": reject.reject_id or reject_id(reject),
            "reason": str(reject.reason),
            "detail": reject.detail,
            "source": reject.source,
            "source_file": reject.source_file,
            "source_position": reject.source_position,
            "raw": reject.raw,
            "normaliser_version": NORMALISER_VERSION,
            "date": reject.date,
        }
        for reject in rejects
    ]
    return pa.RecordBatch.from_pylist(rows, schema=REJECT_SCHEMA)


def reject_id(reject: Reject) -> str:
    """The identity of a reject: the same record at the same place is the same reject."""
    identity = blake2b(reject.raw, digest_size=16)
    identity.update(f"\0{reject.source_file}\0{reject.source_position}".encode())
    return identity.hexdigest()


def _to_array(kind: pa.DataType, values: list[Any]) -> pa.Array:
    if not any(value is not None for value in values):
        return pa.nulls(len(values), kind)
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode()
    convert = _NESTED.get(kind)
    return convert(values) if convert else pa.array(values, kind)


def _to_segments(rows: list[list[Segment] | None]) -> pa.Array:
    flat = [segment for row in rows if row for segment in row]
    columns = list(zip(*flat, strict=True)) if flat else [(), (), (), ()]
    fields = [pa.array(column, field.type) for column, field in zip(columns, SEGMENT, strict=True)]
    return pa.ListArray.from_arrays(_offsets(rows), pa.StructArray.from_arrays(fields, fields=list(SEGMENT)))


def _to_tags(rows: list[dict[str, str] | None]) -> pa.Array:
    keys = [key for row in rows if row for key in row]
    items = [value for row in rows if row for value in row.values()]
    return pa.MapArray.from_arrays(_offsets(rows), pa.array(keys, pa.string()), pa.array(items, pa.string()), type=TAGS)


def _offsets(rows: list[Any]) -> pa.Array:
    """Offsets of a list array; a null offset makes a null row."""
    ends = list(accumulate((len(row) if row else 0 for row in rows), initial=0))
    return pa.array(
        [None if row is None else end for row, end in zip(rows, ends, strict=False)] + ends[-1:], pa.int32()
    )


_NESTED: dict[pa.DataType, Callable[[list[Any]], pa.Array]] = {pa.list_(SEGMENT): _to_segments, TAGS: _to_tags}
