"""Files that appear whole or not at all, even where the process or the power fails while they are written."""

import os
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Write a small text file: aside, to the disk, then in place by rename."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """As ``write_text``, for bytes."""
    aside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    aside.write_bytes(content)
    flush(aside)
    aside.replace(path)


def flush(path: Path) -> None:
    """Wait until a file that somebody has written is on the disk.

    Raises:
        FileNotFoundError: it is not there.
    """
    with path.open("rb") as file:
        os.fsync(file.fileno())
