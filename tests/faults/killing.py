"""Runs that are killed, each at another point, and started again: the lake must be that of an undisturbed run.

``make fault``, or ``python -m tests.faults.killing --points 50 --seed 1``. Half of the points are named: an event of
the run, such as the rename of the pointer, in place of which the whole process group gets SIGKILL. The others are
moments of the run, drawn from the seed. Runs use one process or two, and begin with an empty folder or a lake that
holds half of the logs.
"""

import argparse
import gzip
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

import orjson
from click.testing import CliRunner

from pipelines.cli import main as thinkledger
from tests.lakes import rows
from tests.traffic import exchange
from transforms.lake import Lake

_SITE = Path(__file__).parent / "site"
_STEP = "40KB"
"""About half of the logs, so that a run commits twice."""

NAMED = {
    "the lake is made": "os.rename */lake.json 1",
    "the lock is taken": "open */lake/lock 2",
    "the inputs are listed": "open */logs/* 2",
    "a file is expanded": "open */logs/* 6",
    "a file is read": "open */logs/* 10",
    "the first part is staged": "os.rename */staging/*.arrow 1",
    "a part is staged": "os.rename */staging/*.arrow 3",
    "the first partition is published": "os.rename */calls/*.parquet 1",
    "a reject is published": "os.rename */rejects/*.parquet 1",
    "between partitions": "os.rename */calls/*.parquet 4",
    "the last partition is published": "os.rename */calls/*.parquet 6",
    "the accounts are added up": "os.rename */account.json 1",
    "the ledger is written": "os.rename */ledger/* 1",
    "the run's account is written": "os.rename */runs/*.json 1",
    "before the pointer is swapped": "os.rename */lake.json 2",
    "after the pointer is swapped": "os.rename */thinkledger.duckdb 2",
    "the staged parts go": "shutil.rmtree */staging/* 1",
    "the lock is given back": "os.remove */lake/lock 2",
    "the second step is published": "os.rename */calls/*.parquet 8",
    "the second step's account is written": "os.rename */runs/*.json 2",
    "before the pointer is swapped again": "os.rename */lake.json 3",
}


_SHARED_OUT = {
    "a file is read",
    "a part is staged",
    "between partitions",
    "the last partition is published",
    "the second step is published",
}
"""Each worker counts for itself, so that with several no one may come so far."""


class Point(NamedTuple):
    """Where a run is killed: at an event, or after this share of the time that an undisturbed run takes."""

    name: str
    share: float | None
    workers: int
    begun: bool
    """Whether the lake holds half of the logs already."""


class Undisturbed(NamedTuple):
    """The logs, what comes of them, and what runs upon it begin with."""

    logs: Path
    lake: Path
    half: Path
    seconds: dict[int, float]
    """What a run takes, by its number of processes."""


def points(number: int, seed: int) -> list[Point]:
    """Draw points: named ones and moments in turn; every name comes before one comes again."""
    draw = random.Random(seed)  # noqa: S311
    names = list(NAMED)
    draw.shuffle(names)
    named = (
        Point(name, None, 1 if name in _SHARED_OUT else draw.choice((1, 1, 2)), begun=False) for name in cycle(names)
    )
    moments = (
        Point("a moment", draw.random(), draw.choice((1, 1, 2)), begun=draw.random() < 0.5) for _ in cycle([None])
    )
    return list(islice((point for pair in zip(named, moments, strict=False) for point in pair), number))


def write_logs(folder: Path) -> None:
    """Write four logs of six days: calls that two logs hold, lines that are no records, one log compressed."""
    folder.mkdir(parents=True)
    for log in range(4):
        calls = range(log * 40, log * 40 + 50)
        lines = [exchange(n, timestamp=f"2026-11-0{1 + n % 6}T10:00:{n % 60:02}Z") for n in calls]
        (folder / f"{log}.jsonl").write_bytes(b"".join([*lines, b"no JSON %d\n" % log]))
    last = folder / "3.jsonl"
    last.write_bytes(gzip.compress(last.read_bytes(), mtime=0))


def prepare(folder: Path) -> Undisturbed:
    """Make the logs, the undisturbed lake and the half one, and see how long runs take."""
    made = Undisturbed(folder / "logs", folder / "undisturbed" / "lake", folder / "half" / "lake", {})
    write_logs(made.logs)
    normalise(made.logs / "0.jsonl", made.logs / "3.jsonl", lake=made.half)
    for workers in (1, 2):
        shutil.rmtree(made.lake, ignore_errors=True)
        started = time.perf_counter()
        with start(made.logs, made.lake, workers) as process:
            told = process.communicate()[1]
        made.seconds[workers] = time.perf_counter() - started
        if process.returncode:
            raise RuntimeError(told.decode())
    return made


def normalise(*arguments: Path | str, lake: Path) -> dict[str, object]:
    """A run in this process; gives its summary."""
    command = ["normalise", *map(str, arguments), "--lake", str(lake), "--json"]
    result = CliRunner().invoke(thinkledger, command, catch_exceptions=False)
    if result.exit_code:
        raise RuntimeError(result.stderr)
    summary: dict[str, object] = orjson.loads(result.stdout)
    return summary


def start(logs: Path, lake: Path, workers: int = 1, die_at: str = "") -> subprocess.Popen[bytes]:
    """Start a run in a process group of its own, which dies where ``die_at`` says (``site/sitecustomize.py``)."""
    command = [sys.executable, "-m", "pipelines", "normalise", str(logs), "--lake", str(lake), "--step", _STEP]
    faulty = {"PYTHONPATH": str(_SITE), "THINKLEDGER_DIE_AT": die_at} if die_at else {}
    return subprocess.Popen(
        [*command, "--workers", str(workers)],
        env=os.environ | faulty,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def kill(point: Point, given: Undisturbed, lake: Path) -> bool:
    """Run until the point, and no further; false where the run ended before it."""
    if point.begun:
        shutil.copytree(given.half, lake)
    die_at = NAMED[point.name] if point.share is None else ""
    with start(given.logs, lake, point.workers, die_at) as process:
        if point.share is not None:
            time.sleep(point.share * given.seconds[point.workers])
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    return process.returncode == -signal.SIGKILL


def differences(given: Undisturbed, lake: Path) -> Iterator[str]:
    """Run again to the end, and tell what is not as it should be."""
    normalise(given.logs, lake=lake)
    for relation in ("calls", "rejects"):
        if rows(lake, relation) != rows(given.lake, relation):
            yield f"other {relation}"
    if normalise(given.logs, lake=lake)["files"] != {"unchanged": 4}:
        yield "the ledger does not know what was read"
    opened = Lake.open(lake)
    opened.abort(opened.begin_run(grace=timedelta(0)))
    left = {path.relative_to(lake).as_posix() for path in lake.rglob("*") if path.is_file()}
    pointer = opened.pointer()
    runs = {f"runs/{run}.json" for run in pointer.runs}
    expected = {"lake.json", "thinkledger.duckdb", "lock.guard"} | runs | pointer.paths()
    if left != expected:
        yield f"files: {sorted(left ^ expected)}"


def main(arguments: list[str]) -> int:
    """Kill and compare; gives the number of points after which something differed."""
    parser = argparse.ArgumentParser(prog="tests.faults.killing", description=__doc__)
    parser.add_argument("--points", type=int, default=50, help="how many (default 50)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000), help="of what is drawn")
    options = parser.parse_args(arguments)
    _print(f"seed {options.seed}")
    wrong = reached = 0
    with tempfile.TemporaryDirectory(prefix="thinkledger-faults-") as name:
        folder = Path(name)
        given = prepare(folder)
        for number, point in enumerate(points(options.points, options.seed), 1):
            lake = folder / str(number) / "lake"
            killed = kill(point, given, lake)
            found = list(differences(given, lake))
            if point.share is None and not killed:
                found.append("the point was not reached")
            reached += killed
            wrong += bool(found)
            when = "" if point.share is None else f" ({point.share:.0%} of a run)"
            how = f"{point.workers} processes, {'killed' if killed else 'ended before'}"
            _print(f"{number:3} {point.name}{when}, {how}: {'; '.join(found) or 'equal'}")
            shutil.rmtree(lake.parent)
    _print(f"{options.points - wrong} of {options.points} equal; {reached} were killed, the others had ended")
    return wrong


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
