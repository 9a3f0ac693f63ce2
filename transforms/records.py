"""Bytes cut into records: the lines of a file, the elements of a JSON document.

Memory is bounded by a few blocks and one record, whatever a file's size.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import orjson

from schemas.exchange import RawRecord
from transforms.expand import FILE_FAULTS, reason

MAX_RECORD_BYTES = 256 << 20
"""A longer line is reported and passed over; at a longer element of a document reading stops."""


class Broken(NamedTuple):
    """Stands among records where some could not be read."""

    position: int
    reason: str
    rest: bytes = b""
    """What was left of an incomplete record."""


Found = RawRecord | Broken


_BOM = b"\xef\xbb\xbf"


class _Held:
    """The beginning of a line whose end has not been read yet; of a line that is too long only its size is kept."""

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[bytes] = []

    def add(self, part: bytes) -> None:
        self.size += len(part)
        self._parts.append(part)
        if self.size > MAX_RECORD_BYTES:
            self._parts.clear()

    def take(self) -> bytes | int:
        line = self.size if self.size > MAX_RECORD_BYTES else b"".join(self._parts)
        self.size = 0
        self._parts = []
        return line


def split_lines(content: Iterable[bytes], start: int = 0, end: int | None = None) -> Iterator[Found]:
    r"""Cut a file's bytes, from ``start`` on, into the lines that begin before ``end``.

    Lines end in ``\n`` or ``\r\n`` only: other separators, U+2028 among them, may stand inside JSON strings. Blank
    lines are no records. The last line needs no line end, unless reading failed: then it is part of the report.
    """
    position = start
    limit = sys.maxsize if end is None else end
    held = _Held()
    try:
        for block in content:
            first, *others = block.split(b"\n")
            held.add(first)
            if not others:
                continue
            rest = others.pop()
            for line in (held.take(), *others):
                if position >= limit:
                    return
                if item := _line_record(position, line):
                    yield item
                position += _size(line) + 1
            if position >= limit:
                return
            held.add(rest)
    except FILE_FAULTS as fault:
        left = f"; {held.size} bytes of an incomplete line were left" if held.size else ""
        tail = held.take()
        yield Broken(position, reason(fault) + left, tail if isinstance(tail, bytes) else b"")
        return
    last = held.take()
    if item := _line_record(position, last):
        yield item
    missing = 0 if end is None else end - position - _size(last)
    if missing > 0:
        yield Broken(position + _size(last), f"the file is {missing} bytes shorter than when it was listed")


def _size(line: bytes | int) -> int:
    return line if isinstance(line, int) else len(line)


def _line_record(position: int, line: bytes | int) -> Found | None:
    if isinstance(line, int):
        return Broken(position, f"a line of {line} bytes: more than {MAX_RECORD_BYTES} are not read")
    if position == 0:
        line = line.removeprefix(_BOM)
    if line.endswith(b"\r"):
        line = line[:-1]
    return RawRecord(position, line) if line and not line.isspace() else None


_TO_BRACKET = re.compile(
    rb"""[^"{}\[\]]*+ (?: "[^"\\]*+(?:\\.[^"\\]*+)*+" [^"{}\[\]]*+ )*+ [{}\[\]]""", re.DOTALL | re.VERBOSE
)
_SEPARATORS = re.compile(rb"(?:[\s,]|\xef\xbb\xbf)*+")
_SEAM = re.compile(rb"""\}\s*,\s*\{\s*"[^"\\]{1,64}"\s*:""")  # }, {"first key": as it stands between two elements
_SCALAR = re.compile(rb"""(?: "[^"\\]*+(?:\\.[^"\\]*+)*+" | [^\s,"\[\]{}]++ | [\]}] )""", re.DOTALL | re.VERBOSE)


def split_elements(content: Iterable[bytes]) -> Iterator[Found]:
    """Cut JSON text into records: the elements of an array, or values that stand one behind another (as jq prints).

    Only brackets and strings decide where an element ends, so one malformed element costs no other. What does not end
    is reported, not delivered. Positions count the elements.
    """
    text = _Window(content)
    count, in_array = 0, False
    while mark := text.next_mark():
        if mark == (b"]" if in_array else b"["):
            in_array = not in_array
            text.at += 1
            continue
        element = text.take_alike() or text.take()
        if element is None:
            break
        yield RawRecord(count, element)
        count += 1
    if text.left > MAX_RECORD_BYTES:
        yield Broken(count, f"element {count} is longer than {MAX_RECORD_BYTES} bytes: reading stops there")
    elif text.fault or text.left or in_array:
        why = text.fault or "the document is cut"
        told = f"{why}; {text.left} bytes of element {count} were left" if text.left else why
        yield Broken(count, told, text.rest)


class _Window:
    """The part of a document that has been read and not yet been cut into records; ``at`` is where it begins."""

    def __init__(self, content: Iterable[bytes]) -> None:
        self.at = 0
        self.fault: str | None = None
        self._text = b""
        self._seam = b""
        self._source = iter(content)

    @property
    def left(self) -> int:
        return len(self._text) - self.at

    @property
    def rest(self) -> bytes:
        return self._text[self.at :]

    def next_mark(self) -> bytes:
        """The byte with which the next value begins; empty at the end."""
        while True:
            if separators := _SEPARATORS.match(self._text, self.at):
                self.at = separators.end()
            if self.left or not self._grow():
                return self._text[self.at : self.at + 1]

    def take(self) -> bytes | None:
        """Take the value at ``at``; null where it does not end, or is too long."""
        end = self._find_end()
        if end is None:
            return None
        seam = _SEAM.match(self._text, end - 1)
        self._seam = seam.group() if seam else b""
        return self._take_to(end)

    def take_alike(self) -> bytes | None:
        """Take the object at ``at`` if it ends where the last seam is seen again; null where it does not.

        Text that begins as an object and parses up to there ends there and nowhere else: no guess, and twice as fast
        as looking at each bracket.
        """
        end = self._text.find(self._seam, self.at) + 1 if self._seam else 0
        return self._take_to(end) if end and _is_json(self._text[self.at : end]) else None

    def _take_to(self, end: int) -> bytes:
        value = self._text[self.at : end]
        self.at = end
        return value

    def _find_end(self) -> int | None:
        while True:
            end = _value_end(self._text, self.at)
            if end is not None and end < len(self._text):
                return end
            if self.left > MAX_RECORD_BYTES or not self._grow():
                return end

    def _grow(self) -> bool:
        """Read as much again as is held, so that a long value is looked at twice and not once per block."""
        parts = [self._text[self.at :]]
        wanted = max(len(parts[0]), len(_BOM))
        try:
            while wanted > 0 and (block := next(self._source, None)) is not None:
                parts.append(block)
                wanted -= len(block)
        except FILE_FAULTS as fault:
            self.fault = reason(fault)
        self._text = b"".join(parts)
        self.at = 0
        return len(parts) > 1


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _value_end(text: bytes, at: int) -> int | None:
    if text[at] not in b"{[":
        scalar = _SCALAR.match(text, at)
        return scalar.end() if scalar else None
    depth = 0
    while step := _TO_BRACKET.match(text, at):
        at = step.end()
        depth += 1 if text[at - 1] in b"{[" else -1
        if not depth:
            return at
    return None
