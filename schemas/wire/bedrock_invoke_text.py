"""Plain text bodies of Bedrock's InvokeModel, one shape a vendor: what is read of them.

A field that is not here is not read. The vendors' names do not collide, so one model reads them all: a body holds the
fields of one of them.
"""

from typing import Annotated, Any

from pydantic import Field

from schemas.wire.lenient import Count, OrNull, Text, WireModel


class Reason(WireModel):
    """AI21's stop word."""

    reason: Text = None


class Data(WireModel):
    """AI21's text."""

    text: str | None = None


class Answer(WireModel):
    """One answer."""

    output_text: str | None = Field(default=None, alias="outputText")  # Titan
    generation: str | None = None  # Llama
    text: str | None = None  # Mistral, DeepSeek
    data: Data | None = None  # AI21
    completion_reason: Text = Field(default=None, alias="completionReason")
    stop_reason: Text = None
    finish_reason: Annotated[Reason | None, OrNull] = Field(default=None, alias="finishReason")
    token_count: Count = Field(default=None, alias="tokenCount")  # Titan


class Metrics(WireModel):
    """Bedrock's own counts, in the last chunk of a stream. The input leaves the cache out."""

    input_tokens: Count = Field(default=None, alias="inputTokenCount")
    output_tokens: Count = Field(default=None, alias="outputTokenCount")
    cache_read: Count = Field(default=None, alias="cacheReadInputTokenCount")
    cache_write: Count = Field(default=None, alias="cacheWriteInputTokenCount")


class Body(WireModel):
    """A whole body but for its answers. A guardrail's rewriting makes the counts floats."""

    input_tokens: Count = Field(default=None, alias="inputTextTokenCount")  # Titan
    output_tokens: Count = Field(default=None, alias="totalOutputTextTokenCount")  # Titan, streamed
    prompt_token_count: Count = None  # Llama
    generation_token_count: Count = None
    metrics: Annotated[Metrics | None, OrNull] = Field(default=None, alias="amazon-bedrock-invocationMetrics")
    guardrail: Text = Field(default=None, alias="amazon-bedrock-guardrailAction")


class Request(WireModel):
    """A request body of any of them."""

    max_tokens: Count = None
    max_tokens_camel: Count = Field(default=None, alias="maxTokens")  # AI21
    max_gen_len: Count = None  # Llama
    config: Any = Field(default=None, alias="textGenerationConfig")  # Titan
