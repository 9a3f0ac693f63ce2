"""Golden bodies of every protocol with one value taken away or replaced by another.

Such a body becomes calls or a reject that says why, never an exception; what was thinking never stands in the answer
or in any other column, nor the answer in the thinking.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.call import Call
from schemas.envelope import built_in
from schemas.exchange import Exchange, RawRecord, Stream
from transforms.bundles import unbundled
from transforms.calls import to_calls
from transforms.protocols import PROTOCOLS, claimants
from transforms.unwrap import Unwrapper
from transforms.wire_protocol import WireProtocol

GOLDEN = Path(__file__).parent / "golden"
GONE = object()
"""In place of a value: the key or the item itself is taken away."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2),
    max_leaves=4,
)
CHANGES = st.sampled_from([GONE, None, "", [], {}]) | JSON
OTHER_TEXTS = (
    "response_id", "session_id", "provider", "billed_by", "model_requested", "model", "finish_reason_raw",
    "effort_requested_raw", "error_type", "error_message", "user_id", "team", "tags", "service_tier", "usage_raw",
)  # fmt: skip
LONGEST = 300
"""Places of a body that are tried: long streams repeat themselves."""

Place = tuple[Any, ...]
every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: str(protocol.NAME))


@cache
def exchanges_of(name: str) -> list[Exchange]:
    unwrapper = Unwrapper(built_in())
    lines = [line for path in sorted((GOLDEN / name).rglob("input.jsonl")) for line in path.read_bytes().splitlines()]
    found = [found for line in lines for found in unwrapper.unwrap(RawRecord(0, line)) if isinstance(found, Exchange)]
    return [exchange for one in found for exchange in unbundled(one)]


@cache
def answered(name: str) -> list[Exchange]:
    return [exchange for exchange in exchanges_of(name) if exchange.response]


def places(value: Any, path: Place = ()) -> Iterator[Place]:
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def found_at(value: Any, path: Place) -> Any:
    for key in path:
        value = value[key]
    return value


def replaced(value: Any, path: Place, by: Any) -> Any:
    copy = deepcopy(value)
    holder = found_at(copy, path[:-1])
    if by is GONE:
        del holder[path[-1]]
    else:
        holder[path[-1]] = by
    return copy


def content_of(exchange: Exchange) -> Any:
    return exchange.response.events if isinstance(exchange.response, Stream) else exchange.response


def with_content(exchange: Exchange, content: Any) -> Exchange:
    if isinstance(exchange.response, Stream):
        events = [event for event in content if isinstance(event, dict)]
        return replace(exchange, response=replace(exchange.response, events=events))
    return replace(exchange, response=content)


def calls_of(exchange: Exchange) -> list[Call]:
    results = [result for one in unbundled(exchange) for result in to_calls(one, "x", 0)]
    return [result for result in results if isinstance(result, Call)]


@cache
def marked(name: str, number: int) -> Exchange:
    """A golden exchange whose texts end in marks: T and a number where they come out as thinking, A as the answer."""
    exchange = answered(name)[number]
    content = plain = content_of(exchange)
    for mark, place in enumerate(list(places(plain))[:LONGEST]):
        text = found_at(plain, place)
        if not isinstance(text, str) or not text.strip():
            continue
        calls = calls_of(with_content(exchange, replaced(plain, place, f"{text} T{mark}zq")))
        thinking, answer = (any(f"T{mark}zq" in (getattr(c, to) or "") for c in calls) for to in ("thinking", "answer"))
        if thinking != answer:
            content = replaced(content, place, f"{text} {'T' if thinking else 'A'}{mark}zq")
    return with_content(exchange, content)


def marks(kinds: str, text: object) -> list[str]:
    return re.findall(rf"\b[{kinds}]\d+zq", str(text or ""))


def decides_alone(place: Place, calls: list[Call]) -> bool:
    """Whether what is changed is all that tells thinking from answer: such a body is another true one."""
    return not {"thought", "channel"}.isdisjoint(place) or any(call.split_rule for call in calls)


@every_protocol
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_changed_body_is_calls_or_a_reject_with_its_texts_in_their_columns(
    protocol: WireProtocol, data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, len(answered(protocol.NAME)) - 1))
    exchange = marked(protocol.NAME, number)
    content = content_of(exchange)
    place = data.draw(st.sampled_from(list(places(content))[:LONGEST]))
    changed = with_content(exchange, replaced(content, place, data.draw(CHANGES)))
    calls = calls_of(changed)
    if not decides_alone(place, calls_of(answered(protocol.NAME)[number]) + calls):
        assert [mark for call in calls for mark in marks("A", call.thinking) + marks("T", call.answer)] == []
    assert [mark for call in calls for column in OTHER_TEXTS for mark in marks("AT", getattr(call, column))] == []


@every_protocol
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_the_marks_of_a_protocol_are_in_all_that_it_claims(protocol: WireProtocol, data: st.DataObject) -> None:
    exchange = data.draw(st.sampled_from(answered(protocol.NAME)))
    content = content_of(exchange)
    place = data.draw(st.sampled_from(list(places(content))[:LONGEST]))
    changed = content_of(with_content(exchange, replaced(content, place, data.draw(CHANGES))))
    for body in changed if isinstance(changed, list) else [changed]:
        assert claimants(body) == [one for one in PROTOCOLS if one.claims(body)]


@every_protocol
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_requests_of_any_shape_are_read(protocol: WireProtocol, data: st.DataObject) -> None:
    requests = [exchange.request for exchange in exchanges_of(protocol.NAME) if exchange.request]
    if not requests:
        return  # a form that is stored without what was asked
    request = data.draw(st.sampled_from(requests))
    place = data.draw(st.sampled_from(sorted(places(request), key=str)))
    changed = replaced(request, place, data.draw(CHANGES))
    assert isinstance(protocol.claims_request(changed), bool)
    protocol.asked(changed)
