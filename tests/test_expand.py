"""Inputs to files, files to shards: what a file holds is told by its content."""

import gzip
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from apache_beam.io.filesystem import FileMetadata, FileSystem
from apache_beam.testing.test_pipeline import TestPipeline as _TestPipeline
from apache_beam.testing.util import assert_that, equal_to
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms import expand as expand_module
from transforms import expand as module
from transforms.expand import FILE_FAULTS, Expand, Form, Shard, Source, blocks, expand, form_of, packed
from transforms.inputs import InputNotFoundError, Listed, find
from transforms.read import read


def _zstd(data: bytes) -> bytes:
    compressed: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return compressed


@pytest.mark.parametrize(
    ("text", "form"),
    [
        pytest.param('{"a": 1}\n{"a": 2}\n', Form.LINES, id="json_lines"),
        pytest.param('{"a": 1}', Form.LINES, id="one_object"),
        pytest.param('\ufeff\r\n {"a": 1}\r\n', Form.LINES, id="byte_order_mark_and_blank_line"),
        pytest.param('{"a": NaN}\n{"a": 2}\n', Form.LINES, id="json_lines_with_nan"),
        pytest.param('{"a": {"b": 1\n{"a": 2}\n', Form.LINES, id="half_written_first_line"),
        pytest.param('{"a": "cut in a str\n{"a": 2}\n', Form.LINES, id="first_line_cut_in_a_string"),
        pytest.param('{"a": 1,\n{"a": 2}\n', Form.LINES, id="first_line_cut_behind_a_comma"),
        pytest.param('{"a": 1}{"a": 2}', Form.LINES, id="nothing_between_objects"),
        pytest.param('{"a": 1}{"a": 2}\n{"a": 3}\n', Form.LINES, id="nothing_between_some_objects"),
        pytest.param('{\n  "a": 1\n}\n', Form.DOCUMENT, id="printed_object"),
        pytest.param('{"log": {\n "entries": [', Form.DOCUMENT, id="printed_object_that_is_cut"),
        pytest.param('{\n "a": 1\n}\n{\n "a": 2\n}\n', Form.DOCUMENT, id="printed_objects_behind_one_another"),
        pytest.param('[{"a": 1}, {"a": 2}]', Form.DOCUMENT, id="array_on_one_line"),
        pytest.param('[{"a": 1}]\n \n', Form.DOCUMENT, id="array_on_one_line_with_line_ends"),
        pytest.param('[\n{"a": 1},\n{"a": 2}\n]', Form.DOCUMENT, id="array_of_lines"),
        pytest.param('[\n"a string that is not ended', Form.DOCUMENT, id="array_cut_in_its_second_line"),
        pytest.param('[{"a": 1},\n{"a": ', Form.DOCUMENT, id="array_that_is_cut"),
        pytest.param('[{"a": 1}]\n[{"a": 2}]\n', Form.LINES, id="array_a_line"),
        pytest.param("[2026-11-30 12:00:01] started\n[2026-11-30 12:00:02] ended\n", Form.LINES, id="text_log"),
        pytest.param('data: {"a": 1}\n\n', Form.LINES, id="server_sent_events"),
        pytest.param("\x00\x01\x02\xff", Form.LINES, id="binary"),
        pytest.param(("[" * 5000 + "\n") * 2, Form.LINES, id="nested_too_deeply"),
        pytest.param(" \r\n\t\n", None, id="white_space_only"),
        pytest.param("", None, id="empty"),
    ],
)
def test_form_is_told_by_content(text: str, form: Form | None) -> None:
    assert form_of([text.encode()]) == form
    assert form_of(bytes([byte]) for byte in text.encode()) == form


@pytest.mark.parametrize(
    ("text", "form"),
    [
        pytest.param('{"a": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}\n{"a": 2}', Form.LINES, id="long_first_line"),
        pytest.param('{"a": 1}{"a": 2}{"a": 3}{"a": 4}{"a": 5}', Form.DOCUMENT, id="nothing_between_many_objects"),
        pytest.param('[{"a": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}]\n[{}]', Form.LINES, id="array_a_line"),
        pytest.param('[{"a": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}]\n ', Form.DOCUMENT, id="array_on_one_line"),
        pytest.param('[{"a": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},\n{}]', Form.DOCUMENT, id="array_of_lines"),
        pytest.param('{\n "a": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"\n}', Form.DOCUMENT, id="printed_object"),
        pytest.param(" " * 40 + "{}", Form.LINES, id="white_space_only_in_the_head"),
    ],
)
def test_form_of_what_is_longer_than_a_head(text: str, form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEAD_BYTES", 20)
    for size in (1, 7, 1000):
        assert form_of(text[i : i + size].encode() for i in range(0, len(text), size)) == form


def test_a_fault_behind_the_head_does_not_change_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(text: bytes) -> Iterator[bytes]:
        yield text
        raise EOFError

    monkeypatch.setattr(module, "HEAD_BYTES", 5)
    assert form_of(cut(b'[{"a": 1}, {"a": 2}')) is Form.DOCUMENT
    assert form_of(cut(b'{"a": 1}\n{"a": 2}')) is Form.LINES
    assert form_of(cut(b"")) is Form.LINES


def test_plain_lines_are_cut_by_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHARD_BYTES", 10)
    path = tmp_path / "no-extension"
    path.write_bytes(b'{"a": 1}\n{"a": 2}\n{"a": 3}\n')
    shards = list(expand(str(path)))
    assert [(shard.start, shard.end) for shard in shards] == [(0, 10), (10, 20), (20, 27)]
    assert {shard[:3] for shard in shards} == {(str(path), "lines", None)}


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("calls.json", b'{"a": 1}\n{"a": 2}\n', ("lines", None, 0, 18)),
        ("calls.jsonl", b'[{"a": 1},{"a": 2}]', ("document", None, 0, -1)),
        ("calls.log", gzip.compress(b'{"a": 1}\n', mtime=0), ("lines", "gzip", 0, -1)),
        ("calls.gz", b'{"a": 1}\n', ("lines", None, 0, 9)),
        ("calls", _zstd(b"[{}]"), ("document", "zstd", 0, -1)),
        ("skippable", b"\x5a\x2a\x4d\x18\x01\0\0\0x" + _zstd(b"{}"), ("lines", "zstd", 0, -1)),
        ("cut-array", gzip.compress(b'[{"a": 1}, {"a', 0, mtime=0)[:-8], ("document", "gzip", 0, -1)),
        ("cut.gz", gzip.compress(b'{"a": 1}\n', mtime=0)[:5], ("lines", "gzip", 0, -1)),
        ("cut.parquet", b"PAR1 and no more", ("parquet", None, 0, -1)),
    ],
)
def test_a_file_becomes_shards(
    name: str, content: bytes, expected: tuple[str, str | None, int, int], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert list(expand(str(path))) == [Shard(str(path), *expected)]


@pytest.mark.parametrize("content", [b"", b"\n \n", gzip.compress(b"", mtime=0), _zstd(b"\n")])
def test_a_file_without_text_has_no_shards(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.write_bytes(content)
    assert list(expand(str(path))) == []


def test_a_file_that_cannot_be_opened_becomes_a_shard_that_reports_it(tmp_path: Path) -> None:
    shards = list(expand(str(tmp_path / "gone.jsonl")))
    assert shards == [Shard(str(tmp_path / "gone.jsonl"), "lines", None, 0, -1)]
    [batch] = read(shards[0])
    assert (batch.records, batch.broken) == ([], "No such file or directory")


def test_parquet_is_cut_by_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "calls"
    pq.write_table(pa.table({"a": list(range(50))}), path, row_group_size=10)
    [whole] = expand(str(path))
    assert whole == Shard(str(path), "parquet", None, 0, 5)
    monkeypatch.setattr(module, "SHARD_BYTES", pq.read_metadata(path).row_group(0).total_byte_size + 1)
    assert [(shard.start, shard.end) for shard in expand(str(path))] == [(0, 2), (2, 4), (4, 5)]


def _unused(*_: Any) -> Any:
    raise NotImplementedError


class _MemoryFileSystem(FileSystem):
    """The least file system that Beam needs, for URLs: ``memory://`` and files in a dict."""

    files: dict[str, bytes] = {}  # noqa: RUF012 - Beam makes an instance for each call

    @classmethod
    def scheme(cls) -> str:
        return "memory"

    def has_dirs(self) -> bool:
        return False

    def split(self, path: str) -> tuple[str, str]:
        head, _, tail = path.rpartition("/")
        return head, tail

    def _list(self, dir_or_prefix: str) -> Iterator[FileMetadata]:
        return (FileMetadata(p, len(b)) for p, b in self.files.items() if p.startswith(dir_or_prefix))

    def open(self, path: str, *_: Any, **__: Any) -> BinaryIO:
        return io.BytesIO(self.files[path])

    def exists(self, path: str) -> bool:
        return path in self.files

    def metadata(self, path: str) -> FileMetadata:
        return FileMetadata(path, len(self.files[path]))

    join = mkdirs = create = copy = rename = size = last_updated = checksum = delete = cast(Any, _unused)


def test_urls_go_through_beams_file_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": [1, 2]}), sink)
    files = {
        "memory://logs/a.jsonl": b'{"a": 1}\n{"a": 2}\n',
        "memory://logs/day/b.gz": gzip.compress(b'{"a": 3}\n', mtime=0),
        "memory://logs/day/c": _zstd(b'[{"a": 4}]'),
        "memory://logs/day/d": sink.getvalue().to_pybytes(),
        "memory://logs/day/_SUCCESS": b"",
    }
    monkeypatch.setattr(_MemoryFileSystem, "files", files)
    names = sorted(files)
    names.remove("memory://logs/day/_SUCCESS")
    listed = [Listed(name, len(files[name]), "") for name in names]
    assert find(["memory://logs"]) == find(["memory://logs/**"]) == listed
    assert [found.file for found in find(["memory://logs/day/_SUCCESS"])] == ["memory://logs/day/_SUCCESS"]
    with pytest.raises(InputNotFoundError, match=r"^memory://gone: no such file"):
        find(["memory://gone"])
    records = [r.value for name in names for shard in expand(name) for batch in read(shard) for r in batch.records]
    assert records == [b'{"a": 1}', b'{"a": 2}', b'{"a": 3}', b'{"a": 4}', {"a": 1}, {"a": 2}]


_TEXT = b"".join(b'{"n": %d}\n' % n for n in range(300))


def _read_until_fault(path: Path, compression: str) -> tuple[bytes, Exception | None]:
    text = bytearray()
    try:
        for block in blocks(str(path), compression):
            text += block
    except FILE_FAULTS as fault:
        return bytes(text), fault
    return bytes(text), None


@pytest.mark.parametrize(("compression", "compress"), [("gzip", gzip.compress), ("zstd", _zstd)])
def test_many_members_are_one_text(compression: str, compress: Any, tmp_path: Path) -> None:
    path = tmp_path / "calls"
    path.write_bytes(compress(_TEXT) + compress(b"") + compress(b"last"))
    assert _read_until_fault(path, compression) == (_TEXT + b"last", None)


def test_zeros_behind_a_gzip_member_are_padding_and_anything_else_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "calls"
    path.write_bytes(gzip.compress(_TEXT, mtime=0) + b"\0" * 600)
    assert _read_until_fault(path, "gzip") == (_TEXT, None)
    path.write_bytes(gzip.compress(_TEXT, mtime=0) + b"garbage")
    text, fault = _read_until_fault(path, "gzip")
    assert text == _TEXT
    assert "incorrect header" in str(fault)


def test_a_gzip_bomb_is_unpacked_block_by_block(tmp_path: Path) -> None:
    path = tmp_path / "calls"
    path.write_bytes(gzip.compress(b"0" * (20 * module.BLOCK_BYTES), mtime=0))
    sizes = [len(block) for block in blocks(str(path), "gzip")]
    assert sum(sizes) == 20 * module.BLOCK_BYTES
    assert max(sizes) <= module.BLOCK_BYTES


@pytest.mark.parametrize(("compression", "compress"), [("gzip", gzip.compress), ("zstd", _zstd)])
@settings(max_examples=40)
@given(data=st.data())
def test_all_that_stands_before_a_cut_is_read(
    compression: str, compress: Any, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = compress(_TEXT) + compress(_TEXT)
    first = len(compress(_TEXT))
    kept = data.draw(st.integers(4, len(whole) - 1).filter(lambda n: n != first))
    path = tmp_path_factory.mktemp("cut") / "calls"
    path.write_bytes(whole[:kept])
    text, fault = _read_until_fault(path, compression)
    assert fault is not None
    assert (_TEXT * 2).startswith(text)
    assert len(text) >= (len(_TEXT) if kept > first else 0)


@pytest.mark.parametrize(("compression", "compress"), [("gzip", gzip.compress), ("zstd", _zstd)])
def test_what_stands_before_corrupt_bytes_is_read(compression: str, compress: Any, tmp_path: Path) -> None:
    noise = os.urandom(300_000)
    path = tmp_path / "calls"
    path.write_bytes(compress(_TEXT) + compress(noise)[:-150_000] + compress(_TEXT))
    text, fault = _read_until_fault(path, compression)
    assert fault is not None
    assert text.startswith(_TEXT)


def test_expand_in_a_pipeline(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(b"{}\n")
    with _TestPipeline(runner="FnApiRunner") as pipeline:
        shards = pipeline | beam.Create([(Source(str(path)),)]) | Expand() | beam.Reshuffle()
        assert_that(shards, equal_to([(Shard(str(path), "lines", None, 0, 3),)]))


def test_small_files_go_together_up_to_a_bound() -> None:
    sizes = [1, 2, expand_module.PACK_BYTES, 3, expand_module.PACK_BYTES - 3, 1]
    packs = list(packed(Source(str(n), 0, size) for n, size in enumerate(sizes)))
    assert [[source.file for source in pack] for pack in packs] == [["0", "1"], ["2"], ["3", "4"], ["5"]]
    assert [len(pack) for pack in packed([Source("a", 0, 1)] * 4001)] == [2000, 2000, 1]
