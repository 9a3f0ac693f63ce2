"""Staging: what a part holds, and which partitions are told of it."""

from pathlib import Path

import pyarrow as pa
import pytest

from schemas.account import Tally
from schemas.call import UNDATED
from schemas.lake import Grain
from tests.lake_runs import DAY, call, normalised, reject
from transforms.columns import to_batch
from transforms.partitions import neighbours, partition_of, slot_of
from transforms.parts import Part
from transforms.stage import ACCOUNT, Descriptor, Normalised, stage

TODAY, YESTERDAY, TOMORROW = "date=2024-10-04", "date=2024-10-03", "date=2024-10-05"
NOWHERE = f"date={UNDATED}"


def by_key(descriptors: list[Descriptor]) -> dict[str, Descriptor]:
    return {descriptor.key: descriptor for descriptor in descriptors}


def read(folder: Path, descriptor: Descriptor) -> pa.RecordBatch:
    [place] = descriptor.own
    [batch] = Part(folder / descriptor.file, own=True, batch=place).batches()
    return batch


def test_rows_are_cut_by_partition_and_sorted(tmp_path: Path) -> None:
    calls = [call("c", DAY + 1.5), call("u", None), call("b", DAY + 0.9), call("a", DAY + 0.1)]
    told = by_key(stage(normalised(calls), tmp_path, "run-1"))
    assert read(tmp_path, told[f"calls/{TODAY}"])["call_id"].to_pylist() == ["a", "b"]
    assert read(tmp_path, told[f"calls/{TOMORROW}"])["call_id"].to_pylist() == ["c"]
    assert read(tmp_path, told[f"calls/{NOWHERE}"])["call_id"].to_pylist() == ["u"]
    assert {d.rows for d in told.values() if d.own} == {1, 2}
    assert len(list(tmp_path.iterdir())) == 1


def test_the_run_is_filled_in(tmp_path: Path) -> None:
    told = by_key(stage(normalised([call("a")], [reject(b"{")]), tmp_path, "run-1"))
    assert read(tmp_path, told[f"calls/{TODAY}"])["run_id"].to_pylist() == ["run-1"]
    assert read(tmp_path, told[f"rejects/{TODAY}"])["run_id"].to_pylist() == ["run-1"]


def test_neighbours_and_the_undated_partition_are_told(tmp_path: Path) -> None:
    told = by_key(stage(normalised([call("a"), call("b", DAY + 1)]), tmp_path, "run-1"))
    first, second = told[f"calls/{TODAY}"].own, told[f"calls/{TOMORROW}"].own
    assert told[f"calls/{YESTERDAY}"].near == first
    assert told[f"calls/{TODAY}"].near == second
    assert told[f"calls/{TOMORROW}"].near == first
    assert told["calls/date=2024-10-06"].near == second
    assert told[f"calls/{NOWHERE}"].near == first + second
    assert told[f"calls/{NOWHERE}"].rows == 0


def test_undated_calls_and_rejects_tell_nobody_else(tmp_path: Path) -> None:
    told = by_key(stage(normalised([call("u", None)], [reject(b"{"), reject(b"[", None)]), tmp_path, "run-1"))
    assert set(told) == {f"calls/{NOWHERE}", f"rejects/{TODAY}", f"rejects/{NOWHERE}", ACCOUNT}


def test_an_empty_batch_gives_its_tally_and_no_file(tmp_path: Path) -> None:
    [told] = stage(Normalised(*_empty(), Tally(records=3, parts=3)), tmp_path, "run-1")
    assert told.key == ACCOUNT
    assert told.tally == Tally(records=3, parts=3)
    assert not list(tmp_path.iterdir())


def _empty() -> tuple[pa.RecordBatch, pa.RecordBatch]:
    nothing = normalised()
    return nothing.calls, nothing.rejects


def test_a_retried_bundle_writes_another_file(tmp_path: Path) -> None:
    files = {stage(normalised([call("a")]), tmp_path, "run-1")[0].file for _ in range(2)}
    assert {path.name for path in tmp_path.iterdir()} == files
    assert len(files) == 2


def test_another_schema_is_refused(tmp_path: Path) -> None:
    batch = normalised([call("a")])
    batch.calls = to_batch([call("a")]).select(["call_id", "date"])
    with pytest.raises(ValueError, match="another schema"):
        stage(batch, tmp_path, "run-1")


def test_hours(tmp_path: Path) -> None:
    calls = [call("a", DAY + 7.5 / 24), call("b", DAY + 8.5 / 24), call("u", None)]
    told = by_key(stage(normalised(calls), tmp_path, "run-1", Grain.HOUR))
    assert told[f"calls/{TODAY}/hour=07"].own
    assert told[f"calls/{TODAY}/hour=07"].near == told[f"calls/{TODAY}/hour=08"].own
    assert told[f"calls/{TODAY}/hour=09"].near == told[f"calls/{TODAY}/hour=08"].own
    assert told[f"calls/{NOWHERE}/hour={UNDATED}"].own


@pytest.mark.parametrize("grain", list(Grain))
@pytest.mark.parametrize("slot", [None, 0, 20_000, 480_007])
def test_names_and_slots_agree(grain: Grain, slot: int | None) -> None:
    assert slot_of(partition_of(slot, grain), grain) == slot


def test_neighbours_are_mutual() -> None:
    assert {slot for near in neighbours(DAY) if near is not None for slot in neighbours(near)} >= {DAY, None}


def test_tallies_add_up() -> None:
    one, two = Tally(records=1, calls=1), Tally(records=2, bytes=5)
    two.rejects["invalid_json"] += 2
    one.add(two)
    assert (one.records, one.bytes, one.calls, one.rejects.total()) == (3, 5, 1, 2)
