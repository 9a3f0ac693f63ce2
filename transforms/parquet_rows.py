"""Row groups of a Parquet file to batches of raw records, each row a dict as JSON would hold it."""

import warnings
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.exchange import JsonObject, RawRecord, RecordBatch
from transforms.expand import BLOCK_BYTES, FILE_FAULTS, Shard, open_file, reason


def read_rows(shard: Shard, max_bytes: int, max_records: int) -> Iterator[RecordBatch]:
    """Read a shard's row groups in batches of up to so many bytes and rows; a row is a dict.

    A fault is told by the last batch: nothing is raised.
    """
    position = 0
    try:
        with open_file(shard.file) as file:
            # Without these two a whole row group's bytes are held at once.
            parquet = pq.ParquetFile(file, pre_buffer=False, buffer_size=BLOCK_BYTES, coerce_int96_timestamp_unit="us")
            metadata = parquet.metadata
            groups = range(shard.start, shard.end if shard.end >= 0 else metadata.num_row_groups)
            position = sum(metadata.row_group(group).num_rows for group in range(shard.start))
            at_once = _rows_at_a_time(metadata, groups, max_bytes, max_records)
            for rows in parquet.iter_batches(at_once, row_groups=groups):
                for part in _bounded(_readable(rows), max_bytes):
                    records = [RawRecord(position + i, row) for i, row in enumerate(_to_dicts(part))]
                    yield RecordBatch(shard.file, records, part.nbytes)
                    position += len(records)
    except (*FILE_FAULTS, ValueError, OverflowError) as fault:  # the last two: times out of Python's range
        yield RecordBatch(shard.file, [], broken=reason(fault), broken_at=position)


def _rows_at_a_time(metadata: pq.FileMetaData, groups: range, max_bytes: int, max_records: int) -> int:
    size = sum(metadata.row_group(group).total_byte_size for group in groups)
    rows: int = sum(metadata.row_group(group).num_rows for group in groups)
    return max(1, min(max_records, max_bytes * rows // max(size, 1)))


def _bounded(rows: pa.RecordBatch, max_bytes: int) -> Iterator[pa.RecordBatch]:
    """Halve a batch until it is small enough: rows of one file may differ much in size."""
    if rows.nbytes <= max_bytes or len(rows) <= 1:
        yield rows
        return
    middle = len(rows) // 2
    yield from _bounded(rows.slice(0, middle), max_bytes)
    yield from _bounded(rows.slice(middle), max_bytes)


def _readable(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Nanoseconds become microseconds: Python's times hold no finer ones, and Arrow refuses to convert them."""
    fields = [field.with_type(_in_microseconds(field.type)) for field in rows.schema]
    return rows.cast(pa.schema(fields), safe=False) if fields != list(rows.schema) else rows


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_in_microseconds(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, _in_microseconds(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_in_microseconds(kind.value_type)))
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    return _MICROSECONDS.get(kind, kind)


_MICROSECONDS = {pa.time64("ns"): pa.time64("us"), pa.duration("ns"): pa.duration("us")}


def _to_dicts(rows: pa.RecordBatch) -> list[JsonObject]:
    with warnings.catch_warnings(
        action="ignore", category=UserWarning
    ):  # of a map's key that is there twice: last wins
        dicts: list[JsonObject] = rows.to_pylist(maps_as_pydicts="lossy")
    for name in (field.name for field in rows.schema if "binary" in str(field.type)):
        for row in dicts:
            row[name] = _as_text(row[name])
    return dicts


def _as_text(value: object) -> object:
    """Older writers store strings as plain binary; what is not UTF-8 stays bytes."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if isinstance(value, dict):
        return {_as_text(key): _as_text(inner) for key, inner in value.items()}
    return [_as_text(inner) for inner in value] if isinstance(value, list) else value
