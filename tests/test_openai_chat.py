"""Chat Completions: what golden cases cannot say (properties, odd bodies, each branch of the arithmetic's inputs)."""

import itertools
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.exchange import Stream
from schemas.reading import Counts, MalformedBodyError, Piece
from schemas.vocabulary import FinishReason, PieceKind, ReasoningBasis, ThinkingForm, ThinkingSource
from transforms.protocols import openai_chat
from transforms.protocols.openai_chat.usage import read_cost, read_counts

ID = "chatcmpl-9f3b7c1e5d2a4680"


def whole(message: Any, finish: Any = "stop", **top: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": ID, "object": "chat.completion", "model": "m", "choices": [choice], **top}


def chunk(delta: Any, finish: Any = None, index: int = 0, **top: Any) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": ID, "object": "chat.completion.chunk", "model": "m", "choices": [choice], **top}


def folded(*events: dict[str, Any]) -> dict[str, Any]:
    return openai_chat.fold(Stream(list(events)))


def message_of(*events: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = folded(*events)["choices"][0]["message"]
    return message


def pieces_of(message: Any) -> list[Piece]:
    return openai_chat.read(whole(message)).pieces


def texts_of(message: Any, kind: PieceKind) -> list[str]:
    return [piece.text for piece in pieces_of(message) if piece.kind is kind]


def counts_of(usage: dict[str, Any], **message: Any) -> Counts:
    counts = openai_chat.read(whole({"content": "x", **message}, usage=usage)).counts
    assert counts is not None
    return counts


# Whose body it is


@pytest.mark.parametrize(
    "body",
    [
        {"object": "chat.completion", "choices": []},
        {"object": "chat.completion.chunk", "choices": [{"delta": {}}]},
        {"choices": [{"message": {"content": "x"}}]},
        {"choices": [{"delta": {"content": "x"}, "text": "x"}]},
        {"choices": [], "id": "", "model": "", "object": "", "prompt_filter_results": []},
        {"choices": [], "usage": {"prompt_tokens": 1}},
    ],
)
def test_claims_chat(body: dict[str, Any]) -> None:
    assert openai_chat.claims(body)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"object": "text_completion", "choices": [{"text": "x", "index": 0}]},
        {"object": "text_completion", "choices": [], "id": "cmpl-1"},
        {"object": "response", "output": []},
        {"type": "message", "content": []},
        {"candidates": []},
        {"error": {"message": "no"}},
        {"model": "m", "message": {"role": "assistant", "content": "x"}, "done": True},
        {"output": {"choices": [{"message": {}}]}, "request_id": "r"},
        {"choices": "none", "object": ["chat.completion"]},
        {"choices": [7]},
    ],
)
def test_leaves_other_bodies(body: dict[str, Any]) -> None:
    assert not openai_chat.claims(body)


@pytest.mark.parametrize(
    ("request_body", "expected"),
    [
        ({"model": "gpt-6-astra", "messages": []}, True),
        ({"model": "claude-opus-4-8", "max_tokens": 9, "messages": [{"role": "system", "content": "x"}]}, True),
        ({"model": "claude-opus-4-8", "max_tokens": 9, "messages": []}, False),
        ({"model": "m", "messages": [], "tools": [{"name": "f", "input_schema": {}}]}, False),
        ({"model": "m", "messages": [], "options": {}}, False),
        ({"model": "m", "input": "x"}, False),
        ({"model": "m", "messages": "x"}, False),
    ],
)
def test_claims_request(request_body: dict[str, Any], expected: bool) -> None:  # noqa: FBT001
    assert openai_chat.claims_request(request_body) is expected


# Streams


def cut(text: str, places: list[int]) -> list[str]:
    edges = [0, *sorted({place % (len(text) + 1) for place in places}), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(edges)]


FIELDS = ("content", "reasoning_content", "refusal")


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=40), st.lists(st.integers(0, 50), max_size=12), st.sampled_from(FIELDS))
def test_chunking_does_not_matter(text: str, places: list[int], field: str) -> None:
    pieces = [chunk({field: piece}) for piece in cut(text, places)]
    end = chunk({}, "stop", usage={"prompt_tokens": 1})
    assert folded(*pieces, end) == folded(chunk({field: text}), end)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=40), st.lists(st.integers(0, 50), max_size=12))
def test_chunking_of_lists_does_not_matter(text: str, places: list[int]) -> None:
    def part(piece: str) -> dict[str, Any]:
        return chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": piece}]}]})

    pieces = [part(piece) for piece in cut(text, places) if piece] or [part(text)]
    assert folded(*pieces, chunk({"content": "ok"}, "stop")) == folded(part(text), chunk({"content": "ok"}, "stop"))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2), st.text(min_size=1, max_size=5)), min_size=1, max_size=20))
def test_interleaved_choices_keep_their_own_texts(said: list[tuple[int, str]]) -> None:
    body = folded(*(chunk({"content": text}, index=index) for index, text in said))
    got = {choice["index"]: choice["message"]["content"] for choice in body["choices"]}
    want = {index: "".join(text for at, text in said if at == index) for index, _ in said}
    assert got == want
    assert list(got) == sorted(got)


def test_missing_index_is_the_first_choice() -> None:
    events = ({"id": ID, "choices": [{"delta": {"content": text}}]} for text in ("a", "b"))
    assert message_of(*events)["content"] == "ab"


def test_last_usage_wins_and_is_never_summed() -> None:
    events = [chunk({"content": "x"}, usage={"prompt_tokens": 3, "completion_tokens": n}) for n in (1, 2, 3)]
    assert folded(*events, chunk({}, "stop", usage=None))["usage"] == {"prompt_tokens": 3, "completion_tokens": 3}


def test_first_names_that_are_not_empty_win() -> None:
    first = {"id": "", "model": "", "object": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}
    body = folded(first, chunk({"content": "x"}), chunk({}, "stop", service_tier="default"))
    assert (body["id"], body["model"], body["service_tier"]) == (ID, "m", "default")
    assert body["prompt_filter_results"] == [{"prompt_index": 0}]


def test_messages_in_place_of_deltas_are_texts_so_far() -> None:
    said = ("Yes", "Yes, it", "Yes, it is.")
    events = [{"id": ID, "choices": [{"index": 0, "message": {"content": text}}]} for text in said]
    assert message_of(*events)["content"] == said[-1]


def test_messages_that_repeat_nothing_are_pieces() -> None:
    events = [{"id": ID, "choices": [{"index": 0, "message": {"content": text}}]} for text in ("Yes", ", it is.")]
    assert message_of(*events)["content"] == "Yes, it is."


def test_a_last_whole_message_does_not_double_the_deltas() -> None:
    last = {"id": ID, "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "ab"}}]}
    assert message_of(chunk({"content": "a"}), chunk({"content": "b"}), last)["content"] == "ab"


def test_cumulative_details_are_not_squared() -> None:
    texts = ("a", "ab", "abc", "abcd")
    message = message_of(*(chunk({"reasoning_details": [{"type": "reasoning.text", "text": text}]}) for text in texts))
    assert message["reasoning_details"] == [{"type": "reasoning.text", "text": "abcd"}]


def test_details_in_pieces_merge_and_encrypted_ones_stay_apart() -> None:
    def detail(kind: str, index: int, **more: str) -> dict[str, Any]:
        return chunk({"reasoning_details": [{"type": f"reasoning.{kind}", "index": index, **more}]})

    message = message_of(
        detail("summary", 0, summary="a"),
        detail("summary", 0, summary="b"),
        detail("encrypted", 0, data="x"),
        detail("encrypted", 0, data="y"),
        detail("text", 1, text="c"),
        detail("text", 1, signature="s"),
    )
    kinds = [(item["type"], item.get("summary") or item.get("text")) for item in message["reasoning_details"]]
    assert kinds == [
        ("reasoning.summary", "ab"),
        ("reasoning.encrypted", None),
        ("reasoning.encrypted", None),
        ("reasoning.text", "c"),
    ]
    assert message["reasoning_details"][-1]["signature"] == "s"


def test_a_signature_ends_a_block_without_index() -> None:
    blocks = [{"thinking": "a"}, {"thinking": "b"}, {"thinking": "", "signature": "s"}, {"thinking": "c"}]
    message = message_of(*(chunk({"thinking_blocks": [{"type": "thinking", **block}]}) for block in blocks))
    assert [block["thinking"] for block in message["thinking_blocks"]] == ["ab", "c"]


def call(index: int | None, identity: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    return chunk({"tool_calls": [{"index": index, "id": identity, "type": "function", "function": function}]})


@pytest.mark.parametrize(
    "events",
    [
        [call(0, "a", "f", "{"), call(0, None, None, "}"), call(1, "b", "g", "[]")],
        [call(0, "a", "f", "{}"), call(0, "b", "g", "[]")],
        [call(None, "a", "f", "{"), call(None, None, None, "}"), call(None, "b", "g", "[]")],
        [call(None, None, "f", "{}"), call(None, None, "g", "[]")],
        [call(None, "a", "f", "{"), call(None, "b", "g", "[]"), call(None, "a", None, "}")],
    ],
)
def test_calls_in_pieces(events: list[dict[str, Any]]) -> None:
    functions = [one["function"] for one in message_of(*events)["tool_calls"]]
    assert functions == [{"name": "f", "arguments": "{}"}, {"name": "g", "arguments": "[]"}]


def test_filler_before_real_thinking_is_dropped() -> None:
    message = message_of(*(chunk({"reasoning_content": text}) for text in ("Thinking... ", "Thinking... ", "2+2")))
    assert message["reasoning_content"] == "2+2"


def test_an_error_event_keeps_what_came_before() -> None:
    reading = openai_chat.read(folded(chunk({"content": "Ye"}), {"error": {"message": "gone", "type": "server_error"}}))
    assert (reading.finish, reading.error_type, reading.error_message) == (FinishReason.ERROR, "server_error", "gone")
    assert reading.pieces == [Piece(PieceKind.ANSWER, "Ye")]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
NAMES = [
    "index", "message", "delta", "finish_reason", "content", "reasoning", "reasoning_content", "reasoning_details",
    "thinking_blocks", "type", "text", "thinking", "summary", "data", "signature", "tool_calls", "function_call",
    "function", "id", "arguments", "usage", "refusal", "audio", "channel",
]  # fmt: skip
ODD = st.recursive(
    JSON,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)
TOP = [
    "id", "model", "created", "choices", "usage", "error", "x_groq", "service_tier", "cost", "provider_metadata",
    "base_resp",
]  # fmt: skip
BODIES = st.dictionaries(st.sampled_from(TOP), st.lists(ODD, max_size=3) | ODD, max_size=6)


@settings(deadline=None, max_examples=200)
@given(BODIES)
def test_an_odd_body_is_read_or_refused(body: dict[str, Any]) -> None:
    openai_chat.claims(body)
    openai_chat.claims_request(body)
    try:
        openai_chat.read(body)
    except MalformedBodyError as error:
        assert str(error)  # noqa: PT017 - either outcome is right


@settings(deadline=None, max_examples=200)
@given(st.lists(BODIES, max_size=4))
def test_an_odd_stream_folds_and_is_read_or_refused(events: list[dict[str, Any]]) -> None:
    body = openai_chat.fold(Stream(events))
    try:
        openai_chat.read(body)
    except MalformedBodyError as error:
        assert str(error)  # noqa: PT017 - either outcome is right


USAGE_NAMES = [
    "prompt_tokens", "completion_tokens", "total_tokens", "reasoning_tokens", "completion_tokens_details",
    "prompt_tokens_details", "cost", "cost_details", "is_byok", "cost_in_usd_ticks", "input_tokens", "cached_tokens",
    "cache_creation", "estimated_cost",
]  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.dictionaries(st.sampled_from(USAGE_NAMES), JSON, max_size=6), JSON)
def test_odd_usage_is_never_a_reject(usage: dict[str, Any], metadata: Any) -> None:
    message = {"content": "x", "provider_metadata": {"google": {"usageMetadata": metadata}}}
    reading = openai_chat.read(whole(message, usage=usage))
    assert reading.usage is (usage or None)
    assert reading.cost_usd is None or reading.cost_usd >= 0


@pytest.mark.parametrize(
    "body",
    [
        whole({"content": 7}),
        whole({"content": True}),
        whole("text"),
        {"object": "chat.completion", "choices": "none"},
        {"object": "chat.completion", "choices": [None]},
        folded(chunk({"content": 7})),
        folded({"object": "chat.completion.chunk", "choices": "none"}),
    ],
)
def test_another_type_where_meaning_is_carried_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(MalformedBodyError, match="choices"):
        openai_chat.read(body)


# Pieces


def test_one_text_under_several_names_counts_once() -> None:
    details = [{"type": "reasoning.text", "text": "a b"}, {"type": "reasoning.text", "text": "c"}]
    message = {"content": "x", "reasoning": "a b\n\nc", "reasoning_content": "a b\n\nc", "reasoning_details": details}
    assert pieces_of(message)[0] == Piece(PieceKind.THINKING, "a b\n\nc", source=ThinkingSource.FIELD)
    assert texts_of(message, PieceKind.THINKING) == ["a b\n\nc"]


def test_details_that_hold_more_than_the_field_win() -> None:
    details = [{"type": "reasoning.text", "text": "a", "index": 0}, {"type": "reasoning.text", "text": "b", "index": 1}]
    pieces = pieces_of({"content": "x", "reasoning": "a", "reasoning_details": details})
    assert [(piece.text, piece.part, piece.source) for piece in pieces[:2]] == [
        ("a", 0, ThinkingSource.BLOCK),
        ("b", 1, ThinkingSource.BLOCK),
    ]


def test_a_blank_field_yields_to_the_next() -> None:
    assert texts_of({"content": "x", "reasoning_content": "\n\n", "reasoning": "a"}, PieceKind.THINKING) == ["a"]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("[REDACTED]", ThinkingForm.REDACTED),
        ("Thinking... Thinking... Thinking... ", ThinkingForm.OMITTED),
        ("Thinking... " * 40, ThinkingForm.OMITTED),
        ("redacted-by-litellm", ThinkingForm.REDACTED),
        ("[Some reasoning content is encrypted]", ThinkingForm.ENCRYPTED),
    ],
)
def test_placeholders_are_no_text(text: str, form: ThinkingForm) -> None:
    assert pieces_of({"content": None, "reasoning_content": text}) == [Piece(PieceKind.REDACTED, form=form)]


@pytest.mark.parametrize("text", ["Thinking... about it", "The log says [REDACTED] here", "haha" * 40])
def test_text_that_mentions_a_placeholder_is_text(text: str) -> None:
    assert texts_of({"content": None, "reasoning_content": text}, PieceKind.THINKING) == [text]


def test_the_order_of_a_content_list_is_the_order() -> None:
    content = [
        {"type": "text", "text": "a"},
        {"type": "thinking", "thinking": "b", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "image_url", "image_url": {}},
        {"type": "refusal", "refusal": "c"},
    ]
    got = [(piece.kind, piece.text) for piece in pieces_of({"content": content})]
    assert got == [
        (PieceKind.ANSWER, "a"),
        (PieceKind.THINKING, "b"),
        (PieceKind.REDACTED, ""),
        (PieceKind.OTHER, ""),
        (PieceKind.ANSWER, "c"),
    ]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"tool_calls": [{"type": "function", "function": {}}, {"type": "web_search"}, {"function": {}}]}, 2),
        ({"tool_calls": [], "function_call": {"name": "f", "arguments": "{}"}}, 1),
        ({"tool_calls": None, "function_call": {"name": "", "arguments": ""}}, 0),
        ({"executed_tools": [{"type": "search"}]}, 0),
    ],
)
def test_calls_for_the_client(message: dict[str, Any], expected: int) -> None:
    assert len(texts_of({"content": None, **message}, PieceKind.TOOL_CALL)) == expected


def test_a_spoken_answer_is_its_transcript() -> None:
    assert texts_of({"content": None, "audio": {"id": "audio_1", "transcript": "hi"}}, PieceKind.ANSWER) == ["hi"]


def test_steps_are_thinking() -> None:
    steps = [{"type": "web_search", "thought": "a", "web_search": {}}, {"thought": "b"}, {"thought": None}]
    assert texts_of({"content": "x", "reasoning_steps": steps}, PieceKind.THINKING) == ["a", "b"]


# How it ended


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"finish_reason": "stop"}, (FinishReason.STOP, "stop")),
        ({"finish_reason": "MAX_TOKENS"}, (FinishReason.LENGTH, "MAX_TOKENS")),
        ({"finish_reason": "sensitive"}, (FinishReason.CONTENT_FILTER, "sensitive")),
        ({"finish_reason": "network_error"}, (FinishReason.ERROR, "network_error")),
        ({"finish_reason": "abort"}, (FinishReason.ABORTED, "abort")),
        ({"finish_reason": "tea_break"}, (FinishReason.OTHER, "tea_break")),
        ({"finish_reason": "null"}, (None, None)),
        ({"finish_reason": ""}, (None, None)),
        ({"finish_reason": None, "native_finish_reason": "end_turn"}, (FinishReason.STOP, "end_turn")),
        ({"finish_reason": "stop", "native_finish_reason": "STOP"}, (FinishReason.STOP, "stop")),
        ({"stop_reason": "tool_calls"}, (FinishReason.TOOL_CALLS, "tool_calls")),
        ({"finish_details": {"type": "max_tokens"}}, (FinishReason.LENGTH, "max_tokens")),
        ({"finish_reason": 7}, (None, None)),
    ],
)
def test_finish_reasons(choice: dict[str, Any], expected: tuple[FinishReason | None, str | None]) -> None:
    reading = openai_chat.read({"choices": [{"message": {"content": "x"}, **choice}]})
    assert (reading.finish, reading.finish_raw) == expected


# Counts and cost


def test_counts_under_other_names() -> None:
    assert counts_of({"promptTokens": 3, "completionTokens": 4, "totalTokens": 7, "reasoningTokens": 2}) == Counts(
        prompt=3, completion=4, total=7, reasoning=2, convention=ReasoningBasis.INSIDE
    )


@pytest.mark.parametrize(
    ("usage", "cached", "written"),
    [
        ({"cached_tokens": 8, "prompt_tokens_details": {"cached_tokens": 8}}, 8, None),
        ({"prompt_cache_hit_tokens": 8, "prompt_tokens_details": {"cached_tokens": 0}}, 8, None),
        ({"num_cached_tokens": 0}, 0, None),
        ({"prompt_token_details": {"cached_tokens": 5}}, 5, None),
        ({"cache_read_input_tokens": 5, "cache_creation_input_tokens": 6, "prompt_tokens": 20}, 5, 6),
        ({"prompt_tokens_details": {"created_cache_tokens": 4}}, None, 4),
        ({"x": 1}, None, None),
    ],
)
def test_copies_of_cached_counts_are_not_added(usage: dict[str, Any], cached: int | None, written: int | None) -> None:
    counts = counts_of(usage)
    assert (counts.cached, counts.cache_write) == (cached, written)


@pytest.mark.parametrize(("total", "prompt"), [(None, 18), (23, 18), (15, 10)])
def test_anthropic_input_leaves_the_cache_out_unless_the_total_holds_it(total: int | None, prompt: int) -> None:
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 8, "total_tokens": total}
    assert counts_of(usage).prompt == prompt


def test_a_bare_zero_is_a_count_where_nothing_was_thought() -> None:
    assert counts_of({"reasoning_tokens": 0}).reasoning == 0
    assert counts_of({"reasoning_tokens": 0}, reasoning_content="a").reasoning is None
    assert counts_of({"reasoning_tokens": 0}, content="<think>a</think>b").reasoning is None
    details = {"completion_tokens_details": {"reasoning_tokens": 0}, "reasoning_tokens": 0}
    assert counts_of(details, reasoning_content="a").reasoning == 0


@pytest.mark.parametrize(
    ("completion", "reasoning", "cost", "expected"),
    [
        (676, 758, 0.000338, ReasoningBasis.INSIDE),
        (676, 758, 0.000717, ReasoningBasis.ON_TOP),
        (676, 758, 0.0, None),
        (676, 758, 0.00012345, None),
        (10, 20, 0.00003, None),
        (758, 676, 0.000338, None),
    ],
)
def test_a_completion_cost_may_prove_a_reading(
    completion: int, reasoning: int, cost: float, expected: ReasoningBasis | None
) -> None:
    usage = {
        "completion_tokens": completion,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
        "cost_details": {"upstream_inference_completions_cost": cost},
    }
    assert read_counts(usage, {}).proof == expected


@pytest.mark.parametrize(
    ("google", "expected"),
    [
        ({"candidatesTokenCount": 2, "thoughtsTokenCount": 25, "totalTokenCount": 36}, ReasoningBasis.ON_TOP),
        ({"candidatesTokenCount": 2, "thoughtsTokenCount": 25, "totalTokenCount": 11}, ReasoningBasis.INSIDE),
        ({"candidatesTokenCount": 2, "thoughtsTokenCount": 24, "totalTokenCount": 35}, None),
        ({"candidatesTokenCount": 3, "thoughtsTokenCount": 25, "totalTokenCount": 37}, None),
        ({"candidatesTokenCount": 2, "thoughtsTokenCount": 25, "totalTokenCount": 99}, None),
    ],
)
def test_a_gateways_metadata_may_prove_a_reading(google: dict[str, Any], expected: ReasoningBasis | None) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 25}}
    metadata = {"gateway": None, "google": {"usageMetadata": {"promptTokenCount": 9, **google}}}
    assert counts_of(usage, provider_metadata=metadata).proof == expected


@pytest.mark.parametrize(
    ("usage", "body", "expected"),
    [
        ({"num_sources_used": 0}, {}, ReasoningBasis.ON_TOP),
        ({"reasoning_tokens": 5, "search_context_size": "low"}, {}, ReasoningBasis.ON_TOP),
        ({"reasoning_tokens": 5}, {"citations": []}, ReasoningBasis.ON_TOP),
        ({"reasoning_tokens": 5}, {}, ReasoningBasis.INSIDE),
        ({"completion_tokens_details": {"reasoning_tokens": 5}}, {"citations": []}, ReasoningBasis.INSIDE),
    ],
)
def test_documented_conventions(usage: dict[str, Any], body: dict[str, Any], expected: ReasoningBasis) -> None:
    assert read_counts(usage, body).convention is expected


@pytest.mark.parametrize(
    ("usage", "body", "expected"),
    [
        ({"cost": 0.1}, {}, "0.1"),
        ({"cost": 0}, {}, "0"),
        ({"cost": {"total_cost": 0.00512, "request_cost": 0.005}}, {}, "0.00512"),
        ({"cost_in_usd_ticks": 232856000}, {}, "0.0232856"),
        ({"cost": 0.0001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.002}}, {}, "0.0021"),
        ({"cost": 0.0001, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.002}}, {}, "0.0001"),
        ({"estimated_cost": 3.8e-07}, {}, "3.8E-7"),
        ({"pydantic_ai_gateway": {"cost_estimate": 3.11e-05}}, {}, "0.0000311"),
        ({}, {"cost": {"usd": 0.00015785, "diem": 0}}, "0.00015785"),
    ],
)
def test_costs_are_exact(usage: dict[str, Any], body: dict[str, Any], expected: str) -> None:
    assert read_cost(usage, body) == Decimal(expected)


@pytest.mark.parametrize("cost", [True, -1, float("nan"), float("inf"), "free", [1], None])
def test_what_is_no_amount_is_no_cost(cost: object) -> None:
    assert read_cost({"cost": cost}, {}) is None


def test_hosts_by_their_marks() -> None:
    assert openai_chat.read(whole({"content": "x"}, prompt_filter_results=[{}], copilot_usage={})).provider_hint == (
        "copilot"
    )
    assert openai_chat.read(whole({"content": "x"}, prompt_filter_results=None)).provider_hint is None
    assert openai_chat.read({**whole({"content": "x"}), "id": "gen-1", "provider": "DeepInfra"}).provider_hint == (
        "openrouter"
    )
