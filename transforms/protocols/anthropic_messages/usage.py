"""Anthropic's usage: the counts of a message, and of what else was run for it (reference, section 2 (4)).

``iterations`` lists every run of a model behind one message. Runs of type ``message``, or ``fallback_message`` where
another model answered, are the top-level counts already. The others are billed beside them: a ``compaction`` is a run
of the same model, so its tokens are the call's own; an ``advisor_message`` is another model's, at another price.
"""

from dataclasses import replace
from typing import NamedTuple

from schemas.reading import Counts, FurtherSpend
from schemas.vocabulary import ReasoningBasis
from schemas.wire.anthropic_messages import Iteration, Usage

_AT_THE_TOP = "message"


class Spend(NamedTuple):
    """All that one message cost: its own counts, those of other models, and who answered in the asked model's place."""

    counts: Counts
    also: list[FurtherSpend]
    fallback: str | None = None


def spend_of(usage: Usage) -> Spend:
    """Count every run once. A top level that proves to be the sum of all runs (a gateway's) leaves nothing to add."""
    counts = _counts(usage)
    listed = usage.iterations if isinstance(usage.iterations, list) else []
    if all(isinstance(entry, dict) and entry.get("type") == _AT_THE_TOP for entry in listed):
        return Spend(counts, [])
    runs = [(Iteration.model_validate(entry), entry) for entry in listed if isinstance(entry, dict)]
    fallback = next((run.model for run, _ in reversed(runs) if run.type == "fallback_message"), None)
    if _is_sum(counts, [_counts(run) for run, _ in runs]):
        return Spend(counts, [], fallback)
    also: list[FurtherSpend] = []
    for run, entry in runs:
        if run.type == "compaction":
            counts = _with(counts, _counts(run))
        elif run.type == "advisor_message":
            also.append(FurtherSpend("advisor", run.model, _counts(run), entry))
    return Spend(counts, also, fallback)


def _counts(usage: Usage) -> Counts:
    written = usage.cache_creation_input_tokens
    split = usage.cache_creation
    if written is None and split is not None:
        written = (split.ephemeral_5m_input_tokens or 0) + (split.ephemeral_1h_input_tokens or 0)
    read_back = usage.cache_read_input_tokens
    return Counts(
        prompt=None if usage.input_tokens is None else usage.input_tokens + (written or 0) + (read_back or 0),
        completion=usage.output_tokens,
        reasoning=usage.output_tokens_details.thinking_tokens if usage.output_tokens_details else None,
        cached=read_back,
        cache_write=written,
        cache_write_1h=split.ephemeral_1h_input_tokens if split else None,
        convention=ReasoningBasis.INSIDE,
    )


def _is_sum(counts: Counts, runs: list[Counts]) -> bool:
    return counts.prompt == sum(run.prompt or 0 for run in runs) and counts.completion == sum(
        run.completion or 0 for run in runs
    )


def _with(counts: Counts, run: Counts) -> Counts:
    """Add a run of the same model. A total that is not reported stays so: a part of it would pass for the whole."""
    return replace(
        counts,
        prompt=None if counts.prompt is None else counts.prompt + (run.prompt or 0),
        completion=None if counts.completion is None else counts.completion + (run.completion or 0),
        reasoning=_sum(counts.reasoning, run.reasoning),
        cached=_sum(counts.cached, run.cached),
        cache_write=_sum(counts.cache_write, run.cache_write),
        cache_write_1h=_sum(counts.cache_write_1h, run.cache_write_1h),
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)
