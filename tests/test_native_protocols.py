"""Protocols of vendors' own: what golden rows cannot say. Bodies follow the vendors' references."""

from contextlib import suppress
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.exchange import Stream
from schemas.reading import MalformedBodyError
from schemas.vocabulary import Effort, FinishReason, PieceKind, ThinkingSwitch
from transforms.protocols import (
    PROTOCOLS,
    cohere_chat_v2,
    cohere_v1,
    dashscope_generation,
    mistral_conversations,
    replicate_prediction,
    text_completion,
)
from transforms.snapshots import are_snapshots, joined
from transforms.streams import decode

Json = dict[str, Any]
NATIVE = (
    cohere_chat_v2,
    cohere_v1,
    dashscope_generation,
    mistral_conversations,
    replicate_prediction,
    text_completion,
)
CLAIMED: list[tuple[ModuleType, Json]] = [
    (cohere_chat_v2, {"type": "content-end", "index": 0}),
    (cohere_chat_v2, {"message": {"tool_plan": "x"}, "finish_reason": "TOOL_CALL"}),
    (cohere_v1, {"is_finished": False, "text": " a"}),
    (cohere_v1, {"text": "a", "generation_id": "g"}),
    (cohere_v1, {"generations": [{"text": "a", "finish_reason": "max_tokens"}]}),
    (dashscope_generation, {"output": {"text": "a"}, "request_id": "r"}),
    (dashscope_generation, {"output": {"text": None, "choices": []}, "requestId": "r"}),
    (mistral_conversations, {"object": "conversation.response", "outputs": []}),
    (mistral_conversations, {"type": "message.output.delta", "content": "a"}),
    (replicate_prediction, {"status": "starting", "input": {}, "urls": {}}),
    (replicate_prediction, {"event": "output", "data": ""}),
    (text_completion, {"generated_text": "a"}),
    (text_completion, {"token": {"text": "a"}, "generated_text": None, "details": None}),
    (text_completion, {"results": [{"generated_text": "a"}], "model_id": "m"}),
    (text_completion, {"content": "a", "stop": False}),
    (text_completion, {"completions": [{"completion": "a"}], "model_version": "1"}),
    (text_completion, {"type": "stream_chunk", "completion": "a"}),
    (text_completion, {"responses": [{"message": {"content": "a"}}]}),
]


@pytest.mark.parametrize(("protocol", "body"), CLAIMED)
def test_exactly_one_protocol_claims_a_body(protocol: ModuleType, body: Json) -> None:
    assert [one.NAME for one in PROTOCOLS if one.claims(body)] == [protocol.NAME]


@pytest.mark.parametrize(
    "body",
    [
        {"message": {"role": "assistant", "content": "a"}, "done": True},  # Ollama
        {"output": {"message": {"content": [{"text": "a"}]}}, "request_id": "r"},  # Converse
        {"output": {"task_id": "t", "task_status": "PENDING"}, "request_id": "r"},
        {"output": {"embeddings": []}, "request_id": "r"},
        {"embeddings": [[0.1]], "id": "e", "texts": ["a"], "meta": {"billed_units": {"input_tokens": 1}}},
        {"results": [{"index": 0, "relevance_score": 0.9}], "meta": {"billed_units": {"search_units": 1}}},
        {"object": "conversation", "conversation_id": "c"},
        {"status": "completed", "input": {}, "output": []},
        {"content": "a", "role": "assistant"},
        {},
    ],
)
def test_no_native_protocol_claims_what_is_none_of_them(body: Json) -> None:
    assert [one.NAME for one in NATIVE if one.claims(body)] == []


@pytest.mark.parametrize(
    ("protocol", "request_body"),
    [
        (cohere_chat_v2, {"messages": [], "model": "command-a-reasoning", "thinking": {"token_budget": 5}}),
        (cohere_v1, {"message": "q", "model": "command-r"}),
        (cohere_v1, {"prompt": "q", "num_generations": 1}),
        (dashscope_generation, {"model": "qwen-max", "input": {"messages": []}}),
        (mistral_conversations, {"inputs": "q", "agent_id": "ag"}),
        (replicate_prediction, {"version": "v", "input": {"prompt": "q"}}),
        (text_completion, {"inputs": "q", "parameters": {}}),
        (text_completion, {"prompt": "q", "n_predict": 5}),
    ],
)
def test_exactly_one_protocol_claims_a_request(protocol: ModuleType, request_body: Json) -> None:
    assert [one.NAME for one in PROTOCOLS if one.claims_request(request_body)] == [protocol.NAME]


@pytest.mark.parametrize(
    ("texts", "snapshots", "whole"),
    [
        (["1", "1, 2", "1, 2"], True, "1, 2"),
        (["", "a", "ab"], True, "ab"),
        (["ha", "ha", ""], False, "haha"),
        (["a", "b"], False, "ab"),
        (["a"], False, "a"),
        (["", ""], False, ""),
        ([], False, ""),
    ],
)
def test_snapshots_are_told_from_pieces_by_the_texts(texts: list[str], snapshots: bool, whole: str) -> None:  # noqa: FBT001
    assert are_snapshots(texts) is snapshots
    assert joined(texts, snapshots=snapshots) == whole


@pytest.mark.parametrize(
    ("thinking", "switch", "budget"),
    [
        ({"type": "enabled"}, ThinkingSwitch.ON, None),
        ({"type": "ENABLED", "tokenBudget": 70}, ThinkingSwitch.ON, 70),
        ({"type": "disabled"}, ThinkingSwitch.OFF, None),
        ({"token_budget": 31_000}, None, 31_000),
        ("enabled", None, None),
    ],
)
def test_cohere_thinking_is_asked_by_switch_and_budget(
    thinking: Any, switch: ThinkingSwitch | None, budget: int | None
) -> None:
    asked = cohere_chat_v2.asked({"model": "command-a-reasoning", "thinking": thinking, "stream": True})
    assert (asked.thinking, asked.budget, asked.stream) == (switch, budget, True)


def test_mistral_asks_within_its_completion_arguments() -> None:
    request = {"model": "mistral-small", "inputs": "q", "completion_args": {"reasoning_effort": "none"}}
    asked = mistral_conversations.asked(request)
    assert (asked.model, asked.effort) == ("mistral-small", Effort.NONE)


def test_connector_tokens_inside_the_total_of_the_prompt_are_not_added() -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105, "connector_tokens": 60}
    counts = mistral_conversations.read({"outputs": [], "usage": usage}).counts
    assert counts is not None
    assert counts.prompt == 100


def test_polled_states_of_one_prediction_are_its_last_state() -> None:
    states: list[Json] = [{"status": "starting", "output": None}, {"status": "succeeded", "output": ["a", "b"]}]
    reading = replicate_prediction.read(replicate_prediction.fold(Stream(states)))
    assert [piece.text for piece in reading.pieces] == ["a", "b"]
    assert reading.finish is FinishReason.STOP


def test_a_capture_of_plain_text_keeps_line_breaks_and_what_looks_like_json() -> None:
    text = (
        'event: output\nid: 1\ndata: a\ndata: \ndata:  b\n\nevent: output\ndata: {"x": 1}\n\nevent: done\ndata: {}\n\n'
    )
    stream = decode(text)
    assert isinstance(stream, Stream)
    assert [event["data"] for event in stream.events] == ["a\n\n b", '{"x": 1}', "{}"]


def test_a_list_of_whole_answers_is_no_stream() -> None:
    assert decode([{"generated_text": "a"}, {"generated_text": "b"}]) == {
        "sequences": [{"generated_text": "a"}, {"generated_text": "b"}]
    }
    assert isinstance(decode([{"token": {"text": "a"}, "generated_text": "a"}]), Stream)


def test_older_llamacpp_events_say_little() -> None:
    body = text_completion.fold(Stream([{"content": "It ", "stop": False}, {"content": "is", "stop": False}]))
    reading = text_completion.read(body)
    assert [piece.text for piece in reading.pieces] == ["It is"]
    assert reading.finish is FinishReason.ABORTED


@pytest.mark.parametrize(
    ("protocol", "body"),
    [
        (cohere_chat_v2, {"message": {"content": 5}, "finish_reason": "COMPLETE"}),
        (cohere_v1, {"generations": [{"text": "a"}, {"text": 5}]}),
        (dashscope_generation, {"output": {"choices": [{"message": {"content": 5}}]}, "request_id": "r"}),
        (mistral_conversations, {"object": "conversation.response", "outputs": {}}),
        (text_completion, {"generated_text": 5}),
        (text_completion, {"results": [{"generated_text": "a"}, 5]}),
    ],
)
def test_another_type_where_meaning_is_carried_is_malformed(protocol: ModuleType, body: Json) -> None:
    with pytest.raises(MalformedBodyError):
        protocol.read(body)


def test_tool_calls_beside_a_null_content_are_counted() -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": "f"}}, {"id": "d"}]
    reading = cohere_chat_v2.read({"message": {"tool_calls": calls, "content": None}, "finish_reason": "TOOL_CALL"})
    assert [piece.kind for piece in reading.pieces] == [PieceKind.TOOL_CALL] * 2


KEYS = st.sampled_from(
    [
        "type", "event", "event_type", "index", "delta", "message", "content", "text", "thinking", "tool_plan", "usage",
        "tool_calls", "finish_reason", "id", "billed_units", "tokens", "input_tokens", "is_finished", "response",
        "meta", "generations", "generation_id", "token_count", "output", "choices", "request_id", "reasoning_content",
        "code", "error", "object", "outputs", "output_index", "model", "created_at", "status", "input", "urls", "data",
        "metrics", "generated_text", "details", "token", "special", "results", "stop", "stop_type", "responses",
        "chunk", "timings", "completions", "completion", "tokens_predicted", "sequences",
        "amazon-bedrock-invocationMetrics",
    ]
)  # fmt: skip
WORDS = st.sampled_from(
    [
        "message-start", "content-start", "content-delta", "message-end", "tool-plan-delta", "tool-call-start", "text",
        "text-generation", "stream-end", "tool-calls-generation", "conversation.response.done", "thinking", "output",
        "conversation.response.error", "message.output.delta", "function.call.delta", "tool.execution.started", "done",
        "error", "succeeded", "failed", "starting", "stream_chunk", "stream_summary", "COMPLETE", "stop", "null",
    ]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | WORDS | st.text(max_size=5)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5))
BODIES = st.dictionaries(KEYS, VALUES, max_size=8)


@pytest.mark.parametrize("protocol", NATIVE, ids=lambda protocol: protocol.NAME)
@settings(deadline=None, max_examples=150)
@given(bodies=st.lists(BODIES, min_size=1, max_size=4), claimed=st.integers(0, len(CLAIMED) - 1))
def test_no_body_raises_anything_but_malformed(protocol: ModuleType, bodies: list[Json], claimed: int) -> None:
    owner, start = CLAIMED[claimed]
    if owner is protocol:
        bodies = [{**start, **bodies[0]}, start, *bodies]
    for body in bodies:
        protocol.claims(body)
        protocol.claims_request(body)
        protocol.asked(body)
    _read(protocol, bodies[0])
    _read(protocol, Stream(bodies))


def _read(protocol: ModuleType, body: Json | Stream) -> None:
    with suppress(MalformedBodyError):
        protocol.read(protocol.fold(body) if isinstance(body, Stream) else body)
