"""One writer at a time: a lock file that names its holder. A holder that died on this host loses it."""

import fcntl
import os
import secrets
import socket
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ValidationError

_POLL_SECONDS = 0.2
_UNREADABLE_FOR = timedelta(minutes=1)
"""A lock that says nothing is being written; one that still does after this was left by a writer that died."""
_held: set[str] = set()
"""Tokens of this very process: after a restart, another process may have the id of the one that died."""


class Holder(BaseModel):
    """Who holds the lock."""

    token: str
    owner: str
    pid: int
    host: str
    started_at: datetime


class LakeLockedError(RuntimeError):
    """Another run holds the lake; the text says who, and what to do."""


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
        """
        deadline = time.monotonic() + wait
        while True:
            holder = self._holder()
            if holder is not None and _is_dead(holder):
                self._remove_dead()
            if holder is None or _is_dead(holder):
                token = self._create(owner)
                if token:
                    return token
            if time.monotonic() >= deadline:
                raise LakeLockedError(self._refusal())
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

    def release(self, token: str) -> None:
        """Give the lock back if it is still this run's."""
        _held.discard(token)
        holder = self._holder()
        if holder is not None and holder.token == token:
            self._path.unlink(missing_ok=True)

    def _create(self, owner: str) -> str | None:
        holder = Holder(
            token=secrets.token_hex(4),
            owner=owner,
            pid=os.getpid(),
            host=socket.gethostname(),
            started_at=datetime.now(UTC),
        )
        try:
            with self._path.open("x") as file:
                file.write(holder.model_dump_json())
        except FileExistsError:
            return None
        _held.add(holder.token)
        return holder.token

    def _remove_dead(self) -> None:
        # Two runs may find the same dead holder; the slower one must not remove the faster one's new lock.
        with self._path.with_name(f"{self._path.name}.takeover").open("w") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)
            holder = self._holder()
            if holder is not None and _is_dead(holder):
                self._path.unlink()

    def _holder(self) -> Holder | None:
        try:
            return Holder.model_validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError:
            return self._unreadable()

    def _unreadable(self) -> Holder | None:
        try:
            since = datetime.fromtimestamp(self._path.stat().st_mtime, UTC)
        except FileNotFoundError:
            return None
        return Holder(token="", owner="an unknown run", pid=0, host="an unknown host", started_at=since)

    def _refusal(self) -> str:
        holder = self._holder()
        if holder is None:
            return f"{self._path.parent} is busy: its lock changes hands; try again"
        return (
            f"{self._path.parent} is being written by {holder.owner} (process {holder.pid} on {holder.host}, since "
            f"{holder.started_at:%Y-%m-%d %H:%M:%S} UTC); wait for it, or, if that process is dead, remove {self._path}"
        )


def _is_dead(holder: Holder) -> bool:
    if not holder.token:
        return datetime.now(UTC) - holder.started_at > _UNREADABLE_FOR
    if holder.host != socket.gethostname():
        return False
    if holder.pid == os.getpid():
        return holder.token not in _held
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
