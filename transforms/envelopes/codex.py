"""Codex CLI rollouts, and those of forks such as TRAE's.

Lines    ``response_item`` lines are a response's items; what ``event_msg`` lines say of the same is a second copy. A
         response ends where its tokens are counted, or where an item of the next request follows.
Tokens   ``token_usage_record`` counts one response. Older files have ``token_count`` events: ``last_token_usage`` is
         the response's, ``total_token_usage`` grows with each response, an event with the same total is a repeat.
         Reasoning is inside the output, cached input inside the input.
Effort   Requested: of the latest ``turn_context``.
Copies   A fork's file begins with its parent's lines; they are the parent's calls, and are left to its file.
Source   Reference on envelopes, 3.22.
"""

from collections.abc import Sequence
from typing import Any

from schemas.exchange import Exchange, JsonObject
from schemas.vocabulary import Fate
from transforms.not_calls import NoCall
from transforms.transcript import Result, Results, count_in, object_in, tags_of, text_in, time_in

NAME = "codex"

_TYPES = frozenset(
    {"session_meta", "turn_context", "response_item", "event_msg", "token_usage_record", "compacted", "world_state"}
)
_RULES = {kind: f"{NAME}: {kind} line" for kind in _TYPES}
_OTHER = f"{NAME}: another kind of line"
_INPUT = f"{NAME}: an item of a request"
_REPEAT = f"{NAME}: a repeated count"
_COPY = f"{NAME}: a copy from the parent's session"
_NO_COUNT = f"{NAME}: a count of nothing"
_API = "/responses"
"""The path that Codex calls: calls of which nothing came are of this protocol."""
_REPLAY_US = 1_000_000
"""A fork's file is filled with its parent's lines within a second (ccusage's parser); no model answers as fast."""
_TAGS = {"cwd": "cwd", "originator": "originator"}
_COUNTS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")


def recognises(head: Sequence[JsonObject]) -> bool:
    return any(line.get("type") in _RULES and isinstance(line.get("payload"), dict) for line in head if _is_typed(line))


def _is_typed(line: JsonObject) -> bool:
    return isinstance(line.get("type"), str)


def fold(lines: Sequence[JsonObject]) -> Results:
    session = _Session(lines)
    for place, line in enumerate(lines):
        session.results.append([session.read(place, line)])
    return session.results


class _Response:
    """One response while its lines are gathered; its exchange stands at the first of its lines."""

    def __init__(self, exchange: Exchange, body: JsonObject, place: int) -> None:
        self.exchange = exchange
        self.body = body
        self.places = [place]
        self.counts: JsonObject | None = None
        """Its tokens, once they are counted."""


class _Session:
    """What is in force while the lines are read, and the response that is not finished yet."""

    def __init__(self, lines: Sequence[JsonObject]) -> None:
        metas = [object_in(line, "payload") for line in lines if line.get("type") == "session_meta"]
        self._meta = metas[0] if metas else {}
        self._id = text_in(self._meta, "id", "session_id")
        self._copied_until = _copied_until(lines, metas)
        self._settings: JsonObject = {}
        self._open: _Response | None = None
        """Its items are still coming."""
        self._last: _Response | None = None
        """The one before: its count may still come."""
        self._total: JsonObject | None = None
        self._recorded: set[str] = set()
        """The ids of the responses that have been counted."""
        records = [object_in(line, "payload") for line in lines if line.get("type") == "token_usage_record"]
        self._in_records = {_numbers(object_in(record, "usage")) for record in records}
        """What records count: events that count the same are of the same responses."""
        self.results: Results = []

    def read(self, place: int, line: JsonObject) -> Result:
        kind, payload = line.get("type"), line.get("payload")
        if not isinstance(kind, str) or not isinstance(payload, dict):
            return NoCall(_OTHER)
        if self._is_copied(line):
            return self._copied(kind, payload)
        if kind == "response_item":
            return self._item(place, line, payload)
        if kind == "token_usage_record":
            return self._record(place, line, payload)
        if kind == "event_msg":
            return self._event(place, line, payload)
        if kind == "turn_context":
            self._settings = payload
        return NoCall(_RULES.get(kind, _OTHER))

    def _is_copied(self, line: JsonObject) -> bool:
        time = time_in(line, "timestamp") if self._copied_until is not None else None
        return time is not None and self._copied_until is not None and time <= self._copied_until

    def _copied(self, kind: str, payload: JsonObject) -> Result:
        """A parent's line: only its settings and its total matter here."""
        if kind == "turn_context":
            self._settings = payload
        elif payload.get("type") == "token_count":
            self._total = object_in(object_in(payload, "info"), "total_token_usage") or self._total
        return NoCall(_COPY)

    # Items

    def _item(self, place: int, line: JsonObject, item: JsonObject) -> Result:
        if not _is_output(item):
            self._close()
            if "role" in item:  # a new message: what is counted behind it is of another response
                self._last = None
            return NoCall(_INPUT)
        if self._open is not None:
            self._open.body["output"].append(item)
            self._open.places.append(place)
            return Fate.PART
        self._open = self._begin(place, line)
        self._open.body["output"].append(item)
        return self._open.exchange

    def _begin(self, place: int, line: JsonObject) -> _Response:
        model = text_in(self._settings, "model")
        body: JsonObject = {"object": "response", "model": model, "output": []}
        exchange = Exchange(
            NAME,
            request=_request(self._settings),
            response=body,
            called_at=time_in(line, "timestamp"),
            provider=text_in(self._settings, "model_provider") or text_in(self._meta, "model_provider"),
            streamed=True,  # Codex asks for nothing else
            session_id=self._id,
            tags=tags_of(self._meta, _TAGS),
        )
        return _Response(exchange, body, place)

    def _close(self) -> None:
        if self._open is not None:
            self._last, self._open = self._open, None

    # Counts

    def _record(self, place: int, line: JsonObject, record: JsonObject) -> Result:
        thread, response_id = text_in(record, "thread_id"), text_in(record, "response_id")
        if thread and self._id and thread != self._id:
            return self._disown()
        if response_id is not None and response_id in self._recorded:
            return self._disown()
        counts = object_in(record, "usage")
        if not counts:
            return NoCall(_NO_COUNT)
        if response_id is not None:
            self._recorded.add(response_id)
        return self._count(place, line, counts, response_id)

    def _disown(self) -> Result:
        """The response just read is the parent's, or was read before: its lines are copies."""
        if self._open is not None:
            for place in self._open.places:
                self.results[place] = [NoCall(_COPY)]
            self._open = None
        return NoCall(_COPY)

    def _event(self, place: int, line: JsonObject, event: JsonObject) -> Result:
        match event.get("type"):
            case "token_count":
                return self._token_count(place, line, object_in(event, "info"))
            case "turn_aborted" if self._open is not None:
                self._open.body["status"] = "cancelled"
                self._close()
            case "error" if message := text_in(event, "message"):
                return self._failure(place, line, message, text_in(event, "codex_error_info"))
            case _:
                pass
        return NoCall(_RULES["event_msg"])

    def _token_count(self, place: int, line: JsonObject, info: JsonObject) -> Result:
        total, last = object_in(info, "total_token_usage"), object_in(info, "last_token_usage")
        before = self._total
        if not total and not last:
            return NoCall(_NO_COUNT)
        if total and _numbers(total) == _numbers(before or {}):
            return NoCall(_REPEAT)
        self._total = total or before
        counts = last or _difference(total, before)
        if _numbers(counts) in self._in_records:
            return NoCall(_REPEAT)
        # A total that is there and not new was seen above; without any, only an item shows that this is no repeat.
        if not total and self._open is None and self._last is not None and _same(self._last.counts, counts):
            return NoCall(_REPEAT)
        return self._count(place, line, counts, None)

    def _count(self, place: int, line: JsonObject, counts: JsonObject, response_id: str | None) -> Result:
        """Give a count to the response that it is of; a count without items is a call whose text is not kept."""
        response = self._open
        if response is None and self._last is not None and self._last.counts is None:
            response = self._last
        is_new = response is None
        if response is None:
            response = self._begin(place, line)
        response.counts = counts
        response.body["usage"] = _usage(counts)
        response.body.setdefault("status", "completed")  # tokens are counted when a response has completed
        if response_id is not None:
            response.body["id"] = response_id
        self._last, self._open = response, None
        return response.exchange if is_new else Fate.PART

    def _failure(self, place: int, line: JsonObject, message: str, kind: str | None) -> Result:
        """An error ends the response that was coming, or is all that came of a call."""
        response = self._open
        is_new = response is None
        if response is None:
            response = self._begin(place, line)
            response.exchange.response, response.exchange.url = None, _API
        response.exchange.error_message, response.exchange.error_type = message, kind
        self._last = self._open = None
        return response.exchange if is_new else Fate.PART


def _copied_until(lines: Sequence[JsonObject], metas: list[JsonObject]) -> int | None:
    """Up to when a file's lines are its parent's; null where it has none."""
    if not metas:
        return None
    source = object_in(metas[0], "source")
    other = any(text_in(meta, "id") != text_in(metas[0], "id") for meta in metas[1:])
    if not (other or text_in(metas[0], "forked_from_id") or "subagent" in source):
        return None
    first = next((time for line in lines if (time := time_in(line, "timestamp")) is not None), None)
    return None if first is None else first + _REPLAY_US


def _is_output(item: JsonObject) -> bool:
    kind = item.get("type")
    if kind == "message" or (kind is None and "role" in item):
        return item.get("role") == "assistant"
    return isinstance(kind, str) and (kind == "reasoning" or kind.endswith("_call"))


def _request(settings: JsonObject) -> JsonObject:
    """What the turn's settings asked of the model. The conversation itself is not repeated for each of its calls."""
    mode = object_in(object_in(settings, "collaboration_mode"), "settings")
    effort = text_in(settings, "effort") or text_in(mode, "reasoning_effort")
    request: JsonObject = {"model": text_in(settings, "model")}
    if effort is not None:
        request["reasoning"] = {"effort": effort}
    return request


def _numbers(counts: JsonObject) -> tuple[int | None, ...]:
    return tuple(count_in(counts, name) for name in _COUNTS)


def _same(one: JsonObject | None, other: JsonObject) -> bool:
    return one is not None and _numbers(one) == _numbers(other)


def _difference(total: JsonObject, before: JsonObject | None) -> JsonObject:
    """What a total has grown by; a total that has shrunk began anew."""
    if before is None:
        return total
    grown = {name: (count_in(total, name) or 0) - (count_in(before, name) or 0) for name in _COUNTS if name in total}
    return total if any(value < 0 for value in grown.values()) else grown


def _usage(counts: JsonObject) -> dict[str, Any]:
    """The counts as they were, and under the names that Responses has for them."""
    usage: JsonObject = dict(counts)
    usage["input_tokens_details"] = {
        "cached_tokens": counts.get("cached_input_tokens"),
        "cache_write_tokens": counts.get("cache_write_input_tokens"),
    }
    usage["output_tokens_details"] = {"reasoning_tokens": counts.get("reasoning_output_tokens")}
    return usage
