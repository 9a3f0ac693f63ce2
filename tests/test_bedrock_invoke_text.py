"""Bedrock's plain text bodies: what golden rows cannot say. Bodies are as AWS documents them, vendor by vendor."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.exchange import Stream
from schemas.reading import MalformedBodyError
from schemas.vocabulary import FinishReason
from transforms.protocols import PROTOCOLS
from transforms.protocols.bedrock_invoke_text import asked, claims, claims_request, fold, read

Json = dict[str, Any]
METRICS = "amazon-bedrock-invocationMetrics"


@pytest.mark.parametrize(
    "body",
    [
        {"inputTextTokenCount": 5, "results": [{"tokenCount": 3, "outputText": "x", "completionReason": "FINISH"}]},
        {"outputText": "x", "index": 0, "totalOutputTextTokenCount": None, "inputTextTokenCount": 5},
        {"generation": "x", "prompt_token_count": 5, "generation_token_count": 1, "stop_reason": None},
        {"outputs": [{"text": "x", "stop_reason": "stop"}]},
        {
            "id": 1,
            "prompt": {"text": "p"},
            "completions": [{"data": {"text": "x"}, "finishReason": {"reason": "stop"}}],
        },
        {"choices": [{"text": "x", "stop_reason": "length"}]},
    ],
)
def test_bodies_are_claimed_by_no_other(body: Json) -> None:
    assert [protocol.NAME for protocol in PROTOCOLS if protocol.claims(body)] == ["bedrock_invoke_text"]


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"results": [{"index": 2, "relevance_score": 0.8}]},
        {"object": "text_completion", "choices": [{"text": "x", "finish_reason": "stop", "stop_reason": None}]},
        {"choices": [{"text": "x", "finish_reason": "stop", "stop_reason": None}]},
        {"generations": [{"text": "x", "finish_reason": "COMPLETE"}], "id": "g"},
        {"completion": "x", "stop_reason": "stop_sequence", "stop": "\n\nHuman:"},
        {"embedding": [0.1], "inputTextTokenCount": 3},
        {"outputs": [{"type": "text", "text": "x"}], "status": "completed"},
        {"generation": "x"},
    ],
)
def test_what_only_looks_alike_is_not_claimed(other: Json) -> None:
    assert not claims(other)


def test_counts_of_a_vendor_go_before_the_metrics() -> None:
    body = {"generation": "x", "prompt_token_count": 5, "generation_token_count": 6, METRICS: {"inputTokenCount": 50}}
    counts = read(body).counts
    assert counts is not None
    assert (counts.prompt, counts.completion) == (5, 6)


def test_metrics_leave_the_cache_out_of_the_input() -> None:
    metrics = {
        "inputTokenCount": 5,
        "outputTokenCount": 6,
        "cacheReadInputTokenCount": 7,
        "cacheWriteInputTokenCount": 8,
    }
    counts = read({"outputs": [{"text": "x", "stop_reason": "stop"}], METRICS: metrics}).counts
    assert counts is not None
    assert (counts.prompt, counts.cached, counts.cache_write, counts.completion) == (20, 7, 8, 6)


def test_counts_of_several_answers_are_added() -> None:
    answers = [{"tokenCount": n, "outputText": "x", "completionReason": "FINISH"} for n in (3, 4)]
    reading = read({"inputTextTokenCount": 5, "results": answers})
    assert reading.counts is not None
    assert (reading.counts.completion, reading.choices) == (7, 2)


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("FINISH", FinishReason.STOP),
        ("LENGTH", FinishReason.LENGTH),
        ("CONTENT_FILTERED", FinishReason.CONTENT_FILTER),
        ("RAG_QUERY_WHEN_RAG_DISABLED", FinishReason.OTHER),
    ],
)
def test_stop_words_of_titan(word: str, finish: FinishReason) -> None:
    assert read({"results": [{"outputText": "x", "completionReason": word}]}).finish is finish


def test_an_exception_within_the_stream_is_a_failed_call() -> None:
    chunk = {"generation": "Hel", "prompt_token_count": 2, "generation_token_count": 1}
    reading = read(fold(Stream([chunk, {"throttlingException": {"message": "Too many requests"}}])))
    assert reading.finish is FinishReason.ERROR
    assert (reading.error_type, reading.error_message) == ("throttlingException", "Too many requests")


def test_a_text_of_another_type_is_malformed() -> None:
    with pytest.raises(MalformedBodyError, match="generation: int"):
        fold(Stream([{"generation": 3, "prompt_token_count": 2}]))
    with pytest.raises(MalformedBodyError, match="outputText"):
        read({"results": [{"outputText": ["x"], "completionReason": "FINISH"}]})


def test_requests() -> None:
    titan = {"inputText": "x", "textGenerationConfig": {"maxTokenCount": 9}}
    assert claims_request(titan)
    assert claims_request({"prompt": "x", "max_gen_len": 60})
    assert not claims_request({"prompt": "x", "max_tokens": 60})
    assert [asked(body).max_output_tokens for body in (titan, {"max_gen_len": 60}, {"maxTokens": 7}, {})] == [
        9,
        60,
        7,
        None,
    ]


_FIELDS = [
    "results", "outputs", "completions", "choices", "outputText", "generation", "text", "data", "stop_reason",
    "completionReason", "finishReason", "reason", "tokenCount", "inputTextTokenCount", "prompt_token_count",
    "generation_token_count", "textGenerationConfig", "maxTokenCount", "throttlingException", "message",
    METRICS,
]  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_FIELDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)
_OBJECTS = _JSON.filter(lambda value: isinstance(value, dict))


@given(st.lists(_OBJECTS, max_size=4), st.booleans())
@settings(deadline=None)
def test_nothing_raises_anything_else(events: list[Json], cut: bool) -> None:  # noqa: FBT001 - hypothesis gives it
    for event in events:
        claims(event)
        claims_request(event)
        asked(event)
        try:
            read(event)
        except MalformedBodyError as error:
            assert str(error)  # noqa: PT017 - the text is what is promised
    try:
        read(fold(Stream(events, cut=cut)))
    except MalformedBodyError as error:
        assert str(error)  # noqa: PT017 - the text is what is promised
