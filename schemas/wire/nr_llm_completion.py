"""nr-llm's ``CompletionResponse``: what is read of it, in the spelling of its public properties."""

from typing import Annotated, Any

from pydantic import Field

from schemas.wire.lenient import Count, Number, OrNull, Text, WireModel


class Usage(WireModel):
    """``UsageStatistics``: its total is the sum of the other two. ``estimatedCost`` is in US dollars."""

    prompt_tokens: Count = Field(None, alias="promptTokens")
    completion_tokens: Count = Field(None, alias="completionTokens")
    total_tokens: Count = Field(None, alias="totalTokens")
    estimated_cost: Number = Field(None, alias="estimatedCost")


class CallMetadata(WireModel):
    """The keys that its adapters write beside the provider's own; an absent one is a statement (ADR-204)."""

    effort: Text = Field(None, alias="nrllm_reasoning_effort")
    effort_source: Text = Field(None, alias="nrllm_reasoning_effort_source")


class Completion(WireModel):
    """A whole response."""

    content: str | None = None
    model: Text = None
    usage: Annotated[Usage | None, OrNull] = None
    finish_reason: Text = Field(None, alias="finishReason")
    provider: Text = None
    tool_calls: list[Any] | None = Field(None, alias="toolCalls")
    metadata: Annotated[CallMetadata | None, OrNull] = None
    thinking: str | None = None
