"""Values that a mapping names, compiled: what an envelope knows of a call, in the types of an ``Exchange``.

Each converter gives null for what it cannot be: a field only adds a fact, and a wrong one is worse than none.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from schemas.envelope import Counted, Fields, Spec, Tags
from schemas.exchange import JsonObject
from transforms import clock
from transforms.mapping_paths import Get, Parents, first_key, getter, last_key, looked_into

_Convert = Callable[[Any], Any]


class Compiled(NamedTuple):
    """A mapping's fields: those that are a key of the record as it is, which most are, and all others."""

    direct: tuple[tuple[str, str, _Convert], ...]
    """Key of the record, name of the field, and what turns one into the other."""
    others: tuple[tuple[str, Get], ...]


def compile_fields(fields: Fields) -> Compiled:
    """Compile all fields that a mapping gives."""
    direct: list[tuple[str, str, _Convert]] = []
    others: list[tuple[str, Get]] = []
    for name in Fields.model_fields:
        specs: tuple[Spec, ...] = getattr(fields, name)
        convert = _CONVERTERS.get(name, _text)
        path = specs[0].path if len(specs) == 1 and specs[0].model_fields_set == {"path"} else None
        if path is not None and first_key(path) == path:
            direct.append((path, name, convert))
        elif specs:
            others.append((name, _first([_field(spec, convert) for spec in specs])))
    return Compiled(tuple(direct), tuple(others))


def compile_count(counted: Counted) -> Get:
    """Compile a token count; null where its own path gives none, whatever would be added to it."""
    own = _first([_count(path) for path in counted.path])
    added = [_count(path) for path in counted.add]

    def count(record: JsonObject, parents: Parents) -> int | None:
        number: int | None = own(record, parents)
        return None if number is None else number + sum(get(record, parents) or 0 for get in added)

    return count


def compile_tags(tags: Tags) -> Callable[[JsonObject, Parents], dict[str, str] | None]:
    """Compile the tags: keys are unique and the last wins; values are texts; nested ones and nulls are dropped."""
    kept = [(last_key(path), getter(path), _labels) for path in tags.keep if isinstance(path, str)]
    kept += [
        (name, getter(path), _label) for named in tags.keep if isinstance(named, dict) for name, path in named.items()
    ]

    def read(record: JsonObject, parents: Parents) -> dict[str, str] | None:
        found: dict[str, str] = {}
        for key, get, labels in kept:
            value = get(record, parents)
            if value is not None:
                found.update(labels(key, value))
        for key in tags.drop:
            found.pop(key, None)
        return found or None

    return read


def spelled(value: object) -> str:
    """A value as JSON spells it, a text without its quotes."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


# From a path to a field


def _first(getters: list[Get]) -> Get:
    if len(getters) == 1:
        return getters[0]
    return lambda record, parents: next((found for get in getters if (found := get(record, parents)) is not None), None)


def _field(spec: Spec, convert: _Convert) -> Get:
    if spec.path is None:
        constant = convert(spec.const)
        return lambda _record, _parents: constant
    if spec.since is not None:
        return _time_between(getter(spec.since), getter(spec.path))
    get = getter(spec.path)
    read = _conversion(spec, convert)
    default = None if spec.default is None else convert(spec.default)

    def field(record: JsonObject, parents: Parents) -> Any:
        stored = get(record, parents)
        found = None if stored is None else read(stored)
        return default if found is None else found

    return field


def _conversion(spec: Spec, convert: _Convert) -> _Convert:
    if spec.contains is not None:
        part = spec.contains
        return lambda stored: True if isinstance(stored, (str, list)) and part in stored else None
    if spec.map:
        return lambda stored: convert(spec.map.get(spelled(stored)))
    if spec.unit is not None:
        per_second = _PER_SECOND[spec.unit]
        return lambda stored: _time(stored, per_second)
    if spec.scale is not None:
        factor = Decimal(str(spec.scale))  # 0.0298 s are 29.8 ms, not 29.799999999999997
        return lambda stored: None if (number := _decimal(stored)) is None else convert(number * factor)
    return convert


_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def _time(stored: Any, per_second: int) -> int | None:
    number = _decimal(stored)
    return clock.from_any(stored) if number is None else clock.from_epoch(number / per_second)


def _time_between(began: Get, ended: Get) -> Get:
    """The milliseconds between two times; null where one is missing or they stand the wrong way round."""

    def latency(record: JsonObject, parents: Parents) -> float | None:
        start, end = clock.from_any(began(record, parents)), clock.from_any(ended(record, parents))
        return None if start is None or end is None or end < start else (end - start) / 1000

    return latency


def _count(path: str) -> Get:
    get = getter(path)
    return lambda record, parents: _whole(get(record, parents))


# Converters


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value if value and not value.isspace() else None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _flag(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return _FLAGS.get(value.lower()) if isinstance(value, str) else None


_FLAGS = {"true": True, "false": False}


def _decimal(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, _SCALAR):
        return None
    try:
        number = Decimal(value if isinstance(value, int | Decimal) else str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number) < 10**26 else None  # more fits no column


def _number(value: Any) -> float | None:
    if type(value) is not float and type(value) is not int:
        value = _decimal(value)
    return float(value) if value is not None and 0 <= value < 10**26 else None  # also false for NaN


def _whole(value: Any) -> int | None:
    if type(value) is not int:
        number = _number(value)
        if number is None or not number.is_integer():
            return None
        value = int(number)
    return value if 0 <= value < 2**63 else None


def _status(value: Any) -> int | None:
    status = _whole(value)
    return status if status is not None and 100 <= status <= 599 else None


def _fraction(value: Any) -> float | None:
    number = _number(value)
    return number if number and number <= 1 else None


def _key_id(value: Any) -> str | None:
    """An alias or a hash as it is; of what looks like a secret only the beginning of its SHA-256.

    A secret begins like one, or is long and neither a hash (lower-case hexadecimal) nor made of words.
    """
    text = _text(value)
    if text is None:
        return None
    secret = text.startswith(_SECRETS_BEGIN) or (len(text) >= _LONG and not _HASH_OR_WORDS.fullmatch(text))
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}" if secret else text


_SECRETS_BEGIN = (
    "sk-", "sk_", "pk-", "rk-", "Bearer ", "bearer ", "eyJ", "AIza", "AKIA", "ASIA", "ABSK", "gsk_", "xai-", "pplx-",
    "hf_", "r8_", "nvapi-", "csk-", "fw_", "tgp_", "ya29.", "ghp_", "github_pat_", "dapi",
)  # fmt: skip
_HASH_OR_WORDS = re.compile(r"[0-9a-f-]+|arn:.*|(?:[a-zA-Z]+|[0-9]{1,4})(?:[-_./: @](?:[a-zA-Z]+|[0-9]{0,4}))+")
_LONG = 32

_CONVERTERS: dict[str, _Convert] = {
    "called_at": clock.from_any,
    "status_code": _status,
    "latency_ms": _number,
    "streamed": _flag,
    "is_batch": _flag,
    "cache_hit": _flag,
    "cost_usd": _decimal,
    "request_rewritten": _flag,
    "reasoning_estimated": _flag,
    "text_truncated": _flag,
    "sampled_fraction": _fraction,
    "api_key_id": _key_id,
}
"""All other fields are texts."""


# Tags


def _labels(key: str, value: Any) -> dict[str, str]:
    """The entries of an object (also one in JSON text), the labels of a list, or one value."""
    inner = looked_into(value) if isinstance(value, str) else value
    if isinstance(inner, dict):
        return _scalars(inner.items())
    if isinstance(inner, list):
        return _scalars([_pair(item) for item in inner if isinstance(item, str)])
    return _label(key, value)


def _label(key: str, value: Any) -> dict[str, str]:
    return _scalars([(key, value)])


def _pair(label: str) -> tuple[str, str]:
    """LiteLLM's labels are ``key:value`` by convention; a word alone just holds."""
    key, colon, value = label.partition(":")
    return key.strip(), value.strip() if colon else "true"


def _scalars(pairs: Iterable[tuple[Any, Any]]) -> dict[str, str]:
    return {str(key): spelled(value) for key, value in pairs if isinstance(value, _SCALAR) and key != ""}


_SCALAR = (str, int, float, Decimal)
