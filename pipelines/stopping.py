"""Ctrl-C and ``kill`` end a command in good order: what is not committed goes, and one line says so."""

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from pipelines.wrong_use import WrongUseError

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StoppedError(WrongUseError):
    """The user or a service manager stopped the command: no wrong use, but told in one line too."""

    exit_code = 130


@contextmanager
def stoppable(what_is_kept: str) -> Iterator[None]:
    """Let SIGTERM, as service managers send it, do what Ctrl-C does; both end in a ``StoppedError``."""
    stopped = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> NoReturn:
        stopped.set()
        # Workers and their threads now fail at whatever they are doing; that is no news.
        logging.disable()
        threading.excepthook = _ignore
        raise KeyboardInterrupt

    before = [(number, signal.signal(number, stop)) for number in _SIGNALS]
    try:
        yield
    except BaseException:
        if stopped.is_set():  # libraries turn the interrupt into errors of their own
            raise StoppedError(f"stopped; {what_is_kept}") from None
        raise
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _ignore(_: threading.ExceptHookArgs) -> None:
    """Say nothing."""
