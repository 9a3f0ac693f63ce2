"""OpenTelemetry's GenAI attributes: what is read of a span's attributes and of its output messages (reference 21)."""

from typing import Annotated, Any

from pydantic import AliasChoices, Field

from schemas.wire.lenient import Count, OrNull, Text, WireModel


def _names(*names: str) -> Any:
    return Field(None, validation_alias=AliasChoices(*(f"gen_ai.{name}" for name in names)))


class Message(WireModel):
    """One output message: one candidate."""

    role: Text = None
    parts: list[dict[str, Any]] = Field(default_factory=list)
    finish_reason: Text = None


class Attributes(WireModel):
    """A span's attributes, flat; older and unofficial names of the same facts stand behind the present ones."""

    response_id: Text = _names("response.id")
    response_model: Text = _names("response.model")
    request_model: Text = _names("request.model")
    finish_reasons: Any = _names("response.finish_reasons")
    input_tokens: Count = _names("usage.input_tokens", "usage.prompt_tokens")
    output_tokens: Count = _names("usage.output_tokens", "usage.completion_tokens")
    total_tokens: Count = _names("usage.total_tokens")
    reasoning_tokens: Count = _names(
        "usage.reasoning.output_tokens",
        "usage.reasoning_tokens",
        "usage.output_tokens.reasoning",
        "usage.details.reasoning_tokens",
        "usage.details.thoughts_tokens",
        "usage.details.thinking_tokens",
    )
    cache_read_tokens: Count = _names(
        "usage.cache_read.input_tokens", "usage.cache_read_input_tokens", "usage.cached_tokens"
    )
    cache_write_tokens: Count = _names(
        "usage.cache_write.input_tokens", "usage.cache_creation.input_tokens", "usage.cache_creation_input_tokens"
    )
    service_tier: Text = _names("openai.response.service_tier", "response.service_tier")
    provider: Text = _names("provider.name", "system")
    conversation_id: Text = _names("conversation.id")
    output_messages: Any = _names("output.messages")
    reasoning_level: Any = _names("request.reasoning.level", "request.reasoning_effort", "request.reasoning.effort")
    enable_reasoner: Any = _names("request.enable_reasoner")
    max_tokens: Count = _names("request.max_tokens")
    stream: Annotated[bool | None, OrNull] = _names("request.stream", "request.is_stream")
    tier_requested: Text = _names("openai.request.service_tier")
    error_type: Text = Field(None, alias="error.type")
