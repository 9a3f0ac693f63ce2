"""How far a run is: a bar on a terminal, a line now and then in a log."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from schemas.lake import RunContext
from transforms.progress import done

_BAR_SECONDS = 0.5
_LINE_SECONDS = 30


@contextmanager
def shown(name: str, total: int, context: RunContext, console: Console) -> Iterator[None]:
    """Show how far a run is while it runs; ``total`` is the bytes that it has to read, as they are stored."""
    stop = threading.Event()
    show = _bar if console.is_terminal else _lines
    watcher = threading.Thread(target=show, args=(name, total, context, console, stop), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _bar(name: str, total: int, context: RunContext, console: Console, stop: threading.Event) -> None:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TextColumn("{task.fields[records]:,} records"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(name, total=total, records=0)
        while not stop.wait(_BAR_SECONDS):
            now = done(context)
            # Compressed files hold more than their size: the bar then has no end.
            progress.update(task, completed=now.bytes, records=now.records, total=total if now.bytes <= total else None)


def _lines(name: str, total: int, context: RunContext, console: Console, stop: threading.Event) -> None:
    while not stop.wait(_LINE_SECONDS):
        now = done(context)
        console.print(f"{name}: {now.records:,} records, {now.bytes:,} bytes read of {total:,} on disk")
