"""Free text in places that are made for words: what reads as text goes, labels and numbers stay.

A label is one word of at most 64 characters. In a usage object numbers stay, of its words those that usage objects are
known to hold, and the names of models: a word that is not known may be anything.
"""

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from schemas.call import TAGS
from transforms.json_text import to_json

Mask = npt.NDArray[np.bool_]
"""True for the rows that are meant."""
Sizes = npt.NDArray[np.int64]
"""Bytes, for each row."""

PURGED = "[purged]"
"""Stands where a text was that something else still counts on: that a call failed, that it had a tag."""
_LABEL_CHARS = 64
_USAGE_WORDS = (
    "TEXT", "IMAGE", "AUDIO", "VIDEO", "DOCUMENT", "text", "image", "audio", "video", "document",
    "none", "minimal", "low", "medium", "high", "xhigh", "max",
    "default", "standard", "auto", "batch", "flex", "priority", "scale", "fast", "on_demand", "ON_DEMAND",
    "ON_DEMAND_FLEX", "ON_DEMAND_PRIORITY", "PROVISIONED_THROUGHPUT",
    "ephemeral", "persistent", "1h", "5m", "24h", "in_memory",
    "message", "compaction", "fallback_message", "advisor_message", "stop", "length", "not_available",
    "us", "eu", "global", "SERVER_SIDE_TOOL_WEB_SEARCH", "USD", PURGED,
)  # fmt: skip
"""Words of usage objects: modalities, levels, tiers, lifetimes, kinds (protocols-native, protocols-openai-shaped)."""
_WORDS = {*_USAGE_WORDS, ""}
_MODEL_KEYS = {"model", "model_id", "modelId", "model_name"}
_NUMBER = re.compile(r"[-+]?[0-9][0-9.eE+-]*")
_KNOWN_VALUE = rf':"(?:{"|".join(map(re.escape, _USAGE_WORDS))}|{_NUMBER.pattern})?"'
_OTHER_VALUE = r'(?::|\[)\s*"|,\s*"(?:[^"\\]|\\.)*"\s*[],]|^\s*[^[{\s]'
"""A string in a value's place: behind a colon or a bracket, or between commas; and what is no object at all."""


def reads_as_text(values: pa.Array) -> pa.Array:
    """Tell which of some strings are more than a label; null where there is none."""
    return pc.or_(pc.match_substring_regex(values, r"\s"), pc.greater(pc.utf8_length(values), _LABEL_CHARS))


def has_free_text(usages: pa.Array) -> pa.Array:
    """Tell which usage objects may hold text: a quick look that misses none."""
    without_known = pc.replace_substring_regex(usages, _KNOWN_VALUE, ":0")
    return pc.fill_null(pc.match_substring_regex(without_known, _OTHER_VALUE), fill_value=False)


def without_free_text(usage: str) -> str:
    """A usage object without its text; the same string where there is none."""
    try:
        value = orjson.loads(usage)
    except orjson.JSONDecodeError:
        return f'"{PURGED}"'
    kept = _without_text(value, is_model=False)
    return usage if kept == value else to_json(kept).decode()


def _without_text(value: Any, *, is_model: bool) -> Any:
    if isinstance(value, dict):
        return {key: _without_text(item, is_model=key in _MODEL_KEYS) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_text(item, is_model=is_model) for item in value]
    if not isinstance(value, str) or value in _WORDS or _NUMBER.fullmatch(value):
        return value
    is_label = len(value) <= _LABEL_CHARS and not re.search(r"\s", value)
    return value if is_model and is_label else PURGED


def text_in_tags(tags: pa.MapArray, everything: Mask, free_text: Mask) -> tuple[pa.MapArray, Mask, Sizes]:
    """Take values out of tags: of some rows all of them, of some those that read as text. Keys stay.

    Gives the tags, which rows changed, and how many bytes went from each.
    """
    offsets = tags.offsets.to_numpy()
    first, last = int(offsets[0]), int(offsets[-1])
    items = tags.items.slice(first, last - first)
    rows = np.repeat(np.arange(len(tags)), np.diff(offsets))
    is_text = pc.fill_null(reads_as_text(items), fill_value=False).to_numpy(zero_copy_only=False)
    is_left = pc.fill_null(pc.not_equal(items, PURGED), fill_value=False).to_numpy(zero_copy_only=False)
    goes = is_left & (everything[rows] | (free_text[rows] & is_text))
    sizes = np.zeros(len(tags), dtype=np.int64)
    if not goes.any():
        return tags, sizes > 0, sizes
    lengths = pc.binary_length(items).fill_null(0).to_numpy(zero_copy_only=False)
    np.add.at(sizes, rows[goes], lengths[goes])
    changed = np.zeros(len(tags), dtype=bool)
    changed[rows[goes]] = True
    kept = pa.MapArray.from_arrays(
        pa.array(offsets - first, pa.int32()),
        tags.keys.slice(first, last - first),
        pc.if_else(pa.array(goes), PURGED, items),
        type=TAGS,
        mask=pc.is_null(tags),
    )
    return kept, changed, sizes
