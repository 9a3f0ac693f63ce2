"""Vercel AI SDK, versions 4 to 7: what is read of results, steps, provider results and UI messages (reference 18)."""

from typing import Annotated, Any

from pydantic import AliasChoices, Field

from schemas.wire.lenient import Count, OrNull, Text, WireModel

Object = Annotated[dict[str, Any] | None, OrNull]


class InputCounts(WireModel):
    """A provider result's ``inputTokens`` (from version 6), or the details beside a plain count."""

    total: Count = None
    cache_read: Count = Field(None, validation_alias=AliasChoices("cacheRead", "cacheReadTokens"))
    cache_write: Count = Field(None, validation_alias=AliasChoices("cacheWrite", "cacheWriteTokens"))


class OutputCounts(WireModel):
    """A provider result's ``outputTokens`` (from version 6), or the details beside a plain count.

    The text's own count is not read: Bedrock's and Cohere's packages put all of the output there.
    """

    total: Count = None
    reasoning: Count = Field(None, validation_alias=AliasChoices("reasoning", "reasoningTokens"))


class Usage(WireModel):
    """The counts, in the spelling of version 4 (prompt), 5 (flat details), 6 and 7 (nested details)."""

    input_tokens: Count = Field(None, validation_alias=AliasChoices("inputTokens", "promptTokens"))
    output_tokens: Count = Field(None, validation_alias=AliasChoices("outputTokens", "completionTokens"))
    total_tokens: Count = Field(None, alias="totalTokens")
    reasoning_tokens: Count = Field(None, alias="reasoningTokens")
    cached_input_tokens: Count = Field(None, alias="cachedInputTokens")
    input_object: Annotated[InputCounts | None, OrNull] = Field(None, alias="inputTokens")
    output_object: Annotated[OutputCounts | None, OrNull] = Field(None, alias="outputTokens")
    input_details: Annotated[InputCounts | None, OrNull] = Field(None, alias="inputTokenDetails")
    output_details: Annotated[OutputCounts | None, OrNull] = Field(None, alias="outputTokenDetails")
    raw: Object = None


class UnifiedFinish(WireModel):
    """A provider result's finish reason from version 6: the SDK's word and the provider's own."""

    unified: Text = None
    raw: Text = None


class ResponseInfo(WireModel):
    """What the provider said of its response."""

    id: Text = None
    model_id: Text = Field(None, alias="modelId")
    timestamp: Any = None
    messages: Annotated[list[Any] | None, OrNull] = None


class Step(WireModel):
    """One call of a model: a result of one step is a step too."""

    content: Any = None
    text: Any = None
    reasoning: Any = None
    reasoning_text: Any = Field(None, alias="reasoningText")
    tool_calls: Annotated[list[Any] | None, OrNull] = Field(None, alias="toolCalls")
    finish_reason: Annotated[str | UnifiedFinish | None, OrNull] = Field(None, alias="finishReason")
    raw_finish_reason: Text = Field(None, alias="rawFinishReason")
    usage: Annotated[Usage | None, OrNull] = None
    response: Annotated[ResponseInfo | None, OrNull] = None
    provider_metadata: Object = Field(
        None, validation_alias=AliasChoices("providerMetadata", "experimental_providerMetadata")
    )


class Result(Step):
    """A whole result; ``totalUsage`` (from version 5) is the sum over its steps, ``usage`` there the last one's."""

    steps: list[Step] | None = None
    total_usage: Annotated[Usage | None, OrNull] = Field(None, alias="totalUsage")
    object: Any = None


class UIMessage(WireModel):
    """A message as the chat's user interface stores it."""

    id: Text = None
    parts: list[dict[str, Any]]
    metadata: Object = None
