"""A full disk, or one that cannot be written, ends a command in one line, not in the traces of every worker."""

import builtins
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from pipelines.wrong_use import WrongUseError

_FAULT = re.compile(r"^(?:RuntimeError: )?(?:\w+\.)*(\w+): (.+?)(?: \[while running '.*)?$", re.MULTILINE)
"""An exception as traces print it; Beam hands the failures of its workers on as text only."""
_OF_DUCKDB = (duckdb.IOException, duckdb.TransactionException)
"""What DuckDB raises where it cannot write: the latter at the end of a write, and nobody else writes its files here."""


@contextmanager
def told_in_one_line(lake: str, what_is_kept: str) -> Iterator[None]:
    """Turn what the disk or the system refused, here or in a worker, into one line.

    Raises:
        WrongUseError: the fault as the system words it, and what to do.
    """
    logger = logging.getLogger("apache_beam.runners.common")
    logger.addFilter(_is_news)
    try:
        yield
    except (OSError, RuntimeError, *_OF_DUCKDB) as error:
        fault = fault_in(str(error)) if isinstance(error, RuntimeError) else str(error)
        if fault is None:
            raise
        raise WrongUseError(f"{lake}: {' '.join(fault.split())}; {what_is_kept}") from error
    finally:
        logger.removeFilter(_is_news)


def fault_in(trace: str) -> str | None:
    """The last failure of the system that a trace tells of; null where it tells of none."""
    faults = [text for name, text in _FAULT.findall(trace) if _is_of_the_system(name)]
    return faults[-1] if faults else None


def _is_of_the_system(name: str) -> bool:
    kind = getattr(builtins, name, None) or getattr(duckdb, name, None)
    return isinstance(kind, type) and issubclass(kind, (OSError, *_OF_DUCKDB))


def _is_news(record: logging.LogRecord) -> bool:
    return fault_in(record.getMessage()) is None
