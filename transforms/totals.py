"""What must be the same before and after a purge: rows, sums, calls by effort, and all that stays as one hash."""

from collections.abc import Iterable
from decimal import Context, Decimal
from pathlib import Path

import duckdb
import pyarrow as pa

from schemas.lake import Kind
from transforms.stage import SCHEMAS

CHANGES = {
    Kind.CALLS: {
        "thinking", "answer", "error_message", "usage_raw", "error_type", "finish_reason_raw", "effort_requested_raw",
        "service_tier_requested", "service_tier", "tags", "user_id", "session_id", "thinking_purged_at",
        "answer_purged_at",
    },
    Kind.REJECTS: {"raw", "detail"},
}  # fmt: skip
"""The columns that a purge may change."""
_COUNTED = {Kind.CALLS: ("effort_requested", "effort_applied", "effort_change"), Kind.REJECTS: ("reason",)}
_EXACT = Context(prec=60)
_NO_COUNTS = {"source_position"}
Totals = dict[str, str]
"""Numbers by what they count; as text, since sums of costs have more digits than JSON keeps."""


def totals(kind: Kind, path: Path, memory_limit: str) -> Totals:
    """The totals of one data file; texts are not read."""
    with duckdb.connect(config={"memory_limit": memory_limit, "threads": 1}) as db:
        shape = db.read_parquet(str(path), hive_partitioning=False)
        present = set(shape.columns)
        kept = [field for field in SCHEMAS[kind] if field.name in present - CHANGES[kind]]
        sums = [field.name for field in kept if _is_number(field.type) and field.name not in _NO_COUNTS]
        counts = {"rows": "count(*)"}
        counts |= {f"sum of {name}": f"sum({name})" for name in sums}
        counts |= {f"rows with {name}": f"count({name})" for name in sums}
        counts["hash of what stays"] = f"sum(hash({', '.join(field.name for field in kept)})::HUGEINT)"
        [row] = shape.aggregate(", ".join(f"({value})::VARCHAR" for value in counts.values())).fetchall()
        found = {name: value for name, value in zip(counts, row, strict=True) if value is not None}
        for column in _COUNTED[kind]:
            words = shape.aggregate(f"{column}, count(*)", column).order(column).fetchall() if column in present else []
            found |= {f"rows where {column} is {word}": str(number) for word, number in words}
    return found


def added_up(several: Iterable[Totals]) -> Totals:
    """The totals of several files together."""
    sums: dict[str, Decimal] = {}
    for found in several:
        for name, value in found.items():
            sums[name] = _EXACT.add(sums.get(name, Decimal(0)), Decimal(value))
    return {name: f"{value:f}" for name, value in sums.items()}


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_decimal(kind))
