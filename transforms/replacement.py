"""What is derived anew is taken out first: rows by the file and the position that they came from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa

from schemas.account import ColumnChange, PartitionAccount, RunAccount
from schemas.call import SCHEMA
from schemas.lake import Kind, Pointer, RunContext
from transforms.durable import flush
from transforms.mirror import local
from transforms.publish import rewrite

_FROM_SOURCES = "source_file IN (SELECT source_file FROM taken)"
_NOT_PURGED = "coalesce(thinking_purged_at, answer_purged_at) IS NULL"
_FROM_POSITIONS = (
    "EXISTS (FROM taken WHERE taken.source_file = rows.source_file AND taken.position <= rows.source_position)"
)
REPLAYABLE = "reason <> 'unreadable_file' AND octet_length(raw) > 0"
"""Rejects that hold a whole record: what a file broke off in is none."""


def without_sources(run: RunContext, files: Iterable[str]) -> RunContext:
    """The same run on a lake without what came from these source files, so that they are derived anew.

    Purged rows stay: what arrives for them is a duplicate, so their texts do not come back.
    """
    taken = dict.fromkeys(files, 0)
    conditions = {
        Kind.CALLS: f"{_FROM_SOURCES} AND {_NOT_PURGED}",
        Kind.REJECTS: f"{_FROM_SOURCES} AND detail IS NOT NULL",
    }
    return _without(run, conditions, taken)


def without_rejects(run: RunContext, positions: Mapping[str, int]) -> RunContext:
    """The same run on a lake without the rejects of these files from a position on."""
    return _without(run, {Kind.REJECTS: _FROM_POSITIONS}, positions) if positions else run


def without_replayable(run: RunContext) -> RunContext:
    """The same run on a lake without the rejects that it tries again."""
    return _without(run, {Kind.REJECTS: REPLAYABLE}, {})


def _without(run: RunContext, conditions: Mapping[Kind, str], positions: Mapping[str, int]) -> RunContext:
    base, removed = run.base.model_copy(deep=True), 0
    # Another token: what publishing writes has the run's own, and must not overwrite what it reads.
    step = replace(run, token=f"{run.token}0")
    with duckdb.connect() as db:
        db.register("taken", pa.table({"source_file": list(positions), "position": list(positions.values())}, _TAKEN))
        for kind, condition in conditions.items():
            for partition, file in run.base.files(kind).items():
                lost = db.execute(
                    f"SELECT file_row_number AS row FROM read_parquet($path, hive_partitioning = false) AS rows "  # noqa: S608
                    f"WHERE {condition} ORDER BY row",
                    {"path": str(local(run, file.path))},
                ).fetchnumpy()["row"]
                if not len(lost):
                    continue
                after = rewrite(step, PartitionAccount(kind=kind, partition=partition), lost=lost).file
                if after:
                    flush(run.lake / after.path)
                base.put(kind, partition, after)
                removed += len(lost)
    return replace(run, base=base, removed=run.removed + removed)


_TAKEN = pa.schema([("source_file", pa.string()), ("position", pa.int64())])
_LINEAGE = {"run_id", "normaliser_version", "source_file", "source_position"}
_COMPARED = [field.name for field in SCHEMA if field.name not in _LINEAGE]


def changes(run: RunContext, before: Pointer, account: RunAccount, files: Iterable[str]) -> list[ColumnChange]:
    """How the rows that came from these source files differ now, column by column.

    ``before`` is the lake before anything was taken out; the account's files need not be live yet. ``date`` tells the
    calls that moved to another partition, ``call_id`` how many there were and are.
    """
    old = [file.path for name, file in before.calls.items() if run.base.calls.get(name) != file]
    new = [item.file.path for item in account.partitions if item.kind is Kind.CALLS and item.changed and item.file]
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": run.memory_limit,
        "temp_directory": str(run.staging / "spill-changes"),
    }
    with duckdb.connect(config=settings) as db:
        db.register("files", pa.table({"source_file": list(files)}))
        db.register("no_calls", pa.Table.from_batches([], schema=SCHEMA))
        _load(db, "before", [local(run, path) for path in old], f"source_file IN (FROM files) AND {_NOT_PURGED}")
        _load(db, "after", [run.lake / path for path in new], f"run_id = '{run.run_id}'")
        each = (
            f"count(before.{name}), count(after.{name}), count(*) FILTER (before.call_id = after.call_id "
            f"AND before.{name} IS DISTINCT FROM after.{name})"
            for name in _COMPARED
        )
        [counts] = db.execute(
            f"SELECT {', '.join(each)} FROM before FULL JOIN after USING (call_id)"  # noqa: S608 - names of columns
        ).fetchall()
    triples = zip(_COMPARED, counts[::3], counts[1::3], counts[2::3], strict=True)
    return [ColumnChange(column=name, before=b, after=a, differ=d) for name, b, a, d in triples]


def _load(db: duckdb.DuckDBPyConnection, table: str, paths: Sequence[Path], condition: str) -> None:
    """Hashes of the values: texts need not be held to be compared."""
    hashes = ", ".join(f"CASE WHEN {name} IS NOT NULL THEN hash({name}) END AS {name}" for name in _COMPARED)
    rows = "FROM no_calls"
    if paths:
        rows += " UNION ALL BY NAME FROM read_parquet($paths, hive_partitioning = true, hive_types = {'date': DATE})"
    parameters = {"paths": list(map(str, paths))} if paths else None
    db.execute(f"CREATE TABLE {table} AS SELECT {hashes} FROM ({rows}) WHERE {condition}", parameters)  # noqa: S608
