"""Counts of a LangChain answer: LangChain's own, else the provider's by the provider's rules."""

from typing import Any

from schemas.reading import Counts
from schemas.vocabulary import ReasoningBasis
from schemas.wire.langchain_message import InputDetails, NativeUsage, OutputDetails, UsageMetadata

_ANTHROPIC = ("cache_read_input_tokens", "cache_creation_input_tokens")


def counts_of(metadata: dict[str, Any] | None, native: dict[str, Any] | None) -> Counts | None:
    """Read ``usage_metadata``, else the provider's own usage; null where neither counts anything."""
    if metadata:
        return _of_langchain(UsageMetadata.model_validate(metadata))
    return _of_provider(native) if native else None


def _of_langchain(usage: UsageMetadata) -> Counts:
    given = usage.input_token_details or InputDetails()
    made = usage.output_token_details or OutputDetails()
    written = given.cache_creation
    split = [count for count in (given.ephemeral_5m_input_tokens, given.ephemeral_1h_input_tokens) if count is not None]
    if split and not written:
        written = sum(split)
    return Counts(
        prompt=usage.input_tokens,
        completion=usage.output_tokens,
        reasoning=made.reasoning,
        total=usage.total_tokens,
        cached=given.cache_read,
        cache_write=written,
        cache_write_1h=given.ephemeral_1h_input_tokens,
        convention=ReasoningBasis.INSIDE,
    )


def _of_provider(stored: dict[str, Any]) -> Counts:
    """OpenAI's names include the cache; Anthropic's ``input_tokens`` leave it out (protocols-native 1.2)."""
    usage = NativeUsage.model_validate(stored)
    prompt, cached, written = usage.prompt, None, None
    if any(key in stored for key in _ANTHROPIC):
        cached, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
        prompt = None if prompt is None else prompt + (cached or 0) + (written or 0)
    elif usage.prompt_details is not None:
        cached = usage.prompt_details.cached_tokens
    details = usage.completion_details
    reasoning = None
    if details is not None:
        reasoning = details.reasoning_tokens if details.reasoning_tokens is not None else details.thinking_tokens
    return Counts(
        prompt=prompt,
        completion=usage.completion,
        reasoning=reasoning,
        total=usage.total,
        cached=cached,
        cache_write=written,
        convention=ReasoningBasis.INSIDE,
    )
