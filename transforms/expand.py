"""Files to shards: what each file holds, and how it is cut for parallel reading.

What a file holds is decided by its content, never by its name: ``.json`` that is JSON Lines, ``.jsonl`` that is one
array and files without an extension are all common (reference/envelopes.md, section 4, traps 19 and 20).
"""

import io
import json
import os
import re
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import apache_beam as beam
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystem import BeamIOError, CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import PCollection

from transforms import envelopes

SHARD_BYTES = 64 << 20
"""Bytes of one shard of a file that can be cut: of a plain file as stored, of Parquet uncompressed."""
BLOCK_BYTES = 1 << 20
"""Bytes read or decompressed at a time."""
HEAD_BYTES = 1 << 20
"""Bytes of text looked at to tell what a file holds."""

PACK_BYTES = 16 << 20
PACK_FILES = 2000
"""So much of small files goes together, as it is stored."""

FILE_FAULTS = (OSError, EOFError, zlib.error, pa.ArrowException, BeamIOError)
"""What reading a bad or vanished file raises."""


class Form(StrEnum):
    """What a file holds: JSON Lines; JSON values that span lines, or one array; Parquet."""

    LINES = "lines"
    DOCUMENT = "document"
    PARQUET = "parquet"


class Shard(NamedTuple):
    """A part of a file that is read on its own.

    ``start`` and ``end`` are bytes of plain LINES (the shard owns the lines that start in that range), row groups of
    PARQUET; ``0, -1`` is the whole file. ``compression`` is ``gzip``, ``zstd`` or null. ``folded_by`` names the reader
    of transcripts that needs to see the whole file at once.
    """

    file: str
    form: str
    compression: str | None
    start: int
    end: int
    folded_by: str | None = None


class Source(NamedTuple):
    """A file that is to be read: as far as it went when it was listed, from where an earlier run stopped."""

    file: str
    start: int = 0
    """Bytes before this were read; only of a file that ``continues`` this is not 0."""
    end: int | None = None
    """Its size when it was listed: of lines that were added later the next run knows. Null: as it is now."""


Pack = tuple[Source, ...]
Shards = tuple[Shard, ...]
"""What is read together: one shard, or all of some small files."""


def expand(source: Source | str, transcripts: Collection[str] = envelopes.NAMES) -> Iterator[Shard]:
    """Cut one file into its shards; an empty file has none, a transcript of one of these kinds is one.

    Never raises for a bad file: it becomes one shard, and whoever reads that reports the fault.
    """
    path, begin, end = Source(source) if isinstance(source, str) else source
    head = bytearray()
    broken = Shard(path, Form.LINES, None, 0, -1)
    try:
        with open_file(path) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            magic = file.read(4)
            if magic == b"PAR1":
                broken = broken._replace(form=Form.PARQUET)
                cuts = list(_cut_row_groups(pq.read_metadata(file)))
                return (Shard(path, Form.PARQUET, None, start, end) for start, end in cuts)
        compression = _compression_of(magic)
        form = form_of(_noting_the_head(blocks(path, compression), head))
    except FILE_FAULTS:
        return iter([broken])
    if form is None:
        return iter(())
    reader = envelopes.reader_of(first_values(bytes(head), form), transcripts)
    if reader is not None:
        return iter([Shard(path, form, compression, 0, -1, reader.NAME)])
    if form is Form.LINES and compression is None:
        return (Shard(path, Form.LINES, None, *cut) for cut in _cut_bytes(begin, size if end is None else end))
    return iter([Shard(path, form, compression, 0, -1)])


def continues(path: str, transcripts: Collection[str] = envelopes.NAMES) -> bool:
    """Tell whether each line of a file stands for itself and begins at a byte, so that reading may begin anywhere."""
    shard = next(expand(path, transcripts), None)
    return (
        shard is not None
        and (shard.form, shard.compression, shard.folded_by) == (Form.LINES, None, None)
        and shard.end >= 0
    )


def _cut_bytes(begin: int, size: int) -> Iterator[tuple[int, int]]:
    return ((start, min(start + SHARD_BYTES, size)) for start in range(begin, size, SHARD_BYTES))


def _cut_row_groups(metadata: pq.FileMetaData) -> Iterator[tuple[int, int]]:
    start = size = 0
    for group in range(metadata.num_row_groups):
        size += metadata.row_group(group).total_byte_size
        if size >= SHARD_BYTES or group + 1 == metadata.num_row_groups:
            yield start, group + 1
            start, size = group + 1, 0


def packed(sources: Iterable[Source]) -> Iterator[Pack]:
    """Small files that are listed one behind another go together: each element costs more than a small file does."""
    pack: list[Source] = []
    size = 0
    for source in sources:
        more = PACK_BYTES if source.end is None else source.end - source.start
        if pack and (size + more > PACK_BYTES or len(pack) >= PACK_FILES):
            yield tuple(pack)
            pack, size = [], 0
        pack.append(source)
        size += more
    if pack:
        yield tuple(pack)


@dataclass
class Expand(beam.PTransform[PCollection[Pack], PCollection[Shards]]):
    """Files to their shards; files that these readers of transcripts recognise stay whole."""

    transcripts: tuple[str, ...] = envelopes.NAMES

    def expand(self, input_or_inputs: PCollection[Pack]) -> PCollection[Shards]:
        """Wire files to shards: those of one large file each for itself, small files together."""
        return input_or_inputs | "ExpandFiles" >> beam.FlatMap(_expand_pack, self.transcripts)


def _expand_pack(pack: Pack, transcripts: Collection[str] = envelopes.NAMES) -> Iterator[Shards]:
    """An empty file gives one empty shard: a run that finds nothing has an account too."""
    if len(pack) > 1:
        yield tuple(shard for source in pack for shard in _expand_or_nothing(source, transcripts))
        return
    for shard in _expand_or_nothing(pack[0], transcripts):
        yield (shard,)


def _expand_or_nothing(source: Source, transcripts: Collection[str]) -> list[Shard]:
    return list(expand(source, transcripts)) or [Shard(source.file, Form.LINES, None, 0, 0)]


def form_of(content: Iterable[bytes]) -> Form | None:
    """Tell JSON Lines from a document by the beginning of a file's text; null where there is no text at all.

    Content that is no JSON counts as lines: each becomes a reject of its own. At a fault of the file the look ends:
    whoever reads the file comes upon it again, and reports it.
    """
    rest = iter(content)
    head = bytearray()
    cut = False
    try:
        while len(head) < HEAD_BYTES and (block := next(rest, None)) is not None:
            head += block
        cut = len(head) >= HEAD_BYTES
    except FILE_FAULTS:
        cut = True
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if not text:
        return Form.LINES if cut else None
    if text[0] == "{":
        return Form.DOCUMENT if _is_object_document(text, cut=cut) else Form.LINES
    if text[0] == "[":
        return Form.LINES if _are_lines_of_arrays(text, chain([bytes(head)], rest), cut=cut) else Form.DOCUMENT
    return Form.LINES


def _is_object_document(text: str, *, cut: bool) -> bool:
    line_end = text.find("\n")
    if line_end >= 0:
        return _spans_lines(text, line_end)
    # Firehose writes objects with nothing between them, up to 128 MB in one "line": these need not be held at once.
    return cut and _value_end(text) < len(text)


def _are_lines_of_arrays(text: str, content: Iterable[bytes], *, cut: bool) -> bool:
    line_end = text.find("\n")
    if line_end < 0 and not cut:
        return False
    if line_end >= 0 and _value_end(text[:line_end]) != len(text[:line_end].rstrip()):
        return not _spans_lines(text, line_end)
    return _goes_on_after_array(iter(content))


def _goes_on_after_array(content: Iterator[bytes]) -> bool:
    """Whether the first line that is not blank ends like an array and is not the last: it may be longer than a head."""
    last = b""
    with suppress(*FILE_FAULTS):
        for block in content:
            line, newline, after = (block if last else block.lstrip()).partition(b"\n")
            last = line.rstrip()[-1:] or last
            if newline:
                return last == b"]" and (bool(after.strip()) or any(b.strip() for b in content))
    return False


def _noting_the_head(content: Iterable[bytes], head: bytearray) -> Iterator[bytes]:
    """Pass a file's blocks on, and keep the first bytes."""
    for block in content:
        if len(head) < HEAD_BYTES:
            head += block
        yield block


def first_values(head: bytes, form: Form) -> list[Any]:
    """The first JSON values in the beginning of a file's text: of lines, of an array's elements, or of a document."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if form is Form.LINES:
        return [value for line in text.split(b"\n", _FIRST)[:_FIRST] if (value := _parsed(line)) is not None]
    whole = _parsed(text)
    if whole is not None:
        return whole[:_FIRST] if isinstance(whole, list) else [whole]
    return _leading_values(text.decode("utf-8", "replace"))


_FIRST = envelopes.HEAD_LINES
_BETWEEN = re.compile(r"[\s,]*")


def _parsed(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _leading_values(text: str) -> list[Any]:
    values: list[Any] = []
    position = 1 if text.startswith("[") else 0
    while len(values) < _FIRST:
        position = _BETWEEN.match(text, position).end()  # type: ignore[union-attr] # matches the empty text too
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        values.append(value)
    return values


_DECODER = json.JSONDecoder()


def _value_end(text: str) -> int:
    """Where the JSON value ends with which a text begins; past the text's end where it does not end."""
    try:
        return _DECODER.raw_decode(text)[1]
    except (ValueError, RecursionError):
        return len(text) + 1


def _spans_lines(text: str, line_end: int) -> bool:
    """Whether the second line continues the JSON value of the first: a half-written first line does not count."""
    second = line_end + len(text[line_end:]) - len(text[line_end:].lstrip())
    try:
        return _DECODER.raw_decode(text)[1] > line_end
    except json.JSONDecodeError as stop:
        is_cut = stop.pos >= len(text) or (stop.pos == second and stop.msg.startswith("Unterminated string"))
        return stop.pos > second or is_cut
    except RecursionError:
        return False


def _compression_of(magic: bytes) -> str | None:
    """Tell a compressed file by its first four bytes; zstd files may begin with a skippable frame (RFC 8878, 3.1.2)."""
    if magic[:2] == b"\x1f\x8b":
        return "gzip"
    is_zstd = magic == b"\x28\xb5\x2f\xfd" or (magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5)
    return "zstd" if is_zstd else None


def open_file(path: str) -> BinaryIO | io.FileIO:
    """Open a local file, or a URL of one of Beam's file systems, for reading its bytes as they are stored."""
    if "://" in path:
        return FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)
    return Path(path).open("rb", buffering=0)


def blocks(path: str, compression: str | None = None, start: int = 0) -> Iterator[bytes]:
    """Read a file block by block, decompressed; ``start`` counts stored bytes and is for plain files.

    Of a cut or corrupt file all that can be decompressed comes first, then one of ``FILE_FAULTS`` is raised.
    """
    if compression == "zstd":
        return _unzstd(path)
    return _gunzip(_stored(path, 0)) if compression == "gzip" else _stored(path, start)


def _stored(path: str, start: int) -> Iterator[bytes]:
    with open_file(path) as file:
        if start:
            file.seek(start)
        while block := file.read(BLOCK_BYTES):
            yield block


_GZIP = 16 + zlib.MAX_WBITS


def _gunzip(stored: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress gzip members that stand one behind another; zeros behind a member are padding."""
    member = zlib.decompressobj(_GZIP)
    for block in stored:
        data = block
        while data:
            if member.eof:
                data = data.lstrip(b"\0")
                member = zlib.decompressobj(_GZIP) if data else member
                continue
            before = member.copy()
            try:
                text = member.decompress(data, BLOCK_BYTES)
            except zlib.error:
                yield from (before.decompress(data[i : i + 1]) for i in range(len(data)))  # raises at the corrupt byte
                raise
            yield text
            data = member.unused_data or member.unconsumed_tail
    if not member.eof:
        yield member.flush()
        raise EOFError("the gzip stream ends early: the file is cut")


def _unzstd(path: str) -> Iterator[bytes]:
    """Decompress zstd frames. Arrow drops what it had decompressed when a read fails, so that read is done again."""
    done, step = 0, BLOCK_BYTES
    while True:
        try:
            with open_file(path) as file, pa.CompressedInputStream(file, "zstd") as stream:
                _pass_over(stream, done)
                while text := stream.read(step):
                    done += len(text)
                    yield text
                return
        except OSError:
            if step == 1:
                raise
            step >>= 10  # so that no more than some thousand reads find the last byte that there is


def _pass_over(stream: pa.NativeFile, size: int) -> None:
    while size:
        passed = stream.read(min(size, BLOCK_BYTES))
        if not passed:
            raise EOFError("the file changed while it was read")
        size -= len(passed)


def reason(fault: Exception) -> str:
    """Say in one line why a file could not be read."""
    text = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
    return " ".join(text.split()) or type(fault).__name__
