"""Mistral's conversations: what is read of their bodies (protocols-native 12)."""

from typing import Annotated, Any

from schemas.wire.lenient import Count, OrNull, Text, WireModel


class Usage(WireModel):
    """The counts; ``connector_tokens`` are what the server's own tools put into the prompt."""

    prompt_tokens: Count = None
    completion_tokens: Count = None
    total_tokens: Count = None
    connector_tokens: Count = None


class Entry(WireModel):
    """One output: a message, a call for the client, a tool that the server ran, a handoff to another agent."""

    type: Text = None
    id: Text = None
    model: Text = None
    created_at: Text = None
    content: str | list[Any] | None = None


class Body(WireModel):
    """A whole body."""

    conversation_id: Text = None
    outputs: list[Entry]
    usage: Annotated[Usage | None, OrNull] = None
