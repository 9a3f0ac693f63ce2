"""Rejects to the records that they were, so that a newer normaliser tries them again."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import apache_beam as beam
import duckdb
import pyarrow as pa
from apache_beam.pvalue import PCollection

from schemas.exchange import RawRecord, RecordBatch, RecordBatches
from transforms.read import BATCH_BYTES, BATCH_RECORDS
from transforms.replacement import REPLAYABLE

_ROWS = f"""
SELECT source_file, source_position, raw
FROM read_parquet($path, hive_partitioning = false)
WHERE {REPLAYABLE}
ORDER BY source_file, source_position
"""  # noqa: S608 - a constant


def replayed(path: Path) -> Iterator[RecordBatch]:
    """The records of one file of rejects, each with the place that it came from, in batches of one source file each."""
    with duckdb.connect() as db:
        reader: pa.RecordBatchReader = db.sql(_ROWS, params={"path": str(path)}).to_arrow_reader(BATCH_RECORDS)
        for rows in reader:
            yield from _batches(rows)


def _batches(rows: pa.RecordBatch) -> Iterator[RecordBatch]:
    places = zip(*(rows[name].to_pylist() for name in ("source_file", "source_position", "raw")), strict=True)
    for file, group in groupby(places, key=lambda place: place[0]):
        batch = RecordBatch(file, [])
        for _, position, raw in group:
            if batch.records and batch.size + len(raw) > BATCH_BYTES:
                yield batch
                batch = RecordBatch(file, [])
            batch.records.append(RawRecord(position, raw))
            batch.size += len(raw)
        yield batch


@dataclass
class Replay(beam.PTransform[PCollection[str], PCollection[RecordBatches]]):
    """Paths of reject files to batches of the records in them."""

    def expand(self, input_or_inputs: PCollection[str]) -> PCollection[RecordBatches]:
        """Wire one file to its batches."""
        return input_or_inputs | "ReplayRejects" >> beam.FlatMap(_replayed)


def _replayed(path: str) -> Iterator[RecordBatches]:
    return ((batch,) for batch in replayed(Path(path)))
