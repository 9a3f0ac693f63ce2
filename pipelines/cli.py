"""The command line: a group whose commands live in one module each, loaded when asked for (Beam takes a second).

Exit codes: 0 done; 1 done, but ``--strict`` was given and records were rejected; 2 wrong use or unreadable input,
nothing written.
"""

import importlib
import logging
from typing import NamedTuple

import click

from pipelines.wrong_use import WrongUseError


class Lazy(NamedTuple):
    """A command before it is loaded: the module that defines ``command``, and the line that lists it."""

    module: str
    summary: str


COMMANDS = {
    "normalise": Lazy("pipelines.normalise", "Read logs (files, folders, globs) into a lake."),
    "run": Lazy("pipelines.job", "Run a job file: several inputs into one lake, for cron, systemd and Airflow."),
    "inspect": Lazy("pipelines.inspection", "Show what each record of a file becomes, and by which rules."),
    "query": Lazy("pipelines.query", "Answer a question from the lake; without a name, list the questions."),
    "prices": Lazy("pipelines.prices", "Put a price table in force: the list's, and your contract's above it."),
    "retain": Lazy("pipelines.retain", "Take out texts past their retention, by a policy; counts and costs stay."),
    "export": Lazy("pipelines.export", "Copy a lake without its texts, for people who shall not read them."),
    "report": Lazy("pipelines.report", "Write one HTML page with charts: what reasoning costs, and what is not known."),
    "sources": Lazy("pipelines.sources", "List every envelope and every protocol that is read."),
    "demo": Lazy("pipelines.demo", "Sample traffic in, a lake, and the first questions answered from it."),
}
_OTHER_SPELLINGS = {"normalize": "normalise"}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        lazy = COMMANDS.get(_OTHER_SPELLINGS.get(cmd_name, cmd_name))
        if lazy is None:
            return super().get_command(ctx, cmd_name)
        command = importlib.import_module(lazy.module).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.summary) for name, lazy in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        """Wrong use gets one line: what, where, what to do."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            where = f" ('{error.ctx.command_path} --help' explains it)" if error.ctx else ""
            raise WrongUseError(f"{error.format_message()}{where}") from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="thinkledger")
def main() -> None:
    """What LLM reasoning costs, and what to do with its traces.

    Stored LLM traffic goes in; one ledger of calls comes out, which DuckDB queries.
    """


def _is_ours(record: logging.LogRecord) -> bool:
    # Importing Beam warns on the root logger that a library for BigQuery is missing, which nobody here uses.
    return not record.getMessage().startswith("apitools not found")


logging.getLogger().addFilter(_is_ours)
