"""Shards to records: each record once, with its position; a bad file is a report, never an exception."""

import contextlib
import gzip
import json
import re
import tracemalloc
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import apache_beam as beam
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as _TestPipeline
from apache_beam.testing.util import assert_that, equal_to
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas.exchange import RawRecord, RecordBatch
from transforms import expand as expanding
from transforms import read as module
from transforms import records as cutting
from transforms.expand import Form, Shard, expand
from transforms.json_text import parse, split_concatenated
from transforms.read import Read, read
from transforms.records import Broken, split_elements, split_lines


def _pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[i : i + size] for i in range(0, len(data), size))


def _records(batches: Iterator[RecordBatch]) -> list[RawRecord]:
    """All records; fails where any of a file could not be read."""
    records: list[RawRecord] = []
    for batch in batches:
        assert batch.broken is None
        records.extend(batch.records)
    return records


def _written(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


_LINES = st.lists(
    st.sampled_from(
        [b"", b" \t", b"{}", b'{"a":"\xe2\x80\xa8\xc2\x85\x0b"}', b"x" * 50, b"\r", b"\xff\x00", b'{"b":1} ']
    )
)
_LINE_ENDS = st.sampled_from([b"\n", b"\r\n"])


def _expected(lines: list[bytes], line_end: bytes) -> list[RawRecord]:
    found: list[RawRecord] = []
    position = 0
    for line in lines:
        kept = line if line_end == b"\r\n" else line.removesuffix(b"\r")
        if kept.strip():
            found.append(RawRecord(position, kept))
        position += len(line) + len(line_end)
    return found


@given(lines=_LINES, line_end=_LINE_ENDS, ends=st.booleans(), block=st.integers(1, 40), shard=st.integers(1, 60))
def test_shards_together_give_each_line_once(
    *, lines: list[bytes], line_end: bytes, ends: bool, block: int, shard: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = line_end.join(lines) + (line_end if ends and lines else b"")
    path = _written(tmp_path_factory.mktemp("lines") / "calls", data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expanding, "BLOCK_BYTES", block)
        found: list[RawRecord] = []
        for start in range(0, len(data), shard):
            part = _records(read(Shard(path, Form.LINES, None, start, min(start + shard, len(data)))))
            assert all(start <= record.position < start + shard for record in part)
            found.extend(part)
        assert found == _expected(lines, line_end)
        assert _records(read(Shard(path, Form.LINES, None, 0, -1))) == found


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lambda data: pa.compress(data, "zstd", asbytes=True)])
def test_a_file_gives_the_same_records_however_it_is_compressed(compress: Any, tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a": 2}\n' + b'{"a": "%s"}' % (b"x" * 3_000_000)
    path = _written(tmp_path / "calls", compress(data[:30]) + compress(data[30:]))
    found = [record for shard in expand(path) for record in _records(read(shard))]
    assert found == [RawRecord(0, b'{"a": 1}'), RawRecord(15, b'{"a": 2}'), RawRecord(24, data[24:])]


def test_batches_are_bounded_by_bytes_and_by_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_BYTES", 20)
    monkeypatch.setattr(module, "BATCH_RECORDS", 3)
    path = _written(tmp_path / "calls", b"\n".join([b"1"] * 7 + [b"x" * 30, b"y" * 15, b"z" * 5, b"2"]))
    batches = list(read(Shard(path, Form.LINES, None, 0, -1)))
    assert [[len(r.value) for r in batch.records] for batch in batches] == [
        [1, 1, 1],
        [1, 1, 1],
        [1],
        [30],
        [15, 5],
        [1],
    ]
    assert [batch.size for batch in batches] == [3, 3, 1, 30, 20, 1]


def test_a_line_that_is_too_long_is_reported_and_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "MAX_RECORD_BYTES", 10)
    monkeypatch.setattr(expanding, "BLOCK_BYTES", 4)
    path = _written(tmp_path / "calls", b"{}\n" + b"x" * 11 + b"\n[1]\n" + b"y" * 100)
    first, second = read(Shard(path, Form.LINES, None, 0, -1))
    assert (first.records, first.broken_at) == ([RawRecord(0, b"{}")], 3)
    assert first.broken == "a line of 11 bytes: more than 10 are not read"
    assert (second.records, second.broken_at) == ([RawRecord(15, b"[1]")], 19)
    assert second.broken == "a line of 100 bytes: more than 10 are not read"


def test_memory_does_not_grow_with_the_file_or_with_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "MAX_RECORD_BYTES", 4 << 20)
    monkeypatch.setattr(module, "BATCH_BYTES", 1 << 20)
    path = tmp_path / "calls"
    with path.open("wb") as file:
        for _ in range(32):
            file.write(b"x" * (1 << 20))  # one line of 32 MiB, then 32 MiB of short ones
        for _ in range(32):
            file.write(b"\n" + b"\n".join([b"y" * 1023] * 1024))
    tracemalloc.start()
    sizes = [len(batch.records) for batch in read(Shard(str(path), Form.LINES, None, 0, -1))]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(sizes) == 32 * 1024
    assert peak < 16 << 20


_TEXT = b"".join(b'{"n": %d}\n' % n for n in range(200))


@settings(max_examples=60)
@given(kept=st.integers(10, len(gzip.compress(_TEXT)) - 1), compression=st.sampled_from(["gzip", "zstd"]))
def test_a_cut_file_gives_its_whole_lines_and_says_what_was_left(
    kept: int, compression: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    stored = gzip.compress(_TEXT) if compression == "gzip" else pa.compress(_TEXT, "zstd", asbytes=True)
    kept = min(kept, len(stored) - 1)
    path = _written(tmp_path_factory.mktemp("cut") / "calls", stored[:kept])
    batches = list(read(Shard(path, Form.LINES, compression, 0, -1)))
    [batch] = batches
    assert batch.broken is not None
    whole = _TEXT[: batch.broken_at]
    assert [record.value for record in batch.records] == whole.splitlines()
    assert whole == b"" or whole.endswith(b"\n")
    assert ("bytes of an incomplete line were left" in batch.broken) or _TEXT.startswith(whole)


def test_the_report_of_a_cut_file_counts_the_bytes_of_the_half_line(tmp_path: Path) -> None:
    stored = gzip.compress(b'{"a": 1}\n{"a": ', compresslevel=0)
    path = _written(tmp_path / "calls", stored[:-8])
    [batch] = read(Shard(path, Form.LINES, "gzip", 0, -1))
    assert batch.records == [RawRecord(0, b'{"a": 1}')]
    assert batch.broken == "the gzip stream ends early: the file is cut; 6 bytes of an incomplete line were left"
    assert batch.broken_at == 9


@pytest.mark.parametrize("shard", [Shard("", Form.LINES, None, 0, 50), Shard("", Form.LINES, None, 30, 50)])
def test_a_file_that_became_shorter_is_reported(shard: Shard, tmp_path: Path) -> None:
    path = _written(tmp_path / "calls", b'{"a": 1}\n{"a": 2}')
    [batch] = read(shard._replace(file=path))
    assert len(batch.records) == (2 if shard.start == 0 else 0)
    assert batch.broken is not None
    assert "shorter than when it was listed" in batch.broken


def test_what_was_appended_behind_the_last_shard_is_left_for_the_next_run(tmp_path: Path) -> None:
    path = _written(tmp_path / "calls", b'{"a": 1}\n{"a": 2}\n{"a": 3}\n')
    assert _records(read(Shard(path, Form.LINES, None, 0, 12))) == [
        RawRecord(0, b'{"a": 1}'),
        RawRecord(9, b'{"a": 2}'),
    ]


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("start", [0, 5])
def test_a_vanished_file_is_reported(form: Form, start: int, tmp_path: Path) -> None:
    [batch] = read(Shard(str(tmp_path / "gone"), form, None, start, -1 if start == 0 else 9))
    assert batch == RecordBatch(str(tmp_path / "gone"), [], 0, "No such file or directory", batch.broken_at)


def _json(alphabet: str) -> st.SearchStrategy[object]:
    return st.recursive(
        st.none() | st.booleans() | st.integers(-5, 5) | st.text(alphabet, max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet, max_size=3), inner, max_size=3),
        max_leaves=8,
    )


_JSON = _json('a"\\[]{}, \u2028é')


def _parsed(found: Iterable[RawRecord | Broken]) -> list[object]:
    return [orjson.loads(item.value) for item in found if isinstance(item, RawRecord) and isinstance(item.value, bytes)]


@given(
    array=st.lists(_JSON, max_size=8),
    indent=st.sampled_from([None, 0, 2]),
    ascii_only=st.booleans(),
    block=st.integers(1, 30),
)
def test_elements_are_those_that_json_reads(
    *, array: list[object], indent: int | None, ascii_only: bool, block: int
) -> None:
    text = json.dumps(array, indent=indent, ensure_ascii=ascii_only).encode()
    found = list(split_elements(_pieces(b"\xef\xbb\xbf " + text + b"\n", block)))
    assert _parsed(found) == array
    assert [item.position for item in found] == list(range(len(array)))


_ALIKE = st.fixed_dictionaries({"id": _JSON, "parts": st.lists(st.fixed_dictionaries({"id": _JSON}), max_size=3)})


@given(array=st.lists(_ALIKE, max_size=5), block=st.integers(1, 60), data=st.data())
def test_a_cut_array_gives_its_whole_elements(array: list[object], block: int, data: st.DataObject) -> None:
    text = orjson.dumps(array)
    kept = data.draw(st.integers(1, len(text) - 1))
    *found, last = split_elements(_pieces(text[:kept], block))
    assert _parsed(found) == array[: len(found)]
    whole = len(orjson.dumps(array[: len(found)]).rstrip(b"]"))
    left = max(0, kept - whole - (1 if found else 0))
    assert last == Broken(
        len(found),
        f"the document is cut; {left} bytes of element {len(found)} were left" if left else "the document is cut",
        text[kept - left : kept] if left else b"",
    )


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param(b"[]", [], id="empty_array"),
        pytest.param(b'{\n "a": [1]\n}\n', [b'{\n "a": [1]\n}'], id="one_object"),
        pytest.param(b'{\n"a": 1\n}\n{\n}', [b'{\n"a": 1\n}', b"{\n}"], id="objects_behind_one_another"),
        pytest.param(b'{"a": 1}{"a": 2}', [b'{"a": 1}', b'{"a": 2}'], id="nothing_between"),
        pytest.param(b'[{"a": 1}]\n[{"a": 2}]', [b'{"a": 1}', b'{"a": 2}'], id="arrays_behind_one_another"),
        pytest.param(b'[[1], [2, 3]]', [b"[1]", b"[2, 3]"], id="arrays_in_an_array"),
        pytest.param(b'[1, "a, ]b", null]', [b"1", b'"a, ]b"', b"null"], id="scalars"),
        pytest.param(b'[{"a": 1}, {"a": t}, {"a": 3}]', [b'{"a": 1}', b'{"a": t}', b'{"a": 3}'], id="one_malformed"),
        pytest.param(b'[{"a": NaN}, {"a": "\\ud800"}]', [b'{"a": NaN}', b'{"a": "\\ud800"}'], id="careless_writer"),
        pytest.param(b'[{"a": 1}, {"b": 2}, {"a": 3}]', [b'{"a": 1}', b'{"b": 2}', b'{"a": 3}'], id="other_keys"),
        pytest.param(b'[{"a": 1}] and }', [b'{"a": 1}', b"and", b"}"], id="text_behind_it_is_not_lost"),
    ],
)  # fmt: skip
def test_documents_are_cut_into_their_elements(text: bytes, values: list[bytes]) -> None:
    for size in (1, 5, 100):
        assert list(split_elements(_pieces(text, size))) == [RawRecord(i, value) for i, value in enumerate(values)]


def test_an_element_that_holds_objects_like_itself_is_not_cut() -> None:
    elements = [{"id": n, "parts": [{"id": m} for m in range(3)]} for n in range(5)]
    assert _parsed(split_elements([orjson.dumps(elements)])) == elements


def test_a_document_of_which_too_much_is_one_element_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "MAX_RECORD_BYTES", 50)
    *found, last = split_elements(_pieces(b'[{"a": 1}, {"a": "' + b"x" * 500 + b'"}]', 10))
    assert found == [RawRecord(0, b'{"a": 1}')]
    assert last == Broken(1, "element 1 is longer than 50 bytes: reading stops there")


def test_a_cut_compressed_array_says_why_and_where(tmp_path: Path) -> None:
    path = _written(tmp_path / "calls", gzip.compress(b'[{"a": 1}, {"a', compresslevel=0)[:-8])
    [shard] = expand(path)
    [batch] = read(shard)
    assert (batch.records, batch.broken_at) == ([RawRecord(0, b'{"a": 1}')], 1)
    assert batch.broken == "the gzip stream ends early: the file is cut; 3 bytes of element 1 were left"


_NANOSECONDS = 1_700_000_000_123_456_789
_MOMENT = datetime(2023, 11, 14, 22, 13, 20, 123456, UTC)


def test_parquet_rows_are_plain_python_values(tmp_path: Path) -> None:
    path = tmp_path / "calls"
    table = pa.table(
        {
            "text": ["thought", None],
            "struct": [{"a": 1, "b": [{"c": "d"}]}, None],
            "map": pa.array([[("k", "v"), ("k", "w")], []], pa.map_(pa.string(), pa.string())),
            "at": pa.array([_NANOSECONDS, None], pa.timestamp("ns", "UTC")),
            "times": pa.array([[_NANOSECONDS], None], pa.list_(pa.timestamp("ns"))),
            "nested": pa.array([{"t": _NANOSECONDS}, None], pa.struct([("t", pa.timestamp("ns", "UTC"))])),
            "clock": pa.array([1_234_567_891, None], pa.time64("ns")),
            "took": pa.array([1_234_567_891, None], pa.duration("ns")),
            "day": [date(2026, 11, 30), None],
            "cost": pa.array([Decimal("0.001"), None], pa.decimal128(12, 3)),
            "binary": [b'{"a": "\xc3\xa9"}', b"\xff"],
            "binaries": pa.array([[b"a", b"\xff"], None], pa.list_(pa.binary())),
            "labels": pa.array(["x", None]).dictionary_encode(),
        }
    )
    pq.write_table(table, path)
    [shard] = expand(str(path))
    first, second = _records(read(shard))
    assert first.value == {
        "text": "thought",
        "struct": {"a": 1, "b": [{"c": "d"}]},
        "map": {"k": "w"},
        "at": _MOMENT,
        "times": [_MOMENT.replace(tzinfo=None)],
        "nested": {"t": _MOMENT},
        "clock": time(0, 0, 1, 234567),
        "took": timedelta(seconds=1, microseconds=234567),
        "day": date(2026, 11, 30),
        "cost": Decimal("0.001"),
        "binary": '{"a": "é"}',
        "binaries": ["a", b"\xff"],
        "labels": "x",
    }
    assert isinstance(second.value, dict)
    assert second.value.pop("map") == {}
    assert second.value.pop("binary") == b"\xff"
    assert set(second.value.values()) == {None}


@given(sizes=st.lists(st.integers(0, 60), max_size=30), group=st.integers(1, 7), cut=st.integers(1, 600))
def test_row_group_shards_together_give_each_row_once(
    sizes: list[int], group: int, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("parquet") / "calls"
    rows = [{"n": n, "text": "x" * size} for n, size in enumerate(sizes)]
    schema = pa.schema([("n", pa.int64()), ("text", pa.string())])
    pq.write_table(pa.Table.from_pylist(rows, schema), path, row_group_size=group)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expanding, "SHARD_BYTES", cut)
        patch.setattr(module, "BATCH_BYTES", 100)
        batches = [batch for shard in expand(str(path)) for batch in read(shard)]
    assert _records(iter(batches)) == [RawRecord(n, row) for n, row in enumerate(rows)]
    assert all(batch.size <= 100 or len(batch.records) == 1 for batch in batches)


def test_corrupt_parquet_gives_the_rows_before_the_fault(tmp_path: Path) -> None:
    path = tmp_path / "calls"
    table = pa.table({"text": [str(n) * 500 for n in range(100)]})
    pq.write_table(table, path, row_group_size=50, compression="zstd", use_dictionary=False)
    stored = bytearray(path.read_bytes())
    start = pq.read_metadata(path).row_group(1).column(0).data_page_offset
    stored[start : start + 60] = b"\xff" * 60
    path.write_bytes(stored)
    batches = list(read(Shard(str(path), Form.PARQUET, None, 0, -1)))
    assert sum(len(batch.records) for batch in batches) in {0, 50}
    assert batches[-1].broken
    assert batches[-1].broken_at == sum(len(batch.records) for batch in batches)


def test_parquet_without_its_footer_is_reported(tmp_path: Path) -> None:
    path = _written(tmp_path / "calls", b"PAR1" + b"x" * 100)
    [shard] = expand(path)
    [batch] = read(shard)
    assert batch.records == []
    assert batch.broken is not None
    assert "\n" not in batch.broken


def test_a_time_out_of_range_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "calls"
    pq.write_table(pa.table({"at": pa.array([2**62], pa.timestamp("us"))}), path)
    [batch] = read(Shard(str(path), Form.PARQUET, None, 0, -1))
    assert batch.broken == "date value out of range"


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        pytest.param(b'{"a": [1, 2.5, null, "\xc3\xa9"]}', {"a": [1, 2.5, None, "é"]}, id="plain"),
        pytest.param(b'{"a": NaN, "b": [-Infinity]}', {"a": None, "b": [None]}, id="not_a_number_is_null"),
        pytest.param(b'{"\\ud800k": "\\udc00\\ud83d\\ude00"}', {"\ufffdk": "\ufffd\U0001f600"}, id="lone_surrogates"),
        pytest.param(b'{"a": ["x\xff\xfe"]}', {"a": ["x\ufffd\ufffd"]}, id="invalid_utf_8"),
        pytest.param(b'{"a": "tab\there"}', {"a": "tab\there"}, id="control_character"),
        pytest.param(b'\xef\xbb\xbf{"a": 1}', {"a": 1}, id="byte_order_mark"),
        pytest.param(b'{"a": 1, "a": 2}', {"a": 2}, id="key_twice"),
        pytest.param(b'{"a": 9007199254740993}', {"a": 9007199254740993}, id="above_2_to_the_53"),
        pytest.param(b'{"a": 1e999, "b": 123456789012345678901234567890}',
                     {"a": float("inf"), "b": 123456789012345678901234567890}, id="large_numbers"),
    ],
)  # fmt: skip
def test_json_of_careless_writers_is_read(raw: bytes, value: object) -> None:
    assert parse(raw) == value


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"a": 1', "Expecting ',' delimiter at character 7 of 7, near '{\"a\": 1'"),
        (b"", "Expecting value at character 0 of 0, near ''"),
        (b"\xff\x00junk", "Expecting value at character 0 of 6, near '\ufffd\\x00junk'"),
        (b'{"a": 1}{"a": 2}', 'Extra data at character 8 of 16, near \'{"a": 1}{"a": 2}\''),
        (b"[" * 100_000, "nested too deeply to be read (100000 characters)"),
    ],
)
def test_what_is_no_json_says_what_was_seen(raw: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        parse(raw)


@given(_json('a"\\[]{}, \u2028é\ud83d\ude00'))
def test_parse_gives_text_that_can_be_encoded(value: object) -> None:
    orjson.dumps(parse(json.dumps(value).encode()))


@given(st.binary())
@example(b'"\\ud800"')
def test_parse_raises_nothing_but_value_error(raw: bytes) -> None:
    with contextlib.suppress(ValueError):
        orjson.dumps(parse(raw))


_OBJECTS = st.lists(st.dictionaries(st.text(max_size=3), _JSON, max_size=3), min_size=2, max_size=5)


@given(objects=_OBJECTS, between=st.sampled_from([b"", b" ", b"\r"]), ascii_only=st.booleans())
def test_concatenated_objects_are_cut(*, objects: list[object], between: bytes, ascii_only: bool) -> None:
    parts = [json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "replace") for value in objects]
    assert split_concatenated(between.join(parts)) == parts


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (b'{"a": 1} {"a":', [b'{"a": 1}', b'{"a":']),
        (b'{"a": "\xff"}[NaN]', [b'{"a": "\xff"}', b"[NaN]"]),
        (b'{"a": 1}', None),
        (b'{"a": ', None),
        (b'{"a": 1} and text', None),
        (b"12 34", None),
        (b"", None),
        (b"[" * 100_000, None),
    ],
)
def test_what_is_not_concatenated_is_left_alone(line: bytes, parts: list[bytes] | None) -> None:
    assert split_concatenated(line) == parts


def test_lines_need_no_file() -> None:
    assert list(split_lines([b"{}", b"\n[", b"]"])) == [RawRecord(0, b"{}"), RawRecord(3, b"[]")]


def test_read_in_a_pipeline(tmp_path: Path) -> None:
    path = _written(tmp_path / "calls", b'{"a": 1}\n')
    expected = RecordBatch(path, [RawRecord(0, b'{"a": 1}')], 8)
    with _TestPipeline(runner="FnApiRunner") as pipeline:
        shards = pipeline | beam.Create([tuple(expand(path))]) | beam.Reshuffle()
        assert_that(shards | Read(), equal_to([(expected,)]))
