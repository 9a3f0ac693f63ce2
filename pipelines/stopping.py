"""Ctrl-C and ``kill`` end a command in good order: what is not committed goes, and one line says so."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from pipelines.wrong_use import WrongUseError


class StoppedError(WrongUseError):
    """The user or a service manager stopped the command: no wrong use, but told in one line too."""

    exit_code = 130


@contextmanager
def stoppable(what_is_kept: str) -> Iterator[None]:
    """Let SIGTERM, as service managers send it, do what Ctrl-C does; both end in a ``StoppedError``."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    except KeyboardInterrupt:
        raise StoppedError(f"stopped; {what_is_kept}") from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
