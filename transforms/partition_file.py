"""A partition's next file: batches of rows to Parquet, in row groups that are bounded in bytes and rows."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from schemas.account import PartitionAccount
from schemas.call import PARTITION_KEY
from schemas.lake import LakeFile, RunContext
from transforms.stage import SCHEMAS

ROW_GROUP_BYTES = 16 << 20
ROW_GROUP_ROWS = 50_000
_UNSORTED_TEXTS = {"thinking", "answer", "usage_raw", "error_message", "raw", "detail"}
"""Columns whose smallest and largest value help no query."""


def with_file(account: PartitionAccount, run: RunContext, batches: Iterator[pa.RecordBatch]) -> PartitionAccount:
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
