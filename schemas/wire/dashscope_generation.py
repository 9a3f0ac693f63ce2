"""DashScope's own form: what is read of its bodies (protocols-openai-shaped 2.7)."""

from typing import Annotated, Any

from pydantic import AliasChoices, Field

from schemas.wire.lenient import Count, OrNull, Text, WireModel

AnyList = Annotated[list[Any] | None, OrNull]


class InputDetails(WireModel):
    """Parts of the input."""

    cached_tokens: Count = None
    cache_creation_input_tokens: Count = None


class OutputDetails(WireModel):
    """Parts of the output."""

    reasoning_tokens: Count = None


class Usage(WireModel):
    """The counts. The path of the reasoning count is not documented: both spellings of the details are read."""

    input_tokens: Count = None
    output_tokens: Count = None
    total_tokens: Count = None
    prompt_tokens_details: Annotated[InputDetails | None, OrNull] = None
    output_tokens_details: Annotated[OutputDetails | None, OrNull] = None
    completion_tokens_details: Annotated[OutputDetails | None, OrNull] = None


class Message(WireModel):
    """An answer: ``content`` is a list of texts and media on the multimodal interface."""

    content: str | list[Any] | None = None
    reasoning_content: Text = None
    tool_calls: AnyList = None


class Choice(WireModel):
    """One of the answers; ``finish_reason`` is the text ``null`` until the end."""

    message: Message
    finish_reason: Text = None


class Output(WireModel):
    """The answers as messages, or one as a bare text (``result_format``)."""

    choices: list[Choice] | None = None
    text: str | None = None
    finish_reason: Text = None


class Body(WireModel):
    """A whole body; the Java SDK writes the id in camel case."""

    id: Text = Field(default=None, validation_alias=AliasChoices("request_id", "requestId"))
    output: Output
    usage: Annotated[Usage | None, OrNull] = None
