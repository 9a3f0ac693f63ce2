"""Responses: what golden cases cannot say. Shapes follow the API's types (reference 2.1 and others)."""

from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.exchange import Stream
from schemas.reading import MalformedBodyError, Reading
from schemas.vocabulary import Effort, FinishReason, PieceKind, ReasoningBasis, ThinkingForm, ThinkingSource
from transforms.protocols import openai_responses
from transforms.protocols.openai_responses import claims, claims_request, fold, read

USAGE = {"input_tokens": 5, "output_tokens": 12, "output_tokens_details": {"reasoning_tokens": 8}, "total_tokens": 17}


def message(*texts: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text} for text in texts]
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": content, **more}


def reasoning(*summary: str, **more: Any) -> dict[str, Any]:
    parts = [{"type": "summary_text", "text": text} for text in summary]
    return {"type": "reasoning", "id": "rs_1", "summary": parts, **more}


def body(*output: dict[str, Any], **more: Any) -> dict[str, Any]:
    base = {"id": "resp_1", "object": "response", "status": "completed", "model": "gpt-5.5", "usage": USAGE}
    return {**base, "output": list(output), **more}


def texts(reading: Reading) -> list[tuple[PieceKind, str, int]]:
    return [(piece.kind, piece.text, piece.part) for piece in reading.pieces]


def kinds(reading: Reading) -> list[PieceKind]:
    return [piece.kind for piece in reading.pieces]


# What is claimed


@pytest.mark.parametrize(
    "claimed",
    [
        body(),
        {"object": "response.compaction", "output": []},
        {"object": "response", "status": "failed", "error": {"code": "server_error"}},
        {"id": "r", "output": [message("a")], "usage": {"input_tokens": 1}},
        {"id": "r", "output": [message("a")], "status": "completed"},
        {"id": "r", "output": [], "usage": {"input_tokens": 1}},
        {"type": "response.created", "sequence_number": 0, "response": body()},
        {"type": "response.output_text.delta", "delta": "a"},
        {"type": "response.reasoning.started"},
        {"type": "error", "sequence_number": 3, "message": "x"},
        {"type": "keepalive", "sequence_number": 3},
    ],
)
def test_bodies_and_events_are_claimed(claimed: dict[str, Any]) -> None:
    assert claims(claimed)


@pytest.mark.parametrize(
    "other",
    [
        {"object": "chat.completion", "choices": []},
        {"object": "realtime.response", "output": [], "usage": {"input_tokens": 1}},
        {"object": "response.deleted", "id": "resp_1"},
        {"type": "response.output_text.delta", "event_id": "event_1", "delta": "a"},
        {"type": "response.done", "response": {"object": "realtime.response"}},
        {"type": "response.create", "response": {}},
        {"type": "session.created"},
        {"type": "error", "error": {"type": "overloaded_error"}},
        {"type": "message_start"},
        {"type": ["response."], "output": None},
        {"output": {"choices": []}, "usage": {"input_tokens": 1}},
        {"output": ["a", "b"], "status": "succeeded"},
        {"output": [], "status": "succeeded"},
        {"output": [{"text": "a"}], "usage": {"input_tokens": 1}},
        {},
    ],
)
def test_other_shapes_are_not_claimed(other: dict[str, Any]) -> None:
    assert not claims(other)


@pytest.mark.parametrize(
    ("request_body", "is_ours"),
    [
        ({"model": "gpt-5.5", "input": "q"}, True),
        ({"model": "gpt-5.5", "input": [{"role": "user", "content": "q"}]}, True),
        ({"prompt": {"id": "pmpt_1"}}, True),
        ({"model": "gpt-5.5", "messages": []}, False),
        ({"model": "gpt-5.5", "prompt": "q"}, False),
        ({"model": "text-embedding-3-small", "input": "q"}, False),
        ({"model": "m", "input": ["q", "r"]}, False),
        ({"model": "m", "input": [1, 2]}, False),
        ({"model": "m", "input": "q", "encoding_format": "float"}, False),
        ({"model": "qwen-plus", "input": {"messages": []}}, False),
        ({"model": "gpt-4o-mini-tts", "input": "q", "voice": "alloy"}, False),
        ({}, False),
    ],
)
def test_requests(request_body: dict[str, Any], is_ours: bool) -> None:  # noqa: FBT001
    assert claims_request(request_body) is is_ours


# From a stream to the body


def test_the_last_event_is_the_body() -> None:
    whole = body(message("ok"))
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": body(status="in_progress", usage=None)},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "never read"},
        {"type": "response.completed", "response": whole},
    ]
    assert fold(Stream(events)) is whole


def test_a_model_that_only_an_early_event_names_is_kept() -> None:
    end = {"id": "resp_1", "output": [message("ok")], "usage": USAGE}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "resp_1", "model": "gpt-5.5", "status": "in_progress"}},
        {"type": "response.in_progress", "response": {"id": "resp_1", "status": "in_progress"}},
        {"type": "response.done", "response": end},
    ]
    folded = fold(Stream(events))
    assert (folded["model"], folded["status"], folded["output"]) == ("gpt-5.5", "completed", end["output"])


def test_counts_of_an_early_event_are_not_those_of_the_response() -> None:
    zeros = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": body(status="in_progress", usage=zeros)},
        {"type": "response.completed", "response": {**body(message("ok")), "usage": None, "model": None}},
    ]
    assert fold(Stream(events))["usage"] is None
    assert fold(Stream(events[:1]))["usage"] is None


def test_finished_items_stand_in_for_an_empty_output_in_their_places() -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"}
    events: list[dict[str, Any]] = [
        {"type": "response.output_item.added", "output_index": 0, "item": {**reasoning(), "id": "rs_other"}},
        {"type": "response.output_item.done", "output_index": 2, "item": call},
        {"type": "response.output_item.done", "output_index": 0, "item": reasoning("plan")},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "o"},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "k"},
        {"type": "response.completed", "response": body()},
    ]
    reading = read(fold(Stream(events)))
    assert kinds(reading) == [PieceKind.THINKING, PieceKind.ANSWER, PieceKind.TOOL_CALL]
    assert [piece.text for piece in reading.pieces] == ["plan", "ok", ""]


def test_an_item_is_not_read_twice_where_only_its_beginning_has_a_place() -> None:
    events: list[dict[str, Any]] = [
        {"type": "response.output_item.added", "output_index": 0, "item": message()},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "ok"},
        {"type": "response.output_item.done", "item": message("ok")},
        {"type": "response.completed", "response": body()},
    ]
    assert [piece.text for piece in read(fold(Stream(events))).pieces] == ["ok"]


def test_items_of_two_types_in_one_place_both_stay() -> None:
    events: list[dict[str, Any]] = [
        {"type": "response.output_item.done", "output_index": 0, "item": reasoning("plan")},
        {"type": "response.output_item.done", "output_index": 0, "item": message("ok")},
        {"type": "response.completed", "response": body()},
    ]
    assert [piece.text for piece in read(fold(Stream(events))).pieces] == ["plan", "ok"]


def test_a_cut_stream_keeps_its_text_and_knows_no_counts() -> None:
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": body(status="in_progress", usage=None)},
        {"type": "response.output_item.added", "output_index": 1, "item": message(phase="commentary")},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 1, "delta": "b"},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "a"},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "I wi"},
        {"type": "response.some_future.event", "output_index": 1, "delta": "no text"},
    ]
    reading = read(fold(Stream(events, cut=True)))
    assert texts(reading) == [
        (PieceKind.THINKING, "a", 0),
        (PieceKind.THINKING, "b", 1),
        (PieceKind.COMMENTARY, "I wi", 2),
    ]
    assert (reading.finish, reading.finish_raw, reading.counts) == (None, "in_progress", None)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "boom", "sequence_number": 2},
        {"type": "error", "error": {"code": "server_error", "message": "boom"}},
        {"error": {"code": "server_error", "message": "boom"}},
    ],
)
def test_a_bare_error_event_fails_the_call_and_keeps_what_came(event: dict[str, Any]) -> None:
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": body(status="in_progress", usage=None)},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "ha"},
        event,
    ]
    reading = read(fold(Stream(events)))
    assert (reading.finish, reading.error_type, reading.error_message) == (FinishReason.ERROR, "server_error", "boom")
    assert [piece.text for piece in reading.pieces] == ["ha"]


def test_the_ends_of_two_responses_in_one_stream_are_refused() -> None:
    events: list[dict[str, Any]] = [
        {"type": "response.completed", "response": body(message("one"))},
        {"type": "response.completed", "response": body(message("two"), id="resp_2")},
    ]
    with pytest.raises(MalformedBodyError, match=r"2 responses .*resp_1, resp_2"):
        fold(Stream(events))


def test_of_a_polled_response_the_last_body_counts() -> None:
    polled = [body(status="queued", usage=None), body(message("ok"))]
    reading = read(fold(Stream(polled)))
    assert (reading.finish, [piece.text for piece in reading.pieces]) == (FinishReason.STOP, ["ok"])


def test_one_event_that_was_stored_alone_is_read() -> None:
    reading = read({"type": "response.completed", "response": body(message("ok"))})
    assert (reading.response_id, [piece.text for piece in reading.pieces]) == ("resp_1", ["ok"])


# From the body to the reading


def test_each_summary_part_is_a_part_and_each_item_too() -> None:
    reading = read(body(reasoning("a", " ", "b"), message("x", "y"), message("z")))
    assert texts(reading) == [
        (PieceKind.THINKING, "a", 0),
        (PieceKind.THINKING, "b", 1),
        (PieceKind.ANSWER, "x", 2),
        (PieceKind.ANSWER, "y", 2),
        (PieceKind.ANSWER, "z", 4),
    ]
    assert {piece.form for piece in reading.pieces[:2]} == {ThinkingForm.SUMMARY}
    assert {piece.source for piece in reading.pieces[:2]} == {ThinkingSource.BLOCK}


def test_a_raw_chain_is_the_thinking_and_its_summary_is_not_told_again() -> None:
    chain = [{"type": "reasoning_text", "text": "so "}, {"type": "reasoning_text", "text": "Paris"}]
    [piece] = read(body(reasoning("Recalled.", content=chain))).pieces
    assert (piece.text, piece.form) == ("so Paris", ThinkingForm.FULL)


@pytest.mark.parametrize(
    ("item", "form"),
    [
        (reasoning(encrypted_content="zz"), ThinkingForm.ENCRYPTED),
        (
            reasoning(encrypted_content="zz", content=[{"type": "reasoning_text", "text": " \n"}]),
            ThinkingForm.ENCRYPTED,
        ),
        (reasoning(), ThinkingForm.OMITTED),
        (reasoning(encrypted_content=""), ThinkingForm.OMITTED),
    ],
)
def test_thinking_without_text(item: dict[str, Any], form: ThinkingForm) -> None:
    [piece] = read(body(item)).pieces
    assert (piece.kind, piece.form, piece.text) == (PieceKind.REDACTED, form, "")


def test_a_wrapped_gemini_signature_is_no_thought() -> None:
    assert kinds(read(body(reasoning(encrypted_content="zz", format="google-gemini-v1")))) == [PieceKind.OTHER]


def test_thinking_as_a_string_beside_the_output() -> None:
    first, second = read(body(message("ok"), reasoning="plan")).pieces
    assert (first.kind, first.text, first.source) == (PieceKind.THINKING, "plan", ThinkingSource.FIELD)
    assert second.text == "ok"
    assert [p.text for p in read(body(reasoning("plan"), reasoning="plan")).pieces] == ["plan"]


def test_output_text_counts_only_where_no_message_has_text() -> None:
    assert [piece.text for piece in read(body(message(""), output_text="ok")).pieces] == ["", "ok"]
    assert [piece.text for piece in read(body(message("ok"), output_text="ok")).pieces] == ["ok"]


def test_messages_of_others_and_unknown_items_are_not_the_answer() -> None:
    kept = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "q"}]}
    future = {"type": "some_future_type", "content": 5, "summary": {"a": 1}}
    assert kinds(read(body(kept, future, {"role": "assistant", "content": "ok"}))) == [
        PieceKind.OTHER,
        PieceKind.OTHER,
        PieceKind.ANSWER,
    ]


def test_items_of_a_compaction_are_opaque() -> None:
    reading = read(body(message("earlier answer"), {"type": "compaction"}, object="response.compaction", status=None))
    assert kinds(reading) == [PieceKind.OTHER, PieceKind.OTHER]
    assert reading.counts is not None
    assert reading.counts.reasoning == 8


@pytest.mark.parametrize(
    ("item", "for_client"),
    [
        ({"type": "function_call", "call_id": "c"}, True),
        ({"type": "custom_tool_call", "call_id": "c"}, True),
        ({"type": "custom_tool_call", "call_id": "xs_call_24148162"}, False),
        ({"type": "local_shell_call", "call_id": "c"}, True),
        ({"type": "shell_call", "call_id": "c"}, True),
        ({"type": "shell_call", "call_id": "c", "environment": {"type": "local"}}, True),
        ({"type": "shell_call", "call_id": "c", "environment": {"type": "container_reference"}}, False),
        ({"type": "computer_call", "call_id": "c"}, True),
        ({"type": "mcp_approval_request", "id": "mcpr_1"}, True),
        ({"type": "tool_search_call", "call_id": "c", "execution": "client"}, True),
        ({"type": "tool_search_call", "call_id": None, "execution": "server"}, False),
        ({"type": "web_search_call"}, False),
        ({"type": "code_interpreter_call"}, False),
        ({"type": "mcp_call"}, False),
        ({"type": "image_generation_call"}, False),
        ({"type": "program", "call_id": "c"}, False),
    ],
)
def test_only_calls_that_the_client_must_answer_are_tool_calls(item: dict[str, Any], for_client: bool) -> None:  # noqa: FBT001
    assert kinds(read(body(item))) == [PieceKind.TOOL_CALL if for_client else PieceKind.OTHER]


def test_a_call_whose_output_stands_beside_it_was_run_by_the_server() -> None:
    call, output = {"type": "function_call", "call_id": "c"}, {"type": "function_call_output", "call_id": "c"}
    assert kinds(read(body(call, output))) == [PieceKind.OTHER, PieceKind.OTHER]


REFUSAL = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}


@pytest.mark.parametrize(
    ("given_body", "finish", "raw", "choices"),
    [
        (body(message("a")), FinishReason.STOP, "completed", 1),
        (body(), FinishReason.STOP, "completed", 1),
        (body(REFUSAL), FinishReason.REFUSAL, "completed", 1),
        (
            body(reasoning(), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            FinishReason.LENGTH,
            "max_output_tokens",
            1,
        ),
        (
            body(status="incomplete", incomplete_details={"reason": "content_filter"}),
            FinishReason.CONTENT_FILTER,
            "content_filter",
            1,
        ),
        (body(status="incomplete", incomplete_details={"reason": "steered"}), FinishReason.OTHER, "steered", 1),
        (body(status="incomplete"), FinishReason.OTHER, "incomplete", 1),
        (body(status="failed", error={"code": "x", "message": "y"}), FinishReason.ERROR, "failed", None),
        (body(message("a"), status="failed"), FinishReason.ERROR, "failed", 1),
        (body(status="cancelled"), FinishReason.ABORTED, "cancelled", None),
        (body(status="queued", usage=None), None, "queued", None),
        (body(message("a"), status="in_progress"), None, "in_progress", 1),
        (body(message("a"), status=None), None, None, 1),
        (body(message("a"), status="a new word"), FinishReason.OTHER, "a new word", 1),
    ],
)
def test_finish(given_body: dict[str, Any], finish: FinishReason | None, raw: str | None, choices: int | None) -> None:
    reading = read(given_body)
    assert (reading.finish, reading.finish_raw, reading.choices) == (finish, raw, choices)


def test_refusal_text_is_an_answer() -> None:
    assert texts(read(body(REFUSAL))) == [(PieceKind.ANSWER, "No.", 0)]


def test_error_of_a_failed_response() -> None:
    reading = read(body(status="failed", usage=None, error={"code": "server_error", "message": "boom"}))
    assert (reading.error_type, reading.error_message, reading.counts) == ("server_error", "boom", None)


def test_counts_and_the_usage_as_it_was() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 20, "audio_tokens": 3},
        "output_tokens": 12,
        "output_tokens_details": {"reasoning_tokens": 8},
        "total_tokens": 112,
    }
    reading = read(body(usage=usage, tool_usage={"image_gen": {"output_tokens": 999}}))
    counts = reading.counts
    assert counts is not None
    assert (counts.prompt, counts.completion, counts.reasoning, counts.total) == (100, 12, 8, 112)
    assert (counts.cached, counts.cache_write, counts.beside) == (64, 20, 3)
    assert counts.convention is ReasoningBasis.INSIDE
    assert reading.usage is usage


def test_counts_under_the_names_of_chat_completions() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 12, "completion_tokens_details": {"reasoning_tokens": 8}}
    counts = read(body(usage=usage)).counts
    assert counts is not None
    assert (counts.prompt, counts.completion, counts.reasoning, counts.total) == (5, 12, 8, None)


def test_text_with_a_usage_of_zeros_was_not_counted() -> None:
    zeros = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    assert read(body(message("a"), usage=zeros)).counts is None
    counts = read(body(status="failed", usage=zeros)).counts
    assert counts is not None
    assert counts.prompt == 0


@pytest.mark.parametrize(
    ("more", "cost"),
    [
        ({"cost_in_usd_ticks": 54012500}, "0.00540125"),
        ({"cost": 2.85e-05, "is_byok": False, "cost_details": {"upstream_inference_cost": 2.85e-05}}, "0.0000285"),
        ({"cost": 0.001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}}, "0.021"),
        ({"is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}}, "0.02"),
        ({"cost": {"total_cost": 0.5, "currency": "USD"}}, "0.5"),
        ({"pydantic_ai_gateway": {"cost_estimate": 0.00431125}}, "0.00431125"),
    ],
)
def test_cost(more: dict[str, Any], cost: str) -> None:
    assert read(body(usage={**USAGE, **more})).cost_usd == Decimal(cost)


def test_no_cost_is_not_zero() -> None:
    assert read(body()).cost_usd is None


@pytest.mark.parametrize(
    ("more", "host"),
    [
        ({"content_filters": []}, "azure"),
        ({"content_filters": [], "copilot_usage": {}}, "copilot"),
        ({"content_filters": None}, None),
        ({"base_resp": {"status_code": 0}}, "minimax"),
        ({"id": "gen-1793700023-Xk4Tq8ZbW2mVr6LpNc0D"}, "openrouter"),
        ({"usage": {**USAGE, "cost": 0.1, "cost_details": {"upstream_inference_cost": 0.1}}}, "openrouter"),
        ({"usage": {**USAGE, "cost_in_usd_ticks": 5}}, "xai"),
        ({"usage": {**USAGE, "cost": {"total_cost": 0.5}}}, "perplexity"),
        ({}, None),
    ],
)
def test_hosts_that_the_body_proves(more: dict[str, Any], host: str | None) -> None:
    assert read({**body(), **more}).provider_hint == host


@pytest.mark.parametrize(
    ("more", "is_echo"),
    [
        ({}, False),
        ({"usage": {**USAGE, "input_tokens_details": {"input_tokens_per_turn": []}}}, True),
        ({"kv_transfer_params": None}, True),
        ({"metadata": {"weight_version": "default"}}, True),
    ],
)
def test_servers_that_repeat_the_effort(more: dict[str, Any], is_echo: bool) -> None:  # noqa: FBT001
    reading = read({**body(reasoning={"effort": "high"}), **more})
    assert (reading.effort_reported, reading.effort_is_echo) == ("high", is_echo)


def test_no_effort_is_no_echo() -> None:
    reading = read(body(reasoning={"effort": None}, kv_transfer_params=None))
    assert (reading.effort_reported, reading.effort_is_echo) == (None, False)


def test_time_and_tier() -> None:
    reading = read(body(created_at=1793700000, service_tier="flex"))
    assert (reading.created_at, reading.service_tier) == (1_793_700_000_000_000, "flex")
    assert read(body(created_at=0, completed_at=0)).created_at is None


@pytest.mark.parametrize(
    ("malformed", "where"),
    [
        (body(output={"text": "a"}), "output"),
        (body(output=["a"]), "output.0"),
        (body({"type": "message", "content": {"text": "a"}}), "content"),
        (body({"type": "message", "content": [{"type": "output_text", "text": 5}]}), "text"),
        (body({"type": "reasoning", "summary": 5}), "summary"),
    ],
)
def test_another_type_where_meaning_is_carried_is_a_reject(malformed: dict[str, Any], where: str) -> None:
    with pytest.raises(MalformedBodyError, match=where):
        read(malformed)


def test_what_was_asked() -> None:
    asked = openai_responses.asked(
        {"model": "gpt-5.5", "input": "q", "stream": True, "reasoning": {"effort": "high"}, "max_output_tokens": 99}
    )
    assert (asked.model, asked.stream, asked.effort, asked.max_output_tokens) == ("gpt-5.5", True, Effort.HIGH, 99)


def test_a_configuration_update_is_the_effort_of_this_turn() -> None:
    update = {"type": "configuration_update", "reasoning": {"effort": "high"}}
    asked = openai_responses.asked(
        {"reasoning": {"effort": "low"}, "input": [update, {"role": "user", "content": "q"}]}
    )
    assert asked.effort is Effort.HIGH


@pytest.mark.parametrize("conversation", ["conv_1", {"id": "conv_1"}])
def test_a_conversation_is_the_session(conversation: object) -> None:
    assert openai_responses.asked({"input": "q", "conversation": conversation}).session_id == "conv_1"


# Properties

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
)
ITEM_TYPES = st.sampled_from(["reasoning", "message", "function_call", "shell_call", "web_search_call", None, 5])
TEXT_PARTS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["output_text", "refusal", "reasoning_text", "x"]),
        "text": JSON,
        "refusal": JSON,
    },
)
ITEMS = st.fixed_dictionaries(
    {},
    optional={
        "type": ITEM_TYPES,
        "id": JSON,
        "role": SCALARS,
        "summary": st.lists(TEXT_PARTS, max_size=2) | JSON,
        "content": st.lists(TEXT_PARTS, max_size=2) | JSON,
        "encrypted_content": SCALARS,
        "environment": JSON,
        "call_id": SCALARS,
    },
)
BODIES = st.fixed_dictionaries(
    {},
    optional={
        "id": JSON,
        "object": st.just("response") | JSON,
        "type": JSON,
        "model": JSON,
        "status": st.sampled_from(["completed", "incomplete", "failed"]) | JSON,
        "output": st.lists(ITEMS, max_size=3) | JSON,
        "output_text": JSON,
        "reasoning": JSON | st.fixed_dictionaries({"effort": JSON}),
        "incomplete_details": JSON | st.fixed_dictionaries({"reason": JSON}),
        "usage": JSON
        | st.dictionaries(
            st.sampled_from(["input_tokens", "output_tokens", "input_tokens_details", "cost", "cost_in_usd_ticks"]),
            JSON,
        ),
        "error": JSON,
        "metadata": JSON,
        "created_at": JSON,
        "input": JSON,
        "prompt": JSON,
        "conversation": JSON,
    },
)
EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            [
                "response.created",
                "response.completed",
                "response.done",
                "response.output_item.added",
                "response.output_item.done",
                "response.output_text.delta",
                "response.output_text.done",
                "response.reasoning_summary_text.delta",
                "error",
            ]
        )
        | JSON,
        "response": BODIES | JSON,
        "item": ITEMS | JSON,
        "object": JSON,
        "output_index": SCALARS,
        "content_index": SCALARS,
        "summary_index": SCALARS,
        "delta": JSON,
        "text": JSON,
        "error": JSON,
        "code": JSON,
    },
)


@given(BODIES)
def test_no_body_raises_anything_else(given_body: dict[str, Any]) -> None:
    claims(given_body)
    claims_request(given_body)
    openai_responses.asked(given_body)
    try:
        reading = read(given_body)
    except MalformedBodyError:
        return
    assert all(piece.kind in PieceKind for piece in reading.pieces)


@given(st.lists(EVENTS, max_size=5))
def test_no_stream_raises_anything_else(events: list[dict[str, Any]]) -> None:
    for event in events:
        claims(event)
    try:
        reading = read(fold(Stream(events)))
    except MalformedBodyError:
        return
    assert all(piece.kind in PieceKind for piece in reading.pieces)


def deltas(kind: str, text: str, cuts: list[int], **where: int) -> list[dict[str, Any]]:
    """The events of one text, cut at these places."""
    edges = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    return [
        {"type": f"response.{kind}.delta", **where, "delta": text[start:end], "obfuscation": "xK3"}
        for start, end in pairwise(edges)
    ]


CUTS = st.lists(st.integers(0, 50), max_size=6)


@given(st.text(min_size=1), st.text(min_size=1), st.text(min_size=1), CUTS)
def test_any_chunking_gives_the_body_of_the_whole_answer(plan: str, chain: str, answer: str, cuts: list[int]) -> None:
    whole = body(
        {**reasoning(plan), "content": [{"type": "reasoning_text", "text": chain}]},
        message(answer),
        usage=None,
    )
    begun = {**whole, "output": []}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": reasoning()},
        *deltas("reasoning_summary_text", plan, cuts, output_index=0, summary_index=0),
        *deltas("reasoning_text", chain, cuts, output_index=0, content_index=0),
        {"type": "response.output_item.added", "output_index": 1, "item": message()},
        *deltas("output_text", answer, cuts, output_index=1, content_index=0),
        {"type": "response.completed", "response": begun},
    ]
    assert fold(Stream(events)) == whole
    assert fold(Stream([*events[:-1], {"type": "response.completed", "response": whole}])) is whole
