"""A company's traffic on two cores: memory and temporary disk of the whole run, then what an hourly run costs.

``python -m tests.bench.scale`` writes 10 million small calls and 10 GB of large ones, one behind the other, into a
temporary folder; ``--calls``, ``--gigabytes`` and ``--files`` set other sizes, ``--folder`` another disk. Measured are

- both inputs into a lake each: time, the largest sum of all processes' memory, the largest staging folder;
- 1,000 more calls into the lake of the small ones, as an hourly run adds them;
- a run over a folder of 10,000 files that the lake has read already.

Memory is the proportional set size (PSS) of the process and all below it, which counts shared pages once.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

import orjson

MB = 1_000_000
_SAMPLE_SECONDS = 0.25
_FILE_BYTES = 200 * MB
_FIRST_DAY = datetime(2026, 9, 1, tzinfo=UTC)
_DAYS = 60
_LARGE_CHARS = 60_000
_CALL = (
    b'{"timestamp":"%s","latency_ms":%d,"user_id":"user-%d","team":"team-%d","request":{"model":"deepseek-reasoner",'
    b'"messages":[]},"response":{"id":"chatcmpl-%024x","object":"chat.completion","model":"deepseek-reasoner","choices":'
    b'[{"index":0,"message":{"role":"assistant","reasoning_content":"%s","content":"%s"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"completion_tokens_details":'
    b'{"reasoning_tokens":%d}}}}\n'
)


class Measure(NamedTuple):
    """One command: how long it took from its start, and the most that it needed; bytes."""

    seconds: float
    memory: int
    staging: int
    account: dict[str, object]


def main(arguments: list[str]) -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(prog="tests.bench.scale", description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000_000, help="small calls (default 10 million)")
    parser.add_argument("--gigabytes", type=float, default=10, help="of large calls (default 10)")
    parser.add_argument("--files", type=int, default=10_000, help="small files (default 10,000)")
    parser.add_argument("--workers", type=int, default=2, help="processes of each run (default 2)")
    parser.add_argument("--folder", type=Path, help="where the temporary folder is made (default: the system's)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="thinkledger-scale-", dir=options.folder) as name:
        folder = Path(name)
        if options.calls:
            _ingest("small calls", folder, small_calls(range(options.calls), options.calls), options.workers)
            _hourly(folder / "lake", folder / "logs", options.calls)
            _clear(folder)
        if options.gigabytes:
            number = int(options.gigabytes * 1000 * MB / _LARGE_CHARS)
            _ingest("large calls", folder, large_calls(number), options.workers)
            _clear(folder)
        if options.files:
            _read_again(folder, options.files)


def small_calls(numbers: Iterable[int], of: int) -> Iterator[bytes]:
    """Calls of some 700 bytes, in the order of their times, spread evenly over the days by their numbers."""
    for number in numbers:
        yield _call(number, of, b"Let me count: %d and %d." % (number, number % 97), b"It is %d." % (number % 97))


def large_calls(number: int) -> Iterator[bytes]:
    """Calls whose thinking has tens of thousands of characters, no two alike."""
    draw = random.Random(1)  # noqa: S311
    words = b" ".join(b"%x" % draw.getrandbits(24) for _ in range(1_000_000))
    for n in range(number):
        start = draw.randrange(len(words) - _LARGE_CHARS)
        yield _call(n, number, words[start : start + _LARGE_CHARS], b"It is %d." % n)


def _call(number: int, of: int, thinking: bytes, answer: bytes) -> bytes:
    at = _FIRST_DAY + timedelta(days=_DAYS) * (number / of)
    who = (100 + number % 900, number % 500, number % 12)
    identity = number * 0x9E3779B97F4A7C15F39CC061 % (1 << 96)  # long and without an order, as providers' ids are
    reasoning, output = len(thinking) // 4, (len(thinking) + len(answer)) // 4
    counts = (1000, output, 1000 + output, reasoning)
    return _CALL % (at.isoformat().encode(), *who, identity, thinking, answer, *counts)


def _ingest(what: str, folder: Path, lines: Iterable[bytes], workers: int) -> None:
    logs, lake = folder / "logs", folder / "lake"
    size = _write(logs, lines)
    done = _normalise(logs, lake, "--workers", str(workers))
    output = _size(lake) or 1
    _print(
        f"{what}: {done.account['records']:,} records, {size / MB:,.0f} MB in {done.seconds:,.0f} s "
        f"({size / MB / done.seconds:.1f} MB/s), {workers} workers; memory of all processes {done.memory / MB:,.0f} MB"
    )
    _print(
        f"{what}: the lake has {output / MB:,.0f} MB, staging had up to {done.staging / MB:,.0f} MB "
        f"({done.staging / output:.2f} of the lake)"
    )


def _hourly(lake: Path, logs: Path, calls: int) -> None:
    """The last hours' calls: those of the last two days, a few of them late."""
    share = max(1, calls // _DAYS * 2 // 1000)
    last = range(calls - 1000 * share, calls, share)
    # Numbers that no call has yet, at the times of the last ones.
    lines = (line.replace(b"chatcmpl-", b"chatcmpl-h") for line in small_calls(last, calls))
    (logs / "hour.jsonl").write_bytes(b"".join(lines))
    done = _normalise(logs, lake)
    _print(
        f"an hourly run: {done.account['calls']:,} more calls in {done.seconds:.1f} s from the start, "
        f"{done.account['partitions']} partitions, memory {done.memory / MB:,.0f} MB"
    )


def _read_again(folder: Path, files: int) -> None:
    logs, lake = folder / "logs", folder / "lake"
    logs.mkdir()
    for number, line in enumerate(small_calls(range(files), files)):
        (logs / f"{number}.jsonl").write_bytes(line)
    first, again = _normalise(logs, lake), _normalise(logs, lake)
    _print(f"{files:,} files: {first.seconds:.1f} s, and {again.seconds:.1f} s when nothing is new")


def _write(logs: Path, lines: Iterable[bytes]) -> int:
    """Write lines into files of a bounded size; gives the size of all."""
    logs.mkdir()
    total = size = 0
    parts: list[bytes] = []
    for line in lines:
        parts.append(line)
        size += len(line)
        if size >= _FILE_BYTES:
            (logs / f"{total:015}.jsonl").write_bytes(b"".join(parts))
            total, size, parts = total + size, 0, []
    (logs / f"{total:015}.jsonl").write_bytes(b"".join(parts))
    return total + size


def _normalise(logs: Path, lake: Path, *more: str) -> Measure:
    command = [sys.executable, "-m", "pipelines", "normalise", str(logs), "--lake", str(lake), "--json", *more]
    peaks, ended = {"memory": 0, "staging": 0}, Event()
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        watcher = Thread(target=_watch, args=(process.pid, lake / "staging", peaks, ended))
        watcher.start()
        told, complaint = process.communicate()
        seconds = time.perf_counter() - started
        ended.set()
        watcher.join()
    if process.returncode:
        raise RuntimeError(complaint.decode())
    return Measure(seconds, peaks["memory"], peaks["staging"], orjson.loads(told))


def _watch(pid: int, staging: Path, peaks: dict[str, int], ended: Event) -> None:
    """Sample until the end; peaks between two samples are missed."""
    while not ended.wait(_SAMPLE_SECONDS):
        peaks["memory"] = max(peaks["memory"], sum(map(_memory, _family(pid))))
        peaks["staging"] = max(peaks["staging"], _size(staging))


def _family(pid: int) -> list[int]:
    """A process and all below it."""
    family = [pid]
    for member in family:
        with suppress(OSError):
            for task in Path(f"/proc/{member}/task").iterdir():
                family += map(int, (task / "children").read_text().split())
    return family


def _memory(pid: int) -> int:
    """A process's proportional set size in bytes; 0 where it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def _size(folder: Path) -> int:
    """What the files below a folder hold; some may go meanwhile."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += (Path(parent) / name).stat().st_size
    return total


def _clear(folder: Path) -> None:
    for entry in folder.iterdir():
        shutil.rmtree(entry)


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
