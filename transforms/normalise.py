"""Normalise: batches of raw records to calls and rejects, each with its place, every record counted once."""

import gc
import re
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import PCollection

from schemas.account import Tally
from schemas.call import Call
from schemas.envelope import Envelope
from schemas.exchange import Exchange, RawRecord, RecordBatch, RecordBatches
from schemas.redaction import Pattern
from schemas.reject import Reject
from schemas.vocabulary import Fate, FinishReason, RejectReason
from transforms.bundles import unbundled
from transforms.calls import to_calls
from transforms.columns import to_batch, to_reject_batch
from transforms.json_text import to_json
from transforms.not_calls import NoCall
from transforms.redaction import Redactor
from transforms.sessions import fold_records
from transforms.stage import Normalised
from transforms.text_free import without_texts
from transforms.unwrap import Skip, Unwrapper

OUTSIDE_RANGE = "outside --since and --until"
HOLDS_NO_CALL = "the record holds no call"
_LABEL = re.compile(r"[\w.:/-]{1,40}")
_KNOWN_TO_BE_NO_EFFORT = {"default", "auto", "true", "false"}


class Window(NamedTuple):
    """The dates that a run takes, as days since 1970, both inclusive; undated calls are always taken."""

    since: int | None = None
    until: int | None = None

    def holds(self, date: int | None) -> bool:
        """Tell whether a call of this date is taken."""
        if date is None:
            return True
        return (self.since is None or self.since <= date) and (self.until is None or date <= self.until)


ALWAYS = Window()


class Outcome(NamedTuple):
    """What the records of one batch came to."""

    calls: list[Call]
    rejects: list[Reject]
    tally: Tally


def normalise(batch: RecordBatch, unwrapper: Unwrapper, window: Window = ALWAYS) -> Outcome:
    """Normalise every record of a batch. A record that holds several calls counts once for each of them."""
    outcome = Outcome([], [], Tally(bytes=batch.size))
    for record, results in _normalise_records(batch, unwrapper):
        for result in results or [Skip(HOLDS_NO_CALL)]:
            _count(result, outcome, record, batch.file, window)
    if batch.broken is not None:
        broken = Reject(RejectReason.UNREADABLE_FILE, batch.broken)
        _count(broken, outcome, RawRecord(batch.broken_at, batch.broken_rest), batch.file, window)
    return outcome


Result = Call | Skip | NoCall | Reject | Literal[Fate.PART]
"""What a record came to, or one of the calls that it holds."""


def _normalise_records(batch: RecordBatch, unwrapper: Unwrapper) -> Iterator[tuple[RawRecord, list[Result]]]:
    """Each record with what it came to: read for itself, or with all others where they are one session's lines."""
    if batch.folded_by is not None:
        for record, folded in fold_records(batch.records, batch.folded_by):
            yield record, _normalise_each(folded, batch.file, record.position)
        return
    for record in batch.records:
        yield record, _normalise_record(record, batch.file, unwrapper)


def _normalise_record(record: RawRecord, file: str, unwrapper: Unwrapper) -> list[Result]:
    try:
        found = [
            one
            for outcome in unwrapper.unwrap(record)
            for one in (unbundled(outcome) if isinstance(outcome, Exchange) else [outcome])
        ]
    except Exception as fault:  # noqa: BLE001 - a fault of ours on one record neither stops a run nor loses the record
        return [_our_fault(fault)]
    return _normalise_each(found, file, record.position)


def _normalise_each(found: Sequence[Exchange | Result], file: str, position: int) -> list[Result]:
    """What is an exchange becomes a call."""
    results: list[Result] = []
    for one in found:
        try:
            results += to_calls(one, file, position) if isinstance(one, Exchange) else [one]
        except Exception as fault:  # noqa: BLE001 - as above
            results.append(_our_fault(fault))
    return results


def _our_fault(fault: Exception) -> Reject:
    where = traceback.extract_tb(fault.__traceback__)[-1]
    place = f"{Path(where.filename).name}:{where.lineno}"
    return Reject(RejectReason.INTERNAL_ERROR, f"{type(fault).__name__} at {place}: {fault}")


def _count(result: Result, outcome: Outcome, record: RawRecord, file: str, window: Window) -> None:
    tally = outcome.tally
    tally.records += 1
    if isinstance(result, Call):
        if not window.holds(result.date):
            tally.skipped[OUTSIDE_RANGE] += 1
            return
        tally.calls += 1
        tally.calls_by[f"{result.protocol or 'unknown'}/{result.thinking_form or 'none'}"] += 1
        tally.sources[f"{result.source}/calls"] += 1
        if result.finish_reason == FinishReason.OTHER:
            tally.unmatched[f"finish_reason={_label(result.finish_reason_raw)}"] += 1
        if word := _unknown_effort(result):
            tally.unmatched[f"effort_requested={_label(word)}"] += 1
        outcome.calls.append(result)
    elif isinstance(result, Skip | NoCall):
        tally.skipped[result.rule] += 1
    elif isinstance(result, Fate):
        tally.parts += 1
    else:
        tally.rejects[result.reason] += 1
        tally.sources[f"{result.source or 'unknown'}/rejects"] += 1
        result.source_file, result.source_position, result.raw = file, record.position, _raw(record)
        outcome.rejects.append(result)


def _label(word: str | None) -> str:
    """A word for the account, which outlives every text: what may be one is not told."""
    return word if word and _LABEL.fullmatch(word) else "a text"


def _unknown_effort(call: Call) -> str | None:
    """The word in an effort's place that is no effort, no switch and no number."""
    raw = call.effort_requested_raw
    if raw is None or call.effort_requested is not None or call.thinking_requested is not None:
        return None
    return None if raw in _KNOWN_TO_BE_NO_EFFORT or raw.lstrip("-").isdigit() else raw


def _raw(record: RawRecord) -> bytes:
    """The record's bytes; a row of a container that was parsed already is written out as JSON."""
    if isinstance(record.value, bytes):
        return record.value
    return to_json(record.value)


@dataclass
class Normalise(beam.PTransform[PCollection[RecordBatches], PCollection[Normalised]]):
    """Batches of raw records to Arrow batches of calls and rejects, with their tally."""

    envelopes: Sequence[Envelope]
    window: Window = ALWAYS
    redacted: tuple[Pattern, ...] = ()
    text_free_at: datetime | None = None
    """Store no text; the time is when it was left out."""

    def expand(self, input_or_inputs: PCollection[RecordBatches]) -> PCollection[Normalised]:
        """Wire it."""
        return input_or_inputs | "NormaliseBatch" >> beam.ParDo(
            _NormaliseFn(self.envelopes, self.window, self.redacted, self.text_free_at)
        )


class _NormaliseFn(beam.DoFn):
    def __init__(
        self,
        envelopes: Sequence[Envelope],
        window: Window,
        redacted: tuple[Pattern, ...],
        text_free_at: datetime | None,
    ) -> None:
        self._unwrapper = Unwrapper(envelopes)
        self._window = window
        self._redacted = redacted
        self._text_free_at = text_free_at
        self._redactor: Redactor | None = None

    def setup(self) -> None:
        # Beam and the models are here to stay: without them each collection has only a batch's objects to look at.
        gc.freeze()
        if self._redacted:
            self._redactor = Redactor(self._redacted)

    def process(self, element: RecordBatches) -> Iterator[Normalised]:
        outcomes = [normalise(batch, self._unwrapper, self._window) for batch in element]
        tally = Tally()
        for outcome in outcomes:
            tally.add(outcome.tally)
        calls = [call for outcome in outcomes for call in outcome.calls]
        rejects = [reject for outcome in outcomes for reject in outcome.rejects]
        if self._redactor:
            for call in calls:
                self._redactor.redact_call(call)
            for reject in rejects:
                self._redactor.redact_reject(reject)
        found = Normalised(to_batch(calls), to_reject_batch(rejects), tally)
        yield without_texts(found, self._text_free_at) if self._text_free_at else found
