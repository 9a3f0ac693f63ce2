"""Cohere's first API, chat and generate: what is read of its bodies and requests."""

from typing import Annotated, Any

from schemas.wire.lenient import Count, Flag, OrNull, Text, WireModel


class Units(WireModel):
    """Tokens, as whole numbers or floats."""

    input_tokens: Count = None
    output_tokens: Count = None


class Meta(WireModel):
    """What is billed, and what the model consumed with Cohere's own preamble."""

    billed_units: Annotated[Units | None, OrNull] = None
    tokens: Annotated[Units | None, OrNull] = None


class TokenCount(WireModel):
    """The counts of 2023, beside ``meta``."""

    prompt_tokens: Count = None
    response_tokens: Count = None


class Metrics(WireModel):
    """Bedrock's counts in the last frame of a stream."""

    inputTokenCount: Count = None  # noqa: N815 - as sent
    outputTokenCount: Count = None  # noqa: N815


class Generation(WireModel):
    """One of the texts of generate."""

    text: str | None = None
    finish_reason: Text = None


class Body(WireModel):
    """A whole body of chat (``text``) or of generate (``generations``)."""

    id: Text = None
    generation_id: Text = None
    response_id: Text = None
    text: str | None = None
    generations: list[Generation] | None = None
    tool_calls: Annotated[list[Any] | None, OrNull] = None
    finish_reason: Text = None
    meta: Annotated[Meta | None, OrNull] = None
    token_count: Annotated[TokenCount | None, OrNull] = None


class Request(WireModel):
    """A request body."""

    model: Text = None
    stream: Flag = None
    max_tokens: Count = None
    conversation_id: Text = None
