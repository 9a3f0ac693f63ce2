"""Which rows of a partition stay: one per call, chosen on narrow columns only, in DuckDB with bounded memory.

Finished wins over partial over error; then larger usage; then the later normaliser version; then the smaller
(source_file, source_position): ``sql/publish/contest.sql``. Live rows were settled by earlier runs and never displace
each other, so only ids that arrive are looked at. Two finished records of one id stay two rows where their texts
differ; that is decided on hashes of the characters that both have, so no text is held.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple
from uuid import uuid4

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

import sql
from schemas.account import Beaten
from schemas.lake import Grain, Kind, RunContext
from transforms.partitions import grain_of, partition_of, slot_of, slots
from transforms.parts import Part

Rows = npt.NDArray[np.int64]
"""Row numbers within one part, ascending."""


class Purge(NamedTuple):
    """Rows whose call lost a text to retention, and when; null where it kept that text. A reject has but one time."""

    rows: Rows
    thinking_purged_at: pa.Array
    answer_purged_at: pa.Array


@dataclass(slots=True)
class Verdict:
    """What is to be done with a partition's rows, by the part's place in the list; a part not named stays whole."""

    lost: dict[int, Rows] = field(default_factory=dict)
    purged: dict[int, Purge] = field(default_factory=dict)
    duplicates: dict[str, int] = field(default_factory=dict)
    """Rows that arrived and do not stay, by what has the same call."""
    id_conflicts: int = 0
    beaten: list[Beaten] = field(default_factory=list)
    """Dated rows that an arriving undated row beats."""


_COLUMNS = {
    Kind.CALLS: (
        "call_id", "called_at", "thinking_chars", "answer_chars", "finish_reason", "input_tokens", "output_tokens",
        "error_type", "error_message", "source_file", "source_position", "normaliser_version", "thinking_purged_at",
        "answer_purged_at", "redactions", "date",
    ),
    Kind.REJECTS: ("reject_id", "source_file", "source_position", "normaliser_version", "detail", "date"),
}  # fmt: skip
_ID = {Kind.CALLS: "call_id", Kind.REJECTS: "reject_id"}
_CANDIDATE = {
    Kind.CALLS: """
        call_id,
        CASE
            WHEN coalesce(error_type, error_message) IS NOT NULL OR finish_reason = 'error' THEN 2
            WHEN finish_reason IS NULL OR finish_reason = 'aborted' THEN 1
            ELSE 0
        END,
        coalesce(input_tokens, 0) + coalesce(output_tokens, 0),
        try_cast(normaliser_version AS INTEGER),
        source_file,
        source_position,
        -- Redacted texts differ from others for that alone: they are not compared.
        CASE WHEN thinking_purged_at IS NULL AND coalesce(redactions, 0) = 0 THEN thinking_chars END,
        CASE WHEN answer_purged_at IS NULL AND coalesce(redactions, 0) = 0 THEN answer_chars END,
        thinking_purged_at,
        answer_purged_at
    """,
    Kind.REJECTS: """
        reject_id, 2, 0, try_cast(normaliser_version AS INTEGER), source_file, source_position, NULL, NULL,
        CASE WHEN detail IS NULL THEN 'epoch'::TIMESTAMPTZ END, -- only retention takes it away
        NULL
    """,
}
"""The columns of ``candidates`` from ``id`` on."""


_FEW_ROWS = 500_000
"""So many ids may be held in memory (some 50 bytes each); more of them go to DuckDB, which spills."""


def judge(run: RunContext, kind: Kind, partition: str, parts: Sequence[Part]) -> Verdict:
    """Decide which rows of a partition stay. ``parts`` are its own and its neighbours', staged and live."""
    if _all_distinct(kind, parts):
        return Verdict()
    grain = grain_of(kind, run.base.grain)
    with _database(run) as db:
        _load(db, kind, grain, parts)
        db.execute(sql.text("publish/contest"))
        if not _count(db, "SELECT count(*) FROM contest"):
            return Verdict()
        db.execute(sql.text("publish/rivals"))
        _take_prints(db, parts)
        db.execute(sql.text("publish/settled"))
        verdict = Verdict(
            lost={part: _rows(found) for part, found in _by_part(db, "publish/lost")},
            purged={
                part: Purge(_rows(found), found["thinking_at"].combine_chunks(), found["answer_at"].combine_chunks())
                for part, found in _by_part(db, "publish/purged")
            },
            duplicates=dict(db.execute(sql.text("publish/duplicates")).fetchall()),
            id_conflicts=_count(db, "SELECT count(*) FROM settled WHERE own AND id_conflict"),
        )
        if slot_of(partition, grain) is None:
            found = db.execute(sql.text("publish/beaten")).fetchall()
            verdict.beaten = [Beaten(partition_of(slot, grain), *row) for slot, *row in found]
        return verdict


def _all_distinct(kind: Kind, parts: Sequence[Part]) -> bool:
    """Tell quickly where nothing is to be decided: a first load of many small partitions is mostly that."""
    if any(part.live for part in parts):
        return False
    ids: list[pa.Array] = []
    rows = 0
    for part in parts:
        for batch in part.batches((_ID[kind],)):
            ids.append(batch[_ID[kind]])
            rows += batch.num_rows
        if rows > _FEW_ROWS:
            return False
    return bool(pc.count_distinct(pa.chunked_array(ids)).as_py() == rows)


@contextmanager
def _database(run: RunContext) -> Iterator[duckdb.DuckDBPyConnection]:
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": run.memory_limit,
        # A folder for each: DuckDB names its spill files alike in every process.
        "temp_directory": str(run.staging / f"spill-{uuid4().hex}"),
        "threads": 2,
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
    }
    with duckdb.connect(config=settings) as db:
        db.execute("SET TimeZone = 'UTC'")
        db.execute(sql.text("publish/candidates"))
        yield db


def _load(db: duckdb.DuckDBPyConnection, kind: Kind, grain: Grain, parts: Sequence[Part]) -> None:
    """Fill ``candidates`` with all that arrives here, and with what else has the same ids."""
    listed = {
        "part": range(len(parts)),
        "path": [str(part.path) for part in parts],
        "own": [part.own for part in parts],
        "slot": [part.slot for part in parts],
    }
    db.register("listed", pa.table(listed))
    db.execute("INSERT INTO parts FROM listed")
    own_live = [part for part in parts if part.own and part.live]
    near_live = [part for part in parts if not part.own and part.live]
    _load_staged(db, kind, grain, parts, own=True)
    db.execute("CREATE TABLE known AS SELECT id FROM candidates")
    if own_live:
        db.execute(f"INSERT INTO known SELECT {_ID[kind]} FROM read_parquet($paths)", _paths(own_live))  # noqa: S608
    _load_staged(db, kind, grain, parts, own=False)
    _load_live(db, kind, own_live, "SELECT id FROM candidates")
    _load_live(db, kind, near_live, "SELECT id FROM candidates WHERE own AND NOT live")


def _load_staged(db: duckdb.DuckDBPyConnection, kind: Kind, grain: Grain, parts: Sequence[Part], *, own: bool) -> None:
    batches = (
        _narrow(kind, grain, number, part) for number, part in enumerate(parts) if part.own is own and not part.live
    )
    first = next(batches, None)
    if first is None:
        return
    condition = "true" if own else f"{_ID[kind]} IN (FROM known)"
    db.register("staged", pa.RecordBatchReader.from_batches(first.schema, chain([first], batches)))
    db.execute(
        f"INSERT INTO candidates SELECT part, row, slot, {own}, false, {_CANDIDATE[kind]} "  # noqa: S608
        f"FROM staged WHERE {condition}"
    )
    db.unregister("staged")


def _narrow(kind: Kind, grain: Grain, number: int, part: Part) -> pa.RecordBatch:
    """The columns that decide, and where each row is."""
    [batch] = part.batches(_COLUMNS[kind])
    columns = {name: _plain(batch[name]) for name in _COLUMNS[kind]}
    places = {
        "part": pa.repeat(pa.scalar(number, pa.int32()), batch.num_rows),
        "row": pa.array(np.arange(batch.num_rows)),
        "slot": slots(batch, grain),
    }
    return pa.RecordBatch.from_pydict(columns | places)


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _load_live(db: duckdb.DuckDBPyConnection, kind: Kind, parts: Sequence[Part], ids: str) -> None:
    if parts:
        db.execute(
            f"INSERT INTO candidates SELECT part, file_row_number, slot, own, true, {_CANDIDATE[kind]} "  # noqa: S608
            "FROM read_parquet($paths, hive_partitioning = false) AS file JOIN parts ON parts.path = file.filename "
            f"WHERE {_ID[kind]} IN ({ids})",
            _paths(parts),
        )


def _paths(parts: Sequence[Part]) -> dict[str, list[str]]:
    return {"paths": [str(part.path) for part in parts]}


def _take_prints(db: duckdb.DuckDBPyConnection, parts: Sequence[Part]) -> None:
    """Hash the texts that have to be compared, a batch at a time."""
    for (number,) in db.execute("SELECT DISTINCT part FROM wanted ORDER BY part").fetchall():
        start = 0
        for batch in parts[number].batches(("thinking", "answer")):
            end = start + batch.num_rows
            db.register("texts", batch.append_column("row", pa.array(np.arange(start, end))))
            db.execute(sql.text("publish/prints"), {"part": number})
            db.unregister("texts")
            start = end


def _count(db: duckdb.DuckDBPyConnection, query: str) -> int:
    [(number,)] = db.execute(query).fetchall()
    return int(number)


def _by_part(db: duckdb.DuckDBPyConnection, name: str) -> Iterator[tuple[int, pa.Table]]:
    """A result that is sorted by ``part``, cut by it."""
    found: pa.Table = db.sql(sql.text(name)).to_arrow_table()
    numbers, starts = np.unique(found["part"].to_numpy(), return_index=True)
    for number, start, end in zip(numbers, starts, [*starts, found.num_rows][1:], strict=True):
        yield int(number), found.slice(start, end - start)


def _rows(found: pa.Table) -> Rows:
    rows: Rows = found["row"].to_numpy()
    return rows
