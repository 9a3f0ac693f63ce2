"""Counts without texts: a lake that never gets any, and a copy of one for people who may count, but not read."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa

from schemas.account import PartitionAccount, RunAccount, Tally
from schemas.lake import Kind, Pointer, PriceFiles, RunContext
from transforms.due import Due
from transforms.partition_file import with_file
from transforms.parts import Part
from transforms.purge import changes, replaced, take_out
from transforms.stage import Normalised


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
    account = with_file(account, run, _copied(file, run))
    return account.model_copy(update={"arrived": account.file.rows if account.file else 0})


def without_texts(found: Normalised, at: datetime) -> Normalised:
    """What a batch came to, as counts only; what is left out now never comes back, as after a purge."""
    nothing = pa.nulls(found.rejects.num_rows)
    rejects = found.rejects
    for name in ("raw", "detail"):
        rejects = replaced(rejects, name, nothing.cast(rejects[name].type))
    return Normalised(_counts_only(found.calls, at), rejects, found.tally)


def _copied(file: Path, run: RunContext) -> Iterator[pa.RecordBatch]:
    for batch in Part(file, own=True).batches():
        yield _counts_only(batch, run.started_at)


def _counts_only(calls: pa.RecordBatch, at: datetime) -> pa.RecordBatch:
    return take_out(calls, changes(Kind.CALLS, calls, _all_due(calls.num_rows)), at)


def _all_due(rows: int) -> Due:
    """Every text is due; labels and names stay, since spend is counted by them."""
    every, none = np.ones(rows, dtype=bool), np.zeros(rows, dtype=bool)
    clocks = {"thinking": every, "answer": every, "error_message": every, "rest": every, "tags": none}
    numbers, nobody = np.zeros(rows, dtype=np.int64), pa.nulls(rows, pa.string())
    return Due(numbers, numbers, clocks, nobody, nobody)
