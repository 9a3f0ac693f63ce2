"""Anthropic Messages: what golden rows cannot say. Bodies and events follow the types of Anthropic's SDK."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.exchange import Stream
from schemas.reading import Asked, MalformedBodyError, Piece, Reading
from schemas.vocabulary import Effort, FinishReason, PieceKind, ThinkingForm, ThinkingSource, ThinkingSwitch
from transforms.protocols import anthropic_messages
from transforms.protocols.anthropic_messages import asked, claims, claims_request, fold, read
from transforms.streams import answers

Json = dict[str, Any]


def message(*blocks: Json, **fields: Any) -> Json:
    return {
        "id": "msg_01QfTq9dWJ5gkkUbPvYpC3rX",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-8",
        "content": list(blocks),
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 20, "output_tokens": 30},
        **fields,
    }


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def thinking(words: str, signature: str = "EqQB") -> Json:
    return {"type": "thinking", "thinking": words, "signature": signature}


def start(**fields: Any) -> Json:
    body = message(stop_reason=None, usage={"input_tokens": 20, "output_tokens": 1})
    return {"type": "message_start", "message": {**body, **fields}}


def block(index: int, opened: Json, *deltas: Json) -> list[Json]:
    return [
        {"type": "content_block_start", "index": index, "content_block": opened},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text_block(index: int, *words: str) -> list[Json]:
    return block(index, text(""), *({"type": "text_delta", "text": word} for word in words))


def end(output: int, reason: str = "end_turn", **usage: Any) -> list[Json]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": output, **usage}},
        {"type": "message_stop"},
    ]


def texts(body: Json) -> list[tuple[PieceKind, str]]:
    return [(piece.kind, piece.text) for piece in read(body).pieces]


# Claims


@pytest.mark.parametrize(
    "body",
    [
        message(text("x")),
        {"content": [text("x")], "model": "claude-2.1", "stop_reason": "end_turn"},
        {"type": "message", "content": "not a list", "stop_reason": "end_turn"},
        start(),
        *text_block(0, "x"),
        *end(3),
    ],
)
def test_claims_whole_bodies_and_every_event_but_ping(body: Json) -> None:
    assert claims(body)


@pytest.mark.parametrize(
    "body",
    [
        {"type": "ping"},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"type": "completion", "completion": " Hi", "stop_reason": "stop_sequence"},
        {"id": "x", "finish_reason": "COMPLETE", "message": {"role": "assistant", "content": [text("x")]}},
        {"output": {"message": {"role": "assistant", "content": [{"text": "x"}]}}, "stopReason": "end_turn"},
        {"object": "chat.completion", "choices": [{"message": {"content": "x"}}]},
        {"type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text"}]},
        {"role": "assistant", "content": [text("x")], "stopReason": "stop", "usage": {"input": 1}},
        {"type": ["message_start"]},
        {},
    ],
)
def test_claims_no_other_shape(body: Json) -> None:
    assert not claims(body)


QUESTION = [{"role": "user", "content": "q"}]


@pytest.mark.parametrize(
    "request_body",
    [
        {"anthropic_version": "bedrock-2023-05-31", "messages": QUESTION},
        {"model": "claude-opus-4-8", "max_tokens": 9, "messages": QUESTION},
        {"model": "router-alias", "max_tokens": 9, "system": "s", "messages": QUESTION},
        {"model": "router-alias", "max_tokens": 9, "messages": QUESTION, "thinking": {"budget_tokens": 1024}},
        {"model": "router-alias", "messages": QUESTION, "tools": [{"name": "f", "input_schema": {}}]},
        {"model": "claude-opus-4-8", "max_tokens": 9, "messages": [*QUESTION, {"role": "system", "content": "s"}]},
    ],
)
def test_claims_requests_with_its_own_marks(request_body: Json) -> None:
    assert claims_request(request_body)


@pytest.mark.parametrize(
    "request_body",
    [
        {"model": "gpt-5.5", "messages": QUESTION},
        {"model": "anthropic/claude-opus-4.8", "max_tokens": 9, "messages": QUESTION},
        {"model": "claude-opus-4-8", "max_tokens": 9, "messages": [{"role": "system", "content": "s"}, *QUESTION]},
        {"model": "claude-opus-4-8", "max_tokens": 9, "messages": QUESTION, "reasoning_effort": "low"},
        {"messages": QUESTION, "system": [{"text": "s"}], "inferenceConfig": {"maxTokens": 9}},
        {"model": "command-a", "messages": QUESTION, "thinking": {"type": "enabled", "token_budget": 9}},
        {"prompt": "\n\nHuman: q\n\nAssistant:", "max_tokens_to_sample": 9},
        {"messages": "q", "anthropic_version": "x"},
    ],
)
def test_claims_no_request_that_others_may_have_sent(request_body: Json) -> None:
    assert not claims_request(request_body)


# Streams


def test_a_stream_folds_into_the_whole_body() -> None:
    events = [
        start(),
        {"type": "ping"},
        *block(
            0,
            thinking("", ""),
            {"type": "thinking_delta", "thinking": "a "},
            {"type": "thinking_delta", "thinking": "plan"},
            {"type": "signature_delta", "signature": "old"},
            {"type": "signature_delta", "signature": "EqQB"},
        ),
        *text_block(1, "Do", "ne."),
        *block(2, {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}, {"type": "input_json_delta"}),
        *end(30, "tool_use"),
    ]
    tool = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    assert fold(Stream(events)) == message(thinking("a plan"), text("Done."), tool, stop_reason="tool_use")


def test_a_block_may_start_with_its_text() -> None:
    opened = block(0, thinking("a ", "EqQB"), {"type": "thinking_delta", "thinking": "plan"})
    body = fold(Stream([start(), *opened, *block(1, text("all of it")), *end(30)]))
    assert body["content"] == [thinking("a plan"), text("all of it")]


def test_counts_are_totals_so_far_and_a_null_replaces_nothing() -> None:
    first = start(usage={"input_tokens": 20, "service_tier": "priority", "output_tokens": 1})
    later = [*end(9)[:1], *end(25, input_tokens=21, service_tier=None)]
    usage = fold(Stream([first, *text_block(0, "x"), *later]))["usage"]
    assert usage == {"input_tokens": 21, "service_tier": "priority", "output_tokens": 25}


def test_without_an_end_the_output_is_unknown_and_the_input_is_not() -> None:
    reading = read(fold(Stream([start(), *text_block(0, "Half of")])))
    assert reading.finish is FinishReason.ABORTED
    assert reading.counts is not None
    assert (reading.counts.prompt, reading.counts.completion) == (20, None)


def test_a_cut_capture_is_no_aborted_call() -> None:
    reading = read(fold(Stream([start(), *text_block(0, "Half of")], cut=True)))
    assert reading.finish is None
    assert reading.counts is not None
    assert reading.counts.completion is None


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"overloaded_error": None, "type": "error", "error": {"error": {"type": "overloaded_error"}}},
        {"modelStreamErrorException": {"message": "Overloaded"}},
    ],
)
def test_an_error_in_the_middle_keeps_the_text_and_the_error(event: Json) -> None:
    reading = read(fold(Stream([start(), *text_block(0, "Half of"), event])))
    assert reading.pieces == [Piece(PieceKind.ANSWER, "Half of")]
    assert reading.finish is FinishReason.ERROR
    assert reading.error_type in ("overloaded_error", "modelStreamErrorException")


def test_a_repeated_message_start_changes_nothing() -> None:
    rest = [*text_block(0, "x"), *end(7)]
    assert fold(Stream([start(), start(), *rest])) == fold(Stream([start(), *rest]))


def test_each_message_of_one_capture_is_an_answer_of_its_own() -> None:
    given_up = [start(id="msg_first"), *text_block(0, "Half of")]
    made = [start(id="msg_second"), start(id="msg_second"), *text_block(0, "All of it"), *end(7)]
    found = answers(Stream([*given_up, *made]), anthropic_messages.BEGINS)
    assert [read(fold(answer)).pieces for answer in found] == [
        [Piece(PieceKind.ANSWER, "Half of")],
        [Piece(PieceKind.ANSWER, "All of it")],
    ]


def test_blocks_with_one_index_stay_apart() -> None:
    body = fold(Stream([start(), *text_block(0, "a"), *block(0, {"type": "tool_use"}), *text_block(0, "b"), *end(7)]))
    assert body["content"] == [text("a"), {"type": "tool_use"}, text("b")]


def test_a_delta_without_its_start_opens_its_block() -> None:
    lost = [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}} for word in "ab"]
    assert fold(Stream([start(), *lost, *end(7)]))["content"] == [text("ab")]


def test_bedrock_metrics_are_no_second_usage() -> None:
    metrics = {"amazon-bedrock-invocationMetrics": {"inputTokenCount": 20, "outputTokenCount": 30}}
    events = [start(), *text_block(0, "x"), *end(30)]
    assert fold(Stream([*events, metrics])) == fold(Stream(events))


def test_a_whole_body_in_a_list_is_that_body() -> None:
    body = message(thinking("a"), text("b"))
    assert read(fold(Stream([body]))) == read(body)


@pytest.mark.parametrize(
    "events",
    [
        [{"type": "content_block_start", "content_block": "x"}],
        [{"type": "content_block_delta", "delta": None}],
        [{"type": "content_block_delta", "delta": {"type": "text_delta", "text": ["x"]}}],
        [start(content="x")],
    ],
)
def test_events_of_another_shape_are_malformed(events: list[Json]) -> None:
    with pytest.raises(MalformedBodyError):
        fold(Stream(events))


# Bodies


@pytest.mark.parametrize(
    ("model", "form"),
    [
        ("claude-opus-4-8", ThinkingForm.SUMMARY),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", ThinkingForm.SUMMARY),
        ("claude-3-7-sonnet@20250219", ThinkingForm.FULL),
        ("gpt-oss:20b", ThinkingForm.FULL),
        (None, ThinkingForm.FULL),
    ],
)
def test_since_claude_4_the_thinking_is_a_summary(model: str | None, form: ThinkingForm) -> None:
    [piece] = read(message(thinking("a"), model=model)).pieces
    assert piece == Piece(PieceKind.THINKING, "a", source=ThinkingSource.BLOCK, form=form)


@pytest.mark.parametrize(
    ("withheld", "form"),
    [
        (thinking(""), ThinkingForm.OMITTED),
        (thinking("\n"), ThinkingForm.OMITTED),
        ({"type": "thinking", "thinking": None}, ThinkingForm.OMITTED),
        ({"type": "redacted_thinking", "data": "EvgF"}, ThinkingForm.REDACTED),
        ({"type": "redacted_thinking", "data": "litellm_encrypted_reasoning:gAAA"}, ThinkingForm.ENCRYPTED),
        (thinking("", "litellm_encrypted_reasoning:gAAA"), ThinkingForm.ENCRYPTED),
    ],
)
def test_withheld_thinking_says_why(withheld: Json, form: ThinkingForm) -> None:
    assert read(message(withheld)).pieces == [Piece(PieceKind.REDACTED, form=form)]


def test_foreign_thinking_is_a_summary() -> None:
    [piece] = read(message(thinking("a", "litellm_encrypted_reasoning:gAAA"), model="gpt-5.5")).pieces
    assert piece.form is ThinkingForm.SUMMARY


@pytest.mark.parametrize(
    "kind",
    [
        "server_tool_use",
        "web_search_tool_result",
        "mcp_tool_use",
        "mcp_tool_result",
        "compaction",
        "fallback",
        "new_kind",
    ],
)
def test_what_the_server_did_is_no_answer_and_no_call(kind: str) -> None:
    other = {"type": kind, "content": "c", "text": {"of": "another type"}, "data": ["d"]}
    assert texts(message(text("a"), other, text("b"))) == [
        (PieceKind.ANSWER, "a"),
        (PieceKind.OTHER, ""),
        (PieceKind.ANSWER, "b"),
    ]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("tool_use", FinishReason.TOOL_CALLS),
        ("refusal", FinishReason.REFUSAL),
        ("pause_turn", FinishReason.OTHER),
        ("a_new_reason", FinishReason.OTHER),
        (None, None),
    ],
)
def test_the_reason_to_stop(reason: str | None, finish: FinishReason | None) -> None:
    reading = read(message(text("x"), stop_reason=reason))
    assert (reading.finish, reading.finish_raw) == (finish, reason)


def test_the_input_holds_cache_reads_and_writes() -> None:
    split = {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 2000}
    usage = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 3000,
        "cache_read_input_tokens": 500,
        "cache_creation": split,
        "output_tokens": 7,
        "output_tokens_details": {"thinking_tokens": 0},
    }
    counts = read(message(text("x"), usage=usage)).counts
    assert counts is not None
    assert (counts.prompt, counts.cached, counts.cache_write, counts.cache_write_1h) == (3510, 500, 3000, 2000)
    assert (counts.completion, counts.reasoning, counts.total) == (7, 0, None)
    without_sum = {**usage, "cache_creation_input_tokens": None}
    assert read(message(text("x"), usage=without_sum)).counts == counts


def test_counts_that_are_not_reported_are_null() -> None:
    counts = read(message(text("x"), usage={"foo": 0})).counts
    assert counts is not None
    assert (counts.prompt, counts.completion, counts.reasoning, counts.cached) == (None, None, None, None)
    assert read(message(text("x"), usage=None)).counts is None


@pytest.mark.parametrize(
    ("response_id", "host"), [("msg_bdrk_01A", "bedrock"), ("msg_vrtx_01A", "vertex"), ("m", None)]
)
def test_ids_name_their_host(response_id: str, host: str | None) -> None:
    assert read(message(text("x"), id=response_id)).provider_hint == host


@pytest.mark.parametrize(
    "body",
    [
        message(content="x"),
        message(content=None),
        message(content=["x"]),
        message({"type": "text", "text": ["x"]}),
        message({"type": "thinking", "thinking": {"text": "x"}}),
    ],
)
def test_content_of_another_shape_is_malformed(body: Json) -> None:
    with pytest.raises(MalformedBodyError, match="content"):
        read(body)


# Requests


def test_what_a_request_asks_for() -> None:
    request = {
        "model": "claude-opus-4-8",
        "stream": True,
        "max_tokens": 4096,
        "service_tier": "standard_only",
        "metadata": {"user_id": "u-1"},
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "output_config": {"effort": "xhigh"},
        "messages": QUESTION,
    }
    assert asked(request) == Asked(
        model="claude-opus-4-8",
        stream=True,
        thinking=ThinkingSwitch.ON,
        budget=2048,
        effort=Effort.XHIGH,
        effort_raw="xhigh",
        max_output_tokens=4096,
        service_tier="standard_only",
        user_id="u-1",
    )


@pytest.mark.parametrize(
    ("kind", "switch"),
    [
        ("enabled", ThinkingSwitch.ON),
        ("adaptive", ThinkingSwitch.ADAPTIVE),
        ("disabled", ThinkingSwitch.OFF),
        ("between_tools", None),  # neither on nor off
        (None, None),
    ],
)
def test_the_switch(kind: str | None, switch: ThinkingSwitch | None) -> None:
    assert asked({"thinking": {"type": kind}}).thinking is switch


def test_the_last_effort_set_within_the_conversation_is_in_force() -> None:
    turns = [{"role": "system", "output_config": {"effort": effort}} for effort in ("low", "max")]
    request = {"output_config": {"effort": "high"}, "messages": [*turns, *QUESTION, {"role": "system", "content": "s"}]}
    assert asked(request).effort is Effort.MAX


@pytest.mark.parametrize(
    ("request_body", "raw", "effort"),
    [
        ({"reasoning_effort": "low"}, "low", Effort.LOW),
        ({"effort": "medium"}, "medium", Effort.MEDIUM),
        ({"output_config": {"effort": 2048}}, "2048", None),
        ({"thinking": {"type": "enabled", "budget_tokens": "high"}}, "high", Effort.HIGH),
        ({"thinking": {"type": "adaptive"}}, None, None),
        ({}, None, None),
    ],
)
def test_other_spellings_of_the_effort(request_body: Json, raw: str | None, effort: Effort | None) -> None:
    wish = asked(request_body)
    assert (wish.effort_raw, wish.effort) == (raw, effort)


# What one message costs


def iteration(kind: str, given: Any, output: Any, **more: Any) -> Json:
    return {"type": kind, "input_tokens": given, "output_tokens": output, **more}


def spent(*iterations: Any, given: int | None = 20, output: int | None = 30, **usage: Any) -> Reading:
    counts = {"input_tokens": given, "output_tokens": output, "iterations": list(iterations), **usage}
    return read(message(text("x"), usage=counts))


def counted(reading: Reading) -> tuple[int | None, int | None]:
    assert reading.counts is not None
    return reading.counts.prompt, reading.counts.completion


def test_runs_at_the_top_level_are_not_added() -> None:
    reading = spent(iteration("message", 12, 10), iteration("message", 8, 20))
    assert (counted(reading), reading.also) == ((20, 30), [])


def test_every_compaction_is_added_with_its_cache() -> None:
    reading = spent(
        iteration("compaction", 100, 7, cache_read_input_tokens=1000),
        iteration("message", 12, 10),
        iteration("compaction", 200, 9, cache_creation={"ephemeral_1h_input_tokens": 50}),
        iteration("message", 8, 20),
    )
    assert counted(reading) == (20 + 1100 + 250, 30 + 7 + 9)
    assert reading.counts is not None
    assert (reading.counts.cached, reading.counts.cache_write, reading.counts.cache_write_1h) == (1000, 50, 50)


def test_a_count_that_is_not_reported_stays_so() -> None:
    assert counted(spent(iteration("compaction", 100, 7), output=None)) == (120, None)


def test_an_advisor_is_kept_apart_with_its_own_model() -> None:
    first, second = iteration("advisor_message", 50, 5, model="claude-opus-4-8"), iteration("advisor_message", 60, 6)
    reading = spent(iteration("message", 20, 30), first, second)
    assert counted(reading) == (20, 30)
    assert [(spend.purpose, spend.model, spend.counts.prompt, spend.usage) for spend in reading.also] == [
        ("advisor", "claude-opus-4-8", 50, first),
        ("advisor", None, 60, second),
    ]


def test_a_sum_of_all_runs_at_the_top_leaves_nothing_to_add() -> None:
    runs = [iteration("message", 20, 30), iteration("compaction", 100, 7), iteration("advisor_message", 50, 5)]
    reading = spent(*runs, given=170, output=42)
    assert (counted(reading), reading.also) == ((170, 42), [])


def test_a_fallback_names_the_model_that_answered_and_a_declined_attempt_is_not_added() -> None:
    reading = spent(iteration("message", 19, 4, model="a"), iteration("fallback_message", 20, 30, model="b"))
    assert (reading.model, reading.fell_back, counted(reading)) == ("b", True, (20, 30))


@pytest.mark.parametrize("odd", [None, "message", 7, {}, ["x"], [None], [{"type": "kept_warm", "output_tokens": 9}]])
def test_unknown_runs_are_not_guessed_at(odd: object) -> None:
    reading = read(message(text("x"), usage={"input_tokens": 20, "output_tokens": 30, "iterations": odd}))
    assert (counted(reading), reading.also, reading.fell_back) == ((20, 30), [], False)


def test_what_each_fallback_is_sent() -> None:
    request = {
        "model": "claude-fable-5",
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": "max"},
        "fallbacks": [
            {"model": "own-effort", "output_config": {"effort": "low"}},
            {"model": "own-switch", "thinking": {"type": "disabled"}},
            {"output_config": {"effort": "low"}},
            "default",
        ],
    }
    adaptive, off = ThinkingSwitch.ADAPTIVE, ThinkingSwitch.OFF
    assert asked(request).fallbacks == {
        "own-effort": Asked("own-effort", thinking=adaptive, effort=Effort.LOW, effort_raw="low"),
        "own-switch": Asked("own-switch", thinking=off, effort=Effort.MAX, effort_raw="max"),
    }
    assert asked({**request, "fallbacks": "default"}).fallbacks is None


# Properties

# fmt: off
NAMES = [
    "type", "id", "model", "role", "content", "text", "thinking", "signature", "data", "stop_reason", "usage",
    "message", "input_tokens", "output_tokens", "cache_creation", "delta", "index", "content_block", "error",
    "output_config", "effort", "budget_tokens", "messages", "metadata", "max_tokens", "iterations", "fallbacks",
]
WORDS = [
    "message", "message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "text",
    "thinking", "tool_use", "redacted_thinking", "text_delta", "thinking_delta", "signature_delta", "error", "system",
    "compaction", "advisor_message", "fallback_message",
]
# fmt: on
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from(WORDS)
ANY_JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=25,
)
ANY_OBJECT = st.dictionaries(st.sampled_from(NAMES), ANY_JSON, max_size=8)


@given(ANY_OBJECT)
def test_any_body_is_read_or_malformed(body: Json) -> None:
    claims(body)
    claims_request(body)
    assert isinstance(asked(body), Asked)
    try:
        reading = read(body)
    except MalformedBodyError:
        return
    assert len(reading.pieces) == len(body["content"])


@given(st.lists(st.builds(lambda kind, event: {**event, "type": kind}, st.sampled_from(WORDS), ANY_OBJECT), max_size=6))
def test_any_events_fold_or_are_malformed(events: list[Json]) -> None:
    try:
        body = fold(Stream(events))
    except MalformedBodyError:
        return
    assert isinstance(body["content"], list)


KINDS = st.sampled_from([("text", "text_delta"), ("thinking", "thinking_delta")])


@given(st.lists(st.tuples(KINDS, st.lists(st.text(max_size=4), max_size=5)), max_size=4), st.data())
def test_however_texts_are_cut_the_body_is_the_same(blocks: list[Any], data: st.DataObject) -> None:
    events = [start()]
    whole = []
    for index, ((name, kind), chunks) in enumerate(blocks):
        words = "".join(chunks)
        begun = data.draw(st.integers(0, len(words))) if data.draw(st.booleans()) else 0
        rest = words[begun:]
        cut = data.draw(st.integers(0, len(rest)))
        deltas = [{"type": kind, name: part} for part in (rest[:cut], rest[cut:])]
        events += block(index, {"type": name, name: words[:begun]}, *deltas)
        whole.append({"type": name, name: words})
    events += end(30)
    assert fold(Stream(events)) == message(*whole)
