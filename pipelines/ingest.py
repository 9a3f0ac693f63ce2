"""The main job as it is launched: which files are left to read, the pipeline over them, a commit after each step."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.pvalue import PCollection
from rich.console import Console

from pipelines import progress
from pipelines.account import added_up
from pipelines.disk_faults import told_in_one_line
from pipelines.stopping import stoppable
from pipelines.wrong_use import WrongUseError
from schemas.account import RunAccount
from schemas.exchange import RecordBatches
from schemas.lake import Pointer, RunContext
from schemas.settings import STEP_BYTES, STEPS, Settings
from transforms.accounts import AddUp, NoAccountError, account_of, read_account, settle
from transforms.expand import Expand, Source, packed
from transforms.inputs import InputNotFoundError, Listed, fill, find, is_template
from transforms.lake import Lake, NotALakeError, UnbalancedError
from transforms.ledger import Todo, Way, after_reading, entry, first_step, plan, read_ledger, write_ledger
from transforms.lock import LakeLockedError, LockLostError
from transforms.mirror import local
from transforms.normalise import Normalise, Window
from transforms.object_pointer import StoreError
from transforms.publish import Publish
from transforms.read import Read
from transforms.replacement import changes, without_rejects, without_replayable, without_sources
from transforms.replay import Replay
from transforms.stage import Stage

DEFAULT_RUNNER = "FnApiRunner"
"""Named outright: Beam's ``DirectRunner`` first tries to fetch another engine from the network."""
_EPOCH = date(1970, 1, 1)
_KEPT = "the lake is as the last commit left it; run the same command again to go on"
_REFUSALS = (
    StoreError,
    InputNotFoundError,
    NotALakeError,
    LakeLockedError,
    LockLostError,
    UnbalancedError,
    NoAccountError,
)
"""What says of itself, in one line, what is wrong and what to do."""


def run(settings: Settings, console: Console) -> RunAccount:
    """Normalise the inputs into the lake, and commit each step; gives the account of all steps.

    Raises:
        WrongUseError: an input names nothing, the lake cannot be written now or was taken away, or records got lost.
            Nothing of the step became visible.
        StoppedError: somebody stopped it.
    """
    FileSystems.set_options(PipelineOptions(list(settings.beam_options)))
    try:
        with stoppable(_KEPT), told_in_one_line(str(settings.lake), _KEPT):
            if settings.rejects:
                return _replay(Lake.open(settings.lake), settings, console)
            files = find(_named(settings), skip=settings.skip)
            return _read(Lake.create(settings.lake, settings.partition), files, settings, console)
    except (
        InputNotFoundError,
        NotALakeError,
        LakeLockedError,
        LockLostError,
        UnbalancedError,
        NoAccountError,
    ) as error:
        raise WrongUseError(str(error)) from error


def _named(settings: Settings) -> list[str]:
    """The inputs with their time codes filled in."""
    names: list[str] = []
    for name in settings.inputs:
        if not is_template(name):
            names.append(name)
        elif settings.since is None:
            raise WrongUseError(f"{name}: time codes need --since (and --until, which is today if left out)")
        else:
            names += fill(name, settings.since, settings.until or datetime.now(UTC).date())
    return names


def _read(lake: Lake, files: Sequence[Listed], settings: Settings, console: Console) -> RunAccount:
    """Read what the ledger does not have yet, and commit after each step."""
    way = Way(settings.source, settings.transcripts, settings.since, settings.until, settings.full or settings.replace)
    accounts: list[RunAccount] = []
    states: dict[str, int] = {}
    left = list(files)
    step_bytes = settings.step_bytes
    while left:
        with _begun(lake, settings) as context:
            # Planned anew for each step: what another run has read meanwhile is not read again.
            planned = plan(left, read_ledger(lake.path, context.base), way)
            states = states or {str(state): number for state, number in planned.states.items()}
            if planned.outdated and not accounts:
                console.print(f"{planned.outdated} files were read by an older normaliser: --replace derives them anew")
            step_bytes = step_bytes or max(STEP_BYTES, sum(item.bytes for item in planned.todo) // STEPS)
            step = first_step(planned.todo, step_bytes)
            if not step:
                accounts = accounts or [_nothing_done(lake, context)]
                break
            accounts.append(_take_step(lake, context, step, way, settings, console))
            taken = {item.listed.file for item in step}
            left = [item.listed for item in planned.todo if item.listed.file not in taken]
    return added_up(accounts).model_copy(update={"files": states})


def _take_step(
    lake: Lake, context: RunContext, step: Sequence[Todo], way: Way, settings: Settings, console: Console
) -> RunAccount:
    """Read some files, and commit what they gave."""
    names = [item.listed.file for item in step]
    entries = {item.listed.file: entry(item.listed, way, context.run_id) for item in step}
    if settings.replace:
        run = without_sources(context, names)
    else:
        stale = {item.listed.file: item.stale_rejects_from for item in step}
        run = without_rejects(context, {file: start for file, start in stale.items() if start is not None})
    total = sum(item.bytes for item in step)
    with progress.shown(f"normalise {len(step)} files", total, run, console):
        build([item.source for item in step], settings, run).run().wait_until_finish()
    account = settle(run, read_account(run))
    differ = changes(run, context.base, account, names) if settings.replace else []
    account = account.model_copy(update={"files": {"read": len(step)}, "changes": differ})

    def put(pointer: Pointer) -> None:
        read = {file: after_reading(looked_at) for file, looked_at in entries.items()}
        pointer.ledger = write_ledger(run, read_ledger(lake.path, context.base) | read)

    return lake.commit(run, account, put)


def _replay(lake: Lake, settings: Settings, console: Console) -> RunAccount:
    """Try the lake's rejects again."""
    with _begun(lake, settings) as context:
        files = [str(local(context, file.path)) for file in context.base.rejects.values()]
        run = without_replayable(context)
        if not run.removed:
            return _nothing_done(lake, context)
        total = sum(file.bytes for file in context.base.rejects.values())
        pipeline = _pipeline(settings)
        records = pipeline | "Rejects" >> beam.Create(files, reshuffle=False) | "Replay" >> Replay()
        _publish(records, settings, run)
        with progress.shown("replay rejects", total, run, console):
            pipeline.run().wait_until_finish()
        return lake.commit(run, read_account(run))


def _nothing_done(lake: Lake, context: RunContext) -> RunAccount:
    """Give up a run that has nothing to read; its account is empty, and the lake keeps its generation."""
    lake.abort(context)
    return account_of(replace(context, generation=context.base.generation), [])


@contextmanager
def _begun(lake: Lake, settings: Settings) -> Iterator[RunContext]:
    """A run that is given up where anything fails."""
    inputs = settings.inputs or (f"the rejects of {settings.lake}",)
    context = lake.begin_run(inputs, wait=settings.wait)
    try:
        yield context
    except BaseException:
        lake.abort(context)
        raise


def build(sources: Sequence[Source], settings: Settings, run: RunContext) -> beam.Pipeline:
    """The pipeline, in the shape that every runner gets right: one line, no side inputs, no tags, one leaf."""
    pipeline = _pipeline(settings)
    records = (
        pipeline
        | "Files" >> beam.Create(list(packed(sources)), reshuffle=False)
        | "Expand" >> Expand(settings.transcripts)
        | "SpreadShards" >> beam.Reshuffle()
        | "Read" >> Read()
    )
    _publish(records, settings, run)
    return pipeline


def _publish(records: PCollection[RecordBatches], settings: Settings, run: RunContext) -> None:
    _ = (
        records
        | "Normalise"
        >> Normalise(
            settings.envelopes, _window(settings), settings.redact, run.started_at if settings.no_text else None
        )
        | "Stage" >> Stage(run)
        | "Publish" >> Publish(run)
        | "AddUp" >> AddUp(run)
    )


def _pipeline(settings: Settings) -> beam.Pipeline:
    return beam.Pipeline(options=PipelineOptions(runner_options(settings.beam_options, settings.workers)))


def runner_options(beam_options: Sequence[str], workers: int) -> list[str]:
    """What Beam is told: the runner by its name, and how many processes."""
    options = list(beam_options)
    if not any(option.split("=")[0] == "--runner" for option in options):
        options.append(f"--runner={DEFAULT_RUNNER}")
    if workers > 1:
        options += ["--direct_running_mode=multi_processing", f"--direct_num_workers={workers}"]
    return options


def _window(settings: Settings) -> Window:
    since, until = ((day - _EPOCH).days if day else None for day in (settings.since, settings.until))
    return Window(since, until)
