"""Anthropic Messages bodies: what is read of them (reference, section 2).

A field that is not here is not read. The texts of a block stay as they were sent, since blocks of unknown types may use
the same names for other things; reading checks them where the block's type gives them their meaning.
"""

from typing import Annotated, Any

from schemas.wire.lenient import Count, Flag, OrNull, Text, WireModel


class CacheCreation(WireModel):
    """Tokens written to the cache, by how long they are kept; together they are ``cache_creation_input_tokens``."""

    ephemeral_5m_input_tokens: Count = None
    ephemeral_1h_input_tokens: Count = None


class OutputDetails(WireModel):
    """Parts of the output."""

    thinking_tokens: Count = None


class Usage(WireModel):
    """The counts. ``input_tokens`` holds neither cache reads nor cache writes; ``output_tokens`` holds the thinking."""

    input_tokens: Count = None
    cache_creation_input_tokens: Count = None
    cache_read_input_tokens: Count = None
    cache_creation: Annotated[CacheCreation | None, OrNull] = None
    output_tokens: Count = None
    output_tokens_details: Annotated[OutputDetails | None, OrNull] = None
    service_tier: Text = None
    iterations: Any = None


class Iteration(Usage):
    """One run of a model behind a message, with its own counts; the model is named where it may be another."""

    type: Text = None
    model: Text = None


class Block(WireModel):
    """One block of the content; its type says which of the other fields it has."""

    type: Text = None
    text: Any = None
    thinking: Any = None
    signature: Any = None
    data: Any = None


class Message(WireModel):
    """A whole body."""

    id: Text = None
    model: Text = None
    content: list[Block]
    stop_reason: Text = None
    usage: Annotated[Usage | None, OrNull] = None


class Thinking(WireModel):
    """The request's switch."""

    type: Text = None
    budget_tokens: Count = None


class OutputConfig(WireModel):
    """The request's effort, of any spelling."""

    effort: Any = None


class Metadata(WireModel):
    """Whom the request was made for."""

    user_id: Text = None


class Request(WireModel):
    """A request body. ``reasoning_effort`` and ``effort`` are gateways' spellings, not Anthropic's."""

    model: Text = None
    stream: Flag = None
    max_tokens: Count = None
    service_tier: Text = None
    metadata: Annotated[Metadata | None, OrNull] = None
    thinking: Annotated[Thinking | None, OrNull] = None
    output_config: Annotated[OutputConfig | None, OrNull] = None
    reasoning_effort: Any = None
    effort: Any = None
    messages: Any = None
    fallbacks: Any = None
