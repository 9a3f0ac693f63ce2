"""A copy of a lake without its texts: for people who may count, but not read."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from schemas.account import PartitionAccount, RunAccount, Tally
from schemas.lake import Kind, Pointer, PriceFiles, RunContext
from transforms.due import Due
from transforms.partition_file import with_file
from transforms.parts import Part
from transforms.purge import changes, take_out


def copy_calls(source: Path, pointer: Pointer, run: RunContext) -> RunAccount:
    """Write the calls of a pointer into another lake's run, without texts; rejects are nothing else, and stay out."""
    partitions = [_copy(source / file.path, partition, run) for partition, file in sorted(pointer.calls.items())]
    rows = sum(account.arrived for account in partitions)
    return RunAccount(
        run_id=run.run_id,
        generation=run.generation,
        started_at=run.started_at,
        inputs=list(run.inputs),
        tally=Tally(records=rows, calls=rows),
        partitions=partitions,
    )


def with_prices(source: Path, pointer: Pointer, run: RunContext) -> RunContext:
    """The same run on a lake that has the prices of another one."""
    if pointer.prices is None:
        return run
    names = {name: f"prices/{name}-{run.generation:06d}-{run.token}.parquet" for name in ("prices", "model_map")}
    (run.lake / "prices").mkdir(exist_ok=True)
    for name, path in names.items():
        shutil.copyfile(source / getattr(pointer.prices, name), run.lake / path)
    prices = PriceFiles(version=pointer.prices.version, **names)
    return replace(run, base=run.base.model_copy(update={"prices": prices}))


def _copy(file: Path, partition: str, run: RunContext) -> PartitionAccount:
    account = PartitionAccount(kind=Kind.CALLS, partition=partition)
    account = with_file(account, run, _without_texts(file, run))
    return account.model_copy(update={"arrived": account.file.rows if account.file else 0})


def _without_texts(file: Path, run: RunContext) -> Iterator[pa.RecordBatch]:
    for batch in Part(file, own=True).batches():
        yield take_out(batch, changes(Kind.CALLS, batch, _all_due(batch.num_rows)), run.started_at)


def _all_due(rows: int) -> Due:
    """Every text is due; labels and names stay, since spend is counted by them."""
    every, none = np.ones(rows, dtype=bool), np.zeros(rows, dtype=bool)
    clocks = {"thinking": every, "answer": every, "error_message": every, "rest": every, "tags": none}
    numbers, nobody = np.zeros(rows, dtype=np.int64), pa.nulls(rows, pa.string())
    return Due(numbers, numbers, clocks, nobody, nobody)
