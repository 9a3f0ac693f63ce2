"""Runs against a lake without Beam: calls in, one commit out. The days are days since 1970."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb

import sql
from schemas.account import Outcome, RunAccount, Tally
from schemas.call import Call
from schemas.lake import Kind, RunContext
from schemas.reject import Reject
from schemas.vocabulary import RejectReason
from transforms.accounts import account_of
from transforms.clock import DAY_US
from transforms.columns import to_batch, to_reject_batch
from transforms.lake import DATABASE, Lake
from transforms.publish import add_up, publish
from transforms.stage import ACCOUNT, Descriptor, Normalised, stage

DAY = 20_000
"""2024-10-04."""


def call(call_id: str, day: float | None = DAY, **fields: Any) -> Call:
    """A finished call with an answer; ``day`` may have a fraction, ``fields`` are columns."""
    at = None if day is None else int(day * DAY_US)
    row: dict[str, Any] = {
        "source": "exchange",
        "source_file": "a.jsonl",
        "source_position": 0,
        "called_at": at,
        "date": None if at is None else at // DAY_US,
        "finish_reason": "stop",
        "answer": "yes",
        "input_tokens": 10,
        "output_tokens": 5,
    }
    row |= fields
    for text in ("thinking", "answer"):
        row[f"{text}_chars"] = None if row.get(text) is None else len(row[text])
    return Call(call_id=call_id, **row)


def reject(raw: bytes, day: int | None = DAY) -> Reject:
    return Reject(RejectReason.INVALID_JSON, "no JSON", "a.jsonl", 7, raw, date=day)


def normalised(calls: Sequence[Call] = (), rejects: Sequence[Reject] = ()) -> Normalised:
    tally = Tally(records=len(calls) + len(rejects), calls=len(calls))
    tally.rejects.update(str(item.reason) for item in rejects)
    return Normalised(to_batch(calls), to_reject_batch(rejects), tally)


def staged(run: RunContext, batches: Iterable[Normalised]) -> dict[str, list[Descriptor]]:
    """The descriptors of several batches, grouped as the pipeline does."""
    groups = defaultdict(list)
    for descriptor in chain.from_iterable(stage(b, run.staging, run.run_id, run.base.grain) for b in batches):
        groups[descriptor.key].append(descriptor)
    return groups


def published(run: RunContext, groups: dict[str, list[Descriptor]]) -> RunAccount:
    outcomes = []
    for key, descriptors in groups.items():
        if key == ACCOUNT:
            outcomes.append(Outcome(tally=add_up(d.tally for d in descriptors if d.tally)))
        else:
            kind, partition = key.split("/", 1)
            outcomes.append(Outcome(publish(Kind(kind), partition, descriptors, run)))
    return account_of(run, outcomes)


def add(lake: Lake, *calls: Call, rejects: Sequence[Reject] = (), batches: int = 1) -> RunAccount:
    """One whole run; the calls arrive in so many batches."""
    run = lake.begin_run(["a.jsonl"])
    parts = [normalised(calls[n::batches], rejects if n == 0 else ()) for n in range(batches)]
    return lake.commit(run, published(run, staged(run, parts)))


def ask(lake: Path, query: str) -> list[tuple[Any, ...]]:
    """What a reader sees."""
    with duckdb.connect(str(lake / DATABASE), read_only=True) as db:
        db.execute("SET VARIABLE lake = $path", {"path": str(lake)})
        return db.execute(query).fetchall()


def rows(lake: Lake) -> list[tuple[Any, ...]]:
    """The calls, without what differs between runs."""
    return ask(lake.path, "SELECT * EXCLUDE (run_id, source, tags, segments) FROM calls ORDER BY ALL")


def duplicates(lake: Lake) -> list[tuple[Any, ...]]:
    return ask(lake.path, sql.text("health/cross_partition_duplicates"))
