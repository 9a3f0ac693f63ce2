"""The lake: its pointer, its runs, and the one rename that makes a run visible.

``lake.json`` is the truth. A run writes files under new names; committing it swaps the pointer, then the views. Killed
anywhere before the swap, it has changed nothing; killed after, the next run finds the views behind and builds them.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from schemas.account import RunAccount
from schemas.call import SCHEMA_VERSION
from schemas.lake import Grain, Kind, Pointer, RunContext
from schemas.prices import Price
from transforms.accounts import settle
from transforms.costs import with_costs
from transforms.durable import flush, write_text
from transforms.lock import Lock, LockLostError
from transforms.mirror import Mirror, is_remote
from transforms.object_pointer import ChangedMeanwhileError
from transforms.price_files import with_new_models, write_prices
from transforms.views import build_views, is_of

POINTER = "lake.json"
DATABASE = "thinkledger.duckdb"
GRACE = timedelta(hours=1)
_LOCK = "lock"
_DATA_FILE = re.compile(r"(calls|rejects|prices|model_map|costs|ledger|policy)-\d{6,}-[0-9a-f]{4,}\.(parquet|json)")
_DATA_FOLDERS = (*Kind, "prices", "costs", "ledger", "retention")
_MISREAD = "=*?[]"
"""Characters of a path that DuckDB reads as partition keys (which hide columns of that name) or as patterns."""


Change = Callable[[Pointer], None]


def _no_more(_: Pointer) -> None:
    """Nothing but the run's partitions changes."""


class NotALakeError(ValueError):
    """The folder is no lake, or cannot become one; the text says why and what to do."""


class UnbalancedError(RuntimeError):
    """The account of a run does not add up, so nothing of it becomes visible."""


class Lake:
    """One lake in a folder. Readers need no lock; one run at a time writes."""

    def __init__(self, path: Path | str) -> None:
        self._mirror = Mirror(str(path)) if is_remote(path) else None
        self.path = self._mirror.folder if self._mirror else Path(path).resolve()
        self._lock = Lock(self.path / _LOCK)

    @classmethod
    def open(cls, path: Path | str) -> "Lake":
        """An existing lake.

        Raises:
            NotALakeError: there is none, or a newer thinkledger wrote it.
        """
        lake = cls(path)
        if not lake._is_there():
            raise NotALakeError(f"{path} is no lake: it holds no {POINTER}")
        lake._refuse_misread_path()
        version = lake.pointer().schema_version
        if version > SCHEMA_VERSION:
            raise NotALakeError(
                f"{path} has schema version {version}, this thinkledger knows {SCHEMA_VERSION}: use a newer one"
            )
        return lake

    @classmethod
    def create(cls, path: Path | str, grain: Grain | None = None) -> "Lake":
        """A new, empty lake, by date where no grain is given; an existing one is opened.

        Raises:
            NotALakeError: the folder holds something else, or a lake of another grain.
        """
        lake = cls(path)
        lake._refuse_misread_path()
        lake.path.mkdir(parents=True, exist_ok=True)
        if not lake._is_there():
            lake._create_empty(grain or Grain.DATE)
        lake = cls.open(path)
        if grain and lake.pointer().grain is not grain:
            raise NotALakeError(f"{path} is partitioned by {lake.pointer().grain}, which cannot change to {grain}")
        return lake

    def _is_there(self) -> bool:
        return self._mirror.pull() is not None if self._mirror else (self.path / POINTER).is_file()

    def pointer(self) -> Pointer:
        """What is live now."""
        return Pointer.model_validate_json((self.path / POINTER).read_bytes())

    def fetch(self, paths: Iterable[str]) -> None:
        """Make sure that files of the lake are in its folder; they always are, unless it mirrors an object store."""
        if self._mirror:
            self._mirror.fetch(paths)

    def superseded(self) -> set[str]:
        """The data files that are still there though no longer live: readers may be at work on them."""
        names = (
            self._mirror.listed(_DATA_FOLDERS)
            if self._mirror
            else (path.relative_to(self.path).as_posix() for path in self._data_files())
        )
        return {*names} - self.pointer().paths()

    def begin_run(
        self,
        inputs: Sequence[str] = (),
        *,
        owner: str = "thinkledger",
        wait: float = 0,
        grace: timedelta = GRACE,
        memory_limit: str = "512MB",
    ) -> RunContext:
        """Take the lake for writing, clean up after earlier runs, and start a run. End it by ``commit`` or ``abort``.

        Raises:
            LakeLockedError: another run holds the lake, and did for ``wait`` seconds.
        """
        token = self._lock.acquire(owner, wait)
        try:
            if self._mirror:
                self._mirror.pull()
            pointer = self.pointer()
            now = datetime.now(UTC)
            run = RunContext(
                lake=self.path,
                run_id=f"{now:%Y%m%dT%H%M%SZ}-{token}",
                generation=pointer.generation + 1,
                token=token,
                base=pointer,
                started_at=now,
                inputs=tuple(inputs),
                memory_limit=memory_limit,
                url=self._mirror.url if self._mirror else "",
            )
            with self._lock.kept(token):
                self._clean_up(pointer, now - grace)
                run.staging.mkdir(parents=True)
                self._renew_views(run.staging, pointer)
        except BaseException:
            self._lock.release(token)
            raise
        return run

    def commit(
        self, run: RunContext, account: RunAccount, change: Change = _no_more, grace: timedelta | None = None
    ) -> RunAccount:
        """Make a run visible, all its partitions together; gives the account as it is stored.

        ``change`` is made to the pointer too: its files must be on the disk. With a ``grace``, files that were
        superseded longer ago go now; else the next run sees to it.

        Raises:
            UnbalancedError: records got lost or were counted twice; nothing changed.
            LockLostError: another run took the lake; nothing changed.
        """
        account = settle(run, account).model_copy(update={"ended_at": datetime.now(UTC)})
        if not account.balances():
            raise UnbalancedError(f"run {run.run_id} does not balance, nothing was committed: {account.imbalance()}")
        self._lock.check(run.token)
        for partition in account.partitions:
            if partition.file:
                flush(self.path / partition.file.path)
        pointer = self._next(run, account, change)
        stored = account.model_dump_json(indent=1, exclude={"partitions": {"__all__": {"beaten"}}})
        write_text(self.path / "runs" / f"{run.run_id}.json", stored)
        self._swap(run, pointer, grace)
        return account

    def commit_prices(self, run: RunContext, prices: Sequence[Price], version: str) -> Pointer:
        """Put a price table in force, and match every model of the lake to it; no call file changes.

        Raises:
            LockLostError: another run took the lake; nothing changed.
        """
        files = write_prices(run, prices, version)

        def put(pointer: Pointer) -> None:
            pointer.prices, pointer.costs = files, {}
            pointer.costs = with_costs(run, pointer)

        pointer = self._following(run, put, datetime.now(UTC))
        self._swap(run, pointer)
        return pointer

    def abort(self, run: RunContext) -> None:
        """Give up a run: its files go, the lake stays as it was. A run that is committed, or was, keeps its files."""
        try:
            with self._lock.guarded():
                pointer = self.pointer()
                known = pointer.paths() | pointer.superseded.keys()
                for path in self._data_files():
                    is_own = path.stem.rsplit("-", 1)[1].startswith(run.token)
                    if is_own and path.relative_to(self.path).as_posix() not in known:
                        _remove(path, self.path)
        finally:
            self._end(run)

    def _swap(self, run: RunContext, pointer: Pointer, grace: timedelta | None = None) -> None:
        """Put a run's pointer and views in place, and end the run."""
        views = run.staging / DATABASE
        if not self._mirror:
            build_views(views, self.path, pointer)
        with self._lock.kept(run.token):
            if self._mirror:
                self._swap_there(self._mirror, pointer)
            write_text(self.path / POINTER, pointer.model_dump_json(indent=1))
            if not self._mirror:
                views.replace(self.path / DATABASE)
            if grace is not None:
                self._clean_up(pointer, datetime.now(UTC) - grace)
        self._end(run)

    def _swap_there(self, mirror: Mirror, pointer: Pointer) -> None:
        """Put a run's files on the object store, then its pointer."""
        before = self.pointer()
        runs = [f"runs/{run}.json" for run in pointer.runs if run not in {*before.runs}]
        mirror.push([*sorted(pointer.paths() - before.paths()), *runs])
        try:
            mirror.swap(pointer)
        except ChangedMeanwhileError as error:
            raise LockLostError(f"{mirror.url}: another host committed a run meanwhile; run it again") from error

    def _end(self, run: RunContext) -> None:
        shutil.rmtree(run.staging, ignore_errors=True)
        self._lock.release(run.token)

    def _create_empty(self, grain: Grain) -> None:
        token = self._lock.acquire("thinkledger", wait=10)
        try:
            if self._mirror:
                self._create_there(self._mirror, grain)
                return
            with self._lock.kept(token):
                self._create_here(grain)
        finally:
            self._lock.release(token)

    def _create_here(self, grain: Grain) -> None:
        present = {entry.name for entry in self.path.iterdir() if not _is_unfinished(entry)}
        if POINTER in present:  # another process was faster
            return
        if present:
            raise NotALakeError(f"{self.path} holds {min(present)}, but no {POINTER}: name an empty or new folder")
        (self.path / "runs").mkdir(exist_ok=True)
        pointer = Pointer(grain=grain, committed_at=datetime.now(UTC))
        write_text(self.path / POINTER, pointer.model_dump_json(indent=1))
        self._swap_views(self.path, pointer)

    def _create_there(self, mirror: Mirror, grain: Grain) -> None:
        (self.path / "runs").mkdir(exist_ok=True)
        pointer = Pointer(grain=grain, committed_at=datetime.now(UTC))
        try:
            mirror.swap(pointer)
        except ChangedMeanwhileError:  # another host was faster
            mirror.pull()
            return
        write_text(self.path / POINTER, pointer.model_dump_json(indent=1))

    def _refuse_misread_path(self) -> None:
        if bad := set(_MISREAD) & set(str(self.path)):
            raise NotALakeError(
                f"{self.path}: a lake's path must not contain {' '.join(sorted(bad))}, DuckDB misreads it"
            )

    def _renew_views(self, staging: Path, pointer: Pointer) -> None:
        """Views that a run which died left behind are built anew; of a lake elsewhere each reader builds its own."""
        if not self._mirror and not is_of(self.path / DATABASE, pointer):
            self._swap_views(staging, pointer)

    def _swap_views(self, folder: Path, pointer: Pointer) -> None:
        aside = folder / f"{DATABASE}.{os.getpid()}.tmp"
        build_views(aside, self.path, pointer)
        aside.replace(self.path / DATABASE)

    def _next(self, run: RunContext, account: RunAccount, change: Change) -> Pointer:
        """The pointer after a run."""
        changed = [partition for partition in account.partitions if partition.changed]
        calls = [partition.file.path for partition in changed if partition.kind is Kind.CALLS and partition.file]

        def put(pointer: Pointer) -> None:
            for partition in changed:
                pointer.put(partition.kind, partition.partition, partition.file)
            pointer.runs.append(run.run_id)
            pointer.prices = with_new_models(run, pointer, calls)
            pointer.costs = with_costs(run, pointer)
            change(pointer)

        return self._following(run, put, account.ended_at or datetime.now(UTC))

    def _following(self, run: RunContext, change: Change, now: datetime) -> Pointer:
        """The pointer of the next generation, with a change."""
        before = self.pointer()
        if before.generation + 1 != run.generation:
            raise LockLostError(
                f"{self.path} is at generation {before.generation}: another run was committed meanwhile"
            )
        after = run.base.model_copy(
            deep=True,
            update={
                "schema_version": SCHEMA_VERSION,
                "generation": run.generation,
                "token": run.token,
                "committed_at": now,
            },
        )
        change(after)
        known = {path: since for path, since in before.superseded.items() if (self.path / path).exists()}
        gone = before.paths() - after.paths()
        return after.model_copy(update={"superseded": known | dict.fromkeys(sorted(gone), now)})

    def _clean_up(self, pointer: Pointer, before: datetime) -> None:
        """Remove what no reader can know any more, and what runs that died left behind."""
        shutil.rmtree(self.path / "staging", ignore_errors=True)
        live = pointer.paths()
        for path in self._data_files():
            name = path.relative_to(self.path).as_posix()
            if name not in live:
                since = pointer.superseded.get(name) or datetime.fromtimestamp(path.stat().st_mtime, UTC)
                if since <= before:
                    _remove(path, self.path)
        if self._mirror:
            kept = live | {name for name, since in pointer.superseded.items() if since > before}
            self._mirror.remove(kept, _DATA_FOLDERS, before)
        known = {*pointer.runs}
        for path in [*(self.path / "runs").iterdir(), *self.path.glob("*.tmp*")]:
            if path.is_dir():  # a reader's DuckDB spills there, and removes it unless it is killed
                if datetime.fromtimestamp(path.stat().st_mtime, UTC) <= before:
                    shutil.rmtree(path, ignore_errors=True)
            elif path.stem not in known:
                path.unlink()

    def _data_files(self) -> Iterator[Path]:
        for folder in _DATA_FOLDERS:
            for path in list((self.path / folder).rglob("*.*")):
                if _DATA_FILE.fullmatch(path.name):
                    yield path


def _is_unfinished(entry: Path) -> bool:
    """Tell what is in the folder while a lake is made there; a process that died then leaves it."""
    if entry.name == "runs":
        return not any(entry.iterdir())
    return entry.name.startswith((f"{POINTER}.", f"{DATABASE}.")) or entry.name in {_LOCK, f"{_LOCK}.guard"}


def _remove(path: Path, lake: Path) -> None:
    """Remove a data file, and its folders where they are empty then."""
    path.unlink()
    for folder in path.parents:
        if folder.parent == lake or any(folder.iterdir()):
            break
        folder.rmdir()
