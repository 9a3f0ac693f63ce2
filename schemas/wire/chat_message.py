"""One assistant's message as loggers store it, without the response around it: what is read of it."""

from typing import Annotated, Any

from pydantic import AliasChoices, Field

from schemas.wire.lenient import OrNull, Text, WireModel


class ChatMessage(WireModel):
    """A message in OpenAI's or Anthropic's shape; ``content`` is a text or blocks."""

    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    thinking: Any = None
    refusal: Text = None
    tool_calls: Annotated[list[Any] | None, OrNull] = None
    function_call: Annotated[dict[str, Any] | None, OrNull] = None


class Choice(WireModel):
    """A choice around a message, or the message's own fields beside it."""

    message: ChatMessage
    finish_reason: Text = Field(None, validation_alias=AliasChoices("finish_reason", "stop_reason"))
    index: Annotated[int | None, OrNull] = None
