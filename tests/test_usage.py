"""Token arithmetic: every row of the table, and that nothing is invented."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.reading import Counts
from schemas.vocabulary import BasisSource, CountSource, ReasoningBasis
from tests.conftest import SHARED
from transforms.usage import settle

INSIDE, ON_TOP = ReasoningBasis.INSIDE, ReasoningBasis.ON_TOP
INFERRED, UNKNOWN = ReasoningBasis.INFERRED, ReasoningBasis.UNKNOWN
TOTAL, PROOF, PROTOCOL = BasisSource.TOTAL, BasisSource.PROOF, BasisSource.PROTOCOL

ROWS: dict[str, tuple[dict[str, Any], tuple[int | None, ReasoningBasis | None, BasisSource | None]]] = {
    "inside": ({"completion": 200, "reasoning": 150, "total": 300}, (200, INSIDE, TOTAL)),
    "all of it reasoning": ({"completion": 200, "reasoning": 200, "total": 300}, (200, INSIDE, TOTAL)),
    "on top": ({"completion": 5, "reasoning": 70, "total": 175}, (75, ON_TOP, TOTAL)),
    "on top of a longer answer": ({"completion": 90, "reasoning": 70, "total": 260}, (160, ON_TOP, TOTAL)),
    "on top of nothing": ({"completion": 0, "reasoning": 70, "total": 170}, (70, ON_TOP, TOTAL)),
    "the total beats a documented on top": (
        {"completion": 100, "reasoning": 88, "total": 200, "convention": ON_TOP},
        (100, INSIDE, TOTAL),
    ),
    "the total beats a documented inside": (
        {"completion": 100, "reasoning": 88, "total": 288, "convention": INSIDE},
        (188, ON_TOP, TOTAL),
    ),
    "above, no proof": ({"completion": 30, "reasoning": 45, "total": 130}, (30, UNKNOWN, None)),
    "above, documented inside proves nothing": (
        {"completion": 30, "reasoning": 45, "total": 130, "convention": INSIDE},
        (30, UNKNOWN, None),
    ),
    "above, documented on top": (
        {"completion": 30, "reasoning": 45, "total": 130, "convention": ON_TOP},
        (75, ON_TOP, PROTOCOL),
    ),
    "above, a cost says inside": (
        {"completion": 30, "reasoning": 45, "total": 130, "proof": INSIDE},
        (30, INSIDE, PROOF),
    ),
    "above, the gateway says on top": (
        {"completion": 30, "reasoning": 45, "total": 130, "proof": ON_TOP},
        (75, ON_TOP, PROOF),
    ),
    "below, and the gateway says on top": (
        {"completion": 90, "reasoning": 45, "total": 190, "proof": ON_TOP},
        (135, ON_TOP, PROOF),
    ),
    "a total that holds it beats a proof": (
        {"completion": 30, "reasoning": 45, "total": 175, "proof": INSIDE},
        (75, ON_TOP, TOTAL),
    ),
    "reported zero": ({"completion": 30, "reasoning": 0, "total": 130}, (30, INSIDE, TOTAL)),
    "reported zero and a gap": ({"completion": 30, "reasoning": 0, "total": 170}, (70, INFERRED, TOTAL)),
    "absent": ({"completion": 30, "total": 130}, (30, None, None)),
    "absent and a gap": ({"completion": 0, "total": 160}, (60, INFERRED, TOTAL)),
    "absent, no total": ({"completion": 30}, (30, None, None)),
    "absent, total too small": ({"completion": 30, "total": 90}, (30, None, None)),
    "no total, documented inside": ({"completion": 30, "reasoning": 20, "convention": INSIDE}, (30, INSIDE, PROTOCOL)),
    "no total, documented on top": ({"completion": 30, "reasoning": 20, "convention": ON_TOP}, (50, ON_TOP, PROTOCOL)),
    "no total, above": ({"completion": 30, "reasoning": 45}, (75, ON_TOP, PROOF)),
    "no total, an estimate above": ({"completion": 30, "reasoning": 45, "estimated": True}, (30, UNKNOWN, None)),
    "no total, nothing documented": ({"completion": 30, "reasoning": 20}, (30, UNKNOWN, None)),
    "a total that fits nothing": ({"completion": 30, "reasoning": 20, "total": 141}, (30, UNKNOWN, None)),
    "a total too small": ({"completion": 30, "reasoning": 20, "total": 90}, (30, UNKNOWN, None)),
    "no completion, total is the prompt": ({"total": 100}, (0, None, None)),
    "no completion, total is more": ({"total": 130}, (30, None, None)),
    "no completion, no total": ({}, (None, None, None)),
    "no completion, total below the prompt": ({"total": 90}, (None, None, None)),
    "no completion, thoughts in the total": (
        {"reasoning": 20, "total": 130, "convention": ON_TOP},
        (30, ON_TOP, PROTOCOL),
    ),
    "no completion, thoughts are all of it": (
        {"reasoning": 30, "total": 130, "convention": ON_TOP},
        (30, ON_TOP, PROTOCOL),
    ),
    "no completion, nothing documented": ({"reasoning": 20, "total": 130}, (30, UNKNOWN, None)),
    "no completion, thoughts left out of the total": (
        {"reasoning": 20, "total": 110, "convention": ON_TOP},
        (30, ON_TOP, PROTOCOL),
    ),
    "no completion, zero thoughts": ({"reasoning": 0, "total": 100}, (0, INSIDE, TOTAL)),
    "no completion, only thoughts": ({"reasoning": 20, "convention": ON_TOP}, (None, ON_TOP, PROTOCOL)),
    "no completion, parts of the total unclear": ({"total": 130, "beside": 20}, (None, None, None)),
}


@pytest.mark.parametrize("row", ROWS)
def test_table(row: str) -> None:
    given_counts, expected = ROWS[row]
    tokens = settle(Counts(prompt=100, **given_counts))
    assert (tokens.output, tokens.basis, tokens.basis_source) == expected
    assert tokens.input == 100
    assert tokens.reasoning == given_counts.get("reasoning")


@pytest.mark.parametrize("total", [36, None])
def test_a_call_that_ended_at_its_limit_holds_its_reasoning(total: int | None) -> None:
    counts = Counts(prompt=20, completion=16, reasoning=19, total=total)
    capped = settle(counts, output_limit=16, ended_by_length=True)
    assert (capped.output, capped.basis, capped.basis_source) == (16, INSIDE, PROOF)
    for limit, ended_by_length in ((16, False), (17, True), (None, True)):
        assert settle(counts, output_limit=limit, ended_by_length=ended_by_length).basis is not INSIDE


class TestInput:
    """All input tokens, also those that a provider lists beside its prompt count."""

    @pytest.mark.parametrize(
        ("counts", "whole", "output", "basis"),
        [
            (Counts(prompt=10, completion=15, total=400, beside=375), 385, 15, None),
            (Counts(prompt=10, completion=15, reasoning=5, total=400, beside=375), 385, 15, INSIDE),
            (Counts(prompt=10, completion=15, reasoning=5, total=405, beside=375), 385, 20, ON_TOP),
            (Counts(prompt=400, completion=15, total=415, beside=375), 400, 15, None),
            (Counts(prompt=10, completion=15, total=401, beside=375), 10, 15, UNKNOWN),
        ],
    )
    def test_listed_beside_the_prompt(
        self, counts: Counts, whole: int, output: int, basis: ReasoningBasis | None
    ) -> None:
        tokens = settle(counts)
        assert (tokens.input, tokens.output, tokens.basis) == (whole, output, basis)

    @pytest.mark.parametrize("total", [None, 25, 825])
    def test_cached_above_the_prompt_is_on_top_of_it(self, total: int | None) -> None:
        tokens = settle(Counts(prompt=10, completion=15, total=total, cached=800))
        assert (tokens.input, tokens.cached, tokens.output, tokens.basis) == (810, 800, 15, None)

    def test_cache_that_explains_the_gap_is_input(self) -> None:
        tokens = settle(Counts(prompt=1000, completion=15, total=1525, cached=500, cache_write=10))
        assert (tokens.input, tokens.output, tokens.basis) == (1525 - 15, 15, None)

    def test_a_total_without_the_cache_still_decides(self) -> None:
        """Bedrock Converse: the prompt holds the cache, the reported total does not."""
        tokens = settle(Counts(prompt=3510, completion=50, reasoning=20, total=60, cached=500, cache_write=3000))
        assert (tokens.input, tokens.output, tokens.basis, tokens.basis_source) == (3510, 50, INSIDE, TOTAL)

    def test_cached_inside_the_prompt_does_not_hide_thinking(self) -> None:
        tokens = settle(Counts(prompt=100, completion=15, total=175, cached=64))
        assert (tokens.input, tokens.output, tokens.basis) == (100, 75, INFERRED)

    def test_no_prompt(self) -> None:
        tokens = settle(Counts(completion=15, total=175, cached=64))
        assert (tokens.input, tokens.output, tokens.basis) == (None, 15, None)


def test_who_counted() -> None:
    assert settle(Counts(completion=9)).source is None
    assert settle(Counts(completion=9, reasoning=0)).source is CountSource.REPORTED
    assert settle(Counts(completion=9, reasoning=3, estimated=True)).source is CountSource.ESTIMATED
    assert settle(Counts(completion=9, estimated=True)).source is None


def test_nothing_in_nothing_out() -> None:
    assert settle(Counts()) == (None,) * 9


_COUNT = st.none() | st.integers(0, 40)
_BASIS = st.sampled_from([None, INSIDE, ON_TOP])
_COUNTS = st.builds(
    Counts,
    prompt=_COUNT,
    completion=_COUNT,
    reasoning=_COUNT,
    total=st.none() | st.integers(0, 120),
    cached=_COUNT,
    cache_write=_COUNT,
    cache_write_1h=_COUNT,
    beside=st.integers(0, 40),
    convention=_BASIS,
    proof=_BASIS,
    estimated=st.booleans(),
)


@given(_COUNTS, _COUNT, st.booleans())
def test_nothing_is_invented(counts: Counts, limit: int | None, ended_by_length: bool) -> None:  # noqa: FBT001
    tokens = settle(counts, output_limit=limit, ended_by_length=ended_by_length)
    reported = (counts.cached, counts.cache_write, counts.cache_write_1h, counts.reasoning)
    assert (tokens.cached, tokens.cache_write, tokens.cache_write_1h, tokens.reasoning) == reported
    assert (tokens.input is None) == (counts.prompt is None)
    assert (tokens.source is None) == (counts.reasoning is None)
    if counts.reasoning is not None:
        assert tokens.basis is not None
    if counts.completion is None and counts.total is None:
        assert tokens.output is None
    if tokens.basis_source is None:
        assert tokens.basis in (None, UNKNOWN)
    for parts in (tokens.cached, tokens.cache_write):
        if tokens.input is not None and parts is not None:
            assert tokens.input >= parts


@given(_COUNTS)
def test_output_holds_what_it_should(counts: Counts) -> None:
    tokens = settle(counts)
    if counts.completion is not None:
        assert tokens.output is not None
        assert tokens.output >= counts.completion
    if tokens.output is not None:
        assert tokens.output >= 0
        fits = counts.completion is None or (counts.reasoning or 0) <= counts.completion
        if tokens.basis is ON_TOP or (tokens.basis is INSIDE and fits and counts.proof is None):
            assert tokens.output >= (counts.reasoning or 0)


def _chat_cases() -> list[dict[str, Any]]:
    path = SHARED / "cases" / "tokens.jsonl"
    cases = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [case for case in cases if "prompt_tokens" in case["lines"][0]["response"].get("usage", {})]


def test_shared_cases_of_chat_completions() -> None:
    cases = _chat_cases()
    if not cases:
        pytest.skip("no shared/cases beside the repository")
    for case in cases:
        [exchange], [expected] = case["lines"], case["expect"]
        usage = exchange["response"]["usage"]
        counts = Counts(
            prompt=usage["prompt_tokens"],
            completion=usage["completion_tokens"],
            reasoning=usage.get("completion_tokens_details", {}).get("reasoning_tokens"),
            total=usage["total_tokens"],
            beside=usage.get("prompt_tokens_details", {}).get("audio_tokens", 0),
        )
        tokens = settle(
            counts,
            output_limit=exchange["request"].get("max_tokens"),
            ended_by_length=exchange["response"]["choices"][0]["finish_reason"] == "length",
        )
        came_out = {
            "input_tokens": tokens.input,
            "output_tokens": tokens.output,
            "reasoning_tokens": tokens.reasoning,
            "reasoning_basis": tokens.basis,
        }
        assert came_out | expected == came_out, case["id"]
