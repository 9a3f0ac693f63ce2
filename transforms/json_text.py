"""JSON text to values and back, also what orjson refuses: careless writers, and integers without a bound."""

import json
import re
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


def parse(raw: bytes) -> object:
    """Parse one JSON value, also where its writer was careless.

    Kept by a slower second reading: lone surrogates and invalid UTF-8 (each becomes U+FFFD, in keys too), ``NaN`` and
    infinities (null: not a number is not reported), control characters in strings, a byte order mark.

    Raises:
        ValueError: it is no JSON; the text says what was seen and where.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _parse_leniently(raw.decode("utf-8", "replace").lstrip("\ufeff"))


_LENIENT = json.JSONDecoder(strict=False, parse_constant=lambda _: None)
_SURROGATE = re.compile("[\ud800-\udfff]")


def _parse_leniently(text: str) -> object:
    try:
        return _without_surrogates(_LENIENT.decode(text))
    except json.JSONDecodeError as fault:
        near = text[max(0, fault.pos - 20) : fault.pos + 20]
        raise ValueError(f"{fault.msg} at character {fault.pos} of {len(text)}, near {near!r}") from None
    except RecursionError:
        raise ValueError(f"nested too deeply to be read ({len(text)} characters)") from None


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(inner) for key, inner in value.items()}
    return [_without_surrogates(inner) for inner in value] if isinstance(value, list) else value


def split_concatenated(line: bytes) -> list[bytes] | None:
    """Cut a line of objects with nothing between them (Firehose); null where it is not at least two.

    For a line that did not parse. Where the last object is cut, it comes last as it is, for a reject of its own.
    """
    text = line.decode("utf-8", "surrogateescape").strip()
    values: list[str] = []
    at = 0
    while text.startswith(("{", "["), at):
        try:
            end = _LENIENT.raw_decode(text, at)[1]
        except (ValueError, RecursionError):
            break
        values.append(text[at:end])
        at = end
        while at < len(text) and text[at].isspace():
            at += 1
    rest = text[at:]
    if not values or rest[:1] not in {"", "{", "["}:
        return None
    pieces = [*values, rest] if rest else values
    return [piece.encode("utf-8", "surrogateescape") for piece in pieces] if len(pieces) > 1 else None
