"""``thinkledger retain``: texts that are past their retention go, by a policy; counts, effort and costs stay."""

import re
import secrets
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import apache_beam as beam
import click
import orjson
from apache_beam.options.pipeline_options import PipelineOptions
from rich.console import Console

from pipelines.disk_faults import told_in_one_line
from pipelines.ingest import runner_options
from pipelines.options import DAY, lake_option
from pipelines.purged import Report, files_left, print_report, summary
from pipelines.retention_of_call import explained, print_explained
from pipelines.stopping import stoppable
from pipelines.wrong_use import WrongUseError
from schemas.account import RetentionAccount, RunAccount
from schemas.lake import Pointer, RunContext
from schemas.policy import Policy
from schemas.policy_file import PolicyError, load_policy
from transforms.accounts import AddUp, NoAccountError, account_of, read_account
from transforms.clocks import in_force
from transforms.lake import GRACE, Lake, NotALakeError, UnbalancedError
from transforms.lock import LakeLockedError, LockLostError
from transforms.policies import policy_of, write_policy
from transforms.retain import NotPurgedError, Order, Place, Retain, places, survey
from transforms.totals import added_up

_REFUSALS = (
    PolicyError, NotALakeError, LakeLockedError, LockLostError, UnbalancedError, NoAccountError, NotPurgedError
)  # fmt: skip
"""What says of itself, in one line, what is wrong and what to do."""
_KEPT = "the lake is as the last commit left it; run the same command again"


class _Grace(click.ParamType[timedelta]):
    """A time that superseded files stay: ``0``, or a number with s, m, h or d."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        if isinstance(value, timedelta):
            return value
        found = re.fullmatch(r"(\d{1,6})([smhd])|0", str(value))
        if not found:
            self.fail(f"{value!r} is no time: write 0, 30m, 12h or 2d", param, ctx)
        unit = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
        return timedelta(**{unit[found[2]]: int(found[1])}) if found[1] else timedelta(0)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run of ``retain`` is told to do."""

    lake: str
    policy: Path | None = None
    """Null: the policy in force."""
    as_of: date | None = None
    """Null: the day on which the run starts, in UTC."""
    grace: timedelta = GRACE
    wait: float = 0
    workers: int = 1
    beam_options: tuple[str, ...] = ()


@click.command(name="retain")
@lake_option
@click.option("--policy", type=click.Path(dir_okay=False), metavar="FILE.yaml", help="Put this policy in force.")
@click.option("--as-of", type=DAY, help="What is due on this UTC date.  [default: today]")
@click.option("--dry-run", is_flag=True, help="Print what would go; nothing is written and no lock is taken.")
@click.option("--explain", metavar="CALL_ID", help="Print which rule decides over this call, and when its texts go.")
@click.option(
    "--grace", type=_Grace(), default="1h", show_default=True, help="How long superseded files stay; 0: gone."
)
@click.option("--wait", type=click.FloatRange(0), default=0, metavar="SECONDS", help="Wait for another run to end.")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes on this machine.")
@click.option("--beam", "beam_options", multiple=True, metavar="OPTION", help="For Beam, as --beam=--runner=NAME.")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def command(
    lake: str,
    policy: str | None,
    *,
    dry_run: bool,
    explain: str | None,
    as_json: bool,
    as_of: date | None,
    **given: object,
) -> None:
    """Take the texts out that are past their retention; counts, effort and costs stay as they are.

    The simplest policy is two lines below defaults: 'thinking: 30' and 'answer: 90', in days; keep and immediately are
    the only words. rules:, holds: and forget: may follow (README, Retention). Without --policy the one in force counts.

    Superseded files still hold the texts until the grace ends: then the next run removes them, and the purge is proven.
    """
    wanted = Wanted(lake, Path(policy) if policy else None, as_of, **given)  # type: ignore[arg-type]
    if explain:
        found = explain_call(wanted, explain)
        click.echo(orjson.dumps(found, default=str)) if as_json else print_explained(found, Console())
        return
    report = preview(wanted) if dry_run else run(wanted)
    click.echo(orjson.dumps(summary(report), default=str)) if as_json else print_report(report, Console())


def explain_call(wanted: Wanted, call_id: str) -> list[dict[str, object]]:
    """What a policy says of one call, by row.

    Raises:
        WrongUseError: the policy or the lake cannot be read, or there is no such call.
    """
    try:
        lake = Lake.open(wanted.lake)
        order = _order(wanted, lake.path, lake.pointer(), _file(wanted))
    except _REFUSALS as error:
        raise WrongUseError(str(error)) from error
    return explained(wanted.lake, order, call_id)


def preview(wanted: Wanted) -> Report:
    """What a run would take out, file by file; nothing is written.

    Raises:
        WrongUseError: the policy or the lake cannot be read.
    """
    try:
        lake = Lake.open(wanted.lake)
        pointer = lake.pointer()
        order = _order(wanted, lake.path, pointer, _file(wanted))
    except _REFUSALS as error:
        raise WrongUseError(str(error)) from error
    live = [(place, pointer.files(place.kind)[place.partition].path) for place in places(pointer, order)]
    lake.fetch(path for _, path in live)
    purged = [(place, item) for place, path in live for item in survey(lake.path / path, place, order)]
    return Report(order.as_of, purged)


def run(wanted: Wanted) -> Report:
    """Take out what is due, and put the policy in force.

    Raises:
        WrongUseError: the policy or the lake cannot be used, or a total would have changed. Nothing changed.
        StoppedError: somebody stopped it.
    """
    try:
        with stoppable(_KEPT), told_in_one_line(wanted.lake, _KEPT):
            policy = _file(wanted)
            lake = Lake.open(wanted.lake)
            context = lake.begin_run(["retention"], owner="thinkledger retain", wait=wanted.wait, grace=wanted.grace)
            try:
                order = _order(wanted, context.lake, context.base, policy)
                account = _purge(lake, context, order, wanted)
            except BaseException:
                lake.abort(context)
                raise
    except _REFUSALS as error:
        raise WrongUseError(str(error)) from error
    purged = [
        (Place(item.kind, item.partition), purged)
        for item in account.partitions
        if item.purge
        for purged in item.purge.purged
    ]
    return Report(order.as_of, purged, account, files_left(wanted.lake, lake), wanted.grace)


def _purge(lake: Lake, context: RunContext, order: Order, wanted: Wanted) -> RunAccount:
    """Purge every partition and commit; where nothing is due and the policy is in force already, nothing changes."""
    todo = places(context.base, order)
    account = account_of(context, [])
    if todo:
        _build(todo, context, order, wanted).run().wait_until_finish()
        account = read_account(context)
    is_new = order.policy != policy_of(context.lake, context.base)
    if not account.partitions and not is_new:
        lake.abort(context)
        return account
    file = write_policy(context, order.policy) if is_new else str(context.base.retention)

    def put(pointer: Pointer) -> None:
        pointer.retention = file

    account = account.model_copy(update={"retention": _added_up(account, file, order.as_of)})
    return lake.commit(context, account, put, grace=wanted.grace)


def _build(todo: list[Place], context: RunContext, order: Order, wanted: Wanted) -> beam.Pipeline:
    """The pipeline, in the shape of the main job."""
    pipeline = beam.Pipeline(options=PipelineOptions(runner_options(wanted.beam_options, wanted.workers)))
    _ = (
        pipeline
        | "Partitions" >> beam.Create(todo, reshuffle=False)
        | "SpreadPartitions" >> beam.Reshuffle()
        | "Retain" >> Retain(context, order)
        | "AddUp" >> AddUp(context)
    )
    return pipeline


def _file(wanted: Wanted) -> Policy | None:
    return load_policy(wanted.policy) if wanted.policy else None


def _order(wanted: Wanted, lake: Path, pointer: Pointer, policy: Policy | None) -> Order:
    """The policy to go by: a file's, with everybody whom the lake forgets already, or the one in force."""
    before = policy_of(lake, pointer)
    as_of = wanted.as_of or datetime.now(UTC).date()
    if policy is None:
        if before is None:
            raise WrongUseError(f"{wanted.lake} has no policy in force; name one: --policy FILE.yaml")
        return Order(before, as_of)
    names = tuple(name for entry in policy.forget for name in (entry.user, entry.session) if name)
    return Order(in_force(policy, before, secrets.token_hex(16)), as_of, names)


def _added_up(account: RunAccount, file: str, as_of: date) -> RetentionAccount:
    purges = [partition.purge for partition in account.partitions if partition.purge]
    purged = [item for purge in purges for item in purge.purged]
    return RetentionAccount(
        policy=file,
        as_of=as_of,
        rows=sum(item.rows for item in purged),
        bytes=sum(item.bytes for item in purged),
        totals_before=added_up(purge.totals_before for purge in purges),
        totals_after=added_up(purge.totals_after for purge in purges),
    )
