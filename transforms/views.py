"""``thinkledger.duckdb``: views and macros only, over exactly the live files. Built aside, never opened to write."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Template

import duckdb
import pyarrow as pa

import sql
from schemas.call import PARTITION_KEY, SCHEMA, UNDATED
from schemas.lake import Grain, Kind, LakeFile, Pointer
from schemas.prices import MODEL_MAP_SCHEMA, PRICE_SCHEMA
from schemas.reject import REJECT_SCHEMA
from transforms.costs import costed, uncosted
from transforms.partitions import grain_of
from transforms.policies import policy_of
from transforms.retention_views import retention_views

_STORAGE = "v1.0.0"
"""So that older shells can open it."""
_SCHEMAS = {Kind.CALLS: SCHEMA, Kind.REJECTS: REJECT_SCHEMA}
_COUNTS = "MAP(VARCHAR, BIGINT)"
_RUN = {
    "run_id": "VARCHAR",
    "generation": "BIGINT",
    "started_at": "TIMESTAMPTZ",
    "ended_at": "TIMESTAMPTZ",
    "inputs": "VARCHAR[]",
    "schema_version": "BIGINT",
    "normaliser_version": "VARCHAR",
    "tally": f"STRUCT(records BIGINT, bytes BIGINT, parts BIGINT, skipped {_COUNTS}, rejects {_COUNTS}, "
    f"calls_by {_COUNTS}, sources {_COUNTS}, unmatched {_COUNTS})",
    "calls": "BIGINT",
    "duplicates": "BIGINT",
    "duplicates_by": _COUNTS,
    "files": _COUNTS,
    "rejects": "BIGINT",
    "replaced": "BIGINT",
    "removed": "BIGINT",
    "id_conflicts": "BIGINT",
    "partitions": "JSON[]",
    "retention": "STRUCT(policy VARCHAR, as_of DATE, rows BIGINT, bytes BIGINT, totals_before MAP(VARCHAR, VARCHAR), "
    "totals_after MAP(VARCHAR, VARCHAR))",
}


def build_views(database: Path, lake: Path, pointer: Pointer) -> None:
    """Write the views of a pointer to a new file."""
    with duckdb.connect(config={"autoinstall_known_extensions": False}) as db:
        db.execute(f"ATTACH {_quoted(str(database))} AS built (STORAGE_VERSION '{_STORAGE}')")
        db.execute("USE built")
        create_views(db, lake, pointer)
        db.execute("USE memory")
        db.execute("DETACH built")


def create_views(db: duckdb.DuckDBPyConnection, lake: Path, pointer: Pointer) -> None:
    """Create the views of a pointer in a database.

    Five views have the live files filled in, two the policy in force. All others of ``sql/views`` build on them and
    on the macros of ``sql/macros``, and run as they are.
    """
    db.execute("SET VARIABLE lake = $path", {"path": str(lake)})
    prices = pointer.prices
    base = {f"views/{kind}": _data_view(db, kind, pointer, pointer.files(kind)) for kind in Kind} | {
        "views/runs": _runs_view(pointer),
        "views/prices": _table_view(db, PRICE_SCHEMA, prices.prices if prices else None),
        "views/model_map": _table_view(db, MODEL_MAP_SCHEMA, prices.model_map if prices else None),
        "views/uncosted_calls": _data_view(db, Kind.CALLS, pointer, uncosted(pointer)),
        "views/reckoned_costs": {},
    }
    create_macros(db)
    db.execute(f"CREATE MACRO newest_date() AS {_newest_date(pointer)}::DATE")
    for name, filled in base.items():
        create(db, name, filled)
    later = {"views/call_costs": _costs_view(db, pointer)} | retention_views(policy_of(lake, pointer))
    for name, filled in later.items():
        create(db, name, filled)
    db.execute(
        f"CREATE VIEW pointer AS SELECT {pointer.generation}::BIGINT AS generation, "
        f"{_quoted(pointer.token)} AS token, {pointer.schema_version}::BIGINT AS schema_version"
    )
    for name in sql.names("views"):
        if name not in base | later:
            db.execute(sql.text(name))


def create_macros(db: duckdb.DuckDBPyConnection) -> None:
    """Create the macros that views use."""
    for name in sql.names("macros"):
        db.execute(sql.text(name))


def create(db: duckdb.DuckDBPyConnection, name: str, filled: Mapping[str, str]) -> None:
    """Create a view, with the files that it reads filled in."""
    db.execute(Template(sql.text(name)).substitute(filled) if filled else sql.text(name))


def is_of(database: Path, pointer: Pointer) -> bool:
    """Tell whether the views are those of the pointer."""
    try:
        with duckdb.connect(str(database), read_only=True) as db:
            [found] = db.execute("SELECT generation, token, schema_version FROM pointer").fetchall()
    except duckdb.Error:
        return False
    return found == (pointer.generation, pointer.token, pointer.schema_version)


def _data_view(
    db: duckdb.DuckDBPyConnection, kind: Kind, pointer: Pointer, files: Mapping[str, LakeFile]
) -> dict[str, str]:
    keys = _keys(grain_of(kind, pointer.grain))
    columns = _columns(db, _SCHEMAS[kind]) | keys
    # A file of an older schema lacks columns; the files of one version are alike, so none is opened to find out.
    by_version: dict[int, list[str]] = {}
    for _, file in sorted(files.items()):
        by_version.setdefault(file.schema_version, []).append(file.path)
    readers = [_partitioned(paths, keys) for paths in by_version.values()]
    return {"columns": _listed(columns), "rows": _rows(columns, readers)}


def _costs_view(db: duckdb.DuckDBPyConnection, pointer: Pointer) -> dict[str, str]:
    columns = {name: type_ for name, type_, *_ in db.execute("DESCRIBE reckoned_costs").fetchall()}
    paths = [file.path for _, file in sorted(costed(pointer).items())]
    readers = [_partitioned(paths, _keys(pointer.grain))] if paths else []
    # A branch that gives nothing would still keep filters from reaching the files.
    readers += ["reckoned_costs"] if uncosted(pointer) else []
    return {"columns": _listed(columns), "rows": _rows(columns, readers)}


def _keys(grain: Grain) -> dict[str, str]:
    return {PARTITION_KEY: "DATE"} | ({"hour": "BIGINT"} if grain is Grain.HOUR else {})


def _partitioned(paths: Iterable[str], keys: Mapping[str, str]) -> str:
    types = ", ".join(f"'{key}': {type_}" for key, type_ in keys.items())
    return f"read_parquet({_paths(paths)}, hive_partitioning = true, hive_types = {{{types}}})"


def _table_view(db: duckdb.DuckDBPyConnection, schema: pa.Schema, path: str | None) -> dict[str, str]:
    columns = _columns(db, schema)
    return {"columns": _listed(columns), "rows": _rows(columns, [f"read_parquet({_paths([path])})"] if path else [])}


def _columns(db: duckdb.DuckDBPyConnection, schema: pa.Schema) -> dict[str, str]:
    shape = db.from_arrow(pa.Table.from_batches([], schema=schema))
    return dict(zip(shape.columns, map(str, shape.types), strict=True))


def _listed(columns: Iterable[str]) -> str:
    return ",\n    ".join(f'"{name}"' for name in columns)


def _runs_view(pointer: Pointer) -> dict[str, str]:
    types = ", ".join(f"{_quoted(name)}: {_quoted(type_)}" for name, type_ in _RUN.items())
    paths = _paths(f"runs/{run_id}.json" for run_id in pointer.runs)
    return {"rows": _rows(_RUN, [f"read_json({paths}, columns = {{{types}}})"] if pointer.runs else [])}


def _rows(columns: Mapping[str, str], readers: Iterable[str]) -> str:
    """A relation over files; a view over no file would fail, so a typed empty one comes first."""
    empty = ", ".join(f'NULL::{type_} AS "{name}"' for name, type_ in columns.items())
    return "\n    UNION ALL BY NAME ".join([f"(SELECT {empty} WHERE false", *(f"FROM {r}" for r in readers)]) + ")"


def _newest_date(pointer: Pointer) -> str:
    """The date of the newest calls, as a constant: nothing else keeps a question from opening other dates' files."""
    dated = [name.split("/")[0].partition("=")[2] for name in pointer.calls]
    return max((_quoted(name) for name in dated if name != UNDATED), default="NULL")


def _paths(paths: Iterable[str]) -> str:
    """A path inside a view resolves against the working folder, unless the variable says where the lake is."""
    listed = ", ".join(_quoted(path) for path in paths)
    return f"list_transform([{listed}], lambda path: coalesce(getvariable('lake'), '.') || '/' || path)"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
