"""``thinkledger export``: a copy of a lake without its texts, for people who shall count and not read."""

from datetime import date
from pathlib import Path

import click
from rich.console import Console

from pipelines.options import DAY, lake_option
from pipelines.stopping import stoppable
from pipelines.wrong_use import WrongUseError
from schemas.account import RunAccount
from transforms.lake import POINTER, Lake, NotALakeError
from transforms.lock import LakeLockedError
from transforms.partitions import pruned_to
from transforms.text_free import copy_calls, with_prices


@click.command(name="export")
@lake_option
@click.option("--out", required=True, type=click.Path(file_okay=False), help="The copy's folder: a new one.")
@click.option("--no-text", is_flag=True, help="Leave all texts out; there is no other way yet, so say it.")
@click.option("--since", type=DAY, help="Only calls of this UTC date and later; undated calls are kept.")
@click.option("--until", type=DAY, help="Only calls of this UTC date and earlier; undated calls are kept.")
def command(lake: str, out: str, *, no_text: bool, since: date | None, until: date | None) -> None:
    """Copy a lake without its texts: counts, effort, costs and labels stay.

    The copy is a lake of its own, with the same prices, that 'thinkledger query' and DuckDB read. Thinking, answers and
    error messages are left out, as is what reads as text in tags, usage objects and providers' words; so are rejects,
    which are nothing but text.
    """
    if not no_text:
        raise WrongUseError("export copies no texts: say --no-text, or copy the lake's folder itself")
    account = run(lake, Path(out), since, until)
    Console().print(f"{account.calls:,} calls in {len(account.partitions):,} partitions, without texts: {out}")


def run(lake: str, out: Path, since: date | None = None, until: date | None = None) -> RunAccount:
    """Write the copy.

    Raises:
        WrongUseError: the lake cannot be read, or the folder is not a new one. Nothing was written.
        StoppedError: somebody stopped it.
    """
    if (out / POINTER).exists():
        raise WrongUseError(f"--out {out} is a lake already; name a new folder")
    try:
        source = Lake.open(lake)
        pointer = pruned_to(source.pointer(), *(day.isoformat() if day else None for day in (since, until)))
        copy = Lake.create(out, pointer.grain)
        context = copy.begin_run((f"a copy of {lake} without texts",), owner="thinkledger export")
    except (NotALakeError, LakeLockedError, OSError) as error:
        raise WrongUseError(str(error)) from error
    with stoppable(f"{out} holds nothing yet; run the same command again"):
        try:
            source.fetch(file.path for file in pointer.calls.values())
            with_them = with_prices(source.path, pointer, context)
            return copy.commit(with_them, copy_calls(source.path, pointer, with_them))
        except BaseException:
            copy.abort(context)
            raise
