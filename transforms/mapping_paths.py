"""Paths of a mapping, compiled: from a record, and the records around it, to the value that is there, else null."""

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from schemas.exchange import JsonObject
from schemas.path import All, Pick, Step, Up, parse_path

Parents = tuple[Any, ...]
"""The records around an exploded one, the nearest last."""
Get = Callable[[JsonObject, Parents], Any]
Holds = Callable[[JsonObject, Parents], bool]


def getter(path: str) -> Get:
    """What is at a path; a key at the top costs one look-up."""
    return _getter(parse_path(path))


def _getter(steps: Sequence[Step]) -> Get:
    ups = sum(isinstance(step, Up) for step in steps)
    rest = steps[ups:]
    if ups:
        return lambda _, parents: _walk(parents[-ups], rest) if ups <= len(parents) else None
    if len(rest) == 1 and isinstance(rest[0], str):
        key = rest[0]
        return lambda record, _: record.get(key)
    return lambda record, _: _walk(record, rest)


def presence(path: str) -> Holds:
    """Whether the last key of a path is there, null or not."""
    *before, last = parse_path(path)
    if not isinstance(last, str):
        get = getter(path)
        return lambda record, parents: get(record, parents) is not None
    get_owner = _getter(before)

    def present(record: JsonObject, parents: Parents) -> bool:
        owner = get_owner(record, parents)
        return isinstance(owner, dict) and last in owner

    return present


def first_key(path: str) -> str | None:
    """The key at the top of a record that a path goes through."""
    first = parse_path(path)[0]
    return first if isinstance(first, str) else None


def last_key(path: str) -> str:
    """The name of what a path leads to."""
    return next((step for step in reversed(parse_path(path)) if isinstance(step, str)), path)


def exploded(record: JsonObject, steps: Sequence[Step]) -> list[tuple[Any, Parents]] | None:
    """The items that a path with ``[*]`` leads to, each with the records around it; null where it leads to no list."""
    nodes: list[tuple[Any, Any, Parents]] = [(record, record, ())]  # where we are, in which record, within which
    led_to_a_list = False
    for step in steps:
        if isinstance(step, All):
            lists = [(node, around, parents) for node, around, parents in nodes if isinstance(node, list)]
            led_to_a_list = led_to_a_list or bool(lists)
            nodes = [(item, item, (*parents, around)) for node, around, parents in lists for item in node]
        else:
            nodes = [(_walk(node, (step,)), around, parents) for node, around, parents in nodes]
    return [(node, parents) for node, _, parents in nodes if node is not None] if led_to_a_list else None


def looked_into(text: str) -> Any:
    """The object or array that a text holds as JSON; null where it holds none."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _walk(node: Any, steps: Sequence[Step]) -> Any:
    for step in steps:
        if isinstance(node, str):
            node = looked_into(node)
        if isinstance(step, str):
            node = node.get(step) if isinstance(node, dict) else None
        elif isinstance(step, int):
            node = node[step] if isinstance(node, list) and -len(node) <= step < len(node) else None
        elif isinstance(step, Pick):
            node = _picked(node, step)
        if node is None:
            return None
    return node


def _picked(node: Any, pick: Pick) -> Any:
    for item in node if isinstance(node, list) else ():
        value = item.get(pick.key) if isinstance(item, dict) else None
        if isinstance(value, str) and value.casefold() == pick.value:
            return _attribute(item.get("value")) if pick.key == "key" else item
    return None


def _attribute(value: Any) -> Any:
    """The value of an OTLP attribute, which stands under the name of its type: ``{"stringValue": "x"}``."""
    return next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value
