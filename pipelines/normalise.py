"""``thinkledger normalise``: the main job. Files in, a run of the pipeline, a commit of the lake."""

import argparse
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import click
import orjson
from apache_beam.options.pipeline_options import PipelineOptions
from rich.console import Console

from pipelines import ingest
from pipelines.account import print_account, summary
from pipelines.options import DAY, SIZE, envelopes_of, source_id, source_option, strict_option, transcripts_of
from pipelines.wrong_use import WrongUseError
from schemas.lake import Grain
from schemas.redaction import RedactionError, patterns_of
from schemas.settings import Settings


@click.command(name="normalise", context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="INPUT...")
@click.option("--lake", type=click.Path(file_okay=False), help="The lake's folder; made where there is none.")
@source_option
@click.option("--skip", multiple=True, metavar="GLOB", help="Pass over such files in folders; * stands for / too.")
@click.option("--since", type=DAY, help="Only calls of this UTC date and later; undated calls are kept.")
@click.option("--until", type=DAY, help="Only calls of this UTC date and earlier; undated calls are kept.")
@click.option("--full", is_flag=True, help="Read files again that the lake has read already.")
@click.option("--replace", is_flag=True, help="Derive anew: take out what came from these files, and read them again.")
@click.option("--rejects", metavar="LAKE", help="In place of INPUT: try this lake's rejects again.")
@click.option(
    "--redact",
    multiple=True,
    metavar="NAME",
    help="Take out of every text: email, phone, card, iban, key, ip, all, or your own as NAME=PATTERN.",
)
@click.option("--no-text", is_flag=True, help="Store counts only, no text of any kind.")
@click.option("--partition", type=click.Choice(list(Grain)), help="The grain of a new lake; by date unless given.")
@click.option("--wait", type=click.FloatRange(0), default=0, metavar="SECONDS", help="Wait for another run to end.")
@click.option(
    "--step",
    "step_bytes",
    type=SIZE,
    metavar="SIZE",
    help="Commit after so much input.  [default: an eighth of it, at least 2GB]",
)
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes on this machine.")
@click.option("--json", "as_json", is_flag=True, help="Print the account as one line of JSON.")
@strict_option
def command(arguments: tuple[str, ...], source: str, *, as_json: bool, strict: bool, **given: Any) -> None:
    """Read logs (files, folders, globs, URLs) into a lake.

    JSONL, JSON arrays and objects, plain, gzip or zstd, and Parquet, told apart by their content. INPUT may hold time
    codes, as logs/dt=%Y-%m-%d, which --since and --until fill in. Any Beam option is passed through, such as
    --runner=NAME. What the lake has read already is not read again, and the same input twice changes nothing.

    Days are given as 2026-11-03, today, yesterday, or 7d for seven days ago.
    """
    inputs, beam_options = split_beam_options(arguments)
    settings = settings_of(source, inputs, beam_options, given)
    account = ingest.run(settings, Console(stderr=True))
    if as_json:
        click.echo(orjson.dumps(summary(account)))
    else:
        print_account(account, Console())
    if strict and account.rejects:
        sys.exit(1)


def settings_of(source: str, inputs: Sequence[str], beam_options: Sequence[str], given: dict[str, Any]) -> Settings:
    """Check what was given, and gather it.

    Raises:
        WrongUseError: it does not go together.
    """
    since, until, rejects = given["since"], given["until"], given.pop("rejects")
    if since and until and since > until:
        raise WrongUseError(f"--since {since} is after --until {until}")
    if rejects:
        if inputs or given["replace"]:
            raise WrongUseError("--rejects reads the rejects of a lake: leave INPUT and --replace out")
        given["lake"] = given["lake"] or rejects
        if given["lake"].rstrip("/") != rejects.rstrip("/"):
            raise WrongUseError("--rejects moves rejects within one lake: --lake must name the same, or be left out")
    elif not inputs:
        raise WrongUseError("INPUT is missing: name files, folders or globs")
    elif not given["lake"]:
        raise WrongUseError("--lake is missing: name the folder of the lake")
    try:
        given["redact"] = patterns_of(given["redact"])
    except RedactionError as error:
        raise WrongUseError(f"--redact: {error}") from error
    envelopes = envelopes_of(source)
    return Settings(
        inputs=tuple(inputs),
        envelopes=envelopes,
        transcripts=transcripts_of(source),
        source=source_id(source, envelopes),
        rejects=bool(rejects),
        beam_options=tuple(beam_options),
        **given,
    )


def split_beam_options(arguments: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tell inputs from Beam's own options; gives both.

    Raises:
        WrongUseError: an option that neither thinkledger nor Beam knows.
    """
    parser: Any = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    for options in PipelineOptions.__subclasses__():
        options._add_argparse_args(parser)  # noqa: SLF001 - Beam offers no other list of its options
    try:
        _, rest = parser.parse_known_args(list(arguments))
    except argparse.ArgumentError as error:
        raise WrongUseError(f"Beam option: {error}") from error
    unknown = [argument for argument in rest if argument.startswith("-") and argument != "-"]
    if unknown:
        name = unknown[0].partition("=")[0]
        own = [option for parameter in command.params for option in parameter.opts if option.startswith("-")]
        known = [*parser._option_string_actions, *own]  # noqa: SLF001
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else "see 'thinkledger normalise --help'"
        raise WrongUseError(f"there is no option {name}; {hint}")
    inputs = tuple(rest)
    return inputs, tuple(argument for argument in arguments if argument not in rest)
