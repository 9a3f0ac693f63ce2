"""SQL as source: one relation or one question a file, by the name ``folder/file`` without its ending."""

from importlib.resources import files


def text(name: str) -> str:
    """The SQL of a file, as ``views/calls``.

    Raises:
        FileNotFoundError: there is no such file.
    """
    return files(__name__).joinpath(f"{name}.sql").read_text(encoding="utf-8")


def names(folder: str) -> list[str]:
    """All names in one folder, sorted."""
    found = files(__name__).joinpath(folder).iterdir()
    return sorted(f"{folder}/{file.name.removesuffix('.sql')}" for file in found if file.name.endswith(".sql"))
