"""What the calls of each partition cost, derived once: a file beside each file of calls, so that no question reckons.

A costs file names the file of calls that it was derived from. Where that is not the live one any more, its costs are
derived anew; a file of calls never changes for them.
"""

from pathlib import Path
from uuid import uuid4

import duckdb
import pyarrow as pa

import sql
from schemas.call import PARTITION_KEY, SCHEMA
from schemas.lake import CostFile, LakeFile, Pointer, RunContext
from transforms.durable import flush
from transforms.mirror import local


def costed(pointer: Pointer) -> dict[str, CostFile]:
    """The costs files that are true of the live calls, by partition."""
    live = {partition: file.path for partition, file in pointer.calls.items()}
    return {name: costs for name, costs in pointer.costs.items() if live.get(name) == costs.calls}


def uncosted(pointer: Pointer) -> dict[str, LakeFile]:
    """The live files of calls whose costs no file holds."""
    done = costed(pointer)
    return {partition: file for partition, file in pointer.calls.items() if partition not in done}


def with_costs(run: RunContext, pointer: Pointer) -> dict[str, CostFile]:
    """The costs files of a pointer, with those that are missing; none where no prices are in force."""
    if pointer.prices is None:
        return {}
    missing = uncosted(pointer)
    if not missing:
        return costed(pointer)
    with duckdb.connect(config=_settings(run)) as db:
        db.execute("SET TimeZone = 'UTC'")
        for name in sql.names("macros"):
            db.execute(sql.text(name))
        for table, path in (("prices", pointer.prices.prices), ("model_map", pointer.prices.model_map)):
            db.execute(f"CREATE TABLE {table} AS FROM read_parquet($path)", {"path": str(local(run, path))})
        db.from_arrow(pa.Table.from_batches([], schema=SCHEMA)).create("no_calls")
        new = {partition: _derive(db, run, partition, file) for partition, file in missing.items()}
    return costed(pointer) | new


def _settings(run: RunContext) -> dict[str, str | bool | int | float | list[str]]:
    return {
        "memory_limit": run.memory_limit,
        "temp_directory": str(run.staging / f"spill-{uuid4().hex}"),
        "autoinstall_known_extensions": False,
    }


def _derive(db: duckdb.DuckDBPyConnection, run: RunContext, partition: str, file: LakeFile) -> CostFile:
    path = f"costs/{partition}/costs-{run.generation:06d}-{run.token}.parquet"
    target = run.lake / path
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = run.staging / f"{uuid4().hex}.parquet"
    # A file of an older schema lacks columns, so an empty relation of today's comes first.
    db.execute(
        "CREATE OR REPLACE VIEW uncosted_calls AS FROM no_calls UNION ALL BY NAME "
        f"FROM read_parquet({_quoted(local(run, file.path))}, hive_partitioning = true, hive_types = {{'date': DATE}})"
    )
    db.execute(sql.text("views/reckoned_costs").replace("CREATE VIEW", "CREATE OR REPLACE VIEW", 1))
    db.execute(
        f"COPY (SELECT * EXCLUDE ({PARTITION_KEY}) FROM reckoned_costs) TO {_quoted(aside)} "  # noqa: S608 - a constant
        "(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)"
    )
    flush(aside)
    aside.replace(target)
    return CostFile(path=path, calls=file.path)


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
