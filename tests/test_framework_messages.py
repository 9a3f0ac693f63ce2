"""Message forms of frameworks: whose a body is, properties of all of them, and what golden cases cannot say."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.exchange import Stream
from schemas.reading import Asked, MalformedBodyError, Reading
from schemas.vocabulary import Effort, FinishReason, PieceKind, ThinkingForm, ThinkingSwitch
from transforms.attributes import flat, plain
from transforms.content_blocks import block_pieces, pieces_of
from transforms.finish_words import to_finish
from transforms.protocols import (
    PROTOCOLS,
    chat_message,
    langchain_message,
    nr_llm_completion,
    openinference,
    otel_genai,
    pydantic_ai,
    vercel_ai_sdk,
)
from transforms.protocols.openinference import unflattened
from transforms.thinking_form import shown_form
from transforms.wire_protocol import WireProtocol

Json = dict[str, Any]
OURS: tuple[WireProtocol, ...] = (
    chat_message,
    langchain_message,
    nr_llm_completion,
    openinference,
    otel_genai,
    pydantic_ai,
    vercel_ai_sdk,
)

# Whose body it is

BODIES: list[tuple[WireProtocol, Json]] = [
    (chat_message, {"role": "assistant", "content": "4"}),
    (chat_message, {"role": "assistant", "content": None, "tool_calls": []}),
    (chat_message, {"index": 0, "message": {"role": "assistant", "content": "4"}, "finish_reason": "stop"}),
    (chat_message, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "4"}]}),
    (langchain_message, {"type": "ai", "content": "4"}),
    (langchain_message, {"lc": 1, "type": "constructor", "id": ["x", "AIMessageChunk"], "kwargs": {"content": "4"}}),
    (langchain_message, {"generations": [[{"text": "4"}]], "llm_output": None}),
    (langchain_message, {"messages": [{"type": "human", "content": "q"}, {"type": "ai", "content": "4"}]}),
    (nr_llm_completion, {"content": "4", "model": "m", "usage": {"promptTokens": 1}, "finishReason": "stop"}),
    (openinference, {"llm.model_name": "m", "output.value": "4"}),
    (openinference, {"llm": {"output_messages": []}}),
    (openinference, {"key": "llm.token_count.prompt", "value": {"intValue": "1"}}),
    (otel_genai, {"gen_ai.request.model": "m", "llm.model_name": "m"}),
    (otel_genai, {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "1"}}),
    (otel_genai, {"role": "assistant", "parts": [{"type": "text", "content": "4"}]}),
    (pydantic_ai, {"kind": "response", "parts": [{"part_kind": "text", "content": "4"}]}),
    (pydantic_ai, {"output": "4", "response": {"parts": [{"part_kind": "text", "content": "4"}]}}),
    (pydantic_ai, {"event_kind": "part_start", "index": 0, "part": {"part_kind": "text", "content": "4"}}),
    (vercel_ai_sdk, {"text": "4", "finishReason": "stop", "usage": {"promptTokens": 1}}),
    (vercel_ai_sdk, {"steps": [{"content": [], "finishReason": "stop"}]}),
    (vercel_ai_sdk, {"role": "assistant", "parts": [{"type": "text", "text": "4"}]}),
    (vercel_ai_sdk, {"type": "text-delta", "id": "0", "delta": "4"}),
]


@pytest.mark.parametrize(("protocol", "body"), BODIES)
def test_exactly_one_protocol_claims_a_body(protocol: WireProtocol, body: Json) -> None:
    assert [one.NAME for one in PROTOCOLS if one.claims(body)] == [protocol.NAME]


@pytest.mark.parametrize(
    "body",
    [
        {"role": "user", "content": "q"},
        {"type": "human", "content": "q"},
        {"lc": 1, "type": "constructor", "id": ["x", "ToolMessage"], "kwargs": {"content": "4"}},
        {"generations": [{"text": "a list of texts is Cohere's"}]},
        {"finishReason": "STOP", "content": {"parts": []}, "usageMetadata": {}},
        {"steps": [{"type": "thought"}]},
        {"role": "model", "parts": [{"text": "4"}]},
        {"messages": []},
    ],
)
def test_what_is_no_answer_of_a_framework_is_not_claimed(body: Json) -> None:
    assert not [one.NAME for one in OURS if one.claims(body)]


# Content blocks


@pytest.mark.parametrize(
    ("block", "kind", "form"),
    [
        ({"type": "reasoning", "encrypted_content": "x", "summary": []}, PieceKind.REDACTED, ThinkingForm.ENCRYPTED),
        ({"type": "reasoning", "text": ""}, PieceKind.REDACTED, ThinkingForm.OMITTED),
        ({"type": "reasoning", "details": [{"type": "redacted"}]}, PieceKind.REDACTED, ThinkingForm.REDACTED),
        (
            {"type": "reasoning_content", "reasoning_content": {"redacted_content": "x"}},
            PieceKind.REDACTED,
            ThinkingForm.REDACTED,
        ),
        ({"type": "reasoning", "summary": [{"type": "summary_text", "text": "a"}]}, PieceKind.THINKING, "summary"),
        ({"type": "reasoning", "summary": [{"text": "a"}]}, PieceKind.THINKING, None),
        ({"type": "image"}, PieceKind.OTHER, None),
    ],
)
def test_a_block_says_why_it_has_no_text(block: Json, kind: PieceKind, form: ThinkingForm | None) -> None:
    [piece] = block_pieces(block, model=None)
    assert (piece.kind, piece.form) == (kind, form)


@pytest.mark.parametrize("content", [7, {"a": 1}, [7], [{"type": "text", "text": 7}]])
def test_content_of_another_type_is_malformed(content: object) -> None:
    with pytest.raises(MalformedBodyError):
        list(pieces_of(content, model=None))


@pytest.mark.parametrize(
    ("model", "form"),
    [
        ("claude-sonnet-4-5", ThinkingForm.SUMMARY),
        ("us.anthropic.claude-3-7-sonnet", ThinkingForm.FULL),
        ("openai/gpt-oss-120b", ThinkingForm.FULL),
        ("deepseek-r1", ThinkingForm.FULL),
        (None, None),
    ],
)
def test_only_a_named_model_says_whether_its_thinking_is_whole(model: str | None, form: ThinkingForm | None) -> None:
    assert shown_form(model) is form


def test_finish_words_are_read_in_every_spelling() -> None:
    assert to_finish("tool-calls") is to_finish("TOOL_CALL") is FinishReason.TOOL_CALLS
    assert to_finish("MALFORMED_FUNCTION_CALL") is FinishReason.OTHER
    assert to_finish("") is to_finish(None) is None


# Attributes


def test_typed_attributes_lose_their_types() -> None:
    value = {"arrayValue": {"values": [{"kvlistValue": {"values": [{"key": "a", "value": {"intValue": "5"}}]}}]}}
    assert flat([{"key": "x", "value": value}, {"value": 1}]) == {"x": [{"a": 5}]}
    assert plain({"intValue": "no"}) is None
    assert plain({"text": "is no OTLP value"}) == {"text": "is no OTLP value"}


def test_numbered_attributes_become_lists_by_number_not_by_text() -> None:
    names = {f"llm.output_messages.{n}.message.content": str(n) for n in (10, 2, 0)}
    contents = [one["message"]["content"] for one in unflattened(names)["output_messages"]]
    assert contents == ["0", "2", "10"]


def test_a_value_where_an_object_should_be_does_not_break_the_others() -> None:
    assert unflattened({"llm.a": 1, "llm.a.b": 2, "llm.c": 3}) == {"a": 1, "c": 3}


# Requests


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"anthropic": {"effort": "medium", "thinking": {"type": "adaptive"}}},
            (ThinkingSwitch.ADAPTIVE, None, "medium"),
        ),
        ({"bedrock": {"reasoningConfig": {"type": "enabled", "budgetTokens": 9}}}, (ThinkingSwitch.ON, 9, None)),
        ({"bedrock": {"reasoningConfig": {"maxReasoningEffort": "max"}}}, (None, None, "max")),
        ({"cohere": {"thinking": {"type": "disabled"}}}, (ThinkingSwitch.OFF, None, None)),
        ({"google": {"thinkingConfig": {"thinkingLevel": "low"}}}, (None, None, "low")),
        ({"openrouter": {"reasoning": {"max_tokens": 100}}}, (None, 100, None)),
        ({}, (None, None, None)),
    ],
)
def test_provider_options_are_read_in_each_providers_spelling(options: Json, expected: tuple[Any, ...]) -> None:
    asked = vercel_ai_sdk.asked({"model": {"modelId": "m"}, "providerOptions": options})
    assert (asked.thinking, asked.budget, asked.effort) == expected
    assert asked.model == "m"


def test_invocation_params_are_read_under_their_own_name() -> None:
    asked = langchain_message.asked({"messages": [], "invocation_params": {"model_name": "m", "effort": "high"}})
    assert (asked.model, asked.effort) == ("m", Effort.HIGH)
    assert langchain_message.asked({"thinking_level": "low"}).effort is Effort.LOW


def test_a_span_states_what_was_sent() -> None:
    asked = otel_genai.asked({"gen_ai.request.model": "m", "gen_ai.request.reasoning.level": "minimal"})
    assert (asked.model, asked.effort) == ("m", Effort.MINIMAL)
    assert otel_genai.asked({"gen_ai.request.enable_reasoner": False}).thinking is ThinkingSwitch.OFF


# Counts


def test_a_step_without_usage_leaves_the_sum_unknown() -> None:
    usage = {"inputTokens": 10, "outputTokens": 4, "totalTokens": 14}
    steps = [{"content": [], "finishReason": "tool-calls"}, {"content": [], "finishReason": "stop", "usage": usage}]
    counts = vercel_ai_sdk.read({"steps": steps, "usage": {"promptTokens": 30, "completionTokens": 9}}).counts
    assert counts is not None
    assert (counts.prompt, counts.completion) == (30, 9)


def test_the_cache_is_not_added_twice() -> None:
    raw = {"input_tokens": 12, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 200}
    body = {"finishReason": "stop", "content": [], "usage": {"inputTokens": 1212, "outputTokens": 5, "raw": raw}}
    counts = vercel_ai_sdk.read(body).counts
    assert counts is not None
    assert (counts.prompt, counts.cached) == (1212, None)


# Properties

# fmt: off
NAMES = [
    "type", "role", "content", "text", "thinking", "reasoning", "summary", "parts", "part_kind", "kind", "usage", "id",
    "usage_metadata", "response_metadata", "additional_kwargs", "generations", "message", "messages", "tool_calls",
    "lc", "kwargs", "data", "steps", "finishReason", "response", "totalUsage", "inputTokens", "outputTokens", "object",
    "model",
    "providerMetadata", "metadata", "index", "finish_reason", "key", "value", "gen_ai.output.messages", "llm", "delta",
    "gen_ai.usage.input_tokens", "gen_ai.completion.0.content", "llm.output_messages.0.message.content", "event_kind",
    "llm.token_count.prompt", "providerOptions", "invocation_params", "model_settings", "output_messages", "part",
]
WORDS = [
    "ai", "AIMessageChunk", "assistant", "response", "request", "thinking", "text", "reasoning", "tool-call", "message",
    "text-delta", "reasoning-delta", "finish", "finish-step", "part_start", "part_delta", "gen_ai.response.id", "user",
    "llm.model_name", "output_text", "function_call", "stop",
]
# fmt: on
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from(WORDS)
ANY_JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=20,
)
ANY_OBJECT = st.dictionaries(st.sampled_from(NAMES), ANY_JSON, max_size=7)


@pytest.mark.parametrize("protocol", OURS, ids=lambda protocol: protocol.NAME)
@settings(deadline=None, max_examples=60)
@given(body=ANY_OBJECT)
def test_any_body_is_read_or_malformed(protocol: WireProtocol, body: Json) -> None:
    protocol.claims(body)
    protocol.claims_request(body)
    assert isinstance(protocol.asked(body), Asked)
    with suppress(MalformedBodyError):
        assert isinstance(protocol.read(body), Reading)


@pytest.mark.parametrize("protocol", OURS, ids=lambda protocol: protocol.NAME)
@settings(deadline=None, max_examples=60)
@given(events=st.lists(ANY_OBJECT, min_size=1, max_size=5))
def test_claimed_events_fold_and_are_read_or_malformed(protocol: WireProtocol, events: list[Json]) -> None:
    if not any(protocol.claims(event) for event in events):
        return
    with suppress(MalformedBodyError):
        assert isinstance(protocol.read(protocol.fold(Stream(events))), Reading)


@settings(deadline=None, max_examples=60)
@given(pieces=st.lists(st.tuples(st.sampled_from(["text", "reasoning"]), st.text(min_size=1, max_size=6)), max_size=6))
def test_however_an_sdk_stream_is_cut_the_content_is_the_same(pieces: list[tuple[str, str]]) -> None:
    events: list[Json] = [{"type": "stream-start"}]
    for number, (kind, text) in enumerate(pieces):
        events += [{"type": f"{kind}-start", "id": str(number)}]
        events += [{"type": f"{kind}-delta", "id": str(number), "delta": letter} for letter in text]
        events += [{"type": f"{kind}-end", "id": str(number)}]
    events.append({"type": "finish", "finishReason": "stop"})
    [step] = vercel_ai_sdk.fold(Stream(events))["steps"]
    assert step["content"] == [{"type": kind, "text": text} for kind, text in pieces]
