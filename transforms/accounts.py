"""After publishing: the accounts become one, and rows that only the whole run can judge are taken out."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import apache_beam as beam
import duckdb
import pyarrow as pa
from apache_beam.pvalue import PCollection

from schemas.account import Beaten, Outcome, PartitionAccount, RunAccount
from schemas.lake import Kind, RunContext
from transforms.durable import write_text
from transforms.mirror import local
from transforms.publish import add_up, rewrite

_FILE = "account.json"


class NoAccountError(RuntimeError):
    """The pipeline ended without an account: its runner lost the last step."""


def read_account(run: RunContext) -> RunAccount:
    """The account that the pipeline's last step wrote."""
    try:
        return RunAccount.model_validate_json((run.staging / _FILE).read_bytes())
    except FileNotFoundError as error:
        raise NoAccountError(
            f"run {run.run_id} ended without an account, so nothing is known of what it read; "
            "the runner lost the pipeline's last step: use another one (--runner=FnApiRunner)"
        ) from error


def account_of(run: RunContext, outcomes: Iterable[Outcome]) -> RunAccount:
    """All accounts of a run as one."""
    outcomes = list(outcomes)
    partitions = [outcome.partition for outcome in outcomes if outcome.partition]
    return RunAccount(
        run_id=run.run_id,
        generation=run.generation,
        started_at=run.started_at,
        inputs=list(run.inputs),
        removed=run.removed,
        tally=add_up(outcome.tally for outcome in outcomes if outcome.tally),
        partitions=sorted(
            (item for item in partitions if item.arrived or item.changed),
            key=lambda item: (item.kind, item.partition),
        ),
    )


def settle(run: RunContext, account: RunAccount) -> RunAccount:
    """Take out the dated rows that undated rows beat.

    A dated partition cannot know of an undated row that arrives in the same run, nor is it told: nothing says which
    date that call may be stored under. The undated partition looks at all of them, and what it beat goes here.
    """
    beaten: dict[str, list[Beaten]] = defaultdict(list)
    for partition in account.partitions:
        for row in partition.beaten:
            beaten[row.partition].append(row)
    accounts = {(item.kind, item.partition): item for item in account.partitions}
    for name, rows in beaten.items():
        before = accounts.get((Kind.CALLS, name), PartitionAccount(kind=Kind.CALLS, partition=name))
        accounts[Kind.CALLS, name] = _without(run, before, rows)
    return account.model_copy(update={"partitions": list(accounts.values())})


def _without(run: RunContext, account: PartitionAccount, beaten: Sequence[Beaten]) -> PartitionAccount:
    file = account.file if account.changed else run.live(account.kind, account.partition)
    if file is None:
        return account
    columns = ("partition", "call_id", "source_file", "source_position")
    with duckdb.connect() as db:
        db.register("beaten", pa.table(dict(zip(columns, zip(*beaten, strict=True), strict=True))))
        found = db.execute(
            """
            SELECT file_row_number AS row, run_id = $run_id AS arrived
            FROM read_parquet($path, hive_partitioning = false)
            SEMI JOIN beaten USING (call_id, source_file, source_position)
            ORDER BY row
            """,
            {"run_id": run.run_id, "path": str(local(run, file.path))},
        ).fetchnumpy()
    if not len(found["row"]):
        return account
    arrived = int(found["arrived"].sum())
    counts = {
        "duplicates": account.duplicates + arrived,
        "duplicates_by": Counter(account.duplicates_by) + Counter({"an undated record is better": arrived}),
        "replaced": account.replaced + len(found["row"]) - arrived,
    }
    return rewrite(run, account, lost=found["row"]).model_copy(update=counts)


@dataclass
class AddUp(beam.PTransform[PCollection[Outcome], PCollection[RunAccount]]):
    """All accounts to one, written to the run's staging folder: the launcher may be another process."""

    run: RunContext

    def expand(self, input_or_inputs: PCollection[Outcome]) -> PCollection[RunAccount]:
        """Add up all accounts."""
        # A CombineGlobally would bring a side input along.
        together = input_or_inputs | "KeyAll" >> beam.Map(_under_one_key) | "GroupAll" >> beam.GroupByKey()
        return together | "WriteAccount" >> beam.ParDo(_AddUpFn(self.run))


def _under_one_key(item: Outcome) -> tuple[int, Outcome]:
    return 0, item


class _AddUpFn(beam.DoFn):
    def __init__(self, run: RunContext) -> None:
        self._run = run

    def process(self, element: tuple[int, Iterable[Outcome]]) -> Iterator[RunAccount]:
        account = account_of(self._run, element[1])
        write_text(self._run.staging / _FILE, account.model_dump_json())
        yield account
