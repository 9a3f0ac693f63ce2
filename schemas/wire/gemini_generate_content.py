"""Gemini generateContent bodies: what is read of them, in REST's camel case and in the Python SDK's snake case.

A field that is not here is not read. A part is a union whose keys are its tags, and a new kind of part is a new key, so
parts stay objects and are read key by key (reference, section 8).
"""

from typing import Annotated, Any

from pydantic import AliasChoices, ConfigDict, Field
from pydantic.alias_generators import to_camel

from schemas.wire.lenient import Count, OrNull, Text, WireModel

Enum = Annotated[str | int | None, OrNull]
"""A proto enum: its name, or its number in Vertex's proto JSON."""


class GoogleModel(WireModel):
    """Fields under either spelling, ``promptTokenCount`` or ``prompt_token_count``."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)


class UsageMetadata(GoogleModel):
    """The counts. ``total = prompt + tool_use_prompt + candidates + thoughts``; ``prompt`` holds the cached content."""

    prompt_token_count: Count = None
    tool_use_prompt_token_count: Count = None
    candidates_token_count: Count = None
    thoughts_token_count: Count = None
    total_token_count: Count = None
    cached_content_token_count: Count = None
    service_tier: Text = None


class Content(GoogleModel):
    """The parts of one answer; missing where the budget was spent before the answer began."""

    parts: list[dict[str, Any]] | None = None


class Candidate(GoogleModel):
    """One of the answers."""

    index: Count = None
    content: Content | None = None
    finish_reason: Enum = None


class PromptFeedback(GoogleModel):
    """Why a prompt was blocked, where there is no answer."""

    block_reason: Enum = None
    block_reason_message: Text = None


class Body(GoogleModel):
    """A whole body."""

    candidates: list[Candidate] | None = None
    prompt_feedback: Annotated[PromptFeedback | None, OrNull] = None
    usage_metadata: Annotated[UsageMetadata | None, OrNull] = None
    model_version: Text = None
    response_id: Text = None
    create_time: Any = None


class ThinkingConfig(GoogleModel):
    """The request's budget (0 off, -1 as the model likes) and level. ``includeThoughts`` only shows or hides."""

    thinking_budget: Any = None
    thinking_level: Any = None


class GenerationConfig(GoogleModel):
    """The request's settings; the Python SDK keeps labels and the tier here too."""

    thinking_config: Annotated[ThinkingConfig | None, OrNull] = None
    max_output_tokens: Count = None
    labels: Any = None
    service_tier: Text = None


class Request(GoogleModel):
    """A request body. REST has no model in it: the URL names it."""

    model: Text = None
    generation_config: Annotated[GenerationConfig | None, OrNull] = Field(
        default=None, validation_alias=AliasChoices("generationConfig", "generation_config", "config")
    )
    labels: Any = None
    service_tier: Text = None
