"""What of some rows is due on a day, and by which rule of the policy."""

from datetime import date
from typing import NamedTuple, Self

import duckdb
import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from schemas.lake import Kind
from schemas.policy import PolicyInForce
from transforms.clocks import CONDITIONS, aliases, call_clocks, reject_clocks
from transforms.free_text import Mask

_CALL_CLOCKS = ("thinking", "answer", "error_message", "rest", "tags")
_EPOCH = date(1970, 1, 1).toordinal()
LOOKED_AT = {Kind.CALLS: (*CONDITIONS, "run_id"), Kind.REJECTS: ("source", "run_id")}
"""The columns that decide, beside the date."""
FORGET = -1
"""Stands for the number of a rule where somebody is to be forgotten."""


class Due(NamedTuple):
    """What is due of some rows."""

    rule: npt.NDArray[np.int64]
    days: npt.NDArray[np.int64]
    """How old the rows are."""
    by_clock: dict[str, Mask]
    """By ``thinking``, ``answer``, ``error_message``, ``rest``, ``tags``; of rejects by ``rejects``."""
    user_alias: pa.Array
    """Another name where the user is to be forgotten, else null."""
    session_alias: pa.Array

    def any(self) -> bool:
        """Tell whether anything may have to go."""
        return any(mask.any() for mask in self.by_clock.values())


class Calendar:
    """A policy, read on one day. Holds a database in memory: make it where it is used.

    ``names`` are users and sessions to be forgotten in the clear, as only a policy file has them: rejects that name one
    are due at once.
    """

    def __init__(self, policy: PolicyInForce, as_of: date, names: tuple[str, ...] = ()) -> None:
        self._as_of = as_of
        self._names = names
        self._db = duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False})
        calls = call_clocks(policy, "looked_at", [*LOOKED_AT[Kind.CALLS]])
        due = ", ".join(f"coalesce({name}_due <= $as_of, false) AS {name}" for name in _CALL_CLOCKS)
        self._queries = {
            Kind.CALLS: f"SELECT CASE WHEN is_forgotten THEN {FORGET} ELSE rule END AS rule, counted_from, {due}, "  # noqa: S608
            f"CASE WHEN is_forgotten_user AND rest THEN user_alias END AS user_alias, "
            f"CASE WHEN is_forgotten AND rest THEN session_alias END AS session_alias "
            f"FROM (SELECT *, {aliases(policy)} FROM ({calls}))",
            Kind.REJECTS: "SELECT rule, counted_from, coalesce(rejects_due <= $as_of, false) AS rejects, "  # noqa: S608
            f"coalesce(held_until >= $as_of, false) AS is_held FROM ({reject_clocks(policy, 'looked_at', ['source'])})",
        }

    def __enter__(self) -> Self:
        """Use it in a ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the database."""
        self._db.close()

    def due(self, kind: Kind, rows: pa.RecordBatch) -> Due:
        """What is due of some rows: the columns ``LOOKED_AT`` and ``date``, and ``raw`` where names are looked for.

        Raises:
            ValueError: a row has neither a date nor a run that tells when the lake got it.
        """
        looked_at = [*LOOKED_AT[kind], "date"]
        self._db.register("looked_at", pa.table({name: plain(rows[name]) for name in looked_at}))
        found: pa.Table = self._db.sql(self._queries[kind], params={"as_of": self._as_of}).to_arrow_table()
        self._db.unregister("looked_at")
        if found["counted_from"].null_count:
            raise ValueError(
                f"{found['counted_from'].null_count} {kind} have no date and no run that says when they came"
            )
        rule, days = _numbers(found["rule"]), self._as_of.toordinal() - _EPOCH - _numbers(found["counted_from"])
        if kind is Kind.CALLS:
            masks = {name: mask_of(found[name]) for name in _CALL_CLOCKS}
            return Due(rule, days, masks, *(found[name].combine_chunks() for name in ("user_alias", "session_alias")))
        named = self._naming(rows) & ~mask_of(found["is_held"])
        nobody = pa.nulls(rows.num_rows, pa.string())
        return Due(np.where(named, FORGET, rule), days, {"rejects": mask_of(found["rejects"]) | named}, nobody, nobody)

    def _naming(self, rejects: pa.RecordBatch) -> Mask:
        """The rejects whose bytes name somebody who is to be forgotten, as a JSON string."""
        named = np.zeros(rejects.num_rows, dtype=bool)
        for name in self._names:
            named |= mask_of(pc.fill_null(pc.match_substring(rejects["raw"], orjson.dumps(name)), fill_value=False))
        return named


def plain(column: pa.Array) -> pa.Array:
    """A column without its dictionary."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def mask_of(values: pa.Array | pa.ChunkedArray) -> Mask:
    """Arrow's booleans as a mask; none of them may be null."""
    mask: Mask = values.to_numpy(zero_copy_only=False) if isinstance(values, pa.Array) else values.to_numpy()
    return mask


def _numbers(values: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    numbers: npt.NDArray[np.int64] = values.cast(pa.int32()).to_numpy().astype(np.int64)
    return numbers
