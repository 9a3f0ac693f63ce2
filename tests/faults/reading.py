"""Readers that never stop while partitions are replaced: each answer must be that of a generation that was committed.

``make fault``, or ``python -m tests.faults.reading --publishes 20 --queries 1000``. Every publish adds one call to each
of 40 partitions, so that counts and sums tell the generation. The reader is a process of its own: it opens the views
anew, asks again through a connection that it holds, and reads the files that ``lake.json`` names.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import cycle, islice
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import duckdb
import orjson

from schemas.lake import Pointer
from tests.lake_runs import DAY, call, normalised, published, staged
from transforms.lake import DATABASE, POINTER, Lake

PARTITIONS = 40
_GRACE = timedelta(seconds=20)
"""Superseded files go while the reader reads."""
_IN_TURN = 40
"""So many queries by one way, then by the next: a process that holds a connection gets no newer one from DuckDB."""
_QUERIES = (
    "SELECT count(*), sum(output_tokens), {all} FROM {calls}",
    "SELECT count(*), sum(output_tokens), {all} FROM {calls} WHERE output_tokens > 0 AND date >= '2024-10-04'",
    "SELECT count(*), sum(output_tokens), {half} FROM {calls} WHERE date < '2024-10-24' AND call_id <> 'none'",
    """SELECT count(*), sum(a.output_tokens), {all} FROM {calls} AS a SEMI JOIN {calls} AS b USING (call_id)
    WHERE a.finish_reason = 'stop'""",
)


class WrongAnswerError(RuntimeError):
    """A reader saw what was never committed."""


def publish(lake: Lake, generation: int) -> None:
    """Add one call to each partition; its output tokens are the generation."""
    run = lake.begin_run(["a.jsonl"], grace=_GRACE)
    calls = [
        call(f"{generation}-{day}", DAY + day, output_tokens=generation, source_position=generation)
        for day in range(PARTITIONS)
    ]
    lake.commit(run, published(run, staged(run, [normalised(calls)])))


def answers(lake: Path) -> Iterator[int]:
    """Ask for ever, by all ways in turn; gives the generation that each answer is of.

    Raises:
        WrongAnswerError: the answer is of none, or of another one than may be seen then.
    """
    queries = cycle(_QUERIES)
    for way in cycle((_by_new_connections, _by_one_connection, _by_the_pointer)):
        yield from way(lake, islice(queries, _IN_TURN))


def _by_new_connections(lake: Path, queries: Iterable[str]) -> Iterator[int]:
    for query in queries:
        before = _generation(lake)
        with _open(lake) as shell:
            yield _within(before, _ask(shell, query, "calls"), _generation(lake), query)


def _by_one_connection(lake: Path, queries: Iterable[str]) -> Iterator[int]:
    with _open(lake) as shell:
        opened_at = _ask(shell, _QUERIES[0], "calls")
        for query in queries:
            found = _ask(shell, query, "calls")
            if found != opened_at:
                raise WrongAnswerError(f"opened at generation {opened_at}, saw {found}: {query}")
            yield found


def _by_the_pointer(lake: Path, queries: Iterable[str]) -> Iterator[int]:
    for query in queries:
        pointer = Pointer.model_validate_json((lake / POINTER).read_bytes())
        files = [str(lake / file.path) for file in pointer.calls.values()]
        with duckdb.connect() as shell:
            found = _ask(shell, query, f"read_parquet({files}, union_by_name = true, hive_partitioning = true)")
        if found != pointer.generation:
            raise WrongAnswerError(f"{POINTER} said generation {pointer.generation}, saw {found}: {query}")
        yield found


def _within(before: int, found: int, after: int, query: str) -> int:
    if not before - 1 <= found <= after:  # the views follow the pointer by a rename of their own
        raise WrongAnswerError(f"saw generation {found} between {before} and {after}: {query}")
    return found


def _open(lake: Path) -> duckdb.DuckDBPyConnection:
    shell = duckdb.connect(str(lake / DATABASE), read_only=True)
    shell.execute("SET VARIABLE lake = $path", {"path": str(lake)})
    return shell


def _ask(shell: duckdb.DuckDBPyConnection, query: str, relation: str) -> int:
    [(count, total, partitions)] = shell.execute(
        query.format(calls=relation, all=PARTITIONS, half=PARTITIONS // 2)
    ).fetchall()
    generation = count // partitions
    if (count, total) != (partitions * generation, partitions * generation * (generation + 1) // 2):
        raise WrongAnswerError(f"{count} calls with {total} tokens are no generation: {query}")
    return int(generation)


def _generation(lake: Path) -> int:
    return int(orjson.loads((lake / POINTER).read_bytes())["generation"])


class Seen(NamedTuple):
    """What a reader was told: how many answers, and of which generations."""

    answers: int
    generations: set[int]


def read_during(publishes: int, queries: int, folder: Path) -> Seen:
    """Publish so often while at least so many queries are asked, one behind the other without a pause.

    Raises:
        WrongAnswerError: an answer, or what is on the disk in the end, is not right.
    """
    lake = Lake.create(folder / "lake")
    publish(lake, 1)
    command = [sys.executable, "-m", "tests.faults.reading", "--reader", str(lake.path)]
    told: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout
        listener = Thread(target=told.extend, args=(reader.stdout,))
        listener.start()
        for generation in range(2, publishes + 2):
            publish(lake, generation)
            while len(told) < queries * (generation - 1) // publishes and reader.poll() is None:
                time.sleep(0.01)
        ended = reader.poll()
        reader.kill()
        listener.join()
    if ended is not None:
        raise WrongAnswerError("the reader ended; what it saw stands above")
    lake.abort(lake.begin_run(grace=timedelta(0)))
    files = {path.relative_to(lake.path).as_posix() for path in lake.path.rglob("*.parquet")}
    if files != lake.pointer().paths():
        raise WrongAnswerError(f"superseded files outlived the grace: {sorted(files ^ lake.pointer().paths())}")
    return Seen(len(told), {int(line) for line in told if line.strip()})


def main(arguments: list[str]) -> None:
    """Publish and read."""
    parser = argparse.ArgumentParser(prog="tests.faults.reading", description=__doc__)
    parser.add_argument("--publishes", type=int, default=20, help="how often all partitions are replaced (default 20)")
    parser.add_argument("--queries", type=int, default=1000, help="how many answers at least (default 1000)")
    parser.add_argument("--reader", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.reader:
        for generation in answers(Path(options.reader)):
            _print(str(generation))
        return
    with tempfile.TemporaryDirectory(prefix="thinkledger-faults-") as name:
        seen = read_during(options.publishes, options.queries, Path(name))
    _print(f"{seen.answers:,} queries during {options.publishes} publishes of {PARTITIONS} partitions: none wrong")
    _print(f"generations that were seen: {', '.join(map(str, sorted(seen.generations)))}")


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
