"""The AI SDK's usage in its three spellings, and what packages of older versions left out of it."""

from collections.abc import Mapping
from typing import Any

from schemas.reading import Counts
from schemas.vocabulary import ReasoningBasis
from schemas.wire.lenient import Count, WireModel
from schemas.wire.vercel_ai_sdk import InputCounts, OutputCounts, Result, Step, Usage


class _Anthropic(WireModel):
    """Anthropic's raw usage: its ``input_tokens`` leave the cache out."""

    input_tokens: Count = None
    cache_read_input_tokens: Count = None
    cache_creation_input_tokens: Count = None


class _Metadata(WireModel):
    """Counts that packages of version 4 put into the provider's metadata."""

    cacheReadInputTokens: Count = None  # noqa: N815 - the SDK's spelling
    cacheCreationInputTokens: Count = None  # noqa: N815
    cachedPromptTokens: Count = None  # noqa: N815
    reasoningTokens: Count = None  # noqa: N815


def counts_of_all(result: Result, steps: list[Step]) -> Counts | None:
    """The counts of a result: the stated total over its steps, else the sum of all steps, else its own usage."""
    if len(steps) > 1 and result.total_usage is None and all(step.usage for step in steps):
        return _sum([_counts(step.usage, step) for step in steps if step.usage])
    usage = result.total_usage or result.usage or steps[-1].usage
    source = result if result.provider_metadata else steps[-1]
    return _counts(usage, source if len(steps) == 1 else None) if usage else None


def _counts(usage: Usage, step: Step | None) -> Counts:
    given = usage.input_details or usage.input_object or InputCounts()
    made = usage.output_details or usage.output_object or OutputCounts()
    counts = Counts(
        prompt=_first(usage.input_tokens, given.total),
        completion=_first(usage.output_tokens, made.total),
        reasoning=_first(made.reasoning, usage.reasoning_tokens),
        total=usage.total_tokens,
        cached=_first(given.cache_read, usage.cached_input_tokens),
        cache_write=given.cache_write,
        convention=ReasoningBasis.INSIDE,
    )
    metadata = step.provider_metadata if step is not None else None
    if metadata:
        _from_metadata(counts, metadata)
    if usage.raw or metadata:
        _with_the_cache(counts, _raw_anthropic(usage, metadata))
    return counts


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


def _from_metadata(counts: Counts, metadata: Mapping[str, Any]) -> None:
    for stored in metadata.values():
        facts = _Metadata.model_validate(stored) if isinstance(stored, dict) else _Metadata()
        counts.cached = _first(counts.cached, facts.cacheReadInputTokens, facts.cachedPromptTokens)
        counts.cache_write = _first(counts.cache_write, facts.cacheCreationInputTokens)
        counts.reasoning = _first(counts.reasoning, facts.reasoningTokens)


def _raw_anthropic(usage: Usage, metadata: Mapping[str, Any] | None) -> _Anthropic | None:
    stored = (metadata or {}).get("anthropic")
    beside = stored.get("usage") if isinstance(stored, dict) else None
    for raw in (usage.raw, beside):
        if isinstance(raw, dict) and "cache_read_input_tokens" in raw:
            return _Anthropic.model_validate(raw)
    return None


def _with_the_cache(counts: Counts, raw: _Anthropic | None) -> None:
    """Add the cache where the SDK's input is the raw count without it; versions that add it themselves state more."""
    if raw is None or raw.input_tokens is None or counts.prompt != raw.input_tokens:
        return
    counts.cached = _first(counts.cached, raw.cache_read_input_tokens)
    counts.cache_write = _first(counts.cache_write, raw.cache_creation_input_tokens)
    added = (raw.cache_read_input_tokens or 0) + (raw.cache_creation_input_tokens or 0)
    counts.prompt += added
    if counts.total is not None and counts.completion is not None and counts.total < counts.prompt + counts.completion:
        counts.total += added


def _sum(parts: list[Counts]) -> Counts:
    """Counts of several calls, added up; a count that one of them does not report is not reported."""
    whole = Counts(convention=ReasoningBasis.INSIDE)
    for name in ("prompt", "completion", "reasoning", "total", "cached", "cache_write"):
        values = [getattr(part, name) for part in parts]
        if all(value is not None for value in values):
            setattr(whole, name, sum(values))
    return whole


def of_metadata(result: Result, last: Step, name: str) -> str | None:
    """A text that the provider's metadata holds under a name, of whichever provider."""
    for metadata in (result.provider_metadata, last.provider_metadata):
        for stored in (metadata or {}).values():
            value = stored.get(name) if isinstance(stored, dict) else None
            if isinstance(value, str) and value:
                return value
    return None
