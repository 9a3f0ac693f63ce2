"""Any stored body value to an object or to the events of a captured stream.

The value itself decides, never the URL, the operation or a content type (envelopes reference, section 4, rule 1): one
column mixes objects, JSON strings, strings of strings, lists of chunks, captured SSE text and newline-joined chunks.
What the events mean is each protocol's matter; here they are only cut out, in order.

Whole captures are parsed as one JSON array, which is several times faster than event by event. Only where that fails
is a text read value by value: newlines lost by the recorder, data over several lines, texts cut anywhere.
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import orjson

from schemas.exchange import JsonObject, Stream

_QUOTED_ROUNDS = 2
_SEEN = 60
_SSE_FIELDS = ("data:", "event:", "id:", "retry:", ":", "error:")
_SSE_ENDS = ("data:", "id:", "retry:", ":")
_SSE_VALUE = re.compile(r"data: ?|error:[ \t]*(?=\{)|^(?=\[?\{)", re.MULTILINE)
_DATA_LINES = re.compile(r"[^\n]*(?:\ndata:[^\n]*)+")
_OBJECT_AT_LINE_START = re.compile(r"^[\[,]?(?=\{)", re.MULTILINE)
_BETWEEN_VALUES = re.compile(r"[\s,\[\]]*")
_DONE = "[DONE]"
_TEXT_EVENT = "event: output\n"
"""Replicate's name of an event whose data is plain text: a piece of the answer, whatever it looks like."""
_HEAD = 200
_WHOLE_ANSWER = "generated_text"
"""Hugging Face's hosts put whole answers into a list; an event of a stream has a ``token`` beside this key."""
_READER = json.JSONDecoder(parse_constant=lambda _: None)  # NaN and Infinity are no numbers of JSON: not reported


class UndecodableError(ValueError):
    """A stored body is neither JSON nor a captured stream; the text says what was seen."""

    def __init__(self, what: str, seen: str) -> None:
        super().__init__(f"{what}: {seen[:_SEEN]!r}")


def decode(value: object) -> JsonObject | Stream | None:
    """Decode one stored body by looking at it: an object, a captured stream, or null where there is no body.

    Null (also spelled out), blank text, ``{}`` and ``[]`` are no body, nor is a capture that holds no event. Raises
    ``UndecodableError`` for plain text, for numbers, and for text that is cut before its first event is complete.
    """
    if isinstance(value, dict):
        return _body(value)
    if isinstance(value, str):
        return _text(value)
    if value is None:
        return None
    if isinstance(value, list):
        return _chunks(value)
    if isinstance(value, bytes):
        return _text(value.decode("utf-8", "replace"))
    raise UndecodableError("neither an object nor a text", str(value))


def answers(stream: Stream, begins: tuple[str, str] | None) -> list[Stream]:
    """Cut a capture of several answers (a proxy's socket, a whole session) into one stream each.

    ``begins`` is the type of the event that begins an answer, and its key that holds the body with the answer's id.
    The same id once more begins nothing: some proxies repeat the event.
    """
    if begins is None:
        return [stream]
    kind, key = begins
    starts: dict[object, int] = {}
    for place, event in enumerate(stream.events):
        if event.get("type") == kind:
            body = event.get(key)
            identity = body.get("id") if isinstance(body, dict) else None
            starts.setdefault(identity if isinstance(identity, str) else None, place)
    if len(starts) < 2:
        return [stream]
    cuts = [0, *sorted(starts.values())[1:], len(stream.events)]
    parts = [stream.events[start:end] for start, end in pairwise(cuts)]
    return [Stream(events, cut=stream.cut and events is parts[-1]) for events in parts]


def _body(body: JsonObject) -> JsonObject | Stream | None:
    inner = _unwrapped(body)
    if inner is body or "traceId" in body:
        return inner or None
    return Stream([inner])


def _chunks(chunks: list[Any]) -> JsonObject | Stream | None:
    if not chunks:
        return None
    if all(isinstance(chunk, str) for chunk in chunks):  # a capture's lines, or Vertex's ARRAY<STRING> columns
        return _text("\n".join(chunks))
    if isinstance(chunks[0], dict) and _WHOLE_ANSWER in chunks[0] and "token" not in chunks[0]:
        return {"sequences": chunks}
    events = _events(chunks)
    if not events:
        raise UndecodableError("a list without an object", f"{len(chunks)} items, first {type(chunks[0]).__name__}")
    return Stream(events)


def _text(text: str) -> JsonObject | Stream | None:
    text = text.lstrip("\ufeff").strip()
    for _ in range(_QUOTED_ROUNDS):
        if text[:1] == '"':
            text = _unquoted(text).strip()
    if not text or text == "null":
        return None
    if text[0] in "{[":
        return _json(text)
    if "\r" in text:  # a line ending: inside JSON it is escaped
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.startswith(_SSE_FIELDS):
        return _sse(text)
    if text[0] in ",]}":  # an array of chunks without its beginning
        return _stream(_events(_salvaged(text)), text, cut=True)
    raise UndecodableError("neither JSON nor a stream", text)


def _unquoted(text: str) -> str:
    try:
        value, end = _value_at(text, 0)
    except ValueError:
        raise UndecodableError("neither JSON nor a stream", text) from None
    if not isinstance(value, str) or end < len(text):
        raise UndecodableError("neither JSON nor a stream", text)
    return value


def _stream(events: list[JsonObject], text: str, *, cut: bool) -> Stream | None:
    if events:
        return Stream(events, cut)
    if cut:
        raise UndecodableError("cut before its first event is complete", text)
    return None


# JSON: one object, an array of chunks, or chunks one behind the other


def _json(text: str) -> JsonObject | Stream | None:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return _several(text)
    return _body(value) if isinstance(value, dict) else _chunks(value)


def _several(text: str) -> JsonObject | Stream | None:
    lines = [line for line in text.split("\n") if line and not line.isspace()]
    chunks = _array(lines)
    if chunks:
        return _stream(_events(chunks), text, cut=False)
    values, rest = _sequence(text)
    cut = bool(rest) or (text[0] == "[") != (text[-1] == "]")
    if text[0] == "{" and len(values) == 1 and not cut:  # one object after all, with NaN or a lone surrogate in it
        return _body(values[0])
    if len(values) == 1 and rest[:1] not in ("", "{"):
        raise UndecodableError("JSON with other text behind it", rest)
    # Without a complete value before the break, what follows is the inside of one cut object.
    return _stream(_events([*values, *_salvaged(rest)] if values else []), text, cut=cut)


def _array(payloads: list[str]) -> list[Any] | None:
    """All payloads, parsed at once; null where one of them is no single value."""
    try:
        values = orjson.loads(f"[{','.join(payloads)}]")
    except orjson.JSONDecodeError:
        return None
    return values if len(values) == len(payloads) else None


def _sequence(text: str) -> tuple[list[Any], str]:
    """The values that stand one behind the other, arrays as their items; and the text from the first broken one on."""
    values: list[Any] = []
    position = 0
    while position < len(text):
        try:
            value, position = _value_at(text, position)
        except ValueError:
            if position or text[0] != "[":  # else an array without its end: its items may be whole
                return values, text[position:]
            position = 1
        else:
            values += value if isinstance(value, list) else [value]
        position = _BETWEEN_VALUES.match(text, position).end()  # type: ignore[union-attr] # matches the empty text too
    return values, ""


def _salvaged(text: str) -> Iterator[Any]:
    """The complete objects that begin a line: what a pretty-printed array that is cut at either end still holds."""
    position = 0
    while found := _OBJECT_AT_LINE_START.search(text, position):
        try:
            value, position = _value_at(text, found.end())
        except ValueError:
            position = found.end() + 1
        else:
            yield value


def _value_at(text: str, position: int) -> tuple[Any, int]:
    """The JSON value that begins here, and where it ends. Raises ``ValueError`` where none does."""
    try:
        value, end = _READER.raw_decode(text, position)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return (_repaired(value) if "\\u" in text[position:end] else value), end


def _repaired(value: Any) -> Any:
    """Lone surrogates become U+FFFD (design, section 2: before anything is hashed)."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_repaired(item) for item in value]
    if isinstance(value, dict):
        return {_repaired(key): _repaired(item) for key, item in value.items()}
    return value


# Captured SSE text


def _sse(text: str) -> Stream | None:
    if _TEXT_EVENT in text[:_HEAD]:
        return _texts(text)
    if text.startswith("data: "):  # nearly always nothing but data: whatever stands between would be no JSON
        chunks = _array(text[6:].removesuffix("data: [DONE]").rstrip().split("\n\ndata: "))
        if chunks is not None:
            return _stream(_events(chunks), text, cut=False)
    head, *pieces = f"\n{text}".split("\ndata:")
    if not pieces:
        return _scanned(text)
    payloads, _, between = map(list, zip(*(piece.partition("\n") for piece in pieces), strict=True))
    if payloads[-1].strip() == _DONE:
        payloads.pop()
    if all(_holds_no_value(lines) for lines in {head, *between}):  # few in a stream of thousands of events
        chunks = _array(payloads)
        if chunks is not None:
            return _stream(_events(chunks), text, cut=_ends_inside_event(text))
    return _scanned(text)


def _texts(text: str) -> Stream | None:
    """Events of plain text, as their names and data; the data of several lines is one text."""
    events: list[JsonObject] = []
    for block in text.split("\n\n"):
        lines = block.split("\n")
        name = next((line[7:] for line in lines if line.startswith("event: ")), None)
        data = [line[5:].removeprefix(" ") for line in lines if line.startswith("data:")]
        if name is not None and data:
            events.append({"event": name, "data": "\n".join(data)})
    return _stream(events, text, cut=not events)


def _holds_no_value(lines: str) -> bool:
    """Tell whether nothing hides here: no data behind a lost newline, no error line, no JSON without a field's name."""
    return not lines or lines == "\n" or _SSE_VALUE.search(lines) is None


def _ends_inside_event(text: str) -> bool:
    last = text[text.rfind("\n") + 1 :]
    if last.startswith("event:"):  # some recorders write it behind the event's data
        return "data:" not in text[text.rfind("\n\n") + 1 :]
    return not last.startswith(_SSE_ENDS)


def _scanned(text: str) -> Stream | None:
    """Read a capture value by value. Between two values only field names and comments stand, in whatever lines."""
    values: list[Any] = []
    plain = text[0] != ":" and "data:" not in text
    cut = False
    position = 0
    while found := _SSE_VALUE.search(text, position):
        start = found.end()
        try:
            value, position = _payload(text, start)
        except ValueError:
            line = text[start : _line_end(text, start)]
            position = start + len(_DONE if line.startswith(_DONE) else line)
            if not line.startswith(_DONE):
                opened = line[:1] in ("{", "[")
                cut = cut or opened or start == len(text)
                plain = plain or not (opened or line == "")
        else:
            values += value if isinstance(value, list) else [_error(value) if text[found.start()] == "e" else value]
    events = _events(values)
    if plain and not events:
        raise UndecodableError("a stream of plain text", text)
    return _stream(events, text, cut=cut or (position < len(text) and _ends_inside_event(text)))


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _payload(text: str, start: int) -> tuple[Any, int]:
    try:
        return _value_at(text, start)
    except ValueError:
        lines = _DATA_LINES.match(text, start) if text[start : start + 1] in ("{", "[", "\n") else None
        if lines is None:
            raise
        value, _ = _value_at(re.sub("\ndata: ?", "\n", lines[0]), 0)
        return value, lines.end()


def _error(value: JsonObject) -> JsonObject:
    return value if "error" in value else {"error": value}


# Events inside of frames


def _events(values: Iterable[Any]) -> list[JsonObject]:
    return [
        value if _FRAMES.isdisjoint(value) else _unwrapped(value)
        for value in values
        if value.__class__ is dict and value
    ]


_FRAMES = frozenset({"payload", "chunk", "traceId"})
"""Keys of which every frame around an event has one."""


def _unwrapped(event: JsonObject) -> JsonObject:
    """The event inside of an AWS event-stream frame, a boto3 ``chunk`` or a Code Assist ``response``; else itself."""
    if "payload" in event and "event" in event and "message_type" in event:
        name, payload = event["event"], event["payload"]
        inner = _chunk_bytes(payload) if name == "chunk" else None
        return inner or {str(name): payload}
    if "chunk" in event:
        return _chunk_bytes(event["chunk"]) or event
    if "traceId" in event and isinstance(event.get("response"), dict):
        inner_body: JsonObject = event["response"]
        return inner_body
    return event


def _chunk_bytes(chunk: object) -> JsonObject | None:
    """The object in a chunk's ``bytes`` (base64) or ``bytes_decoded`` (a recorder's); null where there is none."""
    if not isinstance(chunk, dict):
        return None
    value = chunk.get("bytes_decoded")
    if value is None and isinstance(chunk.get("bytes"), str):
        try:
            value = orjson.loads(base64.b64decode(chunk["bytes"], validate=True))
        except ValueError:
            return None
    return value if isinstance(value, dict) else None
