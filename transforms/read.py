"""A shard to batches of raw records: what was stored, cut into records, and nothing understood yet.

A bad file never raises: what could be read of it is delivered, and a batch says why and where reading stopped.
Memory is bounded by a few blocks and one record, whatever a file's size.
"""

import json
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import apache_beam as beam
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.pvalue import PCollection

from schemas.exchange import JsonObject, RawRecord, RecordBatch, RecordBatches
from transforms.expand import BLOCK_BYTES, FILE_FAULTS, Form, Shard, Shards, blocks, open_file, reason

BATCH_BYTES = 16 << 20
BATCH_RECORDS = 8192
MAX_RECORD_BYTES = 256 << 20
"""A longer line is reported and passed over; at a longer element of a document reading stops."""
MAX_TRANSCRIPT_BYTES = 256 << 20
"""A transcript is held at once; the lines of a longer one are read each for itself."""


class Broken(NamedTuple):
    """Stands among records where some could not be read."""

    position: int
    reason: str
    rest: bytes = b""
    """What was left of an incomplete record."""


Found = RawRecord | Broken


def read(shard: Shard) -> Iterator[RecordBatch]:
    """Read a shard's records in batches of up to ``BATCH_BYTES`` and ``BATCH_RECORDS``; one record may be larger.

    Records of LINES and DOCUMENT are bytes as they stand in the file, rows of PARQUET are dicts.
    """
    if shard.form == Form.PARQUET:
        return _read_rows(shard)
    is_document = shard.form == Form.DOCUMENT
    found = split_elements(blocks(shard.file, shard.compression)) if is_document else _read_lines(shard)
    if shard.folded_by is not None:
        return _together(shard.file, found, shard.folded_by)
    return _batched(shard.file, found)


@dataclass
class Read(beam.PTransform[PCollection[Shards], PCollection[RecordBatches]]):
    """Shards to batches of their records."""

    def expand(self, input_or_inputs: PCollection[Shards]) -> PCollection[RecordBatches]:
        """Wire shards to their batches."""
        return input_or_inputs | "ReadShards" >> beam.FlatMap(_read_together)


def _read_together(shards: Shards) -> Iterator[RecordBatches]:
    """Batches of small files go on together, as long as they are no larger than a batch of a large one."""
    batches: list[RecordBatch] = []
    size = records = 0
    for batch in chain.from_iterable(map(_read_or_nothing, shards)):
        if batches and (size + batch.size > BATCH_BYTES or records + len(batch.records) > BATCH_RECORDS):
            yield tuple(batches)
            batches, size, records = [], 0, 0
        batches.append(batch)
        size += batch.size
        records += len(batch.records)
    yield tuple(batches)


def _read_or_nothing(shard: Shard) -> Iterator[RecordBatch]:
    """A shard without records gives one empty batch: a run that finds nothing has an account too."""
    batch = None
    for batch in read(shard):
        yield batch
    if batch is None:
        yield RecordBatch(shard.file, [])


def _batched(file: str, found: Iterable[Found]) -> Iterator[RecordBatch]:
    batch = RecordBatch(file, [])
    for item in found:
        if isinstance(item, Broken):
            batch.broken, batch.broken_at, batch.broken_rest = item.reason, item.position, item.rest
            yield batch
            batch = RecordBatch(file, [])
            continue
        size = len(item.value)
        if batch.records and (batch.size + size > BATCH_BYTES or len(batch.records) >= BATCH_RECORDS):
            yield batch
            batch = RecordBatch(file, [])
        batch.records.append(item)
        batch.size += size
    if batch.records:
        yield batch


def _together(file: str, found: Iterator[Found], folded_by: str) -> Iterator[RecordBatch]:
    """All records of a transcript in one batch, what could not be read before them; too many are batched as always."""
    records: list[RawRecord] = []
    size = 0
    for item in found:
        if isinstance(item, Broken):
            yield RecordBatch(file, [], broken=item.reason, broken_at=item.position, broken_rest=item.rest)
            continue
        records.append(item)
        size += len(item.value)
        if size > MAX_TRANSCRIPT_BYTES:
            yield from _batched(file, chain(records, found))
            return
    yield RecordBatch(file, records, size, folded_by=folded_by)


def _read_lines(shard: Shard) -> Iterator[Found]:
    start: int | None = shard.start
    if shard.start > 0:
        try:
            start = _first_line_start(blocks(shard.file, None, shard.start - 1), shard.start - 1, shard.end)
        except FILE_FAULTS as fault:
            yield Broken(shard.start, reason(fault))
            return
    if start is not None:
        end = shard.end if shard.end >= 0 else None
        yield from split_lines(blocks(shard.file, shard.compression, start), start, end)


def _first_line_start(content: Iterable[bytes], position: int, end: int) -> int | None:
    """Where the first line begins behind a position; null where none begins before ``end``."""
    for block in content:
        newline = block.find(b"\n")
        if newline >= 0:
            begin = position + newline + 1
            return begin if begin < end else None
        position += len(block)
        if position >= end:
            return None
    return position


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


def _read_rows(shard: Shard) -> Iterator[RecordBatch]:
    position = 0
    try:
        with open_file(shard.file) as file:
            # Without these two a whole row group's bytes are held at once.
            parquet = pq.ParquetFile(file, pre_buffer=False, buffer_size=BLOCK_BYTES, coerce_int96_timestamp_unit="us")
            metadata = parquet.metadata
            groups = range(shard.start, shard.end if shard.end >= 0 else metadata.num_row_groups)
            position = sum(metadata.row_group(group).num_rows for group in range(shard.start))
            for rows in parquet.iter_batches(_rows_at_a_time(metadata, groups), row_groups=groups):
                for part in _bounded(_readable(rows)):
                    records = [RawRecord(position + i, row) for i, row in enumerate(_to_dicts(part))]
                    yield RecordBatch(shard.file, records, part.nbytes)
                    position += len(records)
    except (*FILE_FAULTS, ValueError, OverflowError) as fault:  # the last two: times out of Python's range
        yield RecordBatch(shard.file, [], broken=reason(fault), broken_at=position)


def _rows_at_a_time(metadata: pq.FileMetaData, groups: range) -> int:
    size = sum(metadata.row_group(group).total_byte_size for group in groups)
    rows: int = sum(metadata.row_group(group).num_rows for group in groups)
    return max(1, min(BATCH_RECORDS, BATCH_BYTES * rows // max(size, 1)))


def _bounded(rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Halve a batch until it is small enough: rows of one file may differ much in size."""
    if rows.nbytes <= BATCH_BYTES or len(rows) <= 1:
        yield rows
        return
    middle = len(rows) // 2
    yield from _bounded(rows.slice(0, middle))
    yield from _bounded(rows.slice(middle))


def _readable(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Nanoseconds become microseconds: Python's times hold no finer ones, and Arrow refuses to convert them."""
    fields = [field.with_type(_in_microseconds(field.type)) for field in rows.schema]
    return rows.cast(pa.schema(fields), safe=False) if fields != list(rows.schema) else rows


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_in_microseconds(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, _in_microseconds(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_in_microseconds(kind.value_type)))
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    return _MICROSECONDS.get(kind, kind)


_MICROSECONDS = {pa.time64("ns"): pa.time64("us"), pa.duration("ns"): pa.duration("us")}


def _to_dicts(rows: pa.RecordBatch) -> list[JsonObject]:
    with warnings.catch_warnings(
        action="ignore", category=UserWarning
    ):  # of a map's key that is there twice: last wins
        dicts: list[JsonObject] = rows.to_pylist(maps_as_pydicts="lossy")
    for name in (field.name for field in rows.schema if "binary" in str(field.type)):
        for row in dicts:
            row[name] = _as_text(row[name])
    return dicts


def _as_text(value: object) -> object:
    """Older writers store strings as plain binary; what is not UTF-8 stays bytes."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if isinstance(value, dict):
        return {_as_text(key): _as_text(inner) for key, inner in value.items()}
    return [_as_text(inner) for inner in value] if isinstance(value, list) else value


def parse(raw: bytes) -> object:
    """Parse one JSON value, also where its writer was careless.

    Kept by a slower second reading: lone surrogates and invalid UTF-8 (each becomes U+FFFD, in keys too), ``NaN`` and
    infinities (null: not a number is not reported), control characters in strings, a byte order mark.

    Raises:
        ValueError: it is no JSON; the text says what was seen and where.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _parse_leniently(raw.decode("utf-8", "replace").lstrip("\ufeff"))


_LENIENT = json.JSONDecoder(strict=False, parse_constant=lambda _: None)
_SURROGATE = re.compile("[\ud800-\udfff]")


def _parse_leniently(text: str) -> object:
    try:
        return _without_surrogates(_LENIENT.decode(text))
    except json.JSONDecodeError as fault:
        near = text[max(0, fault.pos - 20) : fault.pos + 20]
        raise ValueError(f"{fault.msg} at character {fault.pos} of {len(text)}, near {near!r}") from None
    except RecursionError:
        raise ValueError(f"nested too deeply to be read ({len(text)} characters)") from None


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(inner) for key, inner in value.items()}
    return [_without_surrogates(inner) for inner in value] if isinstance(value, list) else value


def split_concatenated(line: bytes) -> list[bytes] | None:
    """Cut a line of objects with nothing between them (Firehose); null where it is not at least two.

    For a line that did not parse. Where the last object is cut, it comes last as it is, for a reject of its own.
    """
    text = line.decode("utf-8", "surrogateescape").strip()
    values: list[str] = []
    at = 0
    while text.startswith(("{", "["), at):
        try:
            end = _LENIENT.raw_decode(text, at)[1]
        except (ValueError, RecursionError):
            break
        values.append(text[at:end])
        at = end
        while at < len(text) and text[at].isspace():
            at += 1
    rest = text[at:]
    if not values or rest[:1] not in {"", "{", "["}:
        return None
    pieces = [*values, rest] if rest else values
    return [piece.encode("utf-8", "surrogateescape") for piece in pieces] if len(pieces) > 1 else None
