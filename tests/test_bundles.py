"""Stored responses that hold several calls: what golden rows cannot say."""

from typing import Any

import orjson
import pytest

from schemas.exchange import Exchange, Stream
from transforms.bundles import unbundled

Json = dict[str, Any]
SETUP: Json = {"setup": {"model": "models/gemini-live"}}
END: Json = {"serverContent": {"turnComplete": True}, "usageMetadata": {"promptTokenCount": 3}}


def sent(message: Json) -> Json:
    return {"kind": "message", "direction": "sent", "data": message}


def received(message: Any) -> Json:
    return {"kind": "message", "direction": "received", "data": message}


def spoken(text: str) -> Json:
    return {"serverContent": {"modelTurn": {"parts": [{"text": text}]}}}


def asked_in(text: str) -> Json:
    return {"client_content": {"turns": [{"parts": [{"text": text}]}]}}


def events_of(exchange: Exchange) -> list[Json]:
    assert isinstance(exchange.response, Stream)
    return exchange.response.events


def test_other_responses_are_given_back_as_they_are() -> None:
    responses: list[Json | Stream | None] = [
        None,
        {"choices": []},
        {"name": "x", "metadata": {}},
        Stream([]),
        Stream([{"choices": []}]),
    ]
    for response in responses:
        exchange = Exchange("x", response=response)
        assert unbundled(exchange) == [exchange]
        assert unbundled(exchange)[0] is exchange


@pytest.mark.parametrize("request_body", [None, {}, {"model": "whisper-1", "prompt": "Names: Ada", "file": "a.wav"}])
def test_a_transcription_of_speech_is_no_answer(request_body: Json | None) -> None:
    exchange = Exchange("x", request=request_body, response={"text": "Hello."})
    assert unbundled(exchange) == [exchange]


def test_items_of_a_whole_conversation_are_no_output() -> None:
    asked = {"type": "message", "role": "user", "content": "2 + 2?"}
    exchange = Exchange("x", response=Stream([asked, {"type": "web_search_call", "id": "ws_1"}]))
    assert unbundled(exchange) == [exchange]


def test_each_live_turn_has_the_set_up_and_what_was_sent() -> None:
    frames = [sent(SETUP), sent(asked_in("a")), received(spoken("A")), received(END)]
    frames += [sent(asked_in("b")), received(spoken("B")), received(END)]
    one, other = unbundled(Exchange("x", response=Stream(frames)))
    assert one.request == {"setup": SETUP["setup"], "turn": 0, "sent": [asked_in("a")]}
    assert other.request == {"setup": SETUP["setup"], "turn": 1, "sent": [asked_in("b")]}
    assert spoken("A") in events_of(one)
    assert events_of(other) == [asked_in("b"), spoken("B"), END]


def test_counts_behind_the_end_of_a_turn_belong_to_it() -> None:
    alone = {"usageMetadata": {"promptTokenCount": 3}}
    messages = [SETUP, spoken("A"), {"serverContent": {"turnComplete": True}}, alone, spoken("B"), END]
    one, other = unbundled(Exchange("x", response=Stream(messages)))
    assert events_of(one)[-1] == alone
    assert events_of(other) == [spoken("B"), END]


def test_a_turn_that_was_cut_off_is_cut_alone() -> None:
    messages = [SETUP, spoken("A"), END, spoken("B")]
    one, other = unbundled(Exchange("x", response=Stream(messages, cut=True)))
    assert isinstance(one.response, Stream)
    assert isinstance(other.response, Stream)
    assert (one.response.cut, other.response.cut) == (False, True)


def test_a_stored_request_and_session_stay() -> None:
    exchange = Exchange("x", request={"setup": {}}, response=Stream([SETUP, spoken("A"), END]), session_id="s")
    [one] = unbundled(exchange)
    assert one.request == {"setup": {}}
    assert one.session_id == "s"


def test_frames_may_hold_text_and_what_is_no_message_falls_out() -> None:
    frames = [sent(SETUP), received(orjson.dumps(spoken("A")).decode()), received("ping"), {"direction": "received"}]
    [one] = unbundled(Exchange("x", response=Stream([*frames, received(END)])))
    assert events_of(one) == [SETUP, spoken("A"), END]


def test_settings_count_from_the_next_response_on() -> None:
    def created(identity: str) -> Json:
        return {"type": "response.created", "event_id": "e", "response": {"id": identity}}

    messages: list[Json] = [
        {"type": "session.created", "session": {"id": "sess_1", "model": "gpt-realtime-2.1"}},
        {"type": "session.update", "session": {"reasoning": {"effort": "low"}, "instructions": "Be brief."}},
        created("a"),
        created("a"),
        {"type": "session.update", "session": {"reasoning": {"effort": "high"}}},
        {"type": "response.done", "response": {"id": "a"}},
        created("b"),
    ]
    one, other = unbundled(Exchange("x", response=Stream(messages)))
    session = {"model": "gpt-realtime-2.1", "instructions": "Be brief."}
    assert one.request == {"session": {**session, "reasoning": {"effort": "low"}}}
    assert other.request == {"session": {**session, "reasoning": {"effort": "high"}}}
    assert (one.session_id, other.session_id) == ("sess_1", "sess_1")
    assert [event["type"] for event in events_of(other)] == ["response.created"]


def test_frames_of_another_protocol_are_only_unpacked() -> None:
    messages = [{"type": "response.created", "response": {"id": "resp_1", "object": "response"}}]
    [one] = unbundled(Exchange("x", response=Stream([received(message) for message in messages])))
    assert events_of(one) == messages


def test_a_batch_that_is_not_finished_is_given_back() -> None:
    exchange = Exchange("x", response={"name": "batches/1", "metadata": {"state": "BATCH_STATE_RUNNING"}})
    assert unbundled(exchange) == [exchange]


def test_results_of_a_batch_are_found_in_both_places() -> None:
    rows = {"inlinedResponses": [{"response": {"candidates": []}, "metadata": {"key": "a"}}, "no row", {}]}
    metadata = {"createTime": "2026-11-03T09:00:00Z", "model": "models/gemini-2.5-flash"}
    for operation in (
        {"name": "batches/1", "metadata": metadata, "response": {"inlinedResponses": rows}},
        {"name": "batches/1", "metadata": {**metadata, "output": rows}},
    ):
        [one] = unbundled(Exchange("x", response=operation, status_code=200, tags={"t": "u"}))
        assert one.response == {"candidates": []}
        assert one.tags == {"t": "u", "key": "a"}
        assert one.model_requested == "gemini-2.5-flash"
        assert one.called_at == 1_793_696_400_000_000
        assert one.is_batch is True
