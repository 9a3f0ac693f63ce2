"""Publishing: which record of a call stays, whatever the order in which they come, and that nothing else changes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.account import PartitionAccount
from schemas.call import SCHEMA, Call
from schemas.lake import Kind
from tests.lake_runs import DAY, add, ask, call, duplicates, normalised, published, reject, rows, staged
from transforms import partition_file
from transforms.dedupe import Purge
from transforms.lake import Lake
from transforms.publish import publish, rewrite
from transforms.replacement import without_sources

TODAY = "date=2024-10-04"
STAMP = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake")


def positions(lake: Lake) -> list[int]:
    return [position for (position,) in ask(lake.path, "SELECT source_position FROM calls ORDER BY ALL")]


def named(lake: Lake) -> set[str]:
    return lake.pointer().paths()


BETTER_AND_WORSE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "finished before partial": ({}, {"finish_reason": None, "output_tokens": 900}),
    "finished before aborted": ({}, {"finish_reason": "aborted", "output_tokens": 900}),
    "partial before error": ({"finish_reason": None}, {"error_type": "overloaded", "output_tokens": 900}),
    "error without a type": ({"finish_reason": None}, {"error_message": "overloaded", "output_tokens": 900}),
    "larger usage": ({"output_tokens": 6, "normaliser_version": "1"}, {"output_tokens": None}),
    "later version": ({"normaliser_version": "10"}, {"normaliser_version": "9"}),
    "smaller file": ({"source_file": "a.jsonl"}, {"source_file": "b.jsonl"}),
}


@pytest.mark.parametrize("case", BETTER_AND_WORSE)
@pytest.mark.parametrize("order", ["better first", "worse first", "together"])
def test_the_better_record_stays(lake: Lake, case: str, order: str) -> None:
    better, worse = BETTER_AND_WORSE[case]
    calls = [call("x", source_position=1, **better), call("x", source_position=2, **worse)]
    if order == "together":
        account = add(lake, *calls, batches=2)
        assert (account.calls, account.duplicates, account.replaced) == (1, 1, 0)
    else:
        accounts = [add(lake, item) for item in (calls if order == "better first" else reversed(calls))]
        gave = (0, 1, 0) if order == "better first" else (1, 0, 1)
        assert (accounts[1].calls, accounts[1].duplicates, accounts[1].replaced) == gave
    assert positions(lake) == [1]


def test_the_smaller_position_decides_last(lake: Lake) -> None:
    add(lake, call("x", source_position=2), call("x", source_position=1))
    assert positions(lake) == [1]


def test_the_same_input_twice_changes_nothing(lake: Lake) -> None:
    calls = [call("a"), call("b", DAY + 1, source_position=1), call("c", None, source_position=2)]
    add(lake, *calls, rejects=[reject(b"{"), reject(b"[", None)])
    before, files = rows(lake), named(lake)
    account = add(lake, *calls, rejects=[reject(b"{"), reject(b"[", None)])
    assert (account.calls, account.rejects, account.duplicates, account.replaced) == (0, 0, 5, 0)
    assert rows(lake) == before
    assert named(lake) == files


def test_rejects_are_stored_once(lake: Lake) -> None:
    account = add(lake, rejects=[reject(b"{"), reject(b"{"), reject(b"[")])
    assert (account.rejects, account.duplicates) == (2, 1)
    assert ask(lake.path, "SELECT raw, reason, date FROM rejects ORDER BY raw") == [
        (b"[", "invalid_json", STAMP.date().replace(2024, 10, 4)),
        (b"{", "invalid_json", STAMP.date().replace(2024, 10, 4)),
    ]


class TestIdConflict:
    """Two finished records of one id whose texts are no prefixes of each other are two calls."""

    def test_both_stay_and_are_counted(self, lake: Lake) -> None:
        account = add(lake, *self.calls("one text", "another text"))
        assert (account.calls, account.duplicates, account.id_conflicts) == (2, 0, 1)

    @pytest.mark.parametrize("first", [0, 1])
    def test_they_stay_over_runs_in_any_order(self, lake: Lake, first: int) -> None:
        calls = self.calls("one text", "another text")
        assert add(lake, calls[first]).id_conflicts == 0
        assert add(lake, calls[1 - first]).id_conflicts == 1
        again = add(lake, *calls)
        assert (again.calls, again.duplicates, again.id_conflicts) == (0, 2, 0)
        assert positions(lake) == [0, 1]

    @pytest.mark.parametrize("texts", [("one text", "one"), ("one", "one text"), ("one", "one"), ("one", None)])
    def test_a_prefix_is_the_same_call(self, lake: Lake, texts: tuple[str, str | None]) -> None:
        account = add(lake, *self.calls(*texts))
        assert (account.calls, account.duplicates, account.id_conflicts) == (1, 1, 0)

    def test_a_partial_record_is_never_a_conflict(self, lake: Lake) -> None:
        one, other = self.calls("one text", "another text")
        account = add(lake, one, replace(other, finish_reason=None))
        assert (account.calls, account.id_conflicts) == (1, 0)

    def test_thinking_decides_where_there_is_no_answer(self, lake: Lake) -> None:
        one, other = self.calls(None, None)
        one.thinking, one.thinking_chars, other.thinking, other.thinking_chars = "hm", 2, "ah", 2
        assert add(lake, one, other).id_conflicts == 1

    def test_the_same_answer_with_another_thinking_is_one_call(self, lake: Lake) -> None:
        one, other = self.calls("yes", "yes")
        one.thinking, one.thinking_chars, other.thinking, other.thinking_chars = "full", 4, "sum", 3
        assert add(lake, one, other).id_conflicts == 0

    def test_each_distinct_text_stays_once(self, lake: Lake) -> None:
        account = add(lake, *self.calls("one", "two", "two", "six", "one", "six"), batches=3)
        assert (account.calls, account.duplicates, account.id_conflicts) == (3, 3, 2)
        assert positions(lake) == [0, 1, 3]

    def test_code_points_are_compared_not_bytes(self, lake: Lake) -> None:
        assert add(lake, *self.calls("𝒳äö and more", "𝒳äö")).id_conflicts == 0

    def test_across_midnight(self, lake: Lake) -> None:
        one, other = self.calls("one text", "another text")
        account = add(lake, one, replace(other, date=DAY + 1))
        assert (account.calls, account.id_conflicts) == (2, 1)
        assert not duplicates(lake)

    @staticmethod
    def calls(*answers: str | None) -> list[Call]:
        return [call("x", answer=answer, source_position=place) for place, answer in enumerate(answers)]


class TestPurged:
    """What retention removed never comes back, whatever arrives."""

    def purge(self, lake: Lake, thinking: bool = True, answer: bool = True) -> None:  # noqa: FBT001, FBT002
        """Retention, as far as publishing is concerned: all rows of today's file."""
        run = lake.begin_run()
        live = run.live(Kind.CALLS, TODAY)
        assert live
        stamps = [pa.array([STAMP if on else None] * live.rows, pa.timestamp("us", "UTC")) for on in (thinking, answer)]
        purge = Purge(np.arange(live.rows), *stamps)
        after = rewrite(run, PartitionAccount(kind=Kind.CALLS, partition=TODAY), purged=purge)
        lake.commit(run, published(run, {}).model_copy(update={"partitions": [after]}))

    def test_texts_go_and_all_else_stays(self, lake: Lake) -> None:
        add(lake, call("x", thinking="hm"), call("y", thinking=None, source_position=1))
        kept = "SELECT * EXCLUDE (thinking, answer, thinking_purged_at, answer_purged_at) FROM calls ORDER BY ALL"
        before = ask(lake.path, kept)
        self.purge(lake)
        assert ask(lake.path, kept) == before
        assert ask(lake.path, "SELECT DISTINCT thinking, answer, thinking_purged_at, answer_purged_at FROM calls") == [
            (None, None, STAMP, STAMP)
        ]

    def test_one_text_alone(self, lake: Lake) -> None:
        add(lake, call("x", thinking="hm"))
        self.purge(lake, answer=False)
        assert self.texts(lake) == [(None, "yes", STAMP, None)]

    def test_the_same_record_again_is_a_duplicate(self, lake: Lake) -> None:
        add(lake, call("x", thinking="hm"))
        self.purge(lake)
        assert add(lake, call("x", thinking="hm")).duplicates == 1
        assert self.texts(lake) == [(None, None, STAMP, STAMP)]

    def test_a_better_record_comes_in_without_its_text(self, lake: Lake) -> None:
        add(lake, call("x", thinking="hm"))
        self.purge(lake)
        account = add(lake, call("x", thinking="hmm", output_tokens=99, source_position=5))
        assert (account.calls, account.replaced) == (1, 1)
        assert self.texts(lake) == [(None, None, STAMP, STAMP)]
        assert ask(lake.path, "SELECT output_tokens, thinking_chars FROM calls") == [(99, 3)]

    @pytest.mark.parametrize("day", [DAY + 1, DAY - 1, None])
    def test_also_under_another_date(self, lake: Lake, day: int | None) -> None:
        add(lake, call("x", thinking="hm"))
        self.purge(lake)
        add(lake, call("x", day, thinking="hmm", output_tokens=99), call("y", day, answer="kept", source_position=1))
        assert self.texts(lake) == [(None, None, STAMP, STAMP), (None, "kept", None, None)]

    def test_an_undated_purge_holds_for_a_date(self, lake: Lake) -> None:
        add(lake, call("x", thinking="hm"))
        self.purge(lake)
        add(lake, call("x", None, output_tokens=99))
        add(lake, call("x", DAY + 9, output_tokens=100, thinking="hm"))
        assert self.texts(lake) == [(None, None, STAMP, STAMP)]

    def test_conflicting_rows_outlive_their_texts(self, lake: Lake) -> None:
        calls = [call("x", answer="one"), call("x", answer="two", source_position=1)]
        add(lake, *calls)
        self.purge(lake)
        assert add(lake, *calls, call("new", source_position=2)).duplicates == 2
        assert positions(lake) == [0, 1, 2]

    @staticmethod
    def texts(lake: Lake) -> list[tuple[Any, ...]]:
        return ask(
            lake.path,
            "SELECT thinking, answer, thinking_purged_at, answer_purged_at FROM calls ORDER BY call_id",
        )


DATED_DIFFERENTLY = {
    "midnight": [call("x", DAY + 0.99, source_position=2), call("x", DAY + 1, source_position=1)],
    "undated loses": [call("x", None, finish_reason=None, source_position=2), call("x", source_position=1)],
    "undated wins": [call("x", finish_reason=None, source_position=2), call("x", None, source_position=1)],
    "undated wins over two": [
        call("x", finish_reason=None, source_position=2),
        call("x", DAY + 1, finish_reason=None, source_position=3),
        call("x", None, source_position=1),
    ],
    "three days": [
        call("x", DAY + 1, source_position=2),
        call("x", DAY, source_position=1),
        call("x", DAY + 1.5, source_position=3),
    ],
}


class TestOtherPartitions:
    """A call that two logs date differently is stored once."""

    @pytest.mark.parametrize("case", DATED_DIFFERENTLY)
    @pytest.mark.parametrize("runs", ["together", "one by one", "backwards"])
    def test_is_stored_once(self, lake: Lake, case: str, runs: str) -> None:
        others = [call("y", DAY + 1, source_position=8), call("z", None, source_position=9)]
        records = DATED_DIFFERENTLY[case]
        if runs == "together":
            account = add(lake, *records, *others, batches=2)
            assert (account.calls, account.duplicates) == (3, len(records) - 1)
        else:
            for record in records if runs == "one by one" else reversed(records):
                add(lake, record)
            add(lake, *others)
        assert positions(lake) == [1, 8, 9]
        assert not duplicates(lake)
        before, files = rows(lake), named(lake)
        assert add(lake, *records, *others).calls == 0
        assert (rows(lake), named(lake)) == (before, files)

    def test_a_partition_that_is_only_looked_at_keeps_its_file(self, lake: Lake) -> None:
        add(lake, call("a"), call("u", None, source_position=1))
        files = named(lake)
        add(lake, call("b", DAY + 1))
        assert files < named(lake)

    def test_a_partition_that_loses_all_rows_has_no_file(self, lake: Lake) -> None:
        add(lake, call("x", finish_reason=None))
        add(lake, call("x", DAY + 1))
        assert set(lake.pointer().calls) == {"date=2024-10-05"}


FATES: list[dict[str, Any]] = [{}, {"finish_reason": None}, {"error_type": "overloaded"}]
RECORDS = st.builds(
    lambda name, day, fate, usage, file: (name, day, fate, usage, file),
    st.sampled_from("xy"),
    st.sampled_from([DAY, DAY + 1, None]),
    st.integers(0, 2),
    st.integers(0, 1),
    st.sampled_from("ab"),
)


@settings(max_examples=8)
@given(st.lists(RECORDS, min_size=2, max_size=6, unique=True), st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_any_order_of_runs_gives_the_same_calls(
    tmp_path_factory: pytest.TempPathFactory, records: Sequence[tuple[Any, ...]], run_of: Sequence[int]
) -> None:
    calls = [
        call(name, day, output_tokens=usage, source_file=file, source_position=place, **FATES[fate])
        for place, (name, day, fate, usage, file) in enumerate(records)
    ]
    folder = tmp_path_factory.mktemp("orders")
    together, apart = Lake.create(folder / "together"), Lake.create(folder / "apart")
    add(together, *calls, batches=2)
    for number in range(3):
        add(apart, *[item for item, run in zip(calls, run_of, strict=False) if run == number])
    assert rows(together) == rows(apart)
    assert len(rows(apart)) == len({item.call_id for item in calls})
    assert not duplicates(apart)


def test_publishing_twice_in_one_run_gives_the_same_file(lake: Lake) -> None:
    add(lake, call("old"))
    run = lake.begin_run()
    groups = staged(run, [normalised([call("a"), call("a"), call("b", source_position=1)])])
    accounts = [publish(Kind.CALLS, TODAY, groups[f"calls/{TODAY}"], run) for _ in range(2)]
    assert accounts[0] == accounts[1]
    lake.commit(run, published(run, groups))
    assert len(rows(lake)) == 3


def test_parts_of_failed_bundles_are_never_read(lake: Lake) -> None:
    run = lake.begin_run()
    staged(run, [normalised([call("lost")])])
    lake.commit(run, published(run, staged(run, [normalised([call("a")])])))
    assert [row[0] for row in rows(lake)] == ["a"]


def test_row_groups_are_bounded(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_file, "ROW_GROUP_ROWS", 10)
    calls = [call(f"{n:03}", source_position=n, model=f"m{n % 3}") for n in range(45)]
    add(lake, *calls[:32], batches=4)
    add(lake, *calls)
    [file] = lake.pointer().calls.values()
    sizes = _row_group_sizes(lake.path / file.path)
    assert max(sizes) <= 10
    assert sum(sizes) == file.rows == 45
    assert ask(lake.path, "SELECT model, count(*) FROM calls GROUP BY ALL ORDER BY ALL") == [
        ("m0", 15),
        ("m1", 15),
        ("m2", 15),
    ]


def test_row_groups_are_bounded_in_bytes(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_file, "ROW_GROUP_BYTES", 50_000)
    add(lake, *[call(f"{n}", source_position=n, answer="é" * 10_000) for n in range(10)])
    [file] = lake.pointer().calls.values()
    assert len(_row_group_sizes(lake.path / file.path)) >= 4


def _row_group_sizes(path: Path) -> list[int]:
    metadata = pq.read_metadata(path)
    return [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]


def test_all_columns_come_through(lake: Lake) -> None:
    full = call("x", tags={"team": "core"}, thinking="hm", segments=None, streamed=False, model="m", team="core")
    add(lake, full)
    before = ask(lake.path, "SELECT * EXCLUDE (run_id) FROM calls")
    add(lake, call("y", source_position=1))
    assert ask(lake.path, "SELECT * EXCLUDE (run_id) FROM calls WHERE call_id = 'x'") == before
    [file] = lake.pointer().calls.values()
    stored = pq.read_schema(lake.path / file.path)
    assert stored.equals(SCHEMA.remove(SCHEMA.get_field_index("date")))


def test_a_file_that_lacks_a_newer_column_reads_as_null(lake: Lake) -> None:
    add(lake, call("old", latency_ms=3))
    [file] = lake.pointer().calls.values()
    path = lake.path / file.path
    pq.write_table(pq.ParquetFile(path).read().drop_columns(["latency_ms"]), path)
    add(lake, call("new", source_position=1, latency_ms=4))
    assert ask(lake.path, "SELECT call_id, latency_ms FROM calls ORDER BY ALL") == [("new", 4), ("old", None)]


def test_sources_are_derived_anew(lake: Lake) -> None:
    add(lake, call("was wrong"), call("other", source_file="b.jsonl"), rejects=[reject(b"{")])
    run = without_sources(lake.begin_run(), ["a.jsonl"])
    account = lake.commit(run, published(run, staged(run, [normalised([call("right", DAY + 40)])])))
    assert account.removed == 2
    assert ask(lake.path, "SELECT call_id FROM calls ORDER BY ALL") == [("other",), ("right",)]
    assert ask(lake.path, "SELECT count(*) FROM rejects") == [(0,)]
    assert ask(lake.path, "SELECT removed FROM runs ORDER BY generation") == [(0,), (2,)]


def test_little_memory_is_enough(lake: Lake) -> None:
    calls = [call(f"{n % 20_000:032x}", source_position=n, source_file="f" * 500) for n in range(40_000)]
    run = lake.begin_run(memory_limit="64MB")
    account = lake.commit(run, published(run, staged(run, [normalised(calls[:20_000]), normalised(calls[20_000:])])))
    assert (account.calls, account.duplicates) == (20_000, 20_000)
    assert not list(lake.path.glob("staging/*"))
