"""Wrong use and unreadable input: one clear line on stderr, and exit code 2."""

from typing import IO, Any, ClassVar

import click


class WrongUseError(click.ClickException):
    """What is wrong, where, and what to do; nothing was written."""

    exit_code: ClassVar[int] = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line."""
        click.echo(f"thinkledger: {self.format_message()}", err=True, file=file)
