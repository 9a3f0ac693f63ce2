"""pydantic-ai's messages: what is read of a ``ModelResponse`` (reference protocols-native 20)."""

from typing import Annotated, Any

from pydantic import AliasChoices, Field

from schemas.wire.lenient import Count, OrNull, Text, WireModel

Details = Annotated[dict[str, Any] | None, OrNull]


class RequestUsage(WireModel):
    """The counts; input holds the cache, output holds the reasoning. Old rows spell them request and response."""

    input_tokens: Count = Field(None, validation_alias=AliasChoices("input_tokens", "request_tokens"))
    output_tokens: Count = Field(None, validation_alias=AliasChoices("output_tokens", "response_tokens"))
    total_tokens: Count = None
    cache_read_tokens: Count = None
    cache_write_tokens: Count = None
    cache_write_1h_tokens: Count = None
    output_reasoning_tokens: Count = None
    unmeasured_requests: Count = None
    cost: Any = None
    details: Annotated[dict[str, Count] | None, OrNull] = None


class Part(WireModel):
    """One part; ``part_kind`` says what it is. ``signature`` is also where redacted and encrypted payloads stand."""

    part_kind: Text = None
    content: Any = None
    id: Text = None
    signature: Text = None
    provider_name: Text = None


class ModelResponse(WireModel):
    """A response message."""

    parts: list[Part]
    usage: Annotated[RequestUsage | None, OrNull] = None
    model_name: Text = None
    provider_name: Text = None
    provider_response_id: Text = Field(None, validation_alias=AliasChoices("provider_response_id", "vendor_id"))
    provider_details: Details = Field(None, validation_alias=AliasChoices("provider_details", "vendor_details"))
    finish_reason: Text = None
    timestamp: Any = None
    state: Text = None
