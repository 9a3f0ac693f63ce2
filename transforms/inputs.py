"""Which files a run is about: paths, folders, globs, URLs and time templates to files, with sizes and versions."""

import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems

from transforms.expand import reason

SKIPPED_FILES = (".*", "*.crc", "*.tmp", "*.swp", "*~", "_SUCCESS", "_metadata", "_common_metadata", "_started_*",
                 "_committed_*")  # fmt: skip
SKIPPED_FOLDERS = (".*", "_temporary", "_delta_log")


class InputNotFoundError(ValueError):
    """An input names nothing that can be read; the text is one line that says what and why."""


class Listed(NamedTuple):
    """A file as it was when the run began: its size in bytes, and what changes whenever its content does."""

    file: str
    size: int
    version: str
    """The time of the last change as the file system has it; empty where it has none."""


def find(inputs: Sequence[str], *, skip: Sequence[str] = ()) -> list[Listed]:
    """List the files that inputs name: files, folders with all below them, globs, URLs of Beam's file systems.

    In folders and globs, hidden files, markers such as ``_SUCCESS`` and whatever matches a glob of ``skip`` are left
    out (``*`` of ``skip`` also stands for ``/``); a file that is named itself is always taken. Local paths are made
    absolute, so that a file has one name in the lake from whichever folder a run is started.

    Raises:
        InputNotFoundError: an input names no file, or one that cannot be listed.
    """
    found: set[Listed] = set()
    for name in inputs:
        files = _find_remote(name, skip) if "://" in name else [_look(file) for file in _find_local(name, skip)]
        if not files:
            raise InputNotFoundError(f"{name}: no such file or folder, or none in it that can be read")
        found.update(files)
    return sorted(found)


_CODES = re.compile("%[YmdHjy%]")


def is_template(name: str) -> bool:
    """Tell whether a path holds time codes: ``%Y %y %m %d %j %H``; ``%%`` is a percent sign."""
    return not os.path.lexists(name) and any(code != "%%" for code in _CODES.findall(name))


def fill(template: str, since: date, until: date) -> list[str]:
    """The paths that a time template stands for from one UTC date to another, both inclusive, each once.

    Raises:
        InputNotFoundError: none of them is there.
    """
    step = timedelta(hours=1) if "%H" in template else timedelta(days=1)
    names = dict.fromkeys(_at(moment, template) for moment in _moments(since, until, step))
    there = [name for name in names if _is_there(name)]
    if not there:
        raise InputNotFoundError(
            f"{template}: nothing is there from {since} to {until}; the first looked for: {next(iter(names))}"
        )
    return there


def _at(moment: datetime, template: str) -> str:
    return _CODES.sub(lambda code: moment.strftime(code[0]), template)


def _moments(since: date, until: date, step: timedelta) -> Iterator[datetime]:
    moment = datetime.combine(since, datetime.min.time(), UTC)
    while moment.date() <= until:
        yield moment
        moment += step


def _is_there(name: str) -> bool:
    if "://" not in name:
        return os.path.lexists(name) or next(glob.iglob(name, recursive=True), None) is not None  # noqa: PTH207 - absolute
    try:
        return bool(_listed(name) or _listed(name.rstrip("/") + "/**"))
    except (BeamIOError, ValueError) as fault:
        raise InputNotFoundError(f"{name}: {reason(fault)}") from None


def _look(file: str) -> Listed:
    try:
        now = os.stat(file)  # noqa: PTH116 - thousands of files
    except OSError as fault:
        raise InputNotFoundError(f"{file}: {reason(fault)}") from None
    return Listed(file, now.st_size, str(now.st_mtime_ns))


def _find_local(name: str, skip: Sequence[str]) -> list[str]:
    if os.path.lexists(name):
        return _below(name, skip) if Path(name).is_dir() else [_regular(name)]
    files: list[str] = []
    for match in glob.iglob(name, recursive=True):  # noqa: PTH207 - Path.glob takes no absolute pattern
        if Path(match).is_dir():
            files.extend(_below(match, skip))
        elif not _is_skipped(_absolute(match), skip):
            files.append(_regular(match))
    return files


def _regular(name: str) -> str:
    try:
        mode = Path(name).stat().st_mode
    except OSError as fault:
        raise InputNotFoundError(f"{name}: {reason(fault)}") from None
    if not stat.S_ISREG(mode):
        raise InputNotFoundError(
            f"{name}: not a regular file; input is read more than once, so save it to a file first"
        )
    return _absolute(name)


def _absolute(name: str) -> str:
    return os.path.normpath(Path(name).absolute())


def _below(folder: str, skip: Sequence[str]) -> list[str]:
    """All files below a folder. A folder that cannot be listed is an error: its calls would be missing in silence."""

    def refuse(fault: OSError) -> None:
        raise InputNotFoundError(f"{fault.filename}: {reason(fault)}") from None

    files: list[str] = []
    for parent, folders, names in os.walk(_absolute(folder), onerror=refuse):
        folders[:] = [name for name in folders if not _matches(name, SKIPPED_FOLDERS)]
        paths = (Path(parent, name) for name in names)
        files.extend(str(path) for path in paths if not _is_skipped(str(path), skip) and path.is_file())
    return files


def _find_remote(url: str, skip: Sequence[str]) -> list[Listed]:
    try:
        named = _listed(url)
        if [found.file for found in named] == [url]:
            return named
        below = named or _listed(url.rstrip("/") + "/**")
    except (BeamIOError, ValueError) as fault:
        raise InputNotFoundError(f"{url}: {reason(fault)}") from None
    return [found for found in below if not _is_skipped(found.file, skip)]


def _listed(pattern: str) -> list[Listed]:
    return [
        Listed(file.path, file.size_in_bytes, str(file.last_updated_in_seconds or ""))
        for match in FileSystems.match([pattern])
        for file in match.metadata_list
    ]


def _is_skipped(path: str, skip: Sequence[str]) -> bool:
    return _matches(path.rpartition("/")[2], SKIPPED_FILES) or _matches(path, skip)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)
