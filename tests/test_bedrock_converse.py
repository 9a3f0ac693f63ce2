"""Bedrock Converse: what golden rows cannot say. Bodies and events follow botocore's model of the service."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.exchange import Stream
from schemas.reading import Asked, MalformedBodyError
from schemas.vocabulary import Effort, FinishReason, PieceKind, ThinkingForm, ThinkingSwitch
from transforms.protocols import PROTOCOLS, bedrock_converse
from transforms.protocols.bedrock_converse import asked, claims, claims_request, fold, read

Json = dict[str, Any]


def body(*blocks: Json, **fields: Any) -> Json:
    return {
        "output": {"message": {"role": "assistant", "content": list(blocks)}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 9, "outputTokens": 41, "totalTokens": 50},
        **fields,
    }


def delta(index: int, **of: Any) -> Json:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": of}}


END = {"messageStop": {"stopReason": "end_turn"}}
USAGE = {"metadata": {"usage": {"inputTokens": 9, "outputTokens": 41}, "metrics": {"latencyMs": 1}}}


def pieces(answer: Json) -> list[tuple[PieceKind, str]]:
    return [(piece.kind, piece.text) for piece in read(answer).pieces]


# Claims


@pytest.mark.parametrize(
    "event",
    [
        body({"text": "x"}),
        {"output": {"message": {"content": []}}, "stopReason": "end_turn"},
        {"messageStart": {"role": "assistant"}},
        {"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {}}}},
        delta(0, text="x"),
        {"contentBlockStop": {"contentBlockIndex": 0}},
        END,
        USAGE,
        {"contentBlockIndex": 0, "delta": {"text": "x"}, "p": "abc"},
        {"contentBlockIndex": 0},
        {"stopReason": "end_turn", "p": "abc"},
        {"usage": {"inputTokens": 1, "outputTokens": 2}, "metrics": {"latencyMs": 3}},
    ],
)
def test_bodies_and_events_are_claimed_by_no_other(event: Json) -> None:
    assert [protocol.NAME for protocol in PROTOCOLS if protocol.claims(event)] == ["bedrock_converse"]


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"output": "text"},
        {"output": {"text": "x"}, "sessionId": "s"},
        {"output": {"choices": [{"message": {"content": "x"}}]}, "usage": {}, "request_id": "r"},
        {"metadata": {"usage": {}}},
        {"usage": {"inputTokens": 1, "outputTokens": 2}},
        {"role": "assistant", "content": {"type": "text"}, "model": "m", "stopReason": "endTurn"},
    ],
)
def test_what_only_looks_alike_is_not_claimed(other: Json) -> None:
    assert not claims(other)


def test_requests_are_told_by_what_only_this_api_has() -> None:
    turns = [{"role": "user", "content": [{"text": "x"}]}]
    assert claims_request({"messages": turns, "inferenceConfig": {"maxTokens": 5}})
    assert claims_request({"messages": turns, "schemaVersion": "messages-v1"})
    assert claims_request({"modelId": "amazon.nova-lite-v1:0", "messages": turns})
    assert not claims_request({"model": "gpt-5", "messages": turns})
    assert not claims_request({"inferenceConfig": {}})


# Streams


def test_a_text_that_is_cut_anywhere_is_one_text() -> None:
    events = [delta(0, text="4"), delta(0, text="2"), {"contentBlockStop": {"contentBlockIndex": 0}}, END, USAGE]
    assert pieces(fold(Stream(events))) == [(PieceKind.ANSWER, "42")]


def test_usage_may_come_before_the_end() -> None:
    folded = fold(Stream([delta(0, text="x"), USAGE, END]))
    assert folded["usage"] == USAGE["metadata"]["usage"]
    assert "aborted" not in folded


def test_a_delta_of_another_kind_begins_a_block_of_its_own() -> None:
    events = [delta(0, reasoningContent={"text": "hm"}), delta(0, text="x"), delta(1, text="y"), END]
    assert pieces(fold(Stream(events))) == [
        (PieceKind.THINKING, "hm"),
        (PieceKind.ANSWER, "x"),
        (PieceKind.ANSWER, "y"),
    ]


def test_a_tool_call_whose_start_is_lost_is_still_a_call() -> None:
    events = [delta(1, toolUse={"input": "{"}), delta(1, toolUse={"input": "}"}), END]
    assert pieces(fold(Stream(events))) == [(PieceKind.TOOL_CALL, "")]


def test_metrics_are_the_usage_only_where_there_is_none() -> None:
    metrics = {"inputTokenCount": 7, "outputTokenCount": 8, "cacheReadInputTokenCount": 3}
    alone = read(fold(Stream([delta(0, text="x"), {**END, "amazon-bedrock-invocationMetrics": metrics}])))
    assert alone.counts is not None
    assert (alone.counts.prompt, alone.counts.completion, alone.counts.cached) == (10, 8, 3)
    both = read(fold(Stream([delta(0, text="x"), END, {**USAGE, "amazon-bedrock-invocationMetrics": metrics}])))
    assert both.counts is not None
    assert (both.counts.prompt, both.counts.completion) == (9, 41)


def test_a_cut_capture_is_not_aborted() -> None:
    assert "aborted" not in fold(Stream([delta(0, text="x")], cut=True))
    assert read(fold(Stream([delta(0, text="x")]))).finish is FinishReason.ABORTED


# Bodies


@pytest.mark.parametrize(
    ("reasoning", "form"),
    [
        ({"reasoningText": {"text": "", "signature": "Eq"}}, ThinkingForm.OMITTED),
        ({"reasoningText": {"signature": "Eq"}}, ThinkingForm.OMITTED),
        ({"reasoningText": {"text": "[REDACTED]"}}, ThinkingForm.REDACTED),
        ({"redactedContent": "EmwKAhgB"}, ThinkingForm.REDACTED),
        ({"redactedContent": {"0": 12, "1": 34}}, ThinkingForm.REDACTED),
        ({"redactedReasoning": {"data": "EmwKAhgB"}}, ThinkingForm.REDACTED),
        ({"redactedContent": "gAAAAABpLbJ3"}, ThinkingForm.ENCRYPTED),
        ({"redactedContent": "Z0FBQUFBQnBMYkoz"}, ThinkingForm.ENCRYPTED),
    ],
)
def test_thinking_without_its_text(reasoning: Json, form: ThinkingForm) -> None:
    [piece] = read(body({"reasoningContent": reasoning})).pieces
    assert (piece.kind, piece.form) == (PieceKind.REDACTED, form)


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("end_turn", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("tool_use", FinishReason.TOOL_CALLS),
        ("content_filtered", FinishReason.CONTENT_FILTER),
        ("guardrail_intervened", FinishReason.CONTENT_FILTER),
        ("malformed_tool_use", FinishReason.OTHER),
    ],
)
def test_stop_words(word: str, finish: FinishReason) -> None:
    assert read(body(stopReason=word)).finish is finish


def test_both_names_of_one_cache_count_are_one_count() -> None:
    usage = {"inputTokens": 5, "outputTokens": 1, "cacheReadInputTokens": 7, "cacheReadInputTokenCount": 7}
    counts = read(body(usage=usage)).counts
    assert counts is not None
    assert (counts.prompt, counts.cached, counts.cache_write) == (12, 7, None)


def test_fields_of_the_model_of_any_type_are_no_count() -> None:
    for fields in ("test", None, {"usage": 3}, {"usage": {"output_tokens_details": {"thinking_tokens": -1}}}):
        counts = read(body(additionalModelResponseFields=fields)).counts
        assert counts is not None
        assert counts.reasoning is None


def test_ids_and_times_of_the_sdks() -> None:
    python = {"RequestId": "r-1", "HTTPHeaders": {"date": "Mon, 30 Nov 2026 10:00:05 GMT"}}
    reading = read(body(ResponseMetadata=python))
    assert (reading.response_id, reading.created_at) == ("r-1", 1_796_032_805_000_000)
    assert read(body(ResponseMetadata={"HTTPHeaders": {"date": "yesterday"}})).created_at is None
    assert read(body(**{"$metadata": {"requestId": "r-2"}})).response_id == "r-2"


# Requests


def _extra(**fields: Any) -> Json:
    return {"messages": [], "additionalModelRequestFields": fields}


@pytest.mark.parametrize(
    ("request_body", "wanted"),
    [
        ({"messages": [], "outputConfig": {"effort": "xhigh"}}, (None, None, Effort.XHIGH, "xhigh")),
        ({"messages": [], "outputConfig": {"textFormat": {}}}, (None, None, None, None)),
        (_extra(thinking={"type": "enabled", "budget_tokens": 4000}), (ThinkingSwitch.ON, 4000, None, None)),
        (_extra(thinking={"type": "disabled"}), (ThinkingSwitch.OFF, None, None, None)),
        (_extra(thinking={"type": "between_tools"}), (None, None, None, None)),
        (
            _extra(thinking={"type": "adaptive"}, output_config={"effort": "max"}),
            (ThinkingSwitch.ADAPTIVE, None, Effort.MAX, "max"),
        ),
        (_extra(reasoning_config={"type": "enabled", "budget_tokens": 1024}), (ThinkingSwitch.ON, 1024, None, None)),
        (_extra(reasoning_config="high"), (None, None, Effort.HIGH, "high")),
        (_extra(reasoning_config="none"), (None, None, Effort.NONE, "none")),
        (
            _extra(reasoningConfig={"type": "enabled", "maxReasoningEffort": "low"}),
            (ThinkingSwitch.ON, None, Effort.LOW, "low"),
        ),
        (
            _extra(inferenceConfig={"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "high"}}),
            (ThinkingSwitch.ON, None, Effort.HIGH, "high"),
        ),
        (
            {"messages": [], "inferenceConfig": {"reasoningConfig": {"type": "disabled"}}},
            (ThinkingSwitch.OFF, None, None, None),
        ),
        (
            {"messages": [], "reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}},
            (ThinkingSwitch.ON, None, Effort.MEDIUM, "medium"),
        ),
        (_extra(reasoning_effort="medium"), (None, None, Effort.MEDIUM, "medium")),
        (_extra(reasoning={"effort": "minimal"}), (None, None, Effort.MINIMAL, "minimal")),
        (_extra(top_k=5), (None, None, None, None)),
    ],
)
def test_every_spelling_of_effort(request_body: Json, wanted: tuple[Any, ...]) -> None:
    found = asked(request_body)
    assert (found.thinking, found.budget, found.effort, found.effort_raw) == wanted


def test_limits_tiers_and_tags() -> None:
    request: Json = {
        "modelId": "m",
        "messages": [],
        "inferenceConfig": {"maxTokens": 50},
        "serviceTier": {"type": "priority"},
        "requestMetadata": {"team": "a", "n": 1},
    }
    assert asked(request) == Asked(model="m", max_output_tokens=50, service_tier="priority", tags={"team": "a"})
    assert asked({"inferenceConfig": {"max_new_tokens": 7}}).max_output_tokens == 7
    assert asked({"inferenceConfig": {"maxTokens": True}, "serviceTier": 3, "requestMetadata": []}) == Asked()


# Whatever comes

_FIELDS = [
    "output", "message", "content", "text", "reasoningContent", "reasoningText", "redactedContent",
    "citationsContent", "toolUse", "type", "stopReason", "usage", "inputTokens", "cacheDetails", "ttl",
    "delta", "start", "contentBlockIndex", "contentBlockDelta", "metadata", "messageStop",
    "additionalModelRequestFields", "inferenceConfig", "reasoningConfig", "thinking", "effort", "error",
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
_OBJECTS = st.dictionaries(st.sampled_from(sorted(bedrock_converse.stream.NAMED_EVENTS)), _JSON, max_size=3) | (
    _JSON.filter(lambda value: isinstance(value, dict))
)


@given(_OBJECTS)
@settings(deadline=None)
def test_no_body_and_no_request_raises_anything_else(value: Json) -> None:
    claims(value)
    claims_request(value)
    asked(value)
    try:
        read(value)
    except MalformedBodyError as error:
        assert str(error)  # noqa: PT017 - the text is what is promised


@given(st.lists(_OBJECTS, max_size=5), st.booleans())
@settings(deadline=None)
def test_no_stream_raises_anything_else(events: list[Json], cut: bool) -> None:  # noqa: FBT001 - hypothesis gives it
    try:
        read(fold(Stream(events, cut=cut)))
    except MalformedBodyError as error:
        assert str(error)  # noqa: PT017 - the text is what is promised
