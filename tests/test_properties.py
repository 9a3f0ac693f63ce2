"""What holds for every record: calls or rejects and never an exception, every record counted, no text lost."""

from collections.abc import Iterator
from copy import deepcopy
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.sample_traffic import MODELS, calls
from schemas.call import SCHEMA, Call
from schemas.envelope import built_in
from schemas.exchange import Exchange, RawRecord, RecordBatch, Stream
from schemas.reject import Reject
from schemas.vocabulary import RejectReason
from tests.test_golden import CASES
from transforms.calls import to_calls
from transforms.columns import to_batch, to_reject_batch
from transforms.json_text import to_json
from transforms.normalise import normalise
from transforms.streams import decode
from transforms.unwrap import Unwrapper

UNWRAPPER = Unwrapper(built_in())
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
ANY_JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)
SAMPLE = list(calls(len(MODELS) * 12))
GOLDEN_LINES = [
    line
    for case in CASES
    if "transcripts" not in case.parts  # their lines are read together, and damaged together in their own tests
    for line in (case / "input.jsonl").read_bytes().splitlines()
]


def outcome_of(*lines: bytes) -> Any:
    records = [RawRecord(position, line) for position, line in enumerate(lines)]
    return normalise(RecordBatch("file", records), UNWRAPPER)


def assert_sound(*lines: bytes) -> None:
    """Every record has one fate and the rows fit the schema; no fault of ours hides behind a reject."""
    outcome = outcome_of(*lines)
    tally = outcome.tally
    fates = tally.calls + tally.parts + tally.skipped.total() + tally.rejects.total()
    assert fates == tally.records >= len(lines)
    assert (len(outcome.calls), len(outcome.rejects)) == (tally.calls, tally.rejects.total())
    assert [reject for reject in outcome.rejects if reject.reason is RejectReason.INTERNAL_ERROR] == []
    batch = to_batch(outcome.calls)
    batch.validate(full=True)
    assert batch.schema.equals(SCHEMA)
    to_reject_batch(outcome.rejects).validate(full=True)


@given(ANY_JSON)
def test_any_json_value_as_a_record(value: Any) -> None:
    assert_sound(to_json(value))


@given(ANY_JSON, ANY_JSON)
def test_any_json_values_as_bodies(request: Any, response: Any) -> None:
    assert_sound(to_json({"request": request, "response": response}))


@given(st.binary())
def test_any_bytes_as_a_record(line: bytes) -> None:
    assert_sound(line)


PLANTED = [None, "", 0, -1, 1e300, True, [], {}, "x", [None], {"text": 1}, [[1]], 2**70]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A golden record with single fields removed, nulled, emptied or given another JSON type, also inside streams."""
    record = _opened(orjson.loads(draw(st.sampled_from(GOLDEN_LINES))))
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(record))
        if places:
            node, key = draw(st.sampled_from(places))
            if isinstance(node, dict) and draw(st.booleans()):
                del node[key]
            else:
                node[key] = deepcopy(draw(st.sampled_from(PLANTED)))
    return to_json(record)


def _opened(record: Any) -> Any:
    """The record with a captured stream as the list of its events, so that they can be damaged too."""
    response = record.get("response") if isinstance(record, dict) else None
    if isinstance(response, str) and "data:" in response:
        stream = decode(response)
        if isinstance(stream, Stream):
            return {**record, "response": stream.events}
    return record


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in list(items):
        yield node, key
        yield from _places(value)


@settings(max_examples=1000)
@given(damaged())
def test_a_damaged_body_gives_a_call_or_a_true_reject(line: bytes) -> None:
    assert_sound(line)


@given(st.lists(st.sampled_from([*SAMPLE, b"", b"no record", b"[1, 2]", b'{"a": 1}']), max_size=6))
def test_every_record_is_accounted_for(lines: list[bytes]) -> None:
    assert_sound(*lines)


@given(st.sampled_from([line for line in SAMPLE if b"data: " in line]), st.data())
def test_any_chunking_of_a_stream_gives_the_same_row(line: bytes, data: st.DataObject) -> None:
    """A captured stream stored as text, with other line ends, or as a list of chunks cut anywhere between events."""
    record = orjson.loads(line)
    text = record["response"]
    events = [orjson.loads(part[6:]) for part in text.split("\n") if part.startswith("data: {")]
    forms = [
        text,
        text.replace("\n", "\r\n"),
        text.rstrip(),
        events,
        "\n".join(orjson.dumps(e).decode() for e in events),
    ]
    stored = data.draw(st.sampled_from(forms))
    if isinstance(stored, str) and "data: " in stored and data.draw(st.booleans()):
        comment = data.draw(st.sampled_from([": keep-alive\n\n", ": OPENROUTER PROCESSING\n\n", "\n"]))
        stored = comment + stored
    [one], [other] = (to_calls(_exchange({**record, "response": body}), "f", 0) for body in (text, stored))
    assert one == other


def _exchange(record: dict[str, Any]) -> Exchange:
    [exchange] = UNWRAPPER.unwrap(RawRecord(0, orjson.dumps(record)))
    assert isinstance(exchange, Exchange)
    return exchange


@pytest.mark.parametrize("line", SAMPLE[:60], ids=range(60))
def test_segments_are_true(line: bytes) -> None:
    [call] = outcome_of(line).calls
    for name in ("thinking", "answer"):
        text = getattr(call, name) or ""
        parts = [s for s in call.segments or () if (s.kind == "thinking") == (name == "thinking") and s.end]
        assert "\n\n".join(text[part.start : part.end] for part in parts) == text


def test_results_are_calls_or_rejects() -> None:
    for line in SAMPLE:
        for result in to_calls(_exchange(orjson.loads(line)), "f", 0):
            assert isinstance(result, Call | Reject)
            assert not isinstance(result, Call) or isinstance(result.cost_reported_usd, Decimal | None)
