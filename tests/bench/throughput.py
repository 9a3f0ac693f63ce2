"""Speed and memory of ``thinkledger normalise`` beside two plain loops over the same lines, in one run.

``make bench``, or ``python -m tests.bench.throughput --megabytes 500 --rounds 3 [--workers 2] [--memory 3000]``. Every
measurement is a process of its own; the rounds alternate, and medians and the ratios of one run are printed, since
machines are noisy. ``--memory MB`` also runs once over that much input and compares the peak memory.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from pipelines.sample_traffic import calls
from tests.bench.plain_loop import load_only, plain_loop

MB = 1_000_000
_TRIAL = 1000


class Measure(NamedTuple):
    """One process: its wall-clock seconds and the peak resident memory of its largest process, in MB."""

    seconds: float
    peak_mb: float


def main(arguments: list[str]) -> None:
    """Run the benchmark."""
    options = _options(arguments)
    if options.child:
        _child(options.child, Path(options.file), Path(options.out))
        return
    with tempfile.TemporaryDirectory(prefix="thinkledger-bench-") as name:
        folder = Path(name)
        sample = folder / "sample.jsonl"
        records = _write(sample, options.megabytes * MB)
        size = sample.stat().st_size / MB
        _print(f"{records:,} records, {size:,.0f} MB, {size * MB / records:,.0f} bytes each")
        results = _rounds(sample, folder, options.rounds, options.workers)
        medians = {name: statistics.median(m.seconds for m in measures) for name, measures in results.items()}
        for what, measures in results.items():
            peak = max(measure.peak_mb for measure in measures)
            rates = f"{size / medians[what]:8.1f} MB/s {records / medians[what]:10,.0f} records/s"
            _print(f"{what:<22} {rates}  peak {peak:7,.0f} MB")
        ours = medians["thinkledger"]
        _print(f"thinkledger runs at {medians['plain loop'] / ours:.2f} of the plain loop")
        _print(f"thinkledger runs at {medians['orjson.loads'] / ours:.2f} of orjson.loads alone")
        if options.memory:
            _compare_memory(folder, options, max(measure.peak_mb for measure in results["thinkledger"]))


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.bench.throughput", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=500, help="size of the sample (default 500)")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each (default 3)")
    parser.add_argument("--workers", type=int, default=1, help="processes of the run (default 1)")
    parser.add_argument("--memory", type=int, default=0, help="also run once over so many MB and compare the peaks")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    parser.add_argument("--out", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _write(path: Path, size: int) -> int:
    """Write a log of about ``size`` bytes, in the order of its calls' times, as logs are; gives its records."""
    trial = sum(len(line) for line in calls(_TRIAL))
    records = size * _TRIAL // trial
    with path.open("wb") as file:
        file.writelines(calls(records))
    return records


def _rounds(sample: Path, folder: Path, rounds: int, workers: int) -> dict[str, list[Measure]]:
    results: dict[str, list[Measure]] = {"orjson.loads": [], "plain loop": [], "thinkledger": []}
    for _ in range(rounds):
        results["orjson.loads"].append(_measure(_self("load_only", sample, folder)))
        results["plain loop"].append(_measure(_self("plain_loop", sample, folder)))
        results["thinkledger"].append(_normalise(sample, folder, workers))
    return results


def _normalise(sample: Path, folder: Path, workers: int) -> Measure:
    lake = folder / "lake"
    shutil.rmtree(lake, ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "pipelines",
        "normalise",
        str(sample),
        "--lake",
        str(lake),
        "--workers",
        str(workers),
    ]
    return _measure(command)


def _self(what: str, sample: Path, folder: Path) -> list[str]:
    module = "tests.bench.throughput"
    return [
        sys.executable,
        "-m",
        module,
        "--child",
        what,
        "--file",
        str(sample),
        "--out",
        str(folder / "plain.parquet"),
    ]


def _child(what: str, sample: Path, out: Path) -> None:
    if what == "load_only":
        load_only(sample)
    else:
        plain_loop(sample, out)


def _measure(command: list[str]) -> Measure:
    """Run a command to its end; the peak is that of its largest process."""
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        "sys.exit(done.returncode)\n"
    )
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code, *command], check=True, stdout=subprocess.PIPE)
    seconds = time.perf_counter() - started
    return Measure(seconds, int(done.stdout) * resource_unit() / MB)


def resource_unit() -> int:
    """Bytes in the unit of ``ru_maxrss``: kibibytes on Linux, bytes on macOS."""
    return 1 if sys.platform == "darwin" else 1024


def _compare_memory(folder: Path, options: argparse.Namespace, small_peak: float) -> None:
    large = folder / "large.jsonl"
    _write(large, options.memory * MB)
    measure = _normalise(large, folder, options.workers)
    growth = measure.peak_mb / small_peak - 1
    size = large.stat().st_size / MB
    _print(f"{size:,.0f} MB of input: peak {measure.peak_mb:,.0f} MB, {growth:+.1%} against {options.megabytes} MB")
    _print(f"{size / measure.seconds:.1f} MB/s over the whole")


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
