"""A raw record to the exchanges that it holds, by the mapping of its envelope.

Mappings (``schemas/envelope.py``) are compiled to closures once; a record then costs a few look-ups beyond its JSON.
What a mapping names but a record does not have, or has as another type, is null.
"""

from collections.abc import Sequence
from typing import NamedTuple

from schemas.envelope import Envelope
from schemas.exchange import Exchange, JsonObject, RawRecord, StatedCounts, Stream
from schemas.path import parse_path
from schemas.reject import Reject
from schemas.vocabulary import RejectReason
from transforms import clock
from transforms.json_text import parse, split_concatenated
from transforms.mapping_bodies import compile_body
from transforms.mapping_conditions import condition, in_words, recognition
from transforms.mapping_paths import Parents, exploded
from transforms.mapping_values import compile_count, compile_fields, compile_tags
from transforms.streams import UndecodableError

_KEYS_SHOWN = 12
_KEY_LENGTH = 40
_SHAPES_REMEMBERED = 1024


class Skip(NamedTuple):
    """A record that is no LLM call, and the rule that says so."""

    rule: str


Outcome = Exchange | Skip | Reject


class Unwrapper:
    """Reads records of one envelope, whatever they look like; of several, by the only one that recognises a record."""

    def __init__(self, envelopes: Sequence[Envelope]) -> None:
        self._envelopes = tuple(envelopes)
        self._readers = tuple(_Reader(envelope) for envelope in envelopes)
        self._by_keys: dict[tuple[str, ...], list[_Reader]] = {}

    def __reduce__(self) -> tuple[type["Unwrapper"], tuple[tuple[Envelope, ...]]]:
        return Unwrapper, (self._envelopes,)  # closures do not travel: they are compiled again

    def unwrap(self, record: RawRecord) -> list[Outcome]:
        """Read all exchanges of a record. What is no LLM call is a skip, what cannot be read a reject; never raises."""
        if not isinstance(record.value, bytes):
            return self._unwrap_value(record.value)
        try:
            value = parse(record.value)
        except ValueError as error:
            parts = split_concatenated(record.value)
            if parts is None:
                return [Reject(RejectReason.INVALID_JSON, str(error))]
            return [outcome for part in parts for outcome in self.unwrap(RawRecord(record.position, part))]
        return self._unwrap_value(value)

    def _unwrap_value(self, value: object) -> list[Outcome]:
        if not isinstance(value, dict):
            return [Reject(RejectReason.NOT_AN_OBJECT, f"a JSON {type(value).__name__}")]
        if len(self._readers) == 1:
            return self._readers[0].read(value)
        found = self._recognised_by(value)
        if len(found) == 1:
            outcomes = found[0].read(value)
            return [inner for one in outcomes for inner in self._opened(one)] if found[0].opens else outcomes
        names = "".join(f"may be {reader.name}; " for reader in found)
        return [Reject(RejectReason.UNKNOWN_ENVELOPE, f"{names}keys: {_keys(value)}")]

    def _opened(self, outcome: Outcome) -> list[Outcome]:
        """A response that is a stored log itself, to what it holds; any other as it is."""
        response = outcome.response if isinstance(outcome, Exchange) else None
        logs = response.events if isinstance(response, Stream) else [response] if response else []
        readers = [[one for one in self._recognised_by(log) if not one.only_if_no_other] for log in logs]
        if not logs or any(len(found) != 1 or found[0].opens for found in readers):
            return [outcome]
        return [inner for [reader], log in zip(readers, logs, strict=True) for inner in reader.read(log)]

    def _recognised_by(self, record: JsonObject) -> list["_Reader"]:
        keys = tuple(record)
        candidates = self._by_keys.get(keys)
        if candidates is None:
            if len(self._by_keys) >= _SHAPES_REMEMBERED:
                self._by_keys.clear()
            candidates = [reader for reader in self._readers if reader.recognition.by_keys(record)]
            self._by_keys[keys] = candidates
        found = [reader for reader in candidates if reader.recognition.by_values(record)]
        return found if len(found) < 2 else [reader for reader in found if not reader.only_if_no_other] or found


def _keys(record: JsonObject) -> str:
    shown = ", ".join(str(key)[:_KEY_LENGTH] for key in list(record)[:_KEYS_SHOWN])
    return f"{shown}, …" if len(record) > _KEYS_SHOWN else shown or "none"


class _Reader:
    """One mapping, compiled."""

    def __init__(self, envelope: Envelope) -> None:
        self.name = envelope.name
        self.recognition = recognition(envelope.recognise)
        self.only_if_no_other = envelope.recognise.only_if_no_other
        self.opens = envelope.opens
        self._explode = parse_path(envelope.records) if envelope.records else None
        self._where = [(condition(test), f"{self.name}: {in_words(test)}") for test in envelope.where]
        self._request = compile_body(envelope.request) if envelope.request else None
        self._response = compile_body(envelope.response) if envelope.response else None
        self._direct, self._others = compile_fields(envelope.fields)
        self._tags = compile_tags(envelope.tags) if envelope.tags else None
        usage = [(part, getattr(envelope.usage, part)) for part in StatedCounts.__slots__]
        self._counts = [(part, compile_count(counted)) for part, counted in usage if counted]
        self._tag_policy = envelope.inline_tags

    def read(self, record: JsonObject) -> list[Outcome]:
        if self._explode is None:
            return [self._one(record, ())]
        items = exploded(record, self._explode)
        if items is None:
            return [Reject(RejectReason.UNKNOWN_ENVELOPE, f"no {self.name}; keys: {_keys(record)}", source=self.name)]
        if not items:
            return [Skip(f"{self.name}: holds no records")]
        return [self._one(item, parents) for item, parents in items]

    def _one(self, record: object, parents: Parents) -> Outcome:
        if not isinstance(record, dict):
            return Reject(RejectReason.NOT_AN_OBJECT, f"a JSON {type(record).__name__}", source=self.name)
        for holds, rule in self._where:
            if not holds(record, parents):
                return Skip(rule)
        exchange = Exchange(self.name, tag_policy=self._tag_policy)
        self._put_fields(exchange, record, parents)
        unread = self._put_bodies(exchange, record, parents)
        if exchange.request is None and exchange.response is None and not (_failed(exchange) or exchange.is_counted):
            date = None if exchange.called_at is None else clock.to_date(exchange.called_at)
            detail = unread or f"no request, no response and no error; keys: {_keys(record)}"
            reason = RejectReason.UNDECODABLE_BODY if unread else RejectReason.EMPTY_RECORD
            return Reject(reason, detail, source=self.name, date=date)
        return exchange

    def _put_fields(self, exchange: Exchange, record: JsonObject, parents: Parents) -> None:
        for key, name, convert in self._direct:
            stored = record.get(key)
            if stored is not None and (value := convert(stored)) is not None:
                setattr(exchange, name, value)
        for name, get in self._others:
            value = get(record, parents)
            if value is not None:
                setattr(exchange, name, value)
        if self._tags:
            exchange.tags = self._tags(record, parents)
        if self._counts:
            counts = {part: get(record, parents) for part, get in self._counts}
            exchange.counts = StatedCounts(**counts) if any(count is not None for count in counts.values()) else None

    def _put_bodies(self, exchange: Exchange, record: JsonObject, parents: Parents) -> str | None:
        """Decode both bodies; gives why the request could not be read: a call is known by its response too."""
        if self._response:
            try:
                exchange.response, lacks_texts = self._response(record, parents)
                exchange.text_truncated = lacks_texts or exchange.text_truncated
            except UndecodableError as error:
                exchange.undecodable = str(error)
        if self._request:
            try:
                request, _ = self._request(record, parents)
            except UndecodableError as error:
                return f"request: {error}"
            exchange.request = request if isinstance(request, dict) else None
        return None


def _failed(exchange: Exchange) -> bool:
    status = exchange.status_code or 0
    return bool(status >= 400 or exchange.undecodable or exchange.error_type or exchange.error_message)
