"""LangChain's messages: what is read of an AIMessage and of its usage (reference protocols-native 19)."""

from typing import Annotated, Any

from pydantic import AliasChoices, Field

from schemas.wire.lenient import Count, OrNull, Text, WireModel

Object = Annotated[dict[str, Any] | None, OrNull]


class InputDetails(WireModel):
    """Parts of the input. Where writes are split by their time to live, ``cache_creation`` is 0."""

    cache_read: Count = None
    cache_creation: Count = None
    ephemeral_5m_input_tokens: Count = None
    ephemeral_1h_input_tokens: Count = None


class OutputDetails(WireModel):
    """Parts of the output."""

    reasoning: Count = None


class UsageMetadata(WireModel):
    """LangChain's own counts: input holds the cache, output holds the reasoning, for every provider."""

    input_tokens: Count = None
    output_tokens: Count = None
    total_tokens: Count = None
    input_token_details: Annotated[InputDetails | None, OrNull] = None
    output_token_details: Annotated[OutputDetails | None, OrNull] = None


class PromptDetails(WireModel):
    """Parts of OpenAI's prompt count, or of Responses' input count."""

    cached_tokens: Count = None


class CompletionDetails(WireModel):
    """Parts of OpenAI's completion count, or of Responses' output count."""

    reasoning_tokens: Count = None
    thinking_tokens: Count = None


class NativeUsage(WireModel):
    """A provider's own usage, as ``response_metadata`` or ``llm_output`` keep it: OpenAI's names or Anthropic's."""

    prompt: Count = Field(
        None, validation_alias=AliasChoices("prompt_tokens", "promptTokens", "input_tokens", "inputTokens")
    )
    completion: Count = Field(
        None, validation_alias=AliasChoices("completion_tokens", "completionTokens", "output_tokens", "outputTokens")
    )
    total: Count = Field(None, validation_alias=AliasChoices("total_tokens", "totalTokens"))
    prompt_details: Annotated[PromptDetails | None, OrNull] = Field(
        None, validation_alias=AliasChoices("prompt_tokens_details", "input_tokens_details")
    )
    completion_details: Annotated[CompletionDetails | None, OrNull] = Field(
        None, validation_alias=AliasChoices("completion_tokens_details", "output_tokens_details")
    )
    cache_read_input_tokens: Count = None
    cache_creation_input_tokens: Count = None


class AIMessage(WireModel):
    """One answer, or a chunk of one. All else that providers say is in ``response_metadata``, by their own names."""

    id: Text = None
    content: Any = None
    additional_kwargs: Object = None
    response_metadata: Object = None
    tool_calls: Annotated[list[Any] | None, OrNull] = None
    tool_call_chunks: Annotated[list[Any] | None, OrNull] = None
    usage_metadata: Annotated[UsageMetadata | None, OrNull] = None
