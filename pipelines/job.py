"""``thinkledger run``: what a job file says, for schedulers. Each of its inputs is a run of its own."""

import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import click
import orjson
from rich.console import Console

from pipelines import ingest
from pipelines.account import added_up, print_account, summary
from pipelines.normalise import settings_of
from pipelines.options import day, size
from pipelines.stopping import StoppedError
from pipelines.wrong_use import WrongUseError
from schemas.account import RunAccount
from schemas.job import Input, Job, JobError, load_job
from schemas.settings import Settings


@click.command(name="run")
@click.argument("job", metavar="JOB.yaml", type=click.Path(dir_okay=False))
@click.option("--full", is_flag=True, help="Read files again that the lake has read already.")
@click.option("--replace", is_flag=True, help="Derive anew: take out what came from these files, and read them again.")
@click.option("--json", "as_json", is_flag=True, help="Print the account as one line of JSON.")
def command(job: str, *, full: bool, replace: bool, as_json: bool) -> None:
    """Run a job file: read each of its inputs into its lake.

    An input that fails stops no other one: its line is printed, and the exit code is 2. The file's keys: lake; inputs,
    a list of paths with, where wanted, source, skip, since, until; and redact, no_text, partition, since, until, wait,
    step, workers, strict, beam. Paths in it are relative to its own folder.
    """
    path = Path(job)
    try:
        wanted = load_job(path)
    except JobError as error:
        raise WrongUseError(str(error)) from error
    # All is checked before anything runs.
    runs = [_settings(item, wanted, path, full=full, replace=replace) for item in wanted.inputs]
    accounts, failed = _run(runs, Console(stderr=True))
    _print(accounts, failed, as_json=as_json)
    if failed:
        sys.exit(WrongUseError.exit_code)
    if wanted.strict and any(account.rejects for account in accounts):
        sys.exit(1)


def _run(runs: list[Settings], console: Console) -> tuple[list[RunAccount], list[str]]:
    accounts: list[RunAccount] = []
    failed: list[str] = []
    for settings in runs:
        try:
            accounts.append(ingest.run(settings, console))
        except StoppedError:
            raise
        except WrongUseError as error:
            error.show()
            failed.append(error.format_message())
    return accounts, failed


def _print(accounts: list[RunAccount], failed: list[str], *, as_json: bool) -> None:
    if as_json:
        told: dict[str, Any] = summary(added_up(accounts)) if accounts else {}
        click.echo(orjson.dumps(told | {"failed": failed}))
        return
    for account in accounts:
        print_account(account, Console())


def _settings(item: Input, job: Job, path: Path, *, full: bool, replace: bool) -> Settings:
    folder = path.parent
    source = _beside(folder, item.source) if item.source.endswith((".yaml", ".yml")) else item.source
    try:
        given = {
            "lake": _beside(folder, job.lake),
            "skip": item.skip,
            "since": _day(item.since or job.since),
            "until": _day(item.until or job.until),
            "full": full,
            "replace": replace,
            "rejects": None,
            "redact": [*job.redact],
            "no_text": job.no_text,
            "partition": job.partition,
            "wait": job.wait,
            "step_bytes": size(job.step) if job.step else None,
            "workers": job.workers,
        }
        return settings_of(source, [_beside(folder, name) for name in item.paths], job.beam, given)
    except ValueError as error:
        raise WrongUseError(f"{path}: {error}") from error


def _day(text: str | None) -> date | None:
    return day(text, datetime.now(UTC).date()) if text else None


def _beside(folder: Path, name: str) -> str:
    return name if "://" in name else str(folder / name)
