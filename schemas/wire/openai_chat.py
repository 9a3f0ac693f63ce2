"""Chat Completions bodies: what is read of them, in the spellings of all their hosts.

A field that is not here is not read. Lists whose items differ by host (content parts, details, tool calls) stay as they
were sent and are read item by item.
"""

from typing import Annotated, Any

from schemas.wire.lenient import Count, OrNull, Text, WireModel

AnyList = Annotated[list[Any] | None, OrNull]
AnyObject = Annotated[dict[str, Any] | None, OrNull]


class PromptDetails(WireModel):
    """Parts of the input. Cache writes: OpenAI and OpenRouter, DashScope, LiteLLM, vLLM, in this order."""

    cached_tokens: Count = None
    cache_write_tokens: Count = None
    cache_creation_input_tokens: Count = None
    cache_creation_tokens: Count = None
    created_cache_tokens: Count = None
    audio_tokens: Count = None
    image_tokens: Count = None
    video_tokens: Count = None


class CompletionDetails(WireModel):
    """Parts of the output."""

    reasoning_tokens: Count = None


class CacheCreation(WireModel):
    """Anthropic's split of cache writes by how long they are kept, as some hosts pass it on."""

    ephemeral_1h_input_tokens: Count = None


MaybePromptDetails = Annotated[PromptDetails | None, OrNull]
MaybeCompletionDetails = Annotated[CompletionDetails | None, OrNull]


class Usage(WireModel):
    """The counts: first under OpenAI's names, then under every other one in use (reference 1.3, 2.15, 2.25, 5)."""

    prompt_tokens: Count = None
    completion_tokens: Count = None
    total_tokens: Count = None
    prompt_tokens_details: MaybePromptDetails = None
    completion_tokens_details: MaybeCompletionDetails = None

    input_tokens: Count = None
    output_tokens: Count = None
    input_tokens_details: MaybePromptDetails = None
    output_tokens_details: MaybeCompletionDetails = None
    promptTokens: Count = None  # noqa: N815 - camel case as sent
    completionTokens: Count = None  # noqa: N815
    totalTokens: Count = None  # noqa: N815
    inputTokenCount: Count = None  # noqa: N815 - Bedrock's own metrics beside the body
    outputTokenCount: Count = None  # noqa: N815
    reasoning_tokens: Count = None
    reasoningTokens: Count = None  # noqa: N815
    prompt_token_details: MaybePromptDetails = None  # Mistral's spelling
    num_cached_tokens: Count = None
    cached_tokens: Count = None
    prompt_cache_hit_tokens: Count = None
    cache_read_input_tokens: Count = None
    cache_write_tokens: Count = None
    cache_creation_input_tokens: Count = None
    cache_creation_tokens: Count = None
    cache_creation: Annotated[CacheCreation | None, OrNull] = None
    audio_prompt_tokens: Count = None


class Message(WireModel):
    """An answer, whole or as a delta.

    ``content`` is text, a list of parts (Mistral, Databricks, Merge), or an object (Cloudflare parses JSON answers).
    """

    content: str | list[Any] | dict[str, Any] | None = None
    reasoning_content: Text = None
    reasoning: Text = None
    reasoning_text: Text = None
    reasoning_details: AnyList = None
    thinking_blocks: AnyList = None
    reasoning_steps: AnyList = None
    refusal: Text = None
    tool_calls: AnyList = None
    function_call: AnyObject = None
    audio: AnyObject = None
    provider_specific_fields: AnyObject = None
    provider_metadata: AnyObject = None


class Choice(WireModel):
    """One of the answers. Perplexity fills ``message`` and ``delta`` with copies."""

    index: Count = None
    message: Message | None = None
    delta: Message | None = None
    finish_reason: Text = None
    native_finish_reason: Text = None
    stop_reason: Text = None
    finish_details: AnyObject = None
    provider_specific_fields: AnyObject = None
    error: AnyObject = None


class Body(WireModel):
    """A whole body."""

    id: Text = None
    model: Text = None
    model_id: Text = None  # watsonx
    created: Annotated[int | float | None, OrNull] = None
    service_tier: Text = None
    choices: list[Choice] | None = None
