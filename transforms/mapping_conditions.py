"""Conditions of a mapping, compiled: which records are of a form, and which of them are LLM calls."""

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from schemas.envelope import Recognise, Test
from schemas.exchange import JsonObject
from transforms.mapping_paths import Get, Holds, Parents, first_key, getter, presence
from transforms.mapping_values import spelled

_WORDS_REMEMBERED = 1024


class Recognition(NamedTuple):
    """Two tests: by a record's keys alone, which is the same for all records of one shape, and by its values."""

    by_keys: Callable[[JsonObject], bool]
    by_values: Callable[[JsonObject], bool]


def recognition(rule: Recognise) -> Recognition:
    """Compile how a form is recognised."""
    needed = {first_key(path) for path in (*rule.all, *rule.equal)}
    choice = {first_key(path) for path in rule.any}
    barred = {path for path in rule.none if path == first_key(path)}
    allowed = set(rule.only)
    checks: list[Holds] = [_equals(getter(path), value) for path, value in rule.equal.items()]
    checks += [presence(path) for path in rule.all if path != first_key(path)]
    checks += [_not(presence(path)) for path in rule.none if path not in barred]
    if any(path != first_key(path) for path in rule.any):
        checks.append(_any([presence(path) for path in rule.any]))

    def by_keys(record: JsonObject) -> bool:
        keys = record.keys()
        if allowed and not keys <= allowed:
            return False
        return needed <= keys and barred.isdisjoint(keys) and (not choice or not choice.isdisjoint(keys))

    def by_values(record: JsonObject) -> bool:
        return all(check(record, ()) for check in checks)

    return Recognition(by_keys, by_values if checks else lambda _: True)


def condition(test: Test) -> Holds:
    """Compile a test; all that it says must hold."""
    get = _first(test.path)
    checks: list[Holds] = []
    if "eq" in test.model_fields_set:
        checks.append(_equals(get, test.eq))
    if test.one_of:
        checks.append(lambda record, parents: get(record, parents) in test.one_of)
    if test.not_in:
        checks.append(lambda record, parents: get(record, parents) not in test.not_in)
    if test.exists is not None:
        present = _any([presence(path) for path in test.path])
        checks.append(present if test.exists else _not(present))
    if test.not_null:
        checks.append(lambda record, parents: get(record, parents) is not None)
    if test.glob:
        checks.append(_matches(get, test.glob))
    if test.not_glob:
        checks.append(_not(_matches(get, test.not_glob)))
    return checks[0] if len(checks) == 1 else lambda record, parents: all(check(record, parents) for check in checks)


def in_words(test: Test) -> str:
    """What a record is that fails a test, for the account of what was skipped."""
    if test.otherwise:
        return test.otherwise
    given = test.model_dump(exclude={"path"}, exclude_unset=True, by_alias=True)
    words = (f"{word} {'|'.join(map(spelled, _listed(value)))}" for word, value in given.items())
    return f"not {' or '.join(test.path)} {', '.join(words)}"


def _first(paths: Sequence[str]) -> Get:
    """What is at the first path that is not null."""
    getters = [getter(path) for path in paths]
    if len(getters) == 1:
        return getters[0]
    return lambda record, parents: next((v for get in getters if (v := get(record, parents)) is not None), None)


def _listed(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _equals(get: Get, wanted: object) -> Holds:
    return lambda record, parents: bool(get(record, parents) == wanted)


def _not(holds: Holds) -> Holds:
    return lambda record, parents: not holds(record, parents)


def _any(checks: list[Holds]) -> Holds:
    return lambda record, parents: any(check(record, parents) for check in checks)


def _matches(get: Get, patterns: Iterable[str]) -> Holds:
    @lru_cache(_WORDS_REMEMBERED)  # a log has few kinds of records, and a mapping may have many patterns
    def matches(word: str) -> bool:
        return any(fnmatchcase(word, pattern) for pattern in patterns)

    def holds(record: JsonObject, parents: Parents) -> bool:
        value = get(record, parents)
        return isinstance(value, str) and matches(value)

    return holds
