"""What a Chat Completions body says of tokens and cost, in the spellings of all its hosts.

Counts are taken as reported; what they mean together is decided elsewhere. One count often stands under several names:
these are copies, never added, and a copy that holds zero yields to one that does not (some gateways fill OpenAI's own
names with zeros). The body's shape says nothing of whether reasoning is inside the completion count (reference 1.3), so
``proof`` is given only where this very body settles it.
"""

from decimal import Decimal, InvalidOperation
from typing import Any

from schemas.exchange import JsonObject
from schemas.reading import Counts
from schemas.vocabulary import ReasoningBasis
from schemas.wire.openai_chat import CompletionDetails, PromptDetails, Usage

_NO_PROMPT_DETAILS = PromptDetails()
_NO_COMPLETION_DETAILS = CompletionDetails()
_XAI_USAGE = frozenset({"num_sources_used", "cost_in_usd_ticks"})
"""Keys that only xAI sends; its Chat documentation puts reasoning on top (reference 2.8)."""
_PERPLEXITY_USAGE = frozenset({"search_context_size", "citation_tokens", "num_search_queries"})
_PERPLEXITY_BODY = frozenset({"citations", "search_results"})
_DOLLARS_PER_TICK = Decimal("1e-10")
_COST_KEYS = frozenset({"cost", "cost_details", "cost_in_usd_ticks", "estimated_cost", "pydantic_ai_gateway"})
_COST_STEPS = 10**12
_PRICE_STEP = 100
"""Prices are whole in 1e-10 USD per token (0.0001 USD per million) on every published list."""
_LARGEST_COST = 10**12


def usage_of(body: JsonObject) -> JsonObject | None:
    """The usage object, where it is: at the top, in a choice (Moonshot), or Bedrock's metrics beside the body."""
    for usage in (body.get("usage"), body.get("amazon-bedrock-invocationMetrics")):
        if isinstance(usage, dict) and usage:
            return usage
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    usage = first.get("usage") if isinstance(first, dict) else None
    return usage if isinstance(usage, dict) and usage else None


def read_counts(raw: JsonObject, body: JsonObject, *, metadata: JsonObject | None = None) -> Counts:
    """Read the counts of a usage object; ``metadata`` is what a gateway keeps of its upstream beside the message."""
    usage = Usage.model_validate(raw)
    into = usage.prompt_tokens_details or usage.input_tokens_details or _NO_PROMPT_DETAILS
    out = usage.completion_tokens_details or usage.output_tokens_details or _NO_COMPLETION_DETAILS
    completion = usage.completion_tokens or _one_of(
        usage.completion_tokens, usage.output_tokens, usage.completionTokens, usage.outputTokenCount
    )
    reasoning = out.reasoning_tokens or _one_of(out.reasoning_tokens, usage.reasoning_tokens, usage.reasoningTokens)
    counts = Counts(
        prompt=usage.prompt_tokens
        or _one_of(usage.prompt_tokens, usage.input_tokens, usage.promptTokens, usage.inputTokenCount),
        completion=completion,
        reasoning=reasoning,
        total=usage.total_tokens or _one_of(usage.total_tokens, usage.totalTokens),
        cached=_cached(usage, into),
        cache_write=_cache_write(usage, into),
        cache_write_1h=usage.cache_creation.ephemeral_1h_input_tokens if usage.cache_creation else None,
        beside=_beside(usage, into),
        convention=_convention(raw, body),
    )
    if reasoning:
        counts.proof = _proof(raw, metadata or body.get("provider_metadata"), completion or 0, reasoning)
    if usage.prompt_tokens is None and usage.input_tokens is not None and usage.input_tokens_details is None:
        _add_anthropic_cache(counts, usage)
    return counts


def _one_of(*copies: int | None) -> int | None:
    for copy in copies:
        if copy:
            return copy
    return 0 if 0 in copies else None


def _cached(usage: Usage, into: PromptDetails) -> int | None:
    """In the order of reference 5: Mistral, OpenAI, Mistral's misspelling, Moonshot, DeepSeek, LiteLLM."""
    misspelled = usage.prompt_token_details
    return _one_of(
        usage.num_cached_tokens,
        into.cached_tokens,
        misspelled.cached_tokens if misspelled else None,
        usage.cached_tokens,
        usage.prompt_cache_hit_tokens,
        usage.cache_read_input_tokens,
    )


def _cache_write(usage: Usage, into: PromptDetails) -> int | None:
    return _one_of(
        into.cache_write_tokens,
        into.cache_creation_input_tokens,
        into.cache_creation_tokens,
        into.created_cache_tokens,
        usage.cache_write_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_creation_tokens,
    )


def _beside(usage: Usage, into: PromptDetails) -> int:
    audio = into.audio_tokens or usage.audio_prompt_tokens or 0
    return audio + (into.image_tokens or 0) + (into.video_tokens or 0)


def _add_anthropic_cache(counts: Counts, usage: Usage) -> None:
    """Anthropic's own usage in a chat body: its input leaves the cache out, unless the total says otherwise."""
    cache = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    inclusive = (counts.prompt or 0) + (counts.completion or 0)
    if cache and counts.total != inclusive:
        counts.prompt = (counts.prompt or 0) + cache


def _convention(raw: JsonObject, body: JsonObject) -> ReasoningBasis:
    """What the host documents, where the body shows the host: xAI and Perplexity put reasoning on top."""
    if not _XAI_USAGE.isdisjoint(raw):
        return ReasoningBasis.ON_TOP
    if "reasoning_tokens" not in raw:
        return ReasoningBasis.INSIDE
    is_perplexity = not (_PERPLEXITY_USAGE.isdisjoint(raw) and _PERPLEXITY_BODY.isdisjoint(body))
    return ReasoningBasis.ON_TOP if is_perplexity or isinstance(raw.get("cost"), dict) else ReasoningBasis.INSIDE


def _proof(raw: JsonObject, metadata: object, completion: int, reasoning: int) -> ReasoningBasis | None:
    if _inner(raw, "cost").get("reasoning_tokens_cost"):
        return ReasoningBasis.ON_TOP  # Perplexity's deep research bills it apart from the output (reference 2.15)
    stated = _proof_by_metadata(metadata, completion, reasoning) if isinstance(metadata, dict) else None
    if stated is None and reasoning > completion:
        return _proof_by_cost(raw, completion, reasoning)
    return stated


def _proof_by_metadata(metadata: JsonObject, completion: int, reasoning: int) -> ReasoningBasis | None:
    """Vercel's gateway keeps Google's own usage beside the message: its total holds the thoughts, or does not."""
    for vendor in metadata.values():
        usage = vendor.get("usageMetadata") if isinstance(vendor, dict) else None
        if not isinstance(usage, dict) or usage.get("thoughtsTokenCount") != reasoning:
            continue
        prompt, total = usage.get("promptTokenCount"), usage.get("totalTokenCount")
        if not isinstance(prompt, int) or usage.get("candidatesTokenCount", 0) != completion:
            continue
        if total == prompt + completion + reasoning:
            return ReasoningBasis.ON_TOP
        if total == prompt + completion:
            return ReasoningBasis.INSIDE
    return None


def _proof_by_cost(raw: JsonObject, completion: int, reasoning: int) -> ReasoningBasis | None:
    """A completion cost that is a whole price times one of the two counts, and not of the other (OpenRouter)."""
    details = raw.get("cost_details")
    cost = _money(details.get("upstream_inference_completions_cost")) if isinstance(details, dict) else None
    if not cost or not completion:
        return None
    steps = int((cost * _COST_STEPS).to_integral_value())
    inside = steps % (completion * _PRICE_STEP) == 0
    on_top = steps % ((completion + reasoning) * _PRICE_STEP) == 0
    if inside == on_top:
        return None
    return ReasoningBasis.INSIDE if inside else ReasoningBasis.ON_TOP


def read_cost(raw: JsonObject, body: JsonObject) -> Decimal | None:
    """The cost in US dollars as the host states it; null where it states none.

    ``usage.cost`` is a number (OpenRouter, Vercel) or an object (Perplexity); xAI counts ticks; DeepInfra and
    Pydantic's gateway estimate; Venice states it beside the usage. With a key of the user's own (``is_byok``)
    OpenRouter's ``cost`` is its fee, and what the provider bills stands apart (reference 2.10).
    """
    if _COST_KEYS.isdisjoint(raw) and "cost" not in body:
        return None
    stated = raw.get("cost")
    amount = _money(stated.get("total_cost") if isinstance(stated, dict) else stated)
    if raw.get("is_byok") is True:
        upstream = _money(_inner(raw, "cost_details").get("upstream_inference_cost"))
        amount = amount if upstream is None else (amount or Decimal(0)) + upstream
    if amount is None and "cost_in_usd_ticks" in raw:
        ticks = _money(raw["cost_in_usd_ticks"], largest=10**22)
        amount = None if ticks is None else ticks * _DOLLARS_PER_TICK
    if amount is None:
        amount = _money(raw.get("estimated_cost"))
    if amount is None and "pydantic_ai_gateway" in raw:
        amount = _money(_inner(raw, "pydantic_ai_gateway").get("cost_estimate"))
    if amount is None and "cost" in body:
        amount = _money(_inner(body, "cost").get("usd"))
    return amount


def _inner(holder: JsonObject, key: str) -> JsonObject:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}


def _money(value: Any, largest: int = _LARGEST_COST) -> Decimal | None:
    """An amount exactly as written; null where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount <= largest else None
