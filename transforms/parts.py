"""Where rows are: a record batch of a staged part, or a live Parquet file. Read a batch at a time."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq


class Part(NamedTuple):
    """Some rows of one partition. A row's number counts from 0 over all of its batches."""

    path: Path
    own: bool
    """Of the partition that is published; else of one that may hold the same calls."""
    batch: int | None = None
    """Which record batch of a staged part; null for a live file, whose rows earlier runs settled."""
    slot: int | None = None
    """A live file's partition (``transforms.partitions``)."""

    @property
    def live(self) -> bool:
        """Tell whether this is a live file."""
        return self.batch is None

    def batches(self, columns: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
        """The rows in order: the named columns, or all."""
        if self.batch is None:
            with pq.ParquetFile(self.path) as file:
                # A row group is small; a reader over all of them would read ahead.
                for group in range(file.num_row_groups):
                    yield from file.read_row_group(group, columns=list(columns) or None).to_batches()
            return
        with pa.memory_map(str(self.path)) as file:
            yield pa.ipc.open_file(file, options=_only(self.path, tuple(columns))).get_batch(self.batch)


@lru_cache(maxsize=1024)
def _only(path: Path, columns: tuple[str, ...]) -> pa.ipc.IpcReadOptions:
    """Read only these columns of a staged part, or all; a part is read by several partitions."""
    with pa.memory_map(str(path)) as file:
        schema = pa.ipc.open_file(file).schema
    return pa.ipc.IpcReadOptions(included_fields=[schema.get_field_index(name) for name in columns])
