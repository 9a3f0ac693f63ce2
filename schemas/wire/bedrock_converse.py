"""Bedrock Converse bodies, and Nova's own, which differ in two names: what is read of them (reference, sections 5, 6).

A field that is not here is not read. A content block is a union whose keys are its tags: a block of an unknown kind has
none of these, and dumps of Java objects hold all of them, null but one.
"""

from typing import Annotated, Any

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from schemas.wire.lenient import Count, OrNull, Text, WireModel


class BedrockModel(WireModel):
    """Fields in the API's camel case."""

    model_config = ConfigDict(alias_generator=to_camel)


class ReasoningText(BedrockModel):
    """Visible thinking; an empty text beside a signature is thinking that was withheld."""

    text: str | None = None


class ReasoningContent(BedrockModel):
    """Thinking: a text, or bytes that only the provider can read (``redactedReasoning`` is an older name of theirs)."""

    reasoning_text: ReasoningText | None = None
    redacted_content: Any = None
    redacted_reasoning: Any = None


class ToolUse(BedrockModel):
    """A tool call; its type tells those that the server answers itself (Nova's grounding and code interpreter)."""

    type: Text = None


class Cited(BedrockModel):
    """One text of an answer with citations."""

    text: str | None = None


class CitationsContent(BedrockModel):
    """Answer text with its citations; the texts are missing where the block only cites for the text before it."""

    content: list[Cited] | None = None


class Block(BedrockModel):
    """One block of the content."""

    text: str | None = None
    reasoning_content: ReasoningContent | None = None
    citations_content: CitationsContent | None = None
    tool_use: ToolUse | None = None


class Message(BedrockModel):
    """The answer's message."""

    content: list[Block] | None = None


class Output(BedrockModel):
    """The union that holds the message."""

    message: Message


class CacheDetail(BedrockModel):
    """Tokens written to the cache for one span of time (``5m``, ``1h``)."""

    ttl: Text = None
    input_tokens: Count = None


class Usage(BedrockModel):
    """The counts. ``inputTokens`` holds neither cache reads nor writes. Metrics' end in ``TokenCount``."""

    input_tokens: Count = None
    output_tokens: Count = None
    total_tokens: Count = None
    cache_read_input_tokens: Count = None
    cache_write_input_tokens: Count = None
    cache_details: Annotated[list[CacheDetail] | None, OrNull] = None
    input_token_count: Count = None
    output_token_count: Count = None
    cache_read_input_token_count: Count = None
    cache_write_input_token_count: Count = None


class OutputDetails(WireModel):
    """Parts of the output, as Claude counts them."""

    thinking_tokens: Count = None


class ModelUsage(WireModel):
    """The part of Claude's own usage that Converse leaves out."""

    output_tokens_details: Annotated[OutputDetails | None, OrNull] = None


class ModelFields(WireModel):
    """Fields of the model's own body, returned where the request names their paths."""

    usage: Annotated[ModelUsage | None, OrNull] = None


class ServiceTier(BedrockModel):
    """The tier that served the call."""

    type: Text = None


class Headers(WireModel):
    """Of the HTTP response, as boto3 keeps them."""

    date: Text = None


class SdkMetadata(WireModel):
    """What boto3 (``ResponseMetadata``) and the JavaScript SDK (``$metadata``) put beside the body."""

    request_id: Text = Field(default=None, alias="RequestId")
    request_id_js: Text = Field(default=None, alias="requestId")
    headers: Annotated[Headers | None, OrNull] = Field(default=None, alias="HTTPHeaders")


class Body(BedrockModel):
    """A whole body."""

    output: Output
    stop_reason: Text = None
    usage: Annotated[Usage | None, OrNull] = None
    additional_model_response_fields: Annotated[ModelFields | None, OrNull] = None
    service_tier: Annotated[ServiceTier | None, OrNull] = None
    response_metadata: Annotated[SdkMetadata | None, OrNull] = Field(default=None, alias="ResponseMetadata")
    js_metadata: Annotated[SdkMetadata | None, OrNull] = Field(default=None, alias="$metadata")
