"""One writer at a time: a lock file that names its holder. A holder that died on this host loses it.

Whoever takes the lock, gives it back, or changes what readers see, holds a guard meanwhile, which the kernel takes away
from a process that dies. So a run that was stopped between its last look at the lock and the rename that follows keeps
others out until it goes on, and one that goes on later finds that the lock is no longer its own.
"""

import fcntl
import os
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from transforms.processes import identity

_POLL_SECONDS = 0.2
_GUARD_SECONDS = 5
"""Others hold the guard for milliseconds, unless they are stopped; only who has the lock may hold it for longer."""
_held: set[str] = set()
"""Tokens of this very process: after a restart, another process may have the id of the one that died."""


class Holder(BaseModel):
    """Who holds the lock."""

    token: str
    owner: str
    pid: int
    host: str
    started_at: datetime
    process: str = ""
    """What tells the process from later ones with its id; empty where the system has no such thing."""


class LakeLockedError(RuntimeError):
    """Another run holds the lake; the text says who, and what to do."""


class LakeUnwritableError(LakeLockedError):
    """Nobody can write the lake, since its disk does not let them; the text says why, and what to do."""


class LockLostError(RuntimeError):
    """The lock was taken away during the run: nothing of the run may become visible."""


class Lock:
    """The lock of one lake."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def acquire(self, owner: str, wait: float = 0) -> str:
        """Take the lock, trying for ``wait`` seconds; gives the token that proves it.

        Raises:
            LakeLockedError: somebody else holds it.
            LakeUnwritableError: the folder cannot be written.
        """
        deadline = time.monotonic() + wait
        while True:
            with self.guarded(deadline):
                holder = self._holder()
                if holder is None or _is_dead(holder):
                    return self._take(owner)
            if time.monotonic() >= deadline:
                raise LakeLockedError(self._refusal(holder))
            time.sleep(_POLL_SECONDS)

    def check(self, token: str) -> None:
        """Make sure that the lock is still this run's.

        Raises:
            LockLostError: it is not.
        """
        holder = self._holder()
        if holder is None or holder.token != token:
            who = f"{holder.owner} (process {holder.pid} on {holder.host}) has it" if holder else "it is gone"
            raise LockLostError(f"{self._path} was taken from this run: {who}; nothing was committed, run it again")

    @contextmanager
    def kept(self, token: str) -> Iterator[None]:
        """Make sure that the lock is this run's, and stays so: nobody can take it before the block ends.

        Raises:
            LockLostError: it is not.
        """
        with self.guarded():
            self.check(token)
            yield

    def release(self, token: str) -> None:
        """Give the lock back if it is still this run's."""
        _held.discard(token)
        with self.guarded():
            holder = self._holder()
            if holder is not None and holder.token == token:
                self._path.unlink(missing_ok=True)

    def _take(self, owner: str) -> str:
        pid = os.getpid()
        holder = Holder(
            token=secrets.token_hex(4),
            owner=owner,
            pid=pid,
            host=socket.gethostname(),
            started_at=datetime.now(UTC),
            process=identity(pid) or "",
        )
        try:
            self._path.write_text(holder.model_dump_json(), encoding="utf-8")
        except OSError as fault:
            raise self._unwritable(fault) from fault
        _held.add(holder.token)
        return holder.token

    @contextmanager
    def guarded(self, until: float = 0) -> Iterator[None]:
        """Keep all others from taking the lock, giving it back or committing before the block ends.

        Raises:
            LakeLockedError: somebody else does, for some seconds and until this moment of the monotonic clock.
            LakeUnwritableError: the folder cannot be written.
        """
        try:
            guard = self._path.with_name(f"{self._path.name}.guard").open("a")
        except OSError as fault:
            raise self._unwritable(fault) from fault
        with guard:  # closing it lets it go
            deadline = max(until, time.monotonic() + _GUARD_SECONDS)
            while not self._is_free(guard.fileno()):
                if time.monotonic() >= deadline:
                    raise LakeLockedError(self._busy(self._holder()))
                time.sleep(_POLL_SECONDS / 10)
            yield

    def _is_free(self, guard: int) -> bool:
        try:
            fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as fault:  # a file system without such locks
            raise self._unwritable(fault) from fault
        return True

    def _unwritable(self, fault: OSError) -> LakeUnwritableError:
        return LakeUnwritableError(
            f"{self._path.parent} cannot be written: {fault.strerror}; make room or give access, and run it again"
        )

    def _holder(self) -> Holder | None:
        try:
            return Holder.model_validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError:
            return Holder(token="", owner="an unknown run", pid=0, host="", started_at=datetime.now(UTC))

    def _refusal(self, holder: Holder) -> str:
        return (
            f"{self._path.parent} is being written by {holder.owner} (process {holder.pid} on {holder.host}, since "
            f"{holder.started_at:%Y-%m-%d %H:%M:%S} UTC); wait for it, or, if that process is dead, remove {self._path}"
        )

    def _busy(self, holder: Holder | None) -> str:
        who = f"{holder.owner} (process {holder.pid} on {holder.host})" if holder else "a process"
        return f"{self._path.parent} is being changed by {who} right now; wait for it, or end it if it is stopped"


def _is_dead(holder: Holder) -> bool:
    """Tell whether a holder is no more. Of one on another host nobody here can tell."""
    if not holder.token:  # it died while it wrote, for whoever writes has the guard
        return True
    if holder.host != socket.gethostname():
        return False
    if holder.pid == os.getpid():
        return holder.token not in _held
    now = identity(holder.pid)
    return now is None or bool(holder.process and now and now != holder.process)
