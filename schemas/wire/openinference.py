"""OpenInference's attributes, nested: what is read of an LLM span (reference protocols-native 22)."""

from typing import Annotated, Any

from schemas.wire.lenient import Count, Number, OrNull, Text, WireModel


class PromptDetails(WireModel):
    """Parts of the prompt count."""

    cache_read: Count = None
    cache_write: Count = None


class CompletionDetails(WireModel):
    """Parts of the completion count."""

    reasoning: Count = None


class TokenCount(WireModel):
    """The counts: the prompt holds the cache, the completion holds the reasoning. Zeros are often left out."""

    prompt: Count = None
    completion: Count = None
    total: Count = None
    prompt_details: Annotated[PromptDetails | None, OrNull] = None
    completion_details: Annotated[CompletionDetails | None, OrNull] = None


class Cost(WireModel):
    """What the platform computed, in US dollars."""

    total: Number = None


class Content(WireModel):
    """One content part of a message."""

    message_content: dict[str, Any] | None = None


class Message(WireModel):
    """One output message."""

    role: Text = None
    content: Any = None
    contents: list[Content] | None = None
    tool_calls: Annotated[list[Any] | None, OrNull] = None
    finish_reason: Text = None


class OutputMessage(WireModel):
    """The object around a message."""

    message: Message


class Llm(WireModel):
    """Everything under ``llm.``."""

    model_name: Text = None
    provider: Text = None
    system: Text = None
    invocation_parameters: Any = None
    output_messages: list[OutputMessage] | None = None
    token_count: Annotated[TokenCount | None, OrNull] = None
    cost: Annotated[Cost | None, OrNull] = None
    finish_reason: Text = None
