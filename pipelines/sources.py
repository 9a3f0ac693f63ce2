"""``thinkledger sources``: every envelope and every protocol that is read."""

from collections.abc import Iterable
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from schemas.envelope import built_in
from transforms.envelopes import READERS
from transforms.protocols import PROTOCOLS


@click.command(name="sources")
def command() -> None:
    """List every envelope and every protocol that is read."""
    console = Console()
    console.print(_table("Envelopes: how records are stored", "--source", [(e.name, e.title) for e in built_in()]))
    console.print(_table("Transcripts: files of one agent session each", "--source", _first_lines(READERS)))
    console.print(_table("Protocols: the bodies inside, whole or streamed", "protocol", _first_lines(PROTOCOLS)))


def _first_lines(modules: Iterable[Any]) -> list[tuple[str, str]]:
    return [(module.NAME, (module.__doc__ or "").split("\n", maxsplit=1)[0]) for module in modules]


def _table(title: str, first: str, rows: list[tuple[str, str]]) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold")
    table.add_column(first, no_wrap=True)
    table.add_column("what it is")
    for row in rows:
        table.add_row(*row)
    return table
