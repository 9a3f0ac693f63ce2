"""The lake: one writer, one rename, nothing lost and nothing seen by halves, wherever a run dies."""

import json
import os
import shutil
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apache_beam as beam
import duckdb
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as _TestPipeline

from schemas.account import RunAccount, Tally
from schemas.call import SCHEMA
from schemas.lake import Grain, Kind, LakeFile, Pointer
from tests.conftest import Killed
from tests.lake_runs import DAY, add, ask, call, normalised, published, reject, rows, staged
from transforms import lock as locking
from transforms.accounts import AddUp, NoAccountError, read_account
from transforms.durable import write_text
from transforms.lake import DATABASE, POINTER, Lake, NotALakeError, UnbalancedError
from transforms.lock import LakeLockedError, LockLostError
from transforms.publish import Publish
from transforms.stage import Normalised, Stage
from transforms.views import build_views

NOW = timedelta(0)
COUNT = "SELECT count(*) FROM calls"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake")


def data_files(lake: Lake) -> set[str]:
    return {path.relative_to(lake.path).as_posix() for path in lake.path.rglob("*.parquet")}


def die() -> None:
    """Forget what this process holds, as if another one now had its id."""
    locking._held.clear()


class TestCreating:
    """What becomes a lake, and how an empty one reads."""

    def test_an_empty_lake_has_all_views_and_columns(self, lake: Lake) -> None:
        assert ask(lake.path, "FROM calls") == ask(lake.path, "FROM rejects") == ask(lake.path, "FROM runs") == []
        columns = ask(lake.path, "SELECT column_name, column_type FROM (DESCRIBE calls)")
        assert [name for name, _ in columns] == SCHEMA.names
        assert dict(columns)["date"] == "DATE"
        assert dict(columns)["cost_reported_usd"] == "DECIMAL(38,12)"

    def test_types_are_the_same_with_and_without_files(self, lake: Lake) -> None:
        describe = ["DESCRIBE calls", "DESCRIBE rejects", "DESCRIBE runs"]
        empty = [ask(lake.path, query) for query in describe]
        add(lake, call("a", tags={"k": "v"}), rejects=[reject(b"{")])
        assert [ask(lake.path, query) for query in describe] == empty

    def test_an_existing_lake_is_opened(self, lake: Lake) -> None:
        add(lake, call("a"))
        assert Lake.create(lake.path).pointer().generation == 1

    def test_the_grain_cannot_change(self, lake: Lake) -> None:
        with pytest.raises(NotALakeError, match="partitioned by date"):
            Lake.create(lake.path, Grain.HOUR)

    def test_the_grain_need_not_be_repeated(self, tmp_path: Path) -> None:
        Lake.create(tmp_path / "lake", Grain.HOUR)
        assert Lake.create(tmp_path / "lake").pointer().grain is Grain.HOUR

    def test_a_folder_with_other_things_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "calls").mkdir()
        with pytest.raises(NotALakeError, match="holds calls"):
            Lake.create(tmp_path)

    @pytest.mark.parametrize("name", ["team=core", "a*", "b[c]"])
    def test_a_path_that_duckdb_misreads_is_refused(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(NotALakeError, match="must not contain"):
            Lake.create(tmp_path / name / "lake")

    @pytest.mark.parametrize(
        "left", ["runs/", "lake.json.17.tmp", "thinkledger.duckdb.17.tmp.wal", "lock", "lock.guard"]
    )
    def test_what_a_process_left_that_died_while_making_it_is_no_hindrance(self, tmp_path: Path, left: str) -> None:
        (tmp_path / left).mkdir() if left.endswith("/") else (tmp_path / left).touch()
        lake = Lake.create(tmp_path)
        lake.abort(lake.begin_run())
        assert {path.name for path in tmp_path.iterdir()} == {POINTER, DATABASE, "lock.guard", "runs", "staging"}

    @pytest.mark.parametrize("name", ["staging", "locks"])
    def test_a_folder_with_things_of_like_names_is_refused(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).mkdir()
        with pytest.raises(NotALakeError, match=f"holds {name}"):
            Lake.create(tmp_path)

    def test_no_lake(self, tmp_path: Path) -> None:
        with pytest.raises(NotALakeError, match=r"holds no lake\.json"):
            Lake.open(tmp_path)

    def test_a_newer_lake_is_refused(self, lake: Lake) -> None:
        pointer = json.loads((lake.path / POINTER).read_text())
        (lake.path / POINTER).write_text(json.dumps(pointer | {"schema_version": 99}))
        with pytest.raises(NotALakeError, match="schema version 99"):
            Lake.open(lake.path)


class TestReading:
    """What a reader of the views sees, from wherever it stands."""

    def test_from_inside_and_from_elsewhere(self, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        add(lake, call("a"))
        monkeypatch.chdir(tmp_path)
        assert ask(lake.path, COUNT) == [(1,)]
        monkeypatch.chdir(lake.path)
        with duckdb.connect(DATABASE, read_only=True) as db:
            assert db.execute(COUNT).fetchall() == [(1,)]
            assert db.execute("SELECT calls FROM runs").fetchall() == [(1,)]

    def test_after_it_moved(self, lake: Lake, tmp_path: Path) -> None:
        add(lake, call("a"))
        moved = lake.path.rename(tmp_path / "elsewhere")
        assert ask(moved, COUNT) == [(1,)]
        add(Lake.open(moved), call("b", source_position=1))
        assert ask(moved, COUNT) == [(2,)]

    def test_undated_calls_have_no_date(self, lake: Lake) -> None:
        add(lake, call("a"), call("u", None, source_position=1))
        assert ask(lake.path, "SELECT call_id FROM calls WHERE date IS NULL") == [("u",)]
        assert ask(lake.path, "SELECT call_id FROM calls WHERE date = '2024-10-04'") == [("a",)]

    def test_hours(self, tmp_path: Path) -> None:
        lake = Lake.create(tmp_path / "lake", Grain.HOUR)
        calls = [call("a", DAY + 7.5 / 24), call("b", DAY + 8.5 / 24, source_position=1), call("u", None)]
        add(lake, *calls, rejects=[reject(b"{"), reject(b"[", None)])
        add(lake, call("a", DAY + 8.1 / 24, finish_reason=None), *calls)
        assert ask(lake.path, "SELECT call_id, hour, date IS NULL FROM calls ORDER BY ALL") == [
            ("a", 7, False),
            ("b", 8, False),
            ("u", None, True),
        ]
        assert ask(lake.path, "SELECT count(*), count(date) FROM rejects") == [(2, 1)]

    def test_five_thousand_files_and_only_those_that_are_asked_for(self, lake: Lake, tmp_path: Path) -> None:
        add(lake, call("first"), call("last", DAY + 4999, source_position=1))
        pointer = lake.pointer()
        for day in range(1, 4999):  # empty files: reading one would fail
            name = f"date={datetime(2024, 10, 4, tzinfo=UTC) + timedelta(days=day):%Y-%m-%d}"
            path = lake.path / "calls" / name / "empty.parquet"
            path.parent.mkdir()
            path.touch()
            pointer.put(Kind.CALLS, name, LakeFile(path=f"calls/{name}/empty.parquet", rows=1, bytes=1))
        assert len(pointer.calls) == 5000
        build_views(tmp_path / DATABASE, lake.path, pointer)
        shutil.move(tmp_path / DATABASE, lake.path / DATABASE)
        assert ask(lake.path, "SELECT call_id FROM calls WHERE date < '2024-10-05'") == [("first",)]
        assert ask(lake.path, "SELECT call_id FROM calls WHERE date = '2038-06-12'") == [("last",)]

    def test_readers_of_an_earlier_pointer_still_read(self, lake: Lake) -> None:
        add(lake, call("a"))
        with duckdb.connect(str(lake.path / DATABASE), read_only=True) as db:
            db.execute("SET VARIABLE lake = $path", {"path": str(lake.path)})
            add(lake, call("b", source_position=1))
            assert db.execute(COUNT).fetchall() == [(1,)]
        assert ask(lake.path, COUNT) == [(2,)]

    def test_runs_tell_the_account(self, lake: Lake) -> None:
        add(lake, call("a"), call("a"), rejects=[reject(b"{")])
        assert ask(
            lake.path,
            "SELECT inputs, records, calls, parts, duplicates, skipped, rejects, rejects_by, partitions FROM runs",
        ) == [(["a.jsonl"], 3, 1, 0, 1, 0, 1, {"invalid_json": 1}, 2)]


class TestLock:
    """Who may write, and how that right is lost."""

    def test_one_writer_at_a_time(self, lake: Lake) -> None:
        run = lake.begin_run(owner="the nightly run")
        with pytest.raises(LakeLockedError, match=rf"written by the nightly run \(process {os.getpid()} on .*remove"):
            lake.begin_run()
        lake.abort(run)
        lake.abort(lake.begin_run())

    def test_waiting_for_it(self, lake: Lake) -> None:
        run = lake.begin_run()
        with pytest.raises(LakeLockedError):
            lake.begin_run(wait=0.3)
        lake.abort(run)
        lake.abort(lake.begin_run(wait=0.3))

    def test_a_dead_holder_loses_it(self, lake: Lake) -> None:
        with subprocess.Popen([sys.executable, "-c", ""]) as process:
            process.wait()
        self.hold(lake, pid=process.pid)
        lake.abort(lake.begin_run())

    def test_an_earlier_process_with_our_id_is_dead(self, lake: Lake) -> None:
        self.hold(lake, pid=os.getpid())
        lake.abort(lake.begin_run())

    def test_a_holder_that_ended_unnoticed_is_dead(self, lake: Lake) -> None:
        """Its parent has not asked for it yet, so it still has its id: in containers that may last for ever."""
        with subprocess.Popen([sys.executable, "-c", ""]) as process:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            self.hold(lake, pid=process.pid)
            lake.abort(lake.begin_run())

    def test_a_later_process_with_its_id_is_another(self, lake: Lake) -> None:
        self.hold(lake, pid=os.getppid(), process="an earlier start of the system/1")
        lake.abort(lake.begin_run())

    def test_a_living_holder_keeps_it(self, lake: Lake) -> None:
        self.hold(lake, pid=os.getppid())
        with pytest.raises(LakeLockedError):
            lake.begin_run()

    def test_another_host_keeps_it(self, lake: Lake) -> None:
        self.hold(lake, pid=2**22 + 1, host="elsewhere")
        with pytest.raises(LakeLockedError, match="on elsewhere"):
            lake.begin_run()

    @pytest.mark.parametrize("text", ["", "{"])
    def test_a_lock_that_its_writer_did_not_finish_is_nobodys(self, lake: Lake, text: str) -> None:
        (lake.path / "lock").write_text(text)
        lake.abort(lake.begin_run())

    def test_a_run_that_lost_it_commits_nothing(self, lake: Lake) -> None:
        add(lake, call("a"))
        zombie = lake.begin_run()
        account = published(zombie, staged(zombie, [normalised([call("z", source_position=1)])]))
        (lake.path / "lock").unlink()
        add(lake, call("b", source_position=2))
        for _ in range(2):
            with pytest.raises(LockLostError):
                lake.commit(zombie, account)
        assert [row[0] for row in rows(lake)] == ["a", "b"]
        add(lake, call("c", source_position=3))
        assert [row[0] for row in rows(lake)] == ["a", "b", "c"]

    def test_losing_it_does_not_take_it_from_the_next(self, lake: Lake) -> None:
        zombie = lake.begin_run()
        (lake.path / "lock").unlink()
        run = lake.begin_run()
        lake.abort(zombie)
        with pytest.raises(LakeLockedError):
            lake.begin_run()
        lake.abort(run)

    def test_nobody_comes_between_the_last_look_at_the_lock_and_the_swap(
        self, lake: Lake, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Not even where somebody removes the lock of a run that is stopped there."""
        refused = []

        def swap(path: Path, text: str) -> None:
            if path.name == POINTER:
                (lake.path / "lock").unlink()
                with pytest.raises(LakeLockedError, match="is being changed by a process right now") as told:
                    add(Lake.open(lake.path), call("b", source_position=2))
                refused.append(told)
            write_text(path, text)

        with monkeypatch.context() as patch:
            patch.setattr("transforms.lake.write_text", swap)
            patch.setattr("transforms.lock._GUARD_SECONDS", 0.1)
            add(lake, call("a"))
        assert len(refused) == 1
        assert [row[0] for row in rows(lake)] == ["a"]

    def test_a_run_that_is_given_up_after_its_commit_keeps_its_files(
        self, lake: Lake, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Ctrl-C comes just after the swap; another run builds upon it before the first one cleans up."""
        run = lake.begin_run()
        account = published(run, staged(run, [normalised([call("a"), call("b", DAY + 1, source_position=1)])]))
        with monkeypatch.context() as patch:
            patch.setattr(Lake, "_end", _interrupt)
            with pytest.raises(KeyboardInterrupt):
                lake.commit(run, account)
        (lake.path / "lock").unlink()
        add(lake, call("c", DAY + 2, source_position=2))
        lake.abort(run)
        assert [row[0] for row in rows(lake)] == ["a", "b", "c"]

    @staticmethod
    def hold(lake: Lake, pid: int, host: str = socket.gethostname(), process: str = "") -> None:
        started = "2026-01-01T00:00:00Z"
        holder = {
            "token": "aa", "owner": "x", "pid": pid, "host": host, "started_at": started, "process": process,
        }  # fmt: skip
        (lake.path / "lock").write_text(json.dumps(holder))


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


class TestAccount:
    """Every record is accounted for, or nothing becomes visible."""

    @pytest.mark.parametrize(
        ("wrong", "problem"),
        [
            (Tally(records=3, calls=2), "records in and .* differ: 3 and 2"),
            (Tally(records=1, calls=1), "calls normalised and calls published differ: 1 and 2"),
            (Tally(records=3, calls=3), "calls normalised and calls published differ: 3 and 2"),
        ],
    )
    def test_a_run_that_does_not_balance_changes_nothing(self, lake: Lake, wrong: Tally, problem: str) -> None:
        add(lake, call("a"))
        before = rows(lake)
        run = lake.begin_run()
        batch = normalised([call("b", source_position=1), call("c", source_position=2)])
        account = published(run, staged(run, [Normalised(batch.calls, batch.rejects, wrong)]))
        with pytest.raises(UnbalancedError, match=problem):
            lake.commit(run, account)
        lake.abort(run)
        assert rows(lake) == before
        assert data_files(lake) == lake.pointer().paths()

    def test_parts_and_skipped_records_count(self, lake: Lake) -> None:
        run = lake.begin_run()
        batch = normalised([call("a")])
        batch.tally.add(Tally(records=5, parts=3))
        batch.tally.skipped["health check"] += 2
        stored = lake.commit(run, published(run, staged(run, [batch])))
        assert stored.balances()
        assert (stored.calls, stored.skipped, stored.tally.parts) == (1, 2, 3)
        on_disk = RunAccount.model_validate_json((lake.path / "runs" / f"{run.run_id}.json").read_bytes())
        assert on_disk == stored

    def test_a_lost_account_is_an_error(self, lake: Lake) -> None:
        run = lake.begin_run()
        with pytest.raises(NoAccountError, match="without an account"):
            read_account(run)
        lake.abort(run)

    def test_a_file_that_is_not_there_is_never_committed(self, lake: Lake) -> None:
        run = lake.begin_run()
        account = published(run, staged(run, [normalised([call("a")])]))
        (lake.path / run.target(Kind.CALLS, "date=2024-10-04")).unlink()
        with pytest.raises(FileNotFoundError):
            lake.commit(run, account)
        lake.abort(run)
        assert lake.pointer().generation == 0


class TestDying:
    """The renames of a run, in order: two parts, three data files, the run's account, the pointer, the views."""

    RENAMES = 8

    def run(self, lake: Lake) -> None:
        calls = [call("a", output_tokens=9), call("b", DAY + 1, source_position=1)]
        add(lake, *calls, rejects=[reject(b"{")])

    def test_the_renames_are_those(self, lake: Lake, kill_at: Any) -> None:
        state = kill_at(-1)
        self.run(lake)
        assert state["n"] == self.RENAMES

    @pytest.mark.parametrize("rename", range(1, RENAMES + 1))
    def test_killed_anywhere_and_run_again(self, lake: Lake, kill_at: Any, rename: int) -> None:
        add(lake, call("a", output_tokens=1))
        before = rows(lake)
        kill_at(rename)
        with pytest.raises(Killed):
            self.run(lake)
        assert rows(lake) == before
        kill_at(-1)
        die()
        self.run(lake)
        assert ask(lake.path, "SELECT call_id, output_tokens FROM calls ORDER BY ALL") == [("a", 9), ("b", 5)]
        assert ask(lake.path, "SELECT count(*) FROM rejects") == [(1,)]
        lake.abort(lake.begin_run(grace=NOW))
        assert data_files(lake) == lake.pointer().paths()
        assert {path.stem for path in (lake.path / "runs").iterdir()} == set(lake.pointer().runs)
        assert not [path for path in lake.path.rglob("*") if path.suffix in {".tmp", ".arrow"}]

    def test_views_that_are_behind_are_built_again(self, lake: Lake, kill_at: Any) -> None:
        kill_at(self.RENAMES)
        with pytest.raises(Killed):
            self.run(lake)
        kill_at(-1)
        die()
        assert ask(lake.path, COUNT) == [(0,)]
        lake.abort(lake.begin_run())
        assert ask(lake.path, COUNT) == [(2,)]

    @pytest.mark.parametrize("broken", [None, b"no database"])
    def test_views_that_are_gone_or_broken_are_built_again(self, lake: Lake, broken: bytes | None) -> None:
        add(lake, call("a"))
        (lake.path / DATABASE).unlink()
        if broken:
            (lake.path / DATABASE).write_bytes(broken)
        lake.abort(lake.begin_run())
        assert ask(lake.path, COUNT) == [(1,)]


class TestCleaningUp:
    """What goes, and when."""

    def test_superseded_files_outlive_the_grace_and_no_longer(self, lake: Lake) -> None:
        add(lake, call("a"))
        old = data_files(lake)
        add(lake, call("b", source_position=1))
        assert old < data_files(lake)
        for path in old:  # how old the file is does not matter: readers may have opened it until just now
            os.utime(lake.path / path, (0, 0))
        add(lake, call("c", DAY + 1, source_position=2))
        assert old < data_files(lake)
        lake.abort(lake.begin_run(grace=NOW))
        assert data_files(lake) == lake.pointer().paths()
        add(lake, call("d", DAY + 1, source_position=3))
        assert not old & set(lake.pointer().superseded)

    def test_orphans_go_after_the_grace(self, lake: Lake) -> None:
        orphan = lake.path / "calls/date=2024-10-09/calls-000001-abcd.parquet"
        orphan.parent.mkdir(parents=True)
        orphan.touch()
        lake.abort(lake.begin_run())
        assert orphan.exists()
        os.utime(orphan, (0, 0))
        lake.abort(lake.begin_run())
        assert not orphan.parent.exists()
        assert (lake.path / "calls").exists()

    def test_what_is_not_ours_is_left_alone(self, lake: Lake) -> None:
        other = lake.path / "calls/mine.parquet"
        other.parent.mkdir()
        other.touch()
        os.utime(other, (0, 0))
        lake.abort(lake.begin_run(grace=NOW))
        assert other.exists()

    def test_an_aborted_run_leaves_nothing(self, lake: Lake) -> None:
        add(lake, call("a"))
        before = data_files(lake)
        run = lake.begin_run()
        published(run, staged(run, [normalised([call("b", source_position=1)])]))
        lake.abort(run)
        assert data_files(lake) == before
        assert not list(lake.path.glob("staging/*"))


def test_the_pointer_is_readable_by_other_tools(lake: Lake) -> None:
    add(lake, call("a"))
    pointer = json.loads((lake.path / POINTER).read_text())
    [file] = pointer["calls"].values()
    assert (lake.path / file["path"]).stat().st_size == file["bytes"]
    assert (pointer["generation"], pointer["grain"], file["rows"]) == (1, "date", 1)
    assert Pointer.model_validate(pointer) == lake.pointer()


_tries: list[int] = []


def _fail_once(batch: Normalised) -> Normalised:
    _tries.append(1)
    if len(_tries) == 2:
        raise ConnectionError("the worker died")
    return batch


def _batch(number: int) -> Normalised:
    calls = [call(f"{number}-{n}", DAY + n % 3, source_position=n) for n in range(10)]
    return normalised([*calls, call("shared", None, source_position=99)], [reject(b"%d" % number)])


@pytest.mark.parametrize("runner", ["FnApiRunner", "BundleBasedDirectRunner"])
def test_the_pipeline(lake: Lake, runner: str) -> None:
    retries = runner == "BundleBasedDirectRunner"
    _tries.clear()
    run = lake.begin_run(["a.jsonl"])
    with _TestPipeline(runner=runner) as pipeline:
        batches = pipeline | beam.Create([0, 1, 2, 3]) | beam.Map(_batch)
        if retries:
            batches |= beam.Map(_fail_once)
        _ = batches | Stage(run) | Publish(run) | AddUp(run)
    account = lake.commit(run, read_account(run))
    assert len(_tries) > 4 or not retries
    assert (account.calls, account.duplicates, account.rejects, account.tally.records) == (41, 3, 4, 48)
    assert ask(lake.path, "SELECT count(*), count(DISTINCT call_id), count(date) FROM calls") == [(41, 41, 40)]
