"""The account of a run as people and schedulers read it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from schemas.account import ColumnChange, RunAccount, Tally


def added_up(accounts: Sequence[RunAccount]) -> RunAccount:
    """The accounts of a run's steps as one; its id names the last of them."""
    if len(accounts) == 1:
        return accounts[0]
    tally = Tally()
    files: Counter[str] = Counter()
    changes: dict[str, ColumnChange] = {}
    for account in accounts:
        tally.add(account.tally)
        files.update(account.files)
        for change in account.changes:
            before = changes.get(change.column, ColumnChange(column=change.column, before=0, after=0, differ=0))
            changes[change.column] = ColumnChange(
                column=change.column,
                before=before.before + change.before,
                after=before.after + change.after,
                differ=before.differ + change.differ,
            )
    return accounts[-1].model_copy(
        update={
            "started_at": accounts[0].started_at,
            "tally": tally,
            "removed": sum(account.removed for account in accounts),
            "partitions": [partition for account in accounts for partition in account.partitions],
            "files": dict(files),
            "changes": list(changes.values()),
        }
    )


def summary(account: RunAccount) -> dict[str, Any]:
    """The account on one line, for schedulers: counts only."""
    tally = account.tally
    return {
        "run_id": account.run_id,
        "generation": account.generation,
        "started_at": account.started_at,
        "ended_at": account.ended_at,
        "files": account.files,
        "bytes": tally.bytes,
        "records": tally.records,
        "calls": account.calls,
        "parts": tally.parts,
        "duplicates": account.duplicates,
        "skipped": account.skipped,
        "rejects": account.rejects,
        "replaced": account.replaced,
        "removed": account.removed,
        "id_conflicts": account.id_conflicts,
        "partitions": _partitions_changed(account),
        "skipped_by": tally.skipped,
        "rejects_by": tally.rejects,
        "duplicates_by": account.duplicates_by,
        "sources": tally.sources,
        "unmatched": tally.unmatched,
        "changes": {change.column: change.differ for change in account.changes if change.differ},
    }


def print_account(account: RunAccount, console: Console) -> None:
    """Print what came in and what became of it; the parts add up to the records in."""
    if account.files.keys() == {"unchanged"}:
        console.print(
            f"nothing new: {_in_words(account.files)} files; the lake stays at generation {account.generation}"
        )
        return
    table = Table(title=f"run {account.run_id}", title_justify="left", show_header=False, box=None)
    table.add_column(style="cyan")
    table.add_column(justify="right")
    table.add_column(style="dim")
    tally = account.tally
    if account.files:
        table.add_row("files", f"{sum(account.files.values()):,}", _in_words(account.files))
    table.add_row("records in", f"{tally.records:,}", f"{tally.bytes:,} bytes")
    table.add_row("= calls", f"{account.calls:,}", _in_words(tally.calls_by))
    table.add_row("+ parts of calls", f"{tally.parts:,}", "")
    table.add_row("+ duplicates", f"{account.duplicates:,}", _in_words(account.duplicates_by))
    table.add_row("+ skipped", f"{account.skipped:,}", _in_words(tally.skipped))
    table.add_row("+ rejects", f"{account.rejects:,}", _in_words(tally.rejects))
    console.print(table)
    told = f"{account.replaced:,} rows replaced" + (f", {account.removed:,} taken out first" if account.removed else "")
    console.print(f"{_partitions_changed(account)} partitions changed, generation {account.generation}; {told}")
    if tally.unmatched:
        console.print(f"words that no column's value stands for: {_in_words(tally.unmatched)}", highlight=False)
    if account.changes:
        _print_changes(account.changes, console)


def _print_changes(changes: Sequence[ColumnChange], console: Console) -> None:
    table = Table(title="what was replaced, column by column (those that differ)", title_justify="left", box=None)
    for name in ("column", "rows with a value before", "after", "calls whose value differs"):
        table.add_column(name, justify="left" if name == "column" else "right")
    for change in changes:
        if change.differ or change.before != change.after:
            table.add_row(change.column, f"{change.before:,}", f"{change.after:,}", f"{change.differ:,}")
    console.print(table if table.row_count else "what was derived anew is the same in every column")


def _partitions_changed(account: RunAccount) -> int:
    return len({(partition.kind, partition.partition) for partition in account.partitions if partition.changed})


def _in_words(counts: Mapping[str, int] | Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))
