"""Gemini Live and OpenAI Realtime: what golden rows cannot say."""

from typing import Any

import pytest

from schemas.exchange import Stream
from schemas.reading import Asked, MalformedBodyError
from schemas.vocabulary import Effort, FinishReason, PieceKind, ReasoningBasis, ThinkingSwitch
from transforms.protocols import gemini_live, openai_realtime
from transforms.usage import settle

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("message", "claimed"),
    [
        ({"serverContent": {"turnComplete": True}}, True),
        ({"server_content": {"turn_complete": True}}, True),
        ({"toolCall": {"functionCalls": []}}, True),
        ({"toolCall": {"name": "x"}}, False),
        ({"setupComplete": {}}, False),
        ({"candidates": []}, False),
    ],
)
def test_live_claims(message: Json, *, claimed: bool) -> None:
    assert gemini_live.claims(message) is claimed


def live_usage(**counts: Any) -> tuple[int | None, ReasoningBasis | None]:
    message = {"serverContent": {"modelTurn": {"parts": [{"text": "x"}]}}, "usageMetadata": counts}
    counted = gemini_live.read(message).counts
    assert counted is not None
    tokens = settle(counted)
    return tokens.output, tokens.basis


def test_a_live_total_that_holds_the_thoughts_says_so_itself() -> None:
    counts = {"promptTokenCount": 10, "responseTokenCount": 5, "thoughtsTokenCount": 20, "totalTokenCount": 35}
    assert live_usage(**counts) == (25, ReasoningBasis.ON_TOP)


def test_a_live_total_leaves_the_thoughts_out() -> None:
    counts = {"promptTokenCount": 10, "responseTokenCount": 50, "thoughtsTokenCount": 20, "totalTokenCount": 60}
    assert live_usage(**counts) == (70, ReasoningBasis.ON_TOP)


def test_an_answer_without_a_count_has_none_and_no_answer_is_none() -> None:
    assert live_usage(promptTokenCount=10, totalTokenCount=10) == (None, None)
    nothing = {"serverContent": {"turnComplete": True}, "usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9}}
    counted = gemini_live.read(nothing).counts
    assert counted is not None
    assert settle(counted).output == 0


def test_live_spells_in_snake_case_too() -> None:
    reading = gemini_live.read(
        {
            "server_content": {
                "model_turn": {"parts": [{"text": "x", "thought": True}, {"inline_data": {}}]},
                "output_transcription": {"text": "y"},
                "turn_complete": True,
            },
            "usage_metadata": {"prompt_token_count": 10, "response_token_count": 5, "total_token_count": 15},
        }
    )
    assert [(piece.kind, piece.text) for piece in reading.pieces] == [
        (PieceKind.THINKING, "x"),
        (PieceKind.ANSWER, "y"),
    ]
    assert reading.counts is not None
    assert (reading.counts.prompt, reading.counts.completion) == (10, 5)


def test_a_written_answer_is_not_transcribed_twice() -> None:
    stream = Stream(
        [
            {"serverContent": {"modelTurn": {"parts": [{"text": "said"}]}}},
            {"serverContent": {"outputTranscription": {"text": "said"}}},
        ]
    )
    assert [piece.text for piece in gemini_live.read(gemini_live.fold(stream)).pieces] == ["said"]


def test_live_reason_of_an_end_is_another() -> None:
    reading = gemini_live.read({"serverContent": {"turnComplete": True, "turnCompleteReason": "NEED_MORE_INPUT"}})
    assert (reading.finish, reading.finish_raw) == (FinishReason.OTHER, "NEED_MORE_INPUT")


def test_live_parts_that_are_no_list_are_malformed() -> None:
    with pytest.raises(MalformedBodyError, match="parts"):
        gemini_live.read({"serverContent": {"modelTurn": {"parts": "x"}}})


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, Asked(model="m")),
        ({"thinkingConfig": {"thinkingBudget": 0}}, Asked("m", thinking=ThinkingSwitch.OFF, budget=0)),
        ({"thinkingConfig": {"thinkingBudget": -1}}, Asked("m", thinking=ThinkingSwitch.ADAPTIVE)),
        ({"thinkingConfig": {"thinkingBudget": 512}}, Asked("m", thinking=ThinkingSwitch.ON, budget=512)),
        ({"thinking_config": {"thinking_level": "HIGH"}}, Asked("m", effort=Effort.HIGH, effort_raw="HIGH")),
        ({"maxOutputTokens": 64}, Asked("m", max_output_tokens=64)),
    ],
)
def test_a_live_set_up_is_the_request(config: Json, expected: Asked) -> None:
    assert gemini_live.asked({"setup": {"model": "models/m", "generationConfig": config}}) == expected


@pytest.mark.parametrize(
    ("event", "claimed"),
    [
        ({"type": "response.done", "event_id": "e", "response": {"object": "realtime.response"}}, True),
        ({"type": "response.done", "response": {"object": "realtime.response"}}, True),
        ({"object": "realtime.response", "output": []}, True),
        ({"type": "response.create", "event_id": "e"}, False),
        ({"type": "response.completed", "response": {"object": "response"}}, False),
        ({"type": "session.created", "event_id": "e"}, False),
    ],
)
def test_realtime_claims(event: Json, *, claimed: bool) -> None:
    assert openai_realtime.claims(event) is claimed


def test_finished_items_are_kept_where_the_response_was_cut_off() -> None:
    item = {"type": "message", "content": [{"type": "output_text", "text": "whole"}]}
    stream = Stream(
        [
            {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}},
            {"type": "response.output_text.delta", "delta": "who"},
            {"type": "response.output_item.done", "item": item},
        ]
    )
    reading = openai_realtime.read(openai_realtime.fold(stream))
    assert [piece.text for piece in reading.pieces] == ["whole"]
    assert (reading.response_id, reading.finish, reading.finish_raw) == ("resp_1", None, "in_progress")


def test_realtime_settings_are_what_was_asked() -> None:
    session = {"model": "gpt-realtime-2.1", "reasoning": {"effort": "xhigh"}, "max_output_tokens": "inf"}
    asked = openai_realtime.asked({"session": session})
    assert asked == Asked("gpt-realtime-2.1", effort=Effort.XHIGH, effort_raw="xhigh")
    assert openai_realtime.asked({"session": "x"}) == Asked()
