"""What retention took out, or would take out, as people and schedulers read it."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from rich.console import Console
from rich.table import Table

from pipelines import query, wording
from schemas.account import Purged, RunAccount
from transforms.lake import GRACE, Lake
from transforms.retain import Place

_MOST_LINES = 60


@dataclass(frozen=True, slots=True)
class Report:
    """What went, or would go, by partition and rule."""

    as_of: date
    purged: list[tuple[Place, Purged]]
    account: RunAccount | None = None
    """Null: it was a look only."""
    files_left: int = 0
    """Files on the disk that hold texts which were purged."""
    grace: timedelta = field(default=GRACE)

    @property
    def rows(self) -> int:
        """Rows that change."""
        return sum(item.rows for _, item in self.purged)

    @property
    def bytes(self) -> int:
        """Bytes of what goes."""
        return sum(item.bytes for _, item in self.purged)


def files_left(where: str, lake: Lake) -> int:
    """How many files still hold what runs of ``retain`` took out; on an object store every one that is not live."""
    if "://" in where:
        return len(lake.superseded())
    proofs = query.ask(where, query.sql_of("proof_of_purge"), {})
    return max(proofs["files_left"].to_pylist(), default=0)


def summary(report: Report) -> dict[str, Any]:
    """The report on one line, for schedulers."""
    account = report.account
    return {
        "dry_run": account is None,
        "as_of": report.as_of,
        "rows": report.rows,
        "bytes": report.bytes,
        "purged": [
            {"kind": place.kind, "partition": place.partition} | item.model_dump() for place, item in report.purged
        ],
    } | (
        {
            "run_id": account.run_id if account.retention else None,
            "policy": account.retention.policy if account.retention else None,
            "files_left": report.files_left,
            "proven": report.files_left == 0,
        }
        if account
        else {}
    )


def print_report(report: Report, console: Console) -> None:
    """Print what goes by rule and partition, then whether the purge is proven."""
    if report.purged:
        _print_table(report, console)
    verb = "are due" if report.account is None else "were purged"
    console.print(
        f"as of {report.as_of}: {report.rows:,} rows {verb}, {wording.size(report.bytes)} of text", highlight=False
    )
    if report.account is None:
        return
    if report.account.retention:
        told = report.account.retention
        console.print(f"policy in force: {told.policy}; {len(told.totals_before)} totals are the same before and after")
    else:
        console.print("nothing changed; the policy was in force already")
    if report.files_left:
        console.print(
            f"NOT YET PROVEN: {report.files_left:,} superseded files still hold such texts, for queries at work. "
            f"The next run after the grace ({report.grace}) removes them; 'retain --grace 0' does so at once.",
            highlight=False,
        )
    else:
        console.print("proven: no file of the lake holds them any more (backups of the lake are yours to purge)")


def _print_table(report: Report, console: Console) -> None:
    table = Table(title="what goes" if report.account is None else "what went", title_justify="left", box=None)
    for name in ("rule", "partition", "rows", "bytes", "oldest", "columns"):
        table.add_column(name, justify="right" if name in {"rows", "bytes", "oldest"} else "left", overflow="fold")
    by_rule: dict[str, Purged] = {}
    for place, item in report.purged[:_MOST_LINES]:
        _add(table, f"{place.kind}/{place.partition}", item)
    if len(report.purged) > _MOST_LINES:
        table.add_row("…", f"{len(report.purged) - _MOST_LINES:,} more (--json lists them)")
    for _, item in report.purged:
        by_rule[item.rule] = by_rule[item.rule] + item if item.rule in by_rule else item
    table.add_section()
    for item in by_rule.values():
        _add(table, "all", item)
    console.print(table)


def _add(table: Table, where: str, item: Purged) -> None:
    columns = ", ".join(f"{name} {number:,}" for name, number in item.columns.items())
    table.add_row(item.rule, where, f"{item.rows:,}", f"{item.bytes:,}", f"{item.oldest_days:,} days", columns)
