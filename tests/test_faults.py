"""What goes wrong around a run: kills, readers, an engine that tries again, disks, inputs and other runs."""

import gzip
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pipelines import ingest
from pipelines.cli import main
from pipelines.disk_faults import fault_in
from tests.faults import repeating
from tests.faults.killing import NAMED, Point, Undisturbed, differences, kill, normalise, start, write_logs
from tests.faults.reading import read_during
from tests.faults.repeating import STEPS, Fault
from tests.lakes import ask, rows
from tests.traffic import exchange


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    made = Undisturbed(folder / "logs", folder / "lake", folder / "half", {1: 3.0, 2: 8.0})
    write_logs(made.logs)
    normalise(made.logs, lake=made.lake)
    normalise(made.logs / "0.jsonl", made.logs / "3.jsonl", lake=made.half)
    return made


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["normalise", *map(str, arguments)], catch_exceptions=False)


def refused(result: Result) -> str:
    """The one line of a run that gave up."""
    assert result.exit_code == 2, result.output
    [line] = result.stderr.splitlines()
    return line


@pytest.mark.parametrize(
    "point",
    [
        Point("the lake is made", None, 1, begun=False),
        Point("a part is staged", None, 1, begun=False),
        Point("between partitions", None, 1, begun=False),
        Point("after the pointer is swapped", None, 1, begun=False),
        Point("the second step's account is written", None, 2, begun=False),
        Point("a moment", 0.7, 1, begun=True),
    ],
    ids=lambda point: f"{point.name}, {point.workers}",
)
def test_a_killed_run_started_again_is_as_if_nothing_had_been(
    point: Point, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """The short form of ``make fault``, which kills fifty."""
    lake = tmp_path / "lake"
    killed = kill(point, undisturbed, lake)
    assert killed or point.name not in NAMED
    assert list(differences(undisturbed, lake)) == []


def test_no_reader_sees_what_was_never_committed(tmp_path: Path) -> None:
    """The short form of ``make fault``, which publishes twenty times."""
    seen = read_during(3, 100, tmp_path)
    assert seen.answers >= 100
    assert len(seen.generations) > 1


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        *((step, Fault.FAILS_ONCE) for step in STEPS),
        *((step, fault) for step in ("stage", "publish", "add up") for fault in (Fault.FIRST_KEPT, Fault.SECOND_KEPT)),
    ],
)
def test_an_engine_that_tries_again_gives_the_same_lake(
    step: str, fault: Fault, undisturbed: Undisturbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    retrying = ["--runner=BundleBasedDirectRunner"] if fault is Fault.FAILS_ONCE else []
    with monkeypatch.context() as patch:
        repeating.disturb(step, fault, patch)
        summary = normalise(undisturbed.logs, *retrying, lake=tmp_path / "lake")
    assert repeating.tries[step] > 1
    assert (summary["records"], summary["calls"], summary["duplicates"]) == (204, 170, 30)
    for relation in ("calls", "rejects"):
        assert rows(tmp_path / "lake", relation) == rows(undisturbed.lake, relation)


@contextmanager
def _disk(folder: Path, size: str) -> Iterator[Callable[[str], object]]:
    """A small disk of its own; gives the function that mounts it with other options."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("making a small disk needs the right to mount")
    try:
        yield lambda options: subprocess.check_call(["mount", "-o", f"remount,{options}", str(folder)])
    finally:
        subprocess.check_call(["umount", str(folder)])


@pytest.mark.parametrize(
    ("full_at", "room_for"),
    [("making the lake", "40k"), ("staging", "380k"), ("publishing", "550k"), ("committing", "720k")],
)
def test_a_full_disk_ends_the_run_in_one_line(
    full_at: str, room_for: str, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    with _disk(tmp_path / "disk", room_for) as remount:
        lake = tmp_path / "disk" / "lake"
        line = refused(run(undisturbed.logs, "--lake", lake))
        assert line.startswith(f"thinkledger: {lake}"), full_at
        assert "No space left on device" in line
        assert line.endswith("run the same command again to go on")
        remount("size=20m")
        assert list(differences(undisturbed, lake)) == []


def test_a_disk_that_cannot_be_written_any_more(undisturbed: Undisturbed, tmp_path: Path) -> None:
    with _disk(tmp_path / "disk", "20m") as remount:
        lake = tmp_path / "disk" / "lake"
        normalise(undisturbed.logs / "0.jsonl", lake=lake)
        remount("ro")
        assert refused(run(undisturbed.logs, "--lake", lake)) == (
            f"thinkledger: {lake} cannot be written: Read-only file system; make room or give access, and run it again"
        )
        assert len(rows(lake)) == 50
        remount("rw")
        assert list(differences(undisturbed, lake)) == []


@pytest.mark.parametrize(
    ("trace", "fault"),
    [
        (
            "Traceback:\n  a.py, line 1\nOSError: [Errno 28] No space left on device: 'x' [while running 'Stage']\n",
            "[Errno 28] No space left on device: 'x'",
        ),
        ("RuntimeError: OSError: [Errno 30] Read-only file system", "[Errno 30] Read-only file system"),
        ("_duckdb.IOException: IO Error: Could not write file: no space", "IO Error: Could not write file: no space"),
        ("PermissionError: [Errno 13] Permission denied: 'x'", "[Errno 13] Permission denied: 'x'"),
        ("ValueError: an answer about OSError: [Errno 28] in it", None),
        ("duckdb.BinderException: Binder Error: no such column", None),
    ],
)
def test_only_what_the_system_refused_is_told_as_such(trace: str, fault: str | None) -> None:
    assert fault_in(trace) == fault


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Gives the function that lets something happen between the listing of the inputs and their reading."""

    def arm(happen: Callable[[], object]) -> None:
        real = ingest.build

        def build(*arguments: Any) -> Any:
            monkeypatch.setattr(ingest, "build", real)
            happen()
            return real(*arguments)

        monkeypatch.setattr(ingest, "build", build)

    return arm


OLD = b"".join(exchange(n) for n in range(4))
NEW = b"".join(exchange(n) for n in range(10, 14))


@pytest.mark.parametrize(
    ("becomes", "told", "calls"),
    [
        (OLD[: len(OLD) // 2], "shorter than when it was listed", 2),
        (b"", None, 0),
        (None, "No such file", 0),
        (OLD + NEW, None, 4),
        (NEW, None, 4),
    ],
    ids=["shrinks", "is emptied", "vanishes", "grows", "is rewritten"],
)
def test_an_input_that_changes_while_it_is_read(
    becomes: bytes | None, told: str | None, calls: int, meanwhile: Any, tmp_path: Path
) -> None:
    log, lake = tmp_path / "a.jsonl", tmp_path / "lake"
    log.write_bytes(OLD)
    meanwhile(lambda: log.unlink() if becomes is None else log.write_bytes(becomes))
    normalise(log, lake=lake)
    assert ask(lake, "SELECT count(*) FROM calls") == [(calls,)]
    details = [detail for (detail,) in ask(lake, "SELECT detail FROM rejects WHERE reason = 'unreadable_file'")]
    assert [(told or "") in detail for detail in details] == ([True] if told else [])
    log.write_bytes(OLD + NEW)
    normalise(log, lake=lake)
    assert [answer for (answer,) in ask(lake, "SELECT answer FROM calls ORDER BY output_tokens")] == [
        f"answer {number}" for number in (0, 1, 2, 3, 10, 11, 12, 13)
    ]
    assert rows(lake, "rejects") == []


def test_a_cut_gzip_is_read_as_far_as_it_goes_and_again_when_it_is_whole(tmp_path: Path) -> None:
    log, lake = tmp_path / "a.jsonl.gz", tmp_path / "lake"
    whole = gzip.compress(OLD + NEW, mtime=0)
    log.write_bytes(whole[:-20])
    assert normalise(log, lake=lake)["rejects_by"] == {"unreadable_file": 1}
    log.write_bytes(whole)
    normalise(log, lake=lake)
    normalise(log, lake=tmp_path / "undisturbed")
    assert rows(lake) == rows(tmp_path / "undisturbed")
    assert rows(lake, "rejects") == []


def _stopped(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has stopped itself."""
    state = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    assert state
    assert state.si_code == os.CLD_STOPPED


def _goes_on(process: subprocess.Popen[bytes]) -> str:
    """Let a stopped process go on to its end; gives what it told."""
    process.send_signal(signal.SIGCONT)
    return process.communicate(timeout=60)[1].decode()


@pytest.mark.parametrize("event", ["os.rename */calls/*.parquet 2", "os.rename */runs/*.json 1"])
def test_a_zombie_commits_nothing_and_undoes_nothing(event: str, undisturbed: Undisturbed, tmp_path: Path) -> None:
    """A run is stopped; somebody takes it for dead and removes its lock, as the refusal says; then it goes on."""
    lake = tmp_path / "lake"
    with start(undisturbed.logs, lake, die_at=f"{event} SIGSTOP") as zombie:
        _stopped(zombie)
        line = refused(run(undisturbed.logs, "--lake", lake))
        assert f"is being written by thinkledger (process {zombie.pid} on " in line
        assert line.endswith(f"if that process is dead, remove {lake / 'lock'}")
        (lake / "lock").unlink()
        normalise(undisturbed.logs, lake=lake)
        before = (lake / "lake.json").read_bytes(), rows(lake)
        told = _goes_on(zombie)
    assert zombie.returncode == 2
    assert told.splitlines()[-1].startswith("thinkledger: ")
    assert ((lake / "lake.json").read_bytes(), rows(lake)) == before
    assert list(differences(undisturbed, lake)) == []


def test_a_run_that_is_stopped_in_its_commit_keeps_all_others_out(
    undisturbed: Undisturbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its last look at the lock and the rename: nobody may come between, not even without the lock."""
    lake = tmp_path / "lake"
    with start(undisturbed.logs, lake, die_at="os.rename */lake.json 2 SIGSTOP") as zombie:
        _stopped(zombie)
        (lake / "lock").unlink()
        monkeypatch.setattr("transforms.lock._GUARD_SECONDS", 0.1)
        assert "is being changed by a process right now" in refused(run(undisturbed.logs, "--lake", lake))
        _goes_on(zombie)
    assert len(rows(lake)) == len(rows(undisturbed.lake))
    assert list(differences(undisturbed, lake)) == []


def test_a_launcher_that_dies_leaves_its_lock_to_the_next_while_its_workers_write(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    with start(undisturbed.logs, lake, workers=2) as launcher:
        deadline = time.monotonic() + 60
        while not list(lake.glob("staging/*/*.arrow")) and time.monotonic() < deadline:
            time.sleep(0.01)
        launcher.kill()
        launcher.wait()
        normalise(undisturbed.logs, lake=lake)
        launcher.communicate()  # until the last worker has ended, too
    assert list(differences(undisturbed, lake)) == []
