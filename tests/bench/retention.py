"""Time and peak memory of ``thinkledger retain`` over a lake of ten million calls with five per cent of text due.

``python -m tests.bench.retention [--calls 10000000] [--days 92] [--folder FOLDER]``. Twice over the same lake: what is
due is all of the oldest dates, whose partitions alone are written anew; then it is two teams of forty, who have calls
in every partition. Memory is that of the whole process at its peak.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from tests.bench.questions import FIRST, write_lake

_POLICIES = {
    "all of the oldest dates": "defaults: {thinking: 30}\n",
    "some rows of every date": "rules: [{when: {team: [team-1, team-2]}, thinking: immediately}]\n",
}


def main(arguments: list[str]) -> int:
    """Make the lake, run both policies over copies of it, and print what they took."""
    parser = argparse.ArgumentParser(prog="tests.bench.retention", description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000_000, help="how many calls (default 10,000,000)")
    parser.add_argument("--days", type=int, default=92, help="over how many days (default 92)")
    parser.add_argument("--folder", help="work here (default: a temporary folder)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="thinkledger-bench-", dir=options.folder) as folder:
        lake = Path(folder) / "lake"
        write_lake(lake, options.calls, options.days)
        as_of = FIRST + timedelta(days=30 + max(options.days // 20, 1) - 1)
        for name, policy in _POLICIES.items():
            copy = Path(folder) / "copy"
            shutil.copytree(lake, copy, copy_function=os.link)  # files of a lake never change
            (Path(folder) / "policy.yaml").write_text(policy)
            _print(f"{name}: {_measured(copy, Path(folder) / 'policy.yaml', str(as_of))}")
            shutil.rmtree(copy)
    return 0


def _measured(lake: Path, policy: Path, as_of: str) -> str:
    command = [sys.executable, "-m", "pipelines", "retain", "--lake", str(lake), "--policy", str(policy)]
    started = time.perf_counter()
    with subprocess.Popen([*command, "--as-of", as_of, "--json"], stdout=subprocess.PIPE) as process:
        assert process.stdout
        report = json.loads(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    partitions = len({item["partition"] for item in report["purged"]})
    return (
        f"{report['rows']:,} rows in {partitions} partitions, {seconds:.1f} s, "
        f"peak memory {usage.ru_maxrss * 1024 / 1e6:,.0f} MB"
    )


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
