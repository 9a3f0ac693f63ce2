"""Gemini Interactions: what is read of an interaction, of both generations."""

from typing import Annotated, Any

from schemas.wire.lenient import Count, OrNull, Text, WireModel


class Content(WireModel):
    """One part of a step's content or of a summary."""

    type: Text = None
    text: str | None = None


Contents = Annotated[list[Content] | str | None, OrNull]


class Step(WireModel):
    """A step (or, before June 2026, an output): a thought, an answer, a call, or the server's own work."""

    type: Text = None
    content: list[Content] | str | None = None
    summary: Contents = None
    text: str | None = None


class Usage(WireModel):
    """The counts; the thoughts and the tools' prompts stand beside output and input."""

    total_input_tokens: Count = None
    total_cached_tokens: Count = None
    total_output_tokens: Count = None
    total_thought_tokens: Count = None
    total_tool_use_tokens: Count = None
    total_tokens: Count = None


class GenerationConfig(WireModel):
    """Of a request, and mirrored by the whole resource."""

    thinking_level: Annotated[str | int | float | bool | None, OrNull] = None
    max_output_tokens: Count = None


class Interaction(WireModel):
    """A whole interaction."""

    id: Text = None
    model: Text = None
    agent: Text = None
    status: Text = None
    created: Text = None
    service_tier: Text = None
    steps: list[Step] | None = None
    outputs: list[Step] | None = None
    usage: Annotated[Usage | None, OrNull] = None
    generation_config: Annotated[GenerationConfig | None, OrNull] = None


class Request(WireModel):
    """A request; what it asks of the model's thinking stands in ``generation_config``."""

    model: Annotated[Any, OrNull] = None
    agent: Text = None
    stream: Annotated[bool | None, OrNull] = None
    service_tier: Text = None
    generation_config: Annotated[GenerationConfig | None, OrNull] = None
