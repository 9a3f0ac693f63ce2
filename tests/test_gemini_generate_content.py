"""Gemini generateContent: what golden rows cannot say. Bodies follow the types of Google's SDK."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.exchange import Stream
from schemas.reading import Asked, MalformedBodyError, Piece
from schemas.vocabulary import Effort, FinishReason, PieceKind, ReasoningBasis, ThinkingForm, ThinkingSource
from schemas.vocabulary import ThinkingSwitch as Switch
from transforms.protocols.gemini_generate_content import asked, claims, claims_request, fold, read

Json = dict[str, Any]
USAGE = {"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 20, "totalTokenCount": 35}


def candidate(*parts: Json, finish: Any = "STOP", index: int | None = 0) -> Json:
    found: Json = {"content": {"role": "model", "parts": list(parts)}}
    if finish is not None:
        found["finishReason"] = finish
    if index is not None:
        found["index"] = index
    return found


def body(*candidates: Json, **fields: Any) -> Json:
    return {"candidates": list(candidates), "usageMetadata": USAGE, "modelVersion": "gemini-3.1-pro", **fields}


def chunk(*parts: Json, finish: str | None = None, **fields: Any) -> Json:
    return {"candidates": [candidate(*parts, finish=finish)], **fields}


def thought(words: str) -> Piece:
    return Piece(PieceKind.THINKING, words, source=ThinkingSource.BLOCK, form=ThinkingForm.SUMMARY)


def answer(words: str, choice: int = 0) -> Piece:
    return Piece(PieceKind.ANSWER, words, choice)


# Claims


@pytest.mark.parametrize(
    "found",
    [
        body(candidate({"text": "x"})),
        {"candidates": []},
        {"candidates": [], "sdk_http_response": {}, "usage_metadata": {"prompt_token_count": 1}},
        {"promptFeedback": {"blockReason": "SAFETY"}},
        {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 8}},
        {"usageMetadata": {"promptTokenCount": 8, "totalTokenCount": 8}, "modelVersion": "gemini-3.1-pro"},
        {"usage_metadata": {"prompt_token_count": 8}, "candidates": None},
        {"response": body(candidate({"text": "x"}))},
    ],
)
def test_claims_responses_and_chunks(found: Json) -> None:
    assert claims(found)


@pytest.mark.parametrize(
    "found",
    [
        {"name": "cachedContents/c", "createTime": "2026-11-03T10:00:00Z", "usageMetadata": {"totalTokenCount": 9}},
        {"totalTokens": 9, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 9}]},
        {"serverContent": {"modelTurn": {"parts": []}}, "usageMetadata": {"promptTokenCount": 1}},
        {"usageMetadata": {"promptTokenCount": 1, "responseTokenCount": 2, "totalTokenCount": 3}},
        {"embedding": {"values": [0.1]}, "usageMetadata": {"promptTokenCount": 1}},
        {"id": "v1", "object": "interaction", "steps": [], "usage": {"total_tokens": 3}},
        {"content": {"parts": [{"text": "x"}]}, "usageMetadata": {"promptTokenCount": 1}, "author": "agent"},
        {"error": {"code": 404, "message": "not found", "status": "NOT_FOUND"}},
        {"type": "response.completed", "response": {"output": []}},
        {"content": "x", "usage_metadata": {"input_tokens": 1, "output_tokens": 2}},
        {},
    ],
)
def test_claims_no_other_shape(found: Json) -> None:
    assert not claims(found)


def test_claims_requests_by_their_contents() -> None:
    question = {"contents": [{"role": "user", "parts": [{"text": "q"}]}]}
    assert claims_request(question)
    assert claims_request({"model": "gemini-3.1-pro", "request": question})
    assert not claims_request({"model": "gemini-3.1-pro", "input": "q"})
    assert not claims_request({"model": "gpt-5.5", "messages": []})


# Bodies


def test_only_the_flag_makes_a_text_a_thought() -> None:
    parts: list[Json] = [
        {"text": "plan", "thought": True},
        {"text": "done", "thoughtSignature": "CtoB"},
        {"text": "", "thoughtSignature": "CtoB"},
        {"thoughtSignature": "CtoB"},
        {"text": "!", "thought": False},
    ]
    assert read(body(candidate(*parts))).pieces == [thought("plan"), answer("done")._replace(signed=True), answer("!")]


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "CtoB"}, PieceKind.TOOL_CALL),
        ({"function_call": {"name": "f", "args": {}}, "text": None}, PieceKind.TOOL_CALL),
        ({"executableCode": {"language": "PYTHON", "code": "1"}}, PieceKind.OTHER),
        ({"codeExecutionResult": {"outcome": "OUTCOME_OK"}}, PieceKind.OTHER),
        ({"inlineData": {"mimeType": "image/png", "data": "iVBO"}, "thought": True}, PieceKind.OTHER),
        ({"toolCall": {"id": "t"}}, PieceKind.OTHER),
        ({"aNewKind": {}}, PieceKind.OTHER),
    ],
)
def test_parts_that_are_no_text(part: Json, kind: PieceKind) -> None:
    assert [piece.kind for piece in read(body(candidate(part))).pieces] == [kind]


def test_candidates_are_choices_in_the_order_of_their_index() -> None:
    first, second = candidate({"text": "a"}, finish="MAX_TOKENS"), candidate({"text": "b"}, index=1)
    reading = read(body(second, first))
    assert reading.pieces == [answer("a"), answer("b", 1)]
    assert (reading.choices, reading.finish) == (2, FinishReason.LENGTH)
    unnumbered = read(body(candidate({"text": "a"}, index=None), candidate({"text": "b"}, index=None)))
    assert unnumbered.pieces == [answer("a"), answer("b", 1)]


@pytest.mark.parametrize(
    ("word", "finish", "raw"),
    [
        ("STOP", FinishReason.STOP, "STOP"),
        ("stop", FinishReason.STOP, "stop"),
        ("FinishReason.STOP", FinishReason.STOP, "FinishReason.STOP"),
        (1, FinishReason.STOP, "1"),
        ("MAX_TOKENS", FinishReason.LENGTH, "MAX_TOKENS"),
        (2, FinishReason.LENGTH, "2"),
        ("SAFETY", FinishReason.CONTENT_FILTER, "SAFETY"),
        ("PROHIBITED_CONTENT", FinishReason.CONTENT_FILTER, "PROHIBITED_CONTENT"),
        (9, FinishReason.OTHER, "9"),  # SPII of one API, MALFORMED_FUNCTION_CALL of the other
        ("MALFORMED_FUNCTION_CALL", FinishReason.OTHER, "MALFORMED_FUNCTION_CALL"),
        ("A_NEW_REASON", FinishReason.OTHER, "A_NEW_REASON"),
        ("FINISH_REASON_UNSPECIFIED", None, None),
        (0, None, None),
        (None, None, None),
    ],
)
def test_the_reason_to_finish(word: Any, finish: FinishReason | None, raw: str | None) -> None:
    reading = read(body(candidate({"text": "x"}, finish=word)))
    assert (reading.finish, reading.finish_raw) == (finish, raw)


@pytest.mark.parametrize(
    ("feedback", "finish", "raw"),
    [
        ({"blockReason": "SAFETY"}, FinishReason.CONTENT_FILTER, "SAFETY"),
        ({"block_reason": 4}, FinishReason.CONTENT_FILTER, "4"),
        ({"blockReasonMessage": "Message"}, FinishReason.CONTENT_FILTER, None),
        ({"safetyRatings": []}, None, None),
    ],
)
def test_a_blocked_prompt_has_no_answer(feedback: Json, finish: FinishReason | None, raw: str | None) -> None:
    for found in ({"promptFeedback": feedback}, {"candidates": [], "prompt_feedback": feedback}):
        reading = read(found)
        assert (reading.pieces, reading.choices, reading.finish, reading.finish_raw) == ([], None, finish, raw)


@pytest.mark.parametrize("content", [{}, {"role": "model"}, {"parts": None}, {"parts": []}, None])
def test_a_candidate_may_be_empty(content: Json | None) -> None:
    reading = read(body({"content": content, "finishReason": "MAX_TOKENS", "index": 0}))
    assert (reading.pieces, reading.choices, reading.finish) == ([], 1, FinishReason.LENGTH)


def test_counts_stay_as_reported_and_the_prompt_of_tools_is_input() -> None:
    usage = {**USAGE, "toolUsePromptTokenCount": 7, "totalTokenCount": 42, "cachedContentTokenCount": 4}
    reading = read(body(candidate({"text": "x"}), usageMetadata={**usage, "serviceTier": "flex"}))
    counts = reading.counts
    assert counts is not None
    assert (counts.prompt, counts.completion, counts.reasoning, counts.total, counts.cached) == (17, 5, 20, 42, 4)
    assert counts.convention is ReasoningBasis.ON_TOP
    assert reading.service_tier == "flex"
    few = read(body(candidate({"text": "x"}), usageMetadata={"promptTokenCount": 10, "totalTokenCount": 10})).counts
    assert few is not None
    assert (few.completion, few.reasoning, few.cached) == (None, None, None)


def test_a_dump_of_the_python_sdk_reads_like_the_wire() -> None:
    dump = {
        "sdk_http_response": {"headers": {}},
        "candidates": [
            {
                "content": {"parts": [{"text": "plan", "thought": True, "function_call": None}, {"text": "done"}]},
                "finish_reason": "STOP",
                "index": None,
            }
        ],
        "create_time": "2026-11-03T10:00:00.5Z",
        "model_version": "gemini-3.1-pro",
        "response_id": "g1",
        "usage_metadata": {
            "prompt_token_count": 10,
            "candidates_token_count": 5,
            "thoughts_token_count": 20,
            "total_token_count": 35,
        },
    }
    wire = body(
        candidate({"text": "plan", "thought": True}, {"text": "done"}),
        responseId="g1",
        createTime="2026-11-03T10:00:00.5Z",
    )
    one, other = read(dump), read(wire)
    assert (one.pieces, one.counts, one.finish, one.model) == (other.pieces, other.counts, other.finish, other.model)
    assert one.created_at == other.created_at == 1_793_700_000_500_000
    assert one.response_id == other.response_id == "g1"


def test_code_assist_wraps_the_same_body() -> None:
    wire = body(candidate({"text": "x"}))
    assert read({"response": wire, "traceId": "t"}) == read(wire)


@pytest.mark.parametrize(
    "found",
    [
        {"candidates": ["x"]},
        {"candidates": [{"content": "x"}]},
        {"candidates": [{"content": {"parts": "x"}}]},
        {"candidates": [{"content": {"parts": ["x"]}}]},
        {"candidates": [{"content": {"parts": [{"text": ["x"]}]}}]},
    ],
)
def test_content_of_another_shape_is_malformed_whole_and_streamed(found: Json) -> None:
    with pytest.raises(MalformedBodyError, match="candidates"):
        read(found)
    with pytest.raises(MalformedBodyError, match="candidates"):
        read(fold(Stream([found])))


# Streams


def test_chunks_fold_into_one_body() -> None:
    events = [
        chunk({"text": "pl", "thought": True}, modelVersion="gemini-3.1-pro", responseId="g1"),
        chunk({"text": "an", "thought": True}, responseId="g2"),
        chunk({"text": "Do"}),
        chunk({"text": "ne.", "thoughtSignature": "CtoB"}),
        chunk({"functionCall": {"name": "f", "args": {}}}),
        chunk({"text": ""}, finish="STOP", usageMetadata=USAGE),
    ]
    assert fold(Stream(events)) == {
        "modelVersion": "gemini-3.1-pro",
        "responseId": "g1",
        "usageMetadata": USAGE,
        "candidates": [
            {
                "finishReason": "STOP",
                "index": 0,
                "content": {
                    "parts": [
                        {"thought": True, "text": "plan"},
                        {"thought": False, "text": "Done.", "thoughtSignature": "CtoB"},
                        {"functionCall": {"name": "f", "args": {}}},
                    ]
                },
            }
        ],
    }


def test_candidates_of_a_stream_stay_apart() -> None:
    events = [
        {"candidates": [candidate({"text": "a"}, finish=None), candidate({"text": "x"}, finish=None, index=1)]},
        {"candidates": [candidate({"text": "y"}, finish="MAX_TOKENS", index=1)]},
        {"candidates": [candidate({"text": "b"}, index=None)]},
    ]
    reading = read(fold(Stream(events)))
    assert reading.pieces == [answer("ab"), answer("xy", 1)]
    assert (reading.choices, reading.finish_raw) == (2, "STOP")


def folded_usage(*snapshots: Json) -> Json:
    chunks = [chunk({"text": "x"}, usageMetadata=snapshot) for snapshot in snapshots]
    usage: Json = fold(Stream([*chunks, chunk(finish="STOP")]))["usageMetadata"]
    return usage


def test_the_last_counts_win_and_are_never_added() -> None:
    first = {"promptTokenCount": 12, "candidatesTokenCount": 2, "totalTokenCount": 14, "serviceTier": "standard"}
    last = {"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": None, "totalTokenCount": 15}
    assert folded_usage(first, last) == {
        "promptTokenCount": 10,
        "candidatesTokenCount": 5,
        "totalTokenCount": 15,
        "serviceTier": "standard",
    }


def test_a_count_that_later_chunks_leave_out_stays_where_the_total_holds_it() -> None:
    first = {"promptTokenCount": 10, "thoughtsTokenCount": 20, "totalTokenCount": 30}
    last = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 35}
    assert folded_usage(first, last) == USAGE


def test_a_count_of_an_earlier_step_goes_where_the_total_does_not_hold_it() -> None:
    step = {"promptTokenCount": 9, "candidatesTokenCount": 21, "thoughtsTokenCount": 35, "totalTokenCount": 65}
    last = {"promptTokenCount": 87, "thoughtsTokenCount": 78, "totalTokenCount": 165}
    assert folded_usage(step, last) == last


def test_a_chunk_that_counts_the_prompt_alone_takes_nothing_away() -> None:
    prompt_alone = {"promptTokenCount": 10, "totalTokenCount": 10, "cachedContentTokenCount": 4}
    assert folded_usage(USAGE, prompt_alone) == {**USAGE, "cachedContentTokenCount": 4}


def test_a_stream_without_an_end_is_aborted_unless_the_capture_is_cut() -> None:
    events = [chunk({"text": "Half of"})]
    assert read(fold(Stream(events))).finish is FinishReason.ABORTED
    assert read(fold(Stream(events, cut=True))).finish is None


@pytest.mark.parametrize(
    ("usage", "completion", "total"),
    [
        ({"promptTokenCount": 10, "totalTokenCount": 10}, None, None),
        ({"prompt_token_count": 10, "thoughts_token_count": 20, "total_token_count": 30}, None, None),
        ({"promptTokenCount": 10, "candidatesTokenCount": 2, "totalTokenCount": 12}, 2, 12),
    ],
)
def test_without_an_end_nothing_is_worked_out_from_the_total(
    usage: Json, completion: int | None, total: int | None
) -> None:
    counts = read(fold(Stream([chunk({"text": "Half of"}, usageMetadata=usage)]))).counts
    assert counts is not None
    assert (counts.prompt, counts.completion, counts.total) == (10, completion, total)


def test_an_error_in_the_middle_keeps_the_text_and_the_error() -> None:
    error = {"error": {"code": 499, "message": "The operation was cancelled.", "status": "CANCELLED"}}
    reading = read(fold(Stream([chunk({"text": "Half of"}), error])))
    assert reading.pieces == [answer("Half of")]
    assert (reading.finish, reading.error_type) == (FinishReason.ERROR, "CANCELLED")


def test_a_blocked_prompt_streams_like_a_body() -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 8}}
    assert read(fold(Stream([blocked]))) == read(blocked)


# Requests


@pytest.mark.parametrize(
    ("thinking", "switch", "budget", "effort", "raw"),
    [
        ({"thinkingBudget": 0}, Switch.OFF, 0, None, None),
        ({"thinkingBudget": -1}, Switch.ADAPTIVE, None, None, None),
        ({"thinking_budget": 512}, Switch.ON, 512, None, None),
        ({"thinkingBudget": 512.0}, Switch.ON, 512, None, None),
        ({"thinkingBudget": "high"}, None, None, Effort.HIGH, "high"),
        ({"thinkingBudget": 10**30}, None, None, None, str(10**30)),
        ({"thinkingLevel": "LOW"}, None, None, Effort.LOW, "LOW"),
        ({"thinking_level": "minimal"}, None, None, Effort.MINIMAL, "minimal"),
        ({"thinkingLevel": "THINKING_LEVEL_UNSPECIFIED"}, None, None, None, None),
        ({"includeThoughts": True}, None, None, None, None),
        ({"includeThoughts": False}, None, None, None, None),
        ("on", None, None, None, None),
    ],
)
def test_what_a_thinking_config_asks_for(
    thinking: Any, switch: Switch | None, budget: int | None, effort: Effort | None, raw: str | None
) -> None:
    want = Asked(thinking=switch, budget=budget, effort=effort, effort_raw=raw)
    assert asked({"contents": [], "generationConfig": {"thinkingConfig": thinking}}) == want
    assert asked({"contents": [], "generation_config": {"thinking_config": thinking}}) == want
    assert asked({"contents": [], "config": {"thinking_config": thinking}}) == want


def test_what_else_a_request_asks_for() -> None:
    request = {
        "model": "publishers/google/models/gemini-3.1-pro",
        "contents": [],
        "labels": {"team": "search", "count": 3},
        "serviceTier": "flex",
        "generationConfig": {"maxOutputTokens": 64},
    }
    assert asked(request) == Asked(
        model="gemini-3.1-pro", max_output_tokens=64, service_tier="flex", tags={"team": "search"}
    )
    inner = {key: value for key, value in request.items() if key != "model"}
    assert asked({"model": "gemini-3.1-pro", "project": "p", "request": inner}) == asked(request)


# Properties

# fmt: off
NAMES = [
    "candidates", "content", "parts", "text", "thought", "functionCall", "thoughtSignature", "finishReason", "index",
    "usageMetadata", "promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount",
    "modelVersion", "promptFeedback", "blockReason", "createTime", "response", "request", "contents",
    "generationConfig", "labels", "thinkingConfig", "thinkingBudget", "thinkingLevel", "error", "model",
    "usage_metadata", "finish_reason",
]
# fmt: on
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from(["STOP", "2026"])
)
ANY_JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=25,
)
ANY_OBJECT = st.dictionaries(st.sampled_from(NAMES), ANY_JSON, max_size=8)
ANY_CANDIDATES = st.lists(
    st.fixed_dictionaries({"content": st.fixed_dictionaries({"parts": st.lists(ANY_OBJECT, max_size=4)})}), max_size=3
)
ANY_BODY = ANY_OBJECT | st.builds(lambda found, rest: {**rest, "candidates": found}, ANY_CANDIDATES, ANY_OBJECT)


@given(ANY_BODY)
def test_any_body_is_read_or_malformed(found: Json) -> None:
    claims(found)
    claims_request(found)
    assert isinstance(asked(found), Asked)
    try:
        reading = read(found)
    except MalformedBodyError:
        return
    assert all(piece.text for piece in reading.pieces if piece.kind in (PieceKind.ANSWER, PieceKind.THINKING))


@given(st.lists(ANY_BODY, max_size=4))
def test_any_chunks_fold_or_are_malformed(chunks: list[Json]) -> None:
    try:
        folded = fold(Stream(chunks))
    except MalformedBodyError:
        return
    assert isinstance(folded["candidates"], list)


@given(st.lists(st.tuples(st.booleans(), st.text(max_size=5)), max_size=6), st.data())
def test_however_texts_are_cut_the_pieces_are_those_of_the_whole_body(
    parts: list[tuple[bool, str]], data: st.DataObject
) -> None:
    whole = [{"text": words, "thought": is_thought} for is_thought, words in parts]
    events = []
    for is_thought, words in parts:
        cut = data.draw(st.integers(0, len(words)))
        events += [chunk({"text": half, "thought": is_thought}) for half in (words[:cut], words[cut:])]
    events.append(chunk(finish="STOP", usageMetadata=USAGE, modelVersion="gemini-3.1-pro"))
    uncut = [*(chunk(part) for part in whole), events[-1]]
    assert fold(Stream(events)) == fold(Stream(uncut))
    one, other = read(fold(Stream(events))), read(body(candidate(*whole)))
    joined = ["".join(p.text for p in reading.pieces if p.kind is PieceKind.ANSWER) for reading in (one, other)]
    assert joined[0] == joined[1]
    assert (one.counts, one.finish, one.choices) == (other.counts, other.finish, other.choices)
