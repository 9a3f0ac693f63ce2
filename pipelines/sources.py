"""``thinkledger sources``: every envelope and every protocol that is read."""

import click
from rich.console import Console
from rich.table import Table

from schemas.envelope import built_in
from transforms.protocols import PROTOCOLS


@click.command(name="sources")
def command() -> None:
    """List every envelope and every protocol that is read."""
    console = Console()
    console.print(_table("Envelopes: how records are stored", "--source", [(e.name, e.title) for e in built_in()]))
    protocols = [(p.NAME, (p.__doc__ or "").split("\n", maxsplit=1)[0]) for p in PROTOCOLS]
    console.print(_table("Protocols: the bodies inside, whole or streamed", "protocol", protocols))


def _table(title: str, first: str, rows: list[tuple[str, str]]) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold")
    table.add_column(first, no_wrap=True)
    table.add_column("what it is")
    for row in rows:
        table.add_row(*row)
    return table
