"""A lake on an object store: worked on in a local folder, whose new files go up before the pointer names them.

Files of a lake never change, so one that is here already is the same. An object appears whole or not at all (one PUT,
or the last request of a multipart upload), and nobody knows it before the pointer does; the pointer is swapped only
where it is still the one that the run began with. So two hosts may work on one lake: the slower one's run is refused as
a whole.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions

from schemas.lake import Kind, Pointer, RunContext
from transforms.durable import write_bytes
from transforms.object_pointer import get, put

_POINTER = "lake.json"
_THREADS = 8
"""Requests to an object store wait far more than they work."""


def is_remote(lake: str | Path) -> bool:
    """Tell whether a lake lies on an object store."""
    return "://" in str(lake)


class Mirror:
    """The lake at a URL and the folder that mirrors what is used of it."""

    def __init__(self, url: str, folder: Path | None = None) -> None:
        self.url = url.rstrip("/")
        self.folder = folder or _cache() / hashlib.sha256(self.url.encode()).hexdigest()[:16]
        self._version: str | None = None
        if FileSystems._pipeline_options is None:  # noqa: SLF001 - some of them do not work without any
            FileSystems.set_options(PipelineOptions([]))

    def pull(self) -> Pointer | None:
        """Fetch the pointer and the small files that it names; null where there is no lake yet."""
        found = get(f"{self.url}/{_POINTER}")
        if found is None:
            self._version = None
            return None
        (self.folder / "runs").mkdir(parents=True, exist_ok=True)
        write_bytes(self.folder / _POINTER, found.content)
        self._version = found.version
        pointer = Pointer.model_validate_json(found.content)
        data = {file.path for kind in Kind for file in pointer.files(kind).values()}
        self.fetch(pointer.paths() - data - {file.path for file in pointer.costs.values()})
        return pointer

    def fetch(self, paths: Iterable[str]) -> None:
        """Fetch those of some files that are not here."""
        missing = [path for path in paths if not (self.folder / path).exists()]
        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(self._fetch_one, missing))

    def push(self, paths: Iterable[str]) -> None:
        """Put files of this folder under the same names there; again where a try broke off."""
        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(self._push_one, paths))

    def swap(self, pointer: Pointer) -> None:
        """Make a pointer the lake's.

        Raises:
            ChangedMeanwhileError: it is not the one any more that was pulled.
        """
        content = pointer.model_dump_json(indent=1).encode()
        self._version = put(f"{self.url}/{_POINTER}", content, self._version)

    def remove(self, keep: Iterable[str], folders: Iterable[str], before: datetime) -> None:
        """Remove files in some folders that nobody can know any more: not to be kept, and older than a moment."""
        kept = set(keep)
        gone = [path for path, since in self.listed(folders).items() if path not in kept and since <= before]
        if gone:
            FileSystems.delete([f"{self.url}/{path}" for path in gone])

    def listed(self, folders: Iterable[str]) -> dict[str, datetime]:
        """The files that are in some folders there, and since when."""
        matches = FileSystems.match([f"{self.url}/{folder}/**" for folder in folders])
        found = (file for match in matches for file in match.metadata_list)
        return {
            file.path.removeprefix(f"{self.url}/"): datetime.fromtimestamp(file.last_updated_in_seconds or 0, UTC)
            for file in found
        }

    def _fetch_one(self, path: str) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_name(f"{target.name}.{os.getpid()}.part")
        with (
            FileSystems.open(f"{self.url}/{path}", compression_type=CompressionTypes.UNCOMPRESSED) as source,
            aside.open("wb") as copy,
        ):
            shutil.copyfileobj(source, copy, 1 << 20)
        aside.replace(target)

    def _push_one(self, path: str) -> None:
        target = f"{self.url}/{path}"
        with (
            (self.folder / path).open("rb") as source,
            FileSystems.create(target, compression_type=CompressionTypes.UNCOMPRESSED) as copy,
        ):
            shutil.copyfileobj(source, copy, 1 << 20)


def local(run: RunContext, path: str) -> Path:
    """A file of the lake in the folder that a run works in: fetched where it is not there yet."""
    here = run.lake / path
    if run.url and not here.exists():
        Mirror(run.url, run.lake).fetch([path])
    return here


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "thinkledger"
