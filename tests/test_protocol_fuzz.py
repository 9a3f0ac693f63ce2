"""Golden inputs with one value replaced by another: no body may raise anything but ``MalformedBodyError``."""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.envelope import built_in
from schemas.exchange import Exchange, RawRecord, Stream
from schemas.reading import MalformedBodyError
from transforms.bundles import unbundled
from transforms.protocols import (
    anthropic_complete,
    gemini_interactions,
    gemini_live,
    ollama_chat,
    ollama_generate,
    openai_assistants,
    openai_completions,
    openai_realtime,
    xai_grpc_chat,
)
from transforms.unwrap import Unwrapper
from transforms.wire_protocol import WireProtocol

GOLDEN = Path(__file__).parent / "golden"
FUZZED: tuple[WireProtocol, ...] = (
    anthropic_complete,
    gemini_interactions,
    gemini_live,
    ollama_chat,
    ollama_generate,
    openai_assistants,
    openai_completions,
    openai_realtime,
    xai_grpc_chat,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2),
    max_leaves=4,
)


@cache
def exchanges_of(name: str) -> list[Exchange]:
    unwrapper = Unwrapper(built_in())
    lines = [line for path in sorted((GOLDEN / name).rglob("input.jsonl")) for line in path.read_bytes().splitlines()]
    found = [found for line in lines for found in unwrapper.unwrap(RawRecord(0, line)) if isinstance(found, Exchange)]
    return [exchange for one in found for exchange in unbundled(one)]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    copy = deepcopy(value)
    holder = copy
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = by
    return copy


@pytest.mark.parametrize("protocol", FUZZED, ids=lambda protocol: str(protocol.NAME))
@given(data=st.data())
def test_only_malformed_bodies_are_refused(protocol: WireProtocol, data: st.DataObject) -> None:
    exchange = data.draw(st.sampled_from(exchanges_of(protocol.NAME)))
    if isinstance(exchange.response, Stream):
        at = data.draw(st.sampled_from(sorted(places(exchange.response.events), key=str)))
        events = replaced(exchange.response.events, at, data.draw(JSON))
        body: Any = Stream([event for event in events if isinstance(event, dict)])
        assert all(isinstance(protocol.claims(event), bool) for event in body.events)
    elif exchange.response:
        at = data.draw(st.sampled_from(sorted(places(exchange.response), key=str)))
        body = replaced(exchange.response, at, data.draw(JSON))
        assert isinstance(protocol.claims(body), bool)
    else:
        return
    for changed in unbundled(Exchange("x", response=body)):
        given_back = changed.response
        try:
            whole = protocol.fold(given_back) if isinstance(given_back, Stream) else given_back
            assert whole is not None
            orjson.dumps(protocol.read(whole).usage)
        except MalformedBodyError:
            continue


@pytest.mark.parametrize("protocol", FUZZED, ids=lambda protocol: str(protocol.NAME))
@given(data=st.data())
def test_requests_of_any_shape_are_read(protocol: WireProtocol, data: st.DataObject) -> None:
    requests = [exchange.request for exchange in exchanges_of(protocol.NAME) if exchange.request]
    request = data.draw(st.sampled_from(requests))
    at = data.draw(st.sampled_from(sorted(places(request), key=str)))
    changed = replaced(request, at, data.draw(JSON))
    assert isinstance(protocol.claims_request(changed), bool)
    protocol.asked(changed)
