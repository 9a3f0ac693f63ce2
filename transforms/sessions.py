"""Sessions of agents to what each of their lines came to: files that are read whole, and bodies that hold a session."""

import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from schemas.exchange import Exchange, JsonObject, RawRecord, Stream
from schemas.reject import Reject
from schemas.vocabulary import RejectReason
from transforms.envelopes import HEAD_LINES, named, reader_of
from transforms.json_text import parse
from transforms.transcript import Result, TranscriptReader

Folded = Result | Reject

_FIRST_TYPES = frozenset(
    {
        "user", "assistant", "system", "summary", "attachment", "progress", "session", "session_meta", "turn_context",
        "response_item", "event_msg", "token_usage_record", "compacted", "gemini", "file-history-snapshot",
        "queue-operation",
    }
)  # fmt: skip
_FIRST_KEYS = frozenset(
    {
        "sessionId", "sessionID", "trajectory", "trajectory_format", "info", "agent", "appName", "app_name",
        "invocationId", "invocation_id", "conversations", "root", "record_type", "say", "ask",
        "responderUsername", "requesterUsername",
    }
)  # fmt: skip
_FIRST_ROLES = ("system", "user")
"""An answer does not begin with these."""
_FIRST_SHAPES = (frozenset({"id", "message"}), frozenset({"path", "createdAt"}), frozenset({"kind", "v"}))
"""What the first line of a session may be. Nearly all stored bodies show by this alone that they are none."""


def fold_records(records: Sequence[RawRecord], name: str) -> Iterator[tuple[RawRecord, list[Folded]]]:
    """Fold the lines of one file by the reader of this name; gives each line with what it came to, in their order.

    Lines that are no JSON objects are rejects of their own, as the half-written last line of a session that still runs.
    """
    parsed = [_object(record) for record in records]
    objects = [line for line in parsed if not isinstance(line, Reject)]
    results = iter(_fold(named(name), objects))
    for record, line in zip(records, parsed, strict=True):
        yield record, [line] if isinstance(line, Reject) else next(results)


def _object(record: RawRecord) -> JsonObject | Reject:
    value: object = record.value
    if isinstance(value, bytes):
        try:
            value = parse(value)
        except ValueError as error:
            return Reject(RejectReason.INVALID_JSON, str(error))
    return value if isinstance(value, dict) else Reject(RejectReason.NOT_AN_OBJECT, f"a JSON {type(value).__name__}")


def _fold(reader: TranscriptReader, lines: Sequence[JsonObject]) -> list[list[Folded]]:
    try:
        return [list(results) for results in reader.fold(lines)]
    except Exception as fault:  # noqa: BLE001 - a fault of ours on one session neither stops a run nor loses its lines
        where = traceback.extract_tb(fault.__traceback__)[-1]
        detail = f"{type(fault).__name__} at {Path(where.filename).name}:{where.lineno}: {fault}"
        return [[Reject(RejectReason.INTERNAL_ERROR, detail, source=reader.NAME)] for _ in lines]


def sessions_in(body: JsonObject | Stream) -> list[Exchange] | None:
    """The calls of a session that was stored as one body, in order; null where the body is no session."""
    lines = body.events if isinstance(body, Stream) else _lines_of(body)
    if not lines or not _may_begin(lines[0]):
        return None
    reader = reader_of(lines[:HEAD_LINES])
    if reader is None:
        return None
    return [result for results in reader.fold(lines) for result in results if isinstance(result, Exchange)]


def _lines_of(body: JsonObject) -> list[JsonObject]:
    """The lines in an object; Claude Code on the web exports them as ``loglines``."""
    lines = body.get("loglines")
    return [line for line in lines if isinstance(line, dict)] if isinstance(lines, list) else [body]


def _may_begin(line: JsonObject) -> bool:
    kind = line.get("type")
    return (
        (isinstance(kind, str) and kind in _FIRST_TYPES)
        or not _FIRST_KEYS.isdisjoint(line)
        or line.get("role") in _FIRST_ROLES
        or (len(line) == 2 and line.keys() in _FIRST_SHAPES)
        or ("instructions" in line and "timestamp" in line)  # OpenAI's responses have the former
    )


def calls_in(exchange: Exchange) -> list[Exchange] | None:
    """The calls of the session that an exchange's response holds, in the envelope that holds it; null for any other.

    What the session says of a call counts; what it does not say is the envelope's.
    """
    found = sessions_in(exchange.response) if exchange.response is not None else None
    if found is None:
        return None
    return [
        replace(
            call,
            source=exchange.source,
            called_at=exchange.called_at if call.called_at is None else call.called_at,
            provider=call.provider or exchange.provider,
            session_id=call.session_id or exchange.session_id,
            user_id=exchange.user_id,
            team=exchange.team,
            api_key_id=exchange.api_key_id,
            tags={**(exchange.tags or {}), **(call.tags or {})} or None,
        )
        for call in found
    ]
