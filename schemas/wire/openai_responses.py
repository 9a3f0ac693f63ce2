"""Bodies of the OpenAI Responses API, as OpenAI and the hosts that copy it send them: only what is read.

Items of ``output`` are told apart by their ``type``. Some thirty types exist and new ones keep coming, so all that are
neither thinking nor a message share one model. Small servers leave the type of a message out; its ``role`` shows it.
"""

from typing import Annotated, Any

from pydantic import AliasChoices, Discriminator, Field, Tag

from schemas.wire.lenient import Count, Flag, Number, OrNull, Text, WireModel


class Part(WireModel):
    """One part of an item: ``output_text``, ``refusal``, ``summary_text`` or ``reasoning_text``."""

    type: Text = None
    text: str | None = None
    refusal: str | None = None


Parts = list[Part] | str | None


class ReasoningItem(WireModel):
    """``summary`` is what OpenAI shows, ``content`` the raw chain of open-weight hosts, the payload opaque to all."""

    summary: Parts = None
    content: Parts = None
    encrypted_content: Text = None
    format: Text = None
    """OpenRouter: the shape that its upstream gave, such as ``google-gemini-v1``."""


class MessageItem(WireModel):
    """What is said. ``phase`` is ``commentary`` (a preamble) or ``final_answer``, on models that mark it."""

    role: Text = None
    phase: Text = None
    content: Parts = None


class Environment(WireModel):
    """Where a ``shell_call`` runs: ``local`` at the client, ``container_…`` at the provider."""

    type: Text = None


class OtherItem(WireModel):
    """A call, of the client's or the server's tools, a call's output, a compaction, or a type not known yet."""

    type: Text = None
    call_id: Text = None
    execution: Text = None
    environment: Annotated[Environment | None, OrNull] = None


def _kind(item: Any) -> str:
    if isinstance(item, dict):
        kind = item.get("type")
        if kind == "reasoning":
            return "reasoning"
        if kind == "message" or (kind is None and "role" in item):
            return "message"
    return "other"


Item = Annotated[
    Annotated[ReasoningItem, Tag("reasoning")]
    | Annotated[MessageItem, Tag("message")]
    | Annotated[OtherItem, Tag("other")],
    Discriminator(_kind),
]


def _named(*names: str) -> Any:
    """A field that goes by several names: the first that is there counts."""
    return Field(default=None, validation_alias=AliasChoices(*names))


class InputDetails(WireModel):
    """The parts of the input. Perplexity says ``cache_creation_input_tokens`` and ``cache_read_input_tokens``."""

    cached_tokens: Count = _named("cached_tokens", "cache_read_input_tokens")
    cache_write_tokens: Count = _named("cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens")
    audio_tokens: Count = None
    image_tokens: Count = None


class OutputDetails(WireModel):
    """The part of the output that was reasoning."""

    reasoning_tokens: Count = None


class CostDetails(WireModel):
    """OpenRouter's split of its cost, in US dollars."""

    upstream_inference_cost: Number = None


class ItemisedCost(WireModel):
    """Perplexity's cost, an object where OpenRouter's is a number."""

    total_cost: Number = None


class GatewayCost(WireModel):
    """What the Pydantic AI gateway reckons a call cost, in US dollars."""

    cost_estimate: Number = None


class Usage(WireModel):
    """Token counts, under the API's own names or under those of Chat Completions (LiteLLM's log, small servers)."""

    input_tokens: Count = _named("input_tokens", "prompt_tokens")
    output_tokens: Count = _named("output_tokens", "completion_tokens")
    total_tokens: Count = None
    reasoning_tokens: Count = None
    input_details: Annotated[InputDetails | None, OrNull] = _named("input_tokens_details", "prompt_tokens_details")
    output_details: Annotated[OutputDetails | None, OrNull] = _named(
        "output_tokens_details", "completion_tokens_details"
    )
    cost: Annotated[float | ItemisedCost | None, OrNull] = None
    cost_details: Annotated[CostDetails | None, OrNull] = None
    is_byok: Flag = None
    cost_in_usd_ticks: Count = None
    """xAI: one US dollar is 1e10 ticks."""
    pydantic_ai_gateway: Annotated[GatewayCost | None, OrNull] = None


class ReasoningSettings(WireModel):
    """What the response says of its own thinking."""

    effort: Text = None


class IncompleteDetails(WireModel):
    """Why a response is incomplete."""

    reason: Text = None


class Response(WireModel):
    """A whole body (``object`` is ``response`` or ``response.compaction``)."""

    id: Text = None
    model: Text = None
    status: Text = None
    created_at: Number = _named("created_at", "created")
    completed_at: Number = None
    output: list[Item] | None = None
    output_text: Text = None
    """A convenience of OpenAI's SDKs that MiniMax and some small servers really send."""
    reasoning: Annotated[ReasoningSettings | str | None, OrNull] = None
    """The settings; a few local servers put the thinking itself here, as text."""
    incomplete_details: Annotated[IncompleteDetails | None, OrNull] = None
    service_tier: Text = None
    usage: Annotated[Usage | None, OrNull] = None
