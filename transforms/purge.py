"""A batch with the texts that are due taken out of it. What counts stays: sizes, tokens, effort, cost, who is charged.

Only what holds something to take changes, so that a second time nothing does.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.lake import Kind
from transforms.due import Due, mask_of, plain
from transforms.free_text import PURGED, Mask, Sizes, has_free_text, reads_as_text, text_in_tags, without_free_text

WORDS = ("error_type", "finish_reason_raw", "effort_requested_raw", "service_tier_requested", "service_tier")
"""Columns of providers' own words: a text may stand there, by a log's fault."""
_ALWAYS: dict[Kind, tuple[str, ...]] = {
    Kind.CALLS: ("error_message", "usage_raw", *WORDS, "tags", "user_id", "session_id"),
    Kind.REJECTS: (),
}
_TEXTS: dict[Kind, dict[str, tuple[str, ...]]] = {
    Kind.CALLS: {"thinking": ("thinking",), "answer": ("answer",)},
    Kind.REJECTS: {"rejects": ("raw", "detail")},
}
"""The large columns, by the clock that they go by."""


class Change(NamedTuple):
    """A column without what is due in it."""

    column: str
    values: pa.Array
    rows: Mask
    bytes: Sizes


def columns(kind: Kind, due: Due) -> list[str]:
    """The columns that ``changes`` looks at: a text that nothing is due of need not be read."""
    texts = (name for clock, names in _TEXTS[kind].items() if due.by_clock[clock].any() for name in names)
    return [*texts, *_ALWAYS[kind]]


def changes(kind: Kind, batch: pa.RecordBatch, due: Due) -> list[Change]:
    """What is due of the columns that are there, taken out."""
    texts = [(name, due.by_clock[clock]) for clock, names in _TEXTS[kind].items() for name in names]
    emptied = [_emptied(batch, name, mask) for name, mask in texts if name in batch.schema.names]
    return emptied if kind is Kind.REJECTS else [*emptied, *_further(batch, due)]


def changed_rows(made: Sequence[Change]) -> Mask:
    """The rows that some changes concern."""
    rows: Mask = np.logical_or.reduce([change.rows for change in made])
    return rows


def take_out(batch: pa.RecordBatch, made: Sequence[Change], at: datetime) -> pa.RecordBatch:
    """A batch with changes made; a text that went has the time ``at`` in its column ``…_purged_at``."""
    for change in made:
        batch = replaced(batch, change.column, change.values)
        stamp = f"{change.column}_purged_at"
        if stamp in batch.schema.names:
            now = pc.coalesce(batch[stamp], pa.scalar(at, batch[stamp].type))
            batch = replaced(batch, stamp, pc.if_else(pa.array(change.rows), now, batch[stamp]))
    return batch


def _further(batch: pa.RecordBatch, due: Due) -> Iterator[Change]:
    by_clock = due.by_clock
    yield _marked(batch, "error_message", by_clock["error_message"])
    for name in WORDS:
        # A dictionary would keep the words that no row has any more.
        words = plain(batch[name])
        change = _marked(batch, name, by_clock["rest"] & mask_of(pc.fill_null(reads_as_text(words), fill_value=False)))
        yield change._replace(values=change.values.dictionary_encode().cast(batch[name].type))
    yield _without_free_text(batch, by_clock["rest"])
    yield Change("tags", *text_in_tags(batch["tags"], by_clock["tags"], by_clock["rest"]))
    for name, alias in (("user_id", due.user_alias), ("session_id", due.session_alias)):
        goes = mask_of(pc.and_(pc.is_valid(alias), pc.is_valid(batch[name])))
        yield _changed(batch, name, goes, alias)


def _emptied(batch: pa.RecordBatch, name: str, due: Mask) -> Change:
    return _changed(batch, name, due & mask_of(pc.is_valid(batch[name])), pa.nulls(batch.num_rows, batch[name].type))


def _marked(batch: pa.RecordBatch, name: str, due: Mask) -> Change:
    """A text that leaves a mark, since that it was there counts."""
    there = mask_of(pc.fill_null(pc.not_equal(plain(batch[name]), PURGED), fill_value=False))
    return _changed(batch, name, due & there, pa.repeat(PURGED, batch.num_rows))


def _without_free_text(batch: pa.RecordBatch, due: Mask) -> Change:
    usages = batch["usage_raw"]
    places = np.flatnonzero(due & mask_of(has_free_text(usages)))
    before = usages.take(pa.array(places)).to_pylist()
    after = [without_free_text(usage) for usage in before]
    rows = np.zeros(len(usages), dtype=bool)
    rows[places] = [one != other for one, other in zip(before, after, strict=True)]
    kept = pc.replace_with_mask(usages, pa.array(rows), pa.array(after, usages.type).filter(pa.array(rows[places])))
    return Change("usage_raw", kept, rows, _sizes(usages, rows))


def _changed(batch: pa.RecordBatch, name: str, rows: Mask, others: pa.Array) -> Change:
    values = plain(batch[name])
    return Change(name, pc.if_else(pa.array(rows), others.cast(values.type), values), rows, _sizes(values, rows))


def _sizes(values: pa.Array, rows: Mask) -> Sizes:
    lengths = pc.fill_null(pc.binary_length(values), 0).to_numpy(zero_copy_only=False)
    return np.where(rows, lengths, 0).astype(np.int64)


def replaced(batch: pa.RecordBatch, name: str, values: pa.Array) -> pa.RecordBatch:
    """A batch with other values in one column."""
    place = batch.schema.get_field_index(name)
    return batch.set_column(place, batch.schema.field(place), values)
