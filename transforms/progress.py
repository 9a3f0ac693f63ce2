"""How far a run is, as its workers tell the launcher: an empty file a batch, whose name says how much it held.

For people who watch only: a retried bundle tells again. The account is exact, and built of descriptors.
"""

from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from schemas.account import Tally
from schemas.lake import RunContext

_FOLDER = "progress"


class Done(NamedTuple):
    """What has been normalised and staged so far; bytes are those of the records, decompressed."""

    bytes: int
    records: int


def tell(run: RunContext, tally: Tally) -> None:
    """Tell that one more batch is staged."""
    folder = _folder(run)
    folder.mkdir(exist_ok=True)
    (folder / f"{tally.bytes}-{tally.records}-{uuid4().hex}").touch()


def done(run: RunContext) -> Done:
    """Add up what the workers have told."""
    told = [path.name.split("-") for path in _folder(run).glob("*-*-*")]
    return Done(sum(int(size) for size, _, _ in told), sum(int(records) for _, records, _ in told))


def _folder(run: RunContext) -> Path:
    return run.staging / _FOLDER
