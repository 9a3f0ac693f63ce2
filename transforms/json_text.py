"""Any value to its JSON bytes, also the few that orjson refuses."""

import json
from typing import Any

import orjson

_OPTIONS = orjson.OPT_NON_STR_KEYS


def to_json(value: Any, *, sort_keys: bool = False) -> bytes:
    """The value as compact JSON. Integers beyond 64 bits are kept, and what JSON has no form for becomes its text."""
    try:
        return orjson.dumps(value, default=str, option=_OPTIONS | orjson.OPT_SORT_KEYS if sort_keys else _OPTIONS)
    except TypeError:  # an integer beyond 64 bits, or a lone surrogate
        text = json.dumps(value, default=str, sort_keys=sort_keys, ensure_ascii=False, separators=(",", ":"))
        return text.encode(errors="replace")
