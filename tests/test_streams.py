"""Bodies as they are stored: what one value decodes to, whatever a recorder did to its lines."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.exchange import Stream
from transforms.streams import UndecodableError, decode

A: dict[str, Any] = {"id": "x", "choices": [{"delta": {"content": "a"}}]}
B: dict[str, Any] = {"id": "x", "choices": [{"delta": {"content": "b"}}]}
SSE = f"data: {json.dumps(A)}\n\ndata: {json.dumps(B)}\n\ndata: [DONE]\n\n"


@pytest.mark.parametrize(
    "value", [None, "", " \n", "null", {}, [], b"", "{}", "[]", "data: [DONE]\n\n", ": keep-alive\n\n"]
)
def test_no_body(value: object) -> None:
    assert decode(value) is None


@pytest.mark.parametrize(
    "value",
    [
        A,
        json.dumps(A),
        json.dumps(A, indent=2),
        json.dumps(json.dumps(A)),
        json.dumps(json.dumps(json.dumps(A))),
        json.dumps(A).encode(),
        "\ufeff" + json.dumps(A),
        [json.dumps(A)],  # Vertex's ARRAY<STRING>
        {"response": A, "traceId": "t"},  # Code Assist
    ],
)
def test_an_object(value: object) -> None:
    assert decode(value) == A


@pytest.mark.parametrize(
    "value",
    [
        [A, B],
        json.dumps([A, B]),
        json.dumps([A, B], indent=2),
        SSE,
        SSE.encode(),
        json.dumps(SSE),
        SSE.splitlines(),  # a capture as the list of its lines
        SSE.replace("\n", "\r\n"),
        SSE.replace("\n", "\r"),
        SSE.replace("\n\n", "\n"),
        SSE.replace("data: ", "data:"),
        SSE.rstrip().removesuffix("data: [DONE]").rstrip(),
        SSE.replace("\n", ""),  # all newlines lost
        SSE.replace("data: ", "event: message_delta\nid: 7\nretry: 10\ndata: "),
        SSE.replace("\n\n", "\nevent: message\n\n"),  # the event's name behind its data
        SSE.replace("data: {", ": OPENROUTER PROCESSING\n\ndata: {"),
        SSE.replace("data: {", ": OPENROUTER PROCESSINGdata: {"),
        SSE.replace("data: {", ": OPENROUTER PROCESSINGdata: {").replace("\n", ""),
        SSE.replace("data: {", "event: xdata: {").replace("\n", ""),
        SSE.replace("}\n\ndata", "}event: x\ndata"),
        SSE.replace('{"id": "x", ', '{"id": "x",\ndata: '),  # one event over two data lines
        f"{json.dumps(A)}\n{json.dumps(B)}",
        f"{json.dumps(A)}\r\n\r\n{json.dumps(B)}\n",
        f"{json.dumps(A)}{json.dumps(B)}",
        f"{json.dumps(A, indent=1)}\n{json.dumps(B, indent=1)}",
        f"{json.dumps(A, indent=1)},\n{json.dumps(B, indent=1)}",
    ],
)
def test_a_whole_stream(value: object) -> None:
    assert decode(value) == Stream([A, B], cut=False)


@pytest.mark.parametrize(
    "value",
    [
        SSE[: SSE.index('"b"')],
        SSE[: SSE.index("data: [DONE]")] + "data:",
        SSE[: SSE.index("data: [DONE]")] + "data: [DO",
        SSE[: SSE.index("data: [DONE]")] + "da",
        SSE[: SSE.index("data: [DONE]")] + "event: message_stop",
        SSE[: SSE.index('"b"')].replace("\n", ""),
        json.dumps([A, B])[:-20],
        json.dumps([A, B], indent=2)[:-20],
        f"{json.dumps(A)}\n{json.dumps(B)}"[:-5],
    ],
)
def test_a_stream_that_is_cut_at_its_end(value: str) -> None:
    found = decode(value)
    assert isinstance(found, Stream)
    assert found.cut
    assert found.events in ([A], [A, B])


@pytest.mark.parametrize("tail", ['e": 1\n  }\n}\n,\n', ",", ', "role": "model"\n    }\n  ]\n}\n,', "]}\n,\n"])
@pytest.mark.parametrize("end", ["\n]", "", ",\n{\n", ',\n{\n  "id": "y'])
def test_a_pretty_printed_array_that_is_cut_at_both_ends(tail: str, end: str) -> None:
    if not tail.startswith((",", "]")):
        tail = "," + tail
    text = tail + json.dumps(A, indent=2) + "\n,\n" + json.dumps(B, indent=2) + end
    assert decode(text) == Stream([A, B], cut=True)


def test_text_inside_of_strings_is_never_an_event() -> None:
    tricky = [
        {"text": '}data: {"a": 1}'},
        {"text": "\n\ndata: {}\n\n: x\nevent: y\nerror: {"},
        {"text": "data: [DONE]"},
    ]
    sse = "".join(f"data: {json.dumps(event)}\n\n" for event in tricky)
    for text in (sse, sse.replace("\n", ""), sse.replace("}\n\n", "}\n")):
        assert decode(text) == Stream(tricky)


def test_an_error_line_is_an_event() -> None:
    assert decode(SSE + 'error: {"detail": "no room"}\n\n') == Stream([A, B, {"error": {"detail": "no room"}}])
    assert decode('error: {"error": {"message": "m"}}') == Stream([{"error": {"message": "m"}}])


def test_a_bare_error_object_behind_the_events() -> None:
    error = {"error": {"code": 499, "message": "cancelled"}}
    assert decode(f"data: {json.dumps(A)}\n\n{json.dumps(error, indent=2)}\n") == Stream([A, error])


def test_a_broken_event_in_the_middle_leaves_the_others_and_is_told() -> None:
    assert decode(f'data: {json.dumps(A)}\n\ndata: {{"id": x}}\n\ndata: {json.dumps(B)}\n\n') == Stream(
        [A, B], cut=True
    )


def test_aws_frames() -> None:
    inner = {"type": "message_start"}
    frame = {"message_type": "event"}
    coded = base64.b64encode(json.dumps(inner).encode()).decode()
    assert decode([
        {"event": "messageStop", **frame, "payload": {"stopReason": "end_turn", "p": "abc"}},
        {"event": "chunk", **frame, "payload": {"bytes_decoded": inner, "p": "abc"}},
        {"event": "chunk", **frame, "payload": {"bytes": coded}},
        {"event": "throttlingException", "message_type": "exception", "payload": {"message": "slow"}},
        {"chunk": {"bytes": coded}},
        {"event": "chunk", **frame, "payload": {"bytes": base64.b64encode(b"text").decode()}},
    ]) == Stream([
        {"messageStop": {"stopReason": "end_turn", "p": "abc"}},
        inner,
        inner,
        {"throttlingException": {"message": "slow"}},
        inner,
        {"chunk": {"bytes": base64.b64encode(b"text").decode()}},
    ])  # fmt: skip
    assert decode({"chunk": {"bytes": coded}}) == Stream([inner])
    assert decode({"chunk": {"id": "an xAI gRPC chunk"}}) == {"chunk": {"id": "an xAI gRPC chunk"}}


def test_careless_json() -> None:
    assert decode('{"a": NaN, "b": "\\ud83d x"}') == {"a": None, "b": "\ufffd x"}
    assert decode('data: {"b": "\\ud83d\\ude00 \\ud83d"}\n\n') == Stream([{"b": "\U0001f600 \ufffd"}])


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ("<html><body>502 Bad Gateway</body></html>", "'<html><body>502 Bad Gateway"),
        ("x" * 100, "'" + "x" * 60 + "'"),
        ("id: 7 was not found", "id: 7"),
        ("error: connection reset", "connection reset"),
        ("event: token\ndata: Sure\n\nevent: token\ndata: , here\n\nevent: done\ndata: {}\n\n", "plain text"),
        ('data: {"id": "x", "cho', "cut before its first event"),
        ('{"id": "x", "choices": [\n{"index": 0}', "cut before its first event"),
        ('{"id": "x"} and more', "'and more'"),
        ('"text"', "neither JSON nor a stream"),
        (5, "'5'"),
        (True, "'True'"),
        ([1, 2], "2 items, first int"),
        ("[" * 5000, "cut before"),
        ('{"a":' * 5000, "cut before"),
    ],
)
def test_undecodable(value: object, seen: str) -> None:
    with pytest.raises(UndecodableError) as error:
        decode(value)
    assert seen in str(error.value)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
nasty_text = st.text(alphabet=st.sampled_from('{}[]":,\\ \n\rdataevnt:DONE0'), max_size=60)
events_of_a_stream = st.lists(
    st.fixed_dictionaries({"type": st.text(max_size=6), "text": nasty_text | st.text(), "more": json_values}),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60)
@given(
    events_of_a_stream,
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["data:", "data: "]),
    st.lists(st.sampled_from(["", ": ping", "event: x", "id: 1", "retry: 5"]), min_size=6, max_size=6),
    st.sampled_from(["", "data: [DONE]\n\n", ": bye\n"]),
    st.booleans(),
)
def test_any_framing_of_a_stream_gives_its_events(
    events: list[dict[str, Any]],
    ending: str,
    field: str,
    between: list[str],
    last: str,
    ascii_only: bool,  # noqa: FBT001
) -> None:
    dumped = [json.dumps(event, ensure_ascii=ascii_only) for event in events]
    lines = "".join(f"{note}\n{field}{text}\n\n" for note, text in zip(between, dumped, strict=False)) + last
    assert decode(lines.replace("\n", ending)) == Stream(events)
    assert decode(lines.replace("\n", ending).rstrip()) == Stream(events)
    assert decode("".join(f"data: {text}" for text in dumped)) == Stream(events)
    if len(events) > 1:
        assert decode("\n".join(dumped)) == Stream(events)
        assert decode("".join(dumped)) == Stream(events)


@settings(max_examples=60)
@given(events_of_a_stream, st.data())
def test_a_stream_cut_anywhere_gives_the_events_before_the_cut(
    events: list[dict[str, Any]], data: st.DataObject
) -> None:
    parts = [f"event: x\ndata: {json.dumps(event)}\n\n" for event in events]
    whole = data.draw(st.integers(0, len(events) - 1))
    part = data.draw(st.integers(1, len(parts[whole]) - 3))  # somewhere inside the next event
    text = "".join(parts[:whole]) + parts[whole][:part]
    if whole:
        assert decode(text) == Stream(events[:whole], cut=True)
    else:
        with pytest.raises(UndecodableError):
            decode(text)


@given(json_values | nasty_text | st.binary(max_size=40))
def test_any_value_is_decoded_or_refused(value: object) -> None:
    try:
        found = decode(value)
    except UndecodableError:
        return
    assert found is None or (isinstance(found, dict) and found) or (isinstance(found, Stream) and found.events)
