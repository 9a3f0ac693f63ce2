"""The price table's files in a lake: written under new names, known through the pointer only."""

from collections.abc import Iterable, Mapping, Sequence

import duckdb
import pyarrow as pa
import pyarrow.parquet

from schemas.lake import Kind, Pointer, PriceFiles, RunContext
from schemas.prices import CallModel, Price, to_table
from transforms.durable import flush
from transforms.mirror import local


def write_prices(run: RunContext, prices: Sequence[Price], version: str) -> PriceFiles:
    """Write a price table, and match every model of the lake to it."""
    keys = {(price.provider, price.model): price.price_key for price in prices}
    models = _models_of(run, [file.path for file in run.base.files(Kind.CALLS).values()])
    return PriceFiles(
        prices=_write(run, "prices", to_table(prices, version)),
        model_map=_write(run, "model_map", _matched(models, keys)),
        version=version,
    )


def with_new_models(run: RunContext, pointer: Pointer, files: Iterable[str]) -> PriceFiles | None:
    """Match the models of a run's files that the prices in force have not met; null where there are no prices."""
    now = pointer.prices
    if now is None:
        return None
    known = pyarrow.parquet.read_table(run.lake / now.model_map)
    met = {CallModel(*row) for row in zip(*(known[name].to_pylist() for name in CallModel._fields), strict=True)}
    new = [model for model in _models_of(run, list(files)) if model not in met]
    if not new:
        return now
    table = pyarrow.parquet.read_table(run.lake / now.prices, columns=["provider", "model", "price_key"])
    named = zip(table["provider"].to_pylist(), table["model"].to_pylist(), strict=True)
    keys = dict(zip(named, table["price_key"].to_pylist(), strict=True))
    extended = pa.concat_tables([known, _matched(new, keys)])
    return now.model_copy(update={"model_map": _write(run, "model_map", extended)})


def _matched(models: Sequence[CallModel], keys: Mapping[tuple[str, str], int]) -> pa.Table:
    # The price package is 30,000 lines of data and takes half a second to load, which most commands do without.
    from transforms.model_map import model_map  # noqa: PLC0415

    return model_map(models, keys)


def _models_of(run: RunContext, files: Sequence[str]) -> list[CallModel]:
    if not files:
        return []
    with duckdb.connect() as db:
        calls = db.read_parquet([str(local(run, file)) for file in files], hive_partitioning=False)
        rows = calls.select(*CallModel._fields).distinct().order("ALL").fetchall()
    return [CallModel(*row) for row in rows]


def _write(run: RunContext, name: str, table: pa.Table) -> str:
    path = f"prices/{name}-{run.generation:06d}-{run.token}.parquet"
    target = run.lake / path
    target.parent.mkdir(exist_ok=True)
    aside = run.staging / target.name
    pyarrow.parquet.write_table(table, aside)
    flush(aside)
    aside.replace(target)
    return path
