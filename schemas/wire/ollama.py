"""Ollama's own API: what is read of the bodies of ``/api/chat`` and ``/api/generate``."""

from typing import Annotated, Any

from schemas.wire.lenient import Count, OrNull, Text, WireModel


class Body(WireModel):
    """What both bodies have. Go leaves a count of zero out: absent is not reported, not zero."""

    model: Text = None
    created_at: Text = None
    done_reason: Text = None
    prompt_eval_count: Count = None
    eval_count: Count = None


class Message(WireModel):
    """The answer of ``/api/chat``, whole or one line's part of it."""

    content: str | None = None
    thinking: Text = None
    tool_calls: Annotated[list[Any] | None, OrNull] = None


class ChatBody(Body):
    """A whole answer of ``/api/chat``."""

    message: Message | None = None


class GenerateBody(Body):
    """A whole answer of ``/api/generate``."""

    response: str | None = None
    thinking: Text = None
