"""Calls to Arrow and back: every column keeps its value."""

from dataclasses import asdict
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from schemas.call import SCHEMA, Call, Segment
from schemas.reject import REJECT_SCHEMA, Reject
from schemas.vocabulary import RejectReason
from transforms.columns import to_batch, to_reject_batch

TEXTS = st.none() | st.text()
CALLS = st.builds(
    Call,
    call_id=st.text(),
    source=st.just("exchange"),
    source_file=st.text(),
    source_position=st.integers(0, 2**62),
    thinking=TEXTS,
    answer=TEXTS,
    model=TEXTS,
    streamed=st.none() | st.booleans(),
    segments=st.none()
    | st.lists(st.builds(Segment, st.just("answer"), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))),
    tags=st.none() | st.dictionaries(st.text(), st.text()),
    output_tokens=st.none() | st.integers(0, 2**53),
    cost_reported_usd=st.none() | st.decimals(0, 1000, places=12),
    latency_ms=st.none() | st.floats(0, 1e9),
)


@given(st.lists(CALLS, max_size=5))
def test_calls_survive_arrow(calls: list[Call]) -> None:
    batch = to_batch(calls)
    batch.validate(full=True)
    assert batch.schema.equals(SCHEMA)
    for row, call in zip(batch.to_pylist(), calls, strict=True):
        want = asdict(call)
        want["segments"] = None if call.segments is None else [segment._asdict() for segment in call.segments]
        want["tags"] = None if call.tags is None else list(call.tags.items())
        assert {name: row[name] for name in want} == want


def test_a_cost_keeps_all_its_digits() -> None:
    cost = Decimal("0.000123456789")
    [row] = to_batch([Call("a", "s", "f", 0, cost_reported_usd=cost)]).to_pylist()
    assert row["cost_reported_usd"] == cost


def test_rejects_have_an_identity_of_their_place_and_bytes() -> None:
    rejects = [
        Reject(RejectReason.INVALID_JSON, "d", "f", position, raw)
        for position, raw in ((0, b"a"), (0, b"b"), (1, b"a"))
    ]
    batch = to_reject_batch([*rejects, rejects[0]])
    assert batch.schema.equals(REJECT_SCHEMA)
    ids = batch["reject_id"].to_pylist()
    assert len(set(ids)) == 3
    assert ids[0] == ids[3]
