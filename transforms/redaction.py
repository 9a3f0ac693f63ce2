"""Texts with what a pattern matches taken out, after identity is known: a mark stands there, and it is counted.

Applied to thinking, answers, error messages, values of tags and texts in usage objects alike, and to rejects.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import orjson
import re2
from stdnum import iban, luhn

from schemas.call import Call, Segment
from schemas.redaction import Check, Pattern
from schemas.reject import Reject
from schemas.vocabulary import PieceKind
from transforms.columns import reject_id
from transforms.json_text import to_json

_CHECKS: dict[Check, Callable[[str], bool]] = {Check.LUHN: luhn.is_valid, Check.IBAN: iban.is_valid}
_KINDS = {"thinking": {PieceKind.THINKING}, "answer": {PieceKind.ANSWER, PieceKind.COMMENTARY}}
"""The segments that lie in each text."""
_ROUNDS = 5
_SEPARATORS = str.maketrans("", "", " -")


class Span(NamedTuple):
    """A part of a text, in code points, and the mark that takes its place."""

    start: int
    end: int
    mark: str


class Redactor:
    """Patterns, ready for use. Travels as its patterns: make it where it is used."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._each = [(pattern, re2.compile(pattern.pattern)) for pattern in patterns]
        # Nearly every text matches none, and one pass over all patterns finds that out.
        self._any = re2.compile("|".join(f"(?:{pattern.pattern})" for pattern in patterns))

    def spans(self, text: str) -> list[Span]:
        """What is to be taken out of a text, in order. What two patterns match in part goes as a whole."""
        if not self._any.search(text):
            return []
        found = (
            Span(match.start(), match.end(), f"[{pattern.name}]")
            for pattern, compiled in self._each
            for match in compiled.finditer(text)
            if _meets(match.group(), pattern.check)
        )
        return list(_united(sorted(found)))

    def rounds(self, text: str) -> Iterator[tuple[list[Span], str]]:
        """What is taken out, and the text without it, until nothing matches: a mark may bare what stood beside it."""
        for _ in range(_ROUNDS):
            spans = self.spans(text)
            if not spans:
                return
            text = _replaced(text, spans)
            yield spans, text

    def redact(self, text: str) -> tuple[str, int]:
        """A text without what the patterns match, and how often they did."""
        count = 0
        for spans, redacted in self.rounds(text):
            text = redacted
            count += len(spans)
        return text, count

    def redact_call(self, call: Call) -> None:
        """Take it out of every text of a call, keep its segments true, and count."""
        count = self._redact_texts(call)
        if call.error_message is not None:
            call.error_message, more = self.redact(call.error_message)
            count += more
        if call.tags:
            redacted = {key: self.redact(value) for key, value in call.tags.items()}
            call.tags = {key: value for key, (value, _) in redacted.items()}
            count += sum(more for _, more in redacted.values())
        if call.usage_raw is not None and self._any.search(call.usage_raw):
            usage, more = self._redact_value(orjson.loads(call.usage_raw))
            call.usage_raw = to_json(usage).decode()
            count += more
        call.redactions = (call.redactions or 0) + count

    def redact_reject(self, reject: Reject) -> None:
        """Take it out of a reject; what identifies it stays that of its own bytes."""
        reject.reject_id = reject_id(reject)
        reject.detail, _ = self.redact(reject.detail)
        text = reject.raw.decode("utf-8", "surrogateescape")
        # RE2 reads UTF-8 only; a byte that is none is one character for one here.
        for spans, _ in self.rounds(text.encode("utf-8", "replace").decode()):
            text = _replaced(text, spans)
        reject.raw = text.encode("utf-8", "surrogateescape")

    def _redact_texts(self, call: Call) -> int:
        count = 0
        for name in ("thinking", "answer"):
            for spans, redacted in self.rounds(getattr(call, name) or ""):
                setattr(call, name, redacted)
                setattr(call, f"{name}_chars", len(redacted))
                call.segments = _moved(call.segments, name, spans)
                count += len(spans)
        return count

    def _redact_value(self, value: Any) -> tuple[Any, int]:
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, dict):
            pairs = {key: self._redact_value(item) for key, item in value.items()}
            return {key: item for key, (item, _) in pairs.items()}, sum(more for _, more in pairs.values())
        if isinstance(value, list):
            items = [self._redact_value(item) for item in value]
            return [item for item, _ in items], sum(more for _, more in items)
        return value, 0


def _meets(text: str, check: Check | None) -> bool:
    return check is None or _CHECKS[check](text.translate(_SEPARATORS))


def _united(spans: Iterable[Span]) -> Iterable[Span]:
    """Sorted spans without overlaps: those that overlap become one, with the mark of the first."""
    last: Span | None = None
    for span in spans:
        if last is None or span.start >= last.end:
            if last is not None:
                yield last
            last = span
        elif span.end > last.end:
            last = last._replace(end=span.end)
    if last is not None:
        yield last


def _replaced(text: str, spans: Sequence[Span]) -> str:
    parts: list[str] = []
    at = 0
    for start, end, mark in spans:
        parts += (text[at:start], mark)
        at = end
    return "".join([*parts, text[at:]])


def _moved(segments: list[Segment] | None, text: str, spans: Sequence[Span]) -> list[Segment] | None:
    """Segments of the redacted text. A mark for the end of one and the beginning of the next belongs to the first."""
    if segments is None:
        return None
    shifts = list(accumulate((len(span.mark) - (span.end - span.start) for span in spans), initial=0))

    def place(old: int) -> int:
        before = sum(span.end <= old for span in spans)
        inside = before < len(spans) and spans[before].start < old
        return spans[before].end + shifts[before + 1] if inside else old + shifts[before]

    is_own = _KINDS[text]
    return [
        segment._replace(start=place(segment.start), end=place(segment.end)) if segment.kind in is_own else segment
        for segment in segments
    ]
