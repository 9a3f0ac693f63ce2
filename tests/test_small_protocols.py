"""Ollama, Interactions, Text Completions, xAI's gRPC, Assistants, Complete: what golden rows cannot say."""

from typing import Any

import pytest

from schemas.exchange import Stream
from schemas.reading import Asked, MalformedBodyError
from schemas.vocabulary import Effort, FinishReason, PieceKind, ThinkingForm, ThinkingSwitch
from transforms.protocols import (
    PROTOCOLS,
    anthropic_complete,
    gemini_interactions,
    ollama_chat,
    ollama_generate,
    openai_assistants,
    openai_completions,
    xai_grpc_chat,
)

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"message": {"content": ""}, "done": False}, ["ollama_chat"]),
        ({"response": "x", "done": True, "model": "m"}, ["ollama_generate"]),
        ({"response": "", "done": True, "done_reason": "unload"}, []),
        ({"object": "interaction", "status": "queued"}, ["gemini_interactions"]),
        ({"steps": [], "status": "completed", "usage": {"total_input_tokens": 1}}, ["gemini_interactions"]),
        ({"event_type": "step.delta", "index": 0, "delta": {}}, ["gemini_interactions"]),
        ({"object": "text_completion", "choices": []}, ["openai_completions"]),
        ({"object": "completion.chunk", "choices": [{"text": "x", "delta": {"content": "x"}}]}, ["openai_completions"]),
        ({"choices": [{"text": "x", "log_probs": None}], "model": "m"}, ["openai_completions"]),
        ({"value": "x"}, ["openai_completions"]),
        ({"value": "x", "other": 1}, []),
        ({"type": "completion", "completion": "x"}, ["anthropic_complete"]),
        ({"completion": "x", "stop_reason": None}, ["anthropic_complete"]),
        ({"outputs": [{"message": {"role": "ROLE_ASSISTANT"}}]}, ["xai_grpc_chat"]),
        ({"chunk": {"outputs": [{"delta": {}}]}}, ["xai_grpc_chat"]),
        ({"object": "thread.run", "status": "completed"}, ["openai_assistants"]),
        ({"object": "thread.run", "status": "requires_action", "usage": {}}, ["openai_assistants"]),
        ({"object": "thread.run", "status": "queued", "usage": None}, []),
        ({"object": "thread.message.delta", "delta": {}}, ["openai_assistants"]),
    ],
)
def test_exactly_one_protocol_claims_a_body(body: Json, names: list[str]) -> None:
    assert [protocol.NAME for protocol in PROTOCOLS if protocol.claims(body)] == names


@pytest.mark.parametrize(
    ("request_", "names"),
    [
        ({"model": "m", "messages": [], "think": True}, ["ollama_chat"]),
        ({"model": "m", "prompt": "x", "raw": True}, ["ollama_generate"]),
        ({"model": "m", "prompt": "x"}, ["openai_completions"]),
        ({"model": "m", "prompt": ["x", "y"]}, ["openai_completions"]),
        ({"model": "m", "prompt": "x", "max_tokens_to_sample": 9}, ["anthropic_complete"]),
        ({"model": "m", "input": "x", "generation_config": {}}, ["gemini_interactions"]),
        ({"model": "m", "messages": [{"role": "ROLE_USER"}], "user": "u"}, ["xai_grpc_chat"]),
        ({"assistant_id": "a"}, ["openai_assistants"]),
    ],
)
def test_exactly_one_protocol_claims_a_request(request_: Json, names: list[str]) -> None:
    assert [protocol.NAME for protocol in PROTOCOLS if protocol.claims_request(request_)] == names


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({}, Asked(stream=True)),
        ({"stream": False, "think": False}, Asked(stream=False, thinking=ThinkingSwitch.OFF)),
        ({"think": True}, Asked(stream=True, thinking=ThinkingSwitch.ON)),
        ({"think": "max"}, Asked(stream=True, effort=Effort.MAX, effort_raw="max")),
        ({"options": {"num_predict": 40}, "max_tokens": 9}, Asked(stream=True, max_output_tokens=40)),
        ({"options": {"num_predict": -1}}, Asked(stream=True)),
        ({"options": "x"}, Asked(stream=True)),
    ],
)
def test_ollama_requests(request_: Json, expected: Asked) -> None:
    assert ollama_chat.asked(request_) == ollama_generate.asked(request_) == expected


def test_lines_behind_the_last_one_are_another_answer() -> None:
    done = {"message": {"content": "x"}, "done": True}
    with pytest.raises(MalformedBodyError, match="each answer"):
        ollama_chat.fold(Stream([done, {"message": {"content": "y"}, "done": False}]))


def test_a_prompt_count_that_is_left_out_is_not_zero() -> None:
    reading = ollama_generate.read({"response": "x", "done": True, "eval_count": 3})
    assert reading.counts is not None
    assert (reading.counts.prompt, reading.counts.completion) == (None, 3)
    assert ollama_generate.read({"response": "x", "done": True}).counts is None


def test_parts_of_a_summary_stand_apart() -> None:
    summary = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    reading = gemini_interactions.read({"steps": [{"type": "thought", "summary": summary}], "status": "completed"})
    assert [(piece.text, piece.part) for piece in reading.pieces] == [("a", 0), ("b", 1)]


def test_steps_that_the_last_event_holds_are_taken() -> None:
    said = [{"type": "model_output", "content": [{"type": "text", "text": "whole"}]}]
    stream = Stream(
        [
            {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
            {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "who"}},
            {"event_type": "interaction.completed", "interaction": {"status": "completed", "steps": said}},
        ]
    )
    assert gemini_interactions.fold(stream)["steps"] == said


def test_steps_may_interleave_and_begin_with_text() -> None:
    def delta(index: int, text: str) -> Json:
        return {"event_type": "step.delta", "index": index, "delta": {"type": "text", "text": text}}

    start = {"type": "model_output", "content": [{"type": "text", "text": "a"}]}
    stream = Stream(
        [
            {"event_type": "step.start", "index": 1, "step": {"type": "model_output"}},
            {"event_type": "step.start", "index": 0, "step": start},
            delta(1, "c"),
            delta(0, "b"),
            delta(1, "d"),
        ]
    )
    reading = gemini_interactions.read(gemini_interactions.fold(stream))
    assert [(piece.text, piece.part) for piece in reading.pieces] == [("a", 0), ("b", 0), ("cd", 1000)]


def test_an_unknown_status_or_step_passes() -> None:
    body = {"object": "interaction", "status": "requires_continuation", "steps": [{"type": "new_thing"}]}
    reading = gemini_interactions.read(body)
    assert (reading.finish, reading.finish_raw) == (FinishReason.OTHER, "requires_continuation")
    assert [piece.kind for piece in reading.pieces] == [PieceKind.OTHER]


@pytest.mark.parametrize("level", ["minimal", "xhigh", 3, None, ["low"]])
def test_interactions_effort(level: object) -> None:
    asked = gemini_interactions.asked({"agent": "a", "generation_config": {"thinking_level": level}})
    assert asked.model == "a"
    assert asked.effort == (level if level in ("minimal", "xhigh") else None)
    assert asked.effort_raw == (None if level is None or isinstance(level, list) else str(level))


def test_completions_keep_the_last_usage_and_the_first_index() -> None:
    stream = Stream(
        [
            {
                "object": "text_completion",
                "id": "a",
                "choices": [{"index": 0, "text": "x"}],
                "usage": {"prompt_tokens": 1},
            },
            {"object": "text_completion", "choices": [], "usage": {"prompt_tokens": 2}},
        ]
    )
    body = openai_completions.fold(stream)
    assert (body["id"], body["usage"]) == ("a", {"prompt_tokens": 2})


def test_an_error_in_a_stream_of_completions_keeps_the_text() -> None:
    stream = Stream(
        [
            {"object": "text_completion", "choices": [{"index": 0, "text": "x"}]},
            {"error": {"message": "overloaded", "type": "server_error"}},
        ]
    )
    reading = openai_completions.read(openai_completions.fold(stream))
    assert (reading.finish, reading.error_type) == (FinishReason.ERROR, "server_error")
    assert [piece.text for piece in reading.pieces] == ["x"]


def test_sealed_content_without_a_count_is_no_thought() -> None:
    output = {"message": {"role": "ROLE_ASSISTANT", "content": "x", "encrypted_content": "io1a"}}
    assert [piece.kind for piece in xai_grpc_chat.read({"outputs": [output]}).pieces] == [PieceKind.ANSWER]
    thought = xai_grpc_chat.read({"outputs": [output], "usage": {"reasoning_tokens": 3}})
    assert [piece.form for piece in thought.pieces] == [ThinkingForm.ENCRYPTED, None]


def test_deltas_of_tool_calls_are_gathered() -> None:
    call = {"type": "TOOL_CALL_TYPE_CLIENT_SIDE_TOOL"}
    chunks = [{"outputs": [{"delta": {"role": "ROLE_ASSISTANT", "tool_calls": [call]}}]}] * 2
    reading = xai_grpc_chat.read(xai_grpc_chat.fold(Stream(chunks)))
    assert [piece.kind for piece in reading.pieces] == [PieceKind.TOOL_CALL] * 2


def test_texts_of_several_messages_of_a_run_stand_apart() -> None:
    def delta(message: str, text: str) -> Json:
        content = [{"index": 0, "type": "text", "text": {"value": text}}]
        return {"object": "thread.message.delta", "id": message, "delta": {"content": content}}

    stream = Stream(
        [delta("m1", "a"), delta("m1", "b"), delta("m2", "c"), {"object": "thread.run", "status": "completed"}]
    )
    reading = openai_assistants.read(openai_assistants.fold(stream))
    assert [(piece.text, piece.part) for piece in reading.pieces] == [("ab", 0), ("c", 1)]
    assert reading.finish is FinishReason.STOP


def test_a_completion_that_is_no_text_is_malformed() -> None:
    with pytest.raises(MalformedBodyError, match="completion"):
        anthropic_complete.read({"type": "completion", "completion": ["x"]})
