"""xAI's gRPC Chat as JSON: what is read of a response. Proto JSON spells names in snake or in camel case."""

from typing import Annotated, Any

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from schemas.wire.lenient import Count, OrNull, Text, WireModel


class ProtoModel(WireModel):
    """A message of protobuf in JSON: both spellings, numbers of 64 bits as strings, zeros and empty texts left out."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class ToolCall(ProtoModel):
    """A call; ``type`` says who runs the tool."""

    type: Text = None


class Message(ProtoModel):
    """One turn within a response, whole or as a delta."""

    role: Text = None
    content: str | None = None
    reasoning_content: Text = None
    encrypted_content: Text = None
    tool_calls: Annotated[list[ToolCall] | None, OrNull] = None


class Output(ProtoModel):
    """A choice, or one turn of a response in which the server ran tools."""

    index: Count = None
    message: Message | None = None
    delta: Message | None = None
    finish_reason: Text = None


class Usage(ProtoModel):
    """The counts; ``cost_in_usd_ticks`` are 1e-10 US dollars."""

    prompt_tokens: Count = None
    completion_tokens: Count = None
    reasoning_tokens: Count = None
    total_tokens: Count = None
    cached_prompt_text_tokens: Count = None
    cost_in_usd_ticks: Count = None
    server_side_tools_used: Annotated[list[Any] | None, OrNull] = None


class Settings(ProtoModel):
    """What the response was made with, defaults resolved."""

    reasoning_effort: Text = None


class Response(ProtoModel):
    """A whole response."""

    id: Text = None
    model: Text = None
    created: Text = None
    outputs: list[Output] | None = None
    usage: Annotated[Usage | None, OrNull] = None
    settings: Annotated[Settings | None, OrNull] = None
