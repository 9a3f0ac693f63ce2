"""``thinkledger demo``: a sample of traffic, one run, the first questions answered from the lake, and a report."""

import sys
from pathlib import Path

import click
from rich.console import Console

from pipelines import ingest, prices, query, report
from pipelines.account import print_account
from pipelines.sample_traffic import write_sample
from schemas.envelope import built_in
from schemas.settings import Settings

QUESTIONS = ("reasoning_by_model", "asked_and_applied", "rejects_by_reason")
"""The first spend and effort questions, and what could not be read."""


@click.command(name="demo")
@click.option("--folder", default="demo", show_default=True, type=click.Path(file_okay=False), help="Where it is made.")
@click.option("--calls", default=4000, show_default=True, type=click.IntRange(100), help="How many calls.")
def command(folder: str, calls: int) -> None:
    """Write a sample of traffic, normalise it into a lake, answer the first questions from it, and write a report."""
    run(Path(folder), calls, Console(width=None if sys.stdout.isatty() else 140))


def run(folder: Path, calls: int, console: Console) -> None:
    """Write the sample into ``folder``, a lake with prices and a report beside it, and print what the lake answers."""
    logs, lake, page = folder / "logs", folder / "lake", folder / "report.html"
    files = write_sample(logs, calls)
    size = sum(file.stat().st_size for file in files)
    console.print(f"wrote {len(files)} logs with {size:,} bytes to {logs}")
    settings = Settings(inputs=(str(logs),), lake=lake, envelopes=built_in())
    print_account(ingest.run(settings, Console(stderr=True)), console)
    prices.print_written(prices.run(lake), console)
    for name in QUESTIONS:
        [question] = [question for question in query.listed() if question.name == name]
        console.print(f"\n[bold]{question.answers}[/bold]")
        query.print_table(query.ask(str(lake), query.sql_of(name), {}), "table", console)
    report.write(lake, page)
    console.print(
        f"""
Where to look next
  {page}                                         the report: open it in a browser
  thinkledger query --lake {lake}                       every question that the lake answers
  thinkledger query tokens_by_day --lake {lake}         one of them
  thinkledger inspect {logs}/batch-output.jsonl         what each record became, and by which rules
  cd {lake} && duckdb -readonly thinkledger.duckdb      your own SQL; the views: calls, call_costs, prices, …
""",
        highlight=False,
    )
