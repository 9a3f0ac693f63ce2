"""Cohere chat, version 2: what is read of its bodies and requests (protocols-native 10)."""

from typing import Annotated, Any

from schemas.wire.lenient import Count, Flag, OrNull, Text, WireModel


class Units(WireModel):
    """Tokens, sent as floats (``12.0``)."""

    input_tokens: Count = None
    output_tokens: Count = None


class Usage(WireModel):
    """What is billed; what the model consumed, with Cohere's own preamble; and how much of the latter was cached."""

    billed_units: Annotated[Units | None, OrNull] = None
    tokens: Annotated[Units | None, OrNull] = None
    cached_tokens: Count = None


class Part(WireModel):
    """One part of the content: a text, a thinking, or a kind that is not read."""

    type: Text = None
    text: str | None = None
    thinking: str | None = None


class Message(WireModel):
    """The answer. ``content`` is null where the model only calls tools."""

    content: list[Part] | str | None = None
    tool_plan: Text = None
    tool_calls: Annotated[list[Any] | None, OrNull] = None


class Body(WireModel):
    """A whole body."""

    id: Text = None
    message: Message
    finish_reason: Text = None
    usage: Annotated[Usage | None, OrNull] = None


class Thinking(WireModel):
    """The request's switch and budget; Oracle's wrapper writes the budget in camel case."""

    type: Text = None
    token_budget: Any = None
    tokenBudget: Any = None  # noqa: N815 - as sent


class Request(WireModel):
    """A request body."""

    model: Text = None
    stream: Flag = None
    max_tokens: Count = None
    thinking: Annotated[Thinking | None, OrNull] = None
    reasoning_effort: Any = None
