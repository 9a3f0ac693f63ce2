"""Bedrock agents: what golden rows cannot say. Events follow botocore's model of bedrock-agent-runtime."""

import base64
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.exchange import Stream
from schemas.reading import MalformedBodyError
from schemas.vocabulary import FinishReason, PieceKind
from transforms.protocols import PROTOCOLS
from transforms.protocols.bedrock_invoke_agent import asked, claims, claims_request, fold, read

Json = dict[str, Any]


def chunk(text: str) -> Json:
    return {"chunk": {"bytes": base64.b64encode(text.encode()).decode()}}


def trace(step: Json, **fields: Any) -> Json:
    return {"trace": {"agentId": "A", "sessionId": "s", "trace": {"orchestrationTrace": step}, **fields}}


def final(text: str, **fields: Any) -> Json:
    return trace({"observation": {"type": "FINISH", "finalResponse": {"text": text}}}, **fields)


def texts(*events: Json) -> list[tuple[PieceKind, str]]:
    return [(piece.kind, piece.text) for piece in read(fold(Stream(list(events)))).pieces]


@pytest.mark.parametrize(
    "event",
    [
        chunk("Hello."),
        final("Hello."),
        {"returnControl": {"invocationId": "i", "invocationInputs": []}},
        {"citations": [], "output": {"text": "x"}, "sessionId": "s"},
        {"output": {"text": "x"}},
    ],
)
def test_events_are_claimed_by_no_other(event: Json) -> None:
    assert [protocol.NAME for protocol in PROTOCOLS if protocol.claims(event)] == ["bedrock_invoke_agent"]


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"trace": {"guardrail": {}}},
        {"chunk": "text"},
        {"output": {"text": "x", "finish_reason": "stop"}, "usage": {}, "request_id": "r"},
        {"output": {"message": {"content": []}}, "stopReason": "end_turn"},
    ],
)
def test_what_only_looks_alike_is_not_claimed(other: Json) -> None:
    assert not claims(other)


def test_text_that_is_cut_between_chunks_is_one_text() -> None:
    assert texts(chunk("Four"), chunk(" is 4.")) == [(PieceKind.ANSWER, "Four is 4.")]


def test_chunks_that_a_recorder_has_decoded_are_text_already() -> None:
    assert texts({"chunk": {"bytes": "It is four."}}) == [(PieceKind.ANSWER, "It is four.")]


def test_the_answer_of_a_collaborator_is_not_the_answer() -> None:
    assert texts(final("mine"), final("another's", collaboratorName="Helper")) == [(PieceKind.ANSWER, "mine")]


def test_the_time_is_that_of_the_first_trace() -> None:
    event = final("x", eventTime="2026-11-30T10:00:05.396745882Z")
    assert read(fold(Stream([event]))).created_at == 1_796_032_805_396_745


def test_a_call_that_only_gives_back_control_is_a_tool_call() -> None:
    control = {"returnControl": {"invocationId": "i", "invocationInputs": [{"apiInvocationInput": {}}]}}
    reading = read(fold(Stream([control])))
    assert reading.finish is FinishReason.TOOL_CALLS
    assert [piece.kind for piece in reading.pieces] == [PieceKind.TOOL_CALL]


def test_requests_name_the_model_and_the_session() -> None:
    config = {"externalSourcesConfiguration": {"modelArn": "arn:x"}, "type": "EXTERNAL_SOURCES"}
    request = {"input": {"text": "?"}, "sessionId": "s", "retrieveAndGenerateConfiguration": config}
    assert claims_request(request)
    assert (asked(request).model, asked(request).session_id) == ("arn:x", "s")
    assert claims_request({"inputText": "?", "enableTrace": True})
    assert not claims_request({"inputText": "?", "textGenerationConfig": {}})


_FIELDS = [
    "trace", "chunk", "bytes", "returnControl", "invocationInputs", "output", "text", "orchestrationTrace",
    "modelInvocationOutput", "modelInvocationInput", "metadata", "usage", "inputTokens", "rationale",
    "reasoningContent", "reasoningText", "observation", "type", "finalResponse", "parsedResponse", "traceId",
    "eventTime", "sessionId", "retrieveAndGenerateConfiguration", "modelArn", "accessDeniedException",
    "message", "error",
]  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_FIELDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)
_OBJECTS = _JSON.filter(lambda value: isinstance(value, dict))


@given(st.lists(_OBJECTS, max_size=4))
@settings(deadline=None)
def test_nothing_raises_anything_else(events: list[Json]) -> None:
    for event in events:
        claims(event)
        claims_request(event)
        asked(event)
        try:
            read(event)
        except MalformedBodyError as error:
            assert str(error)  # noqa: PT017 - the text is what is promised
    try:
        read(fold(Stream(events)))
    except MalformedBodyError as error:
        assert str(error)  # noqa: PT017 - the text is what is promised
