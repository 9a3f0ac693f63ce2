"""OpenAI Realtime: what is read of a response. The details of its usage are singular."""

from typing import Annotated, Any

from schemas.wire.lenient import Count, OrNull, Text, WireModel


class Content(WireModel):
    """A part of a message: text, or a spoken answer's transcript."""

    type: Text = None
    text: str | None = None
    transcript: str | None = None


class Item(WireModel):
    """An item of the output."""

    type: Text = None
    role: Text = None
    phase: Text = None
    content: list[Content] | None = None


class InputDetails(WireModel):
    """Parts of the input."""

    cached_tokens: Count = None


class OutputDetails(WireModel):
    """Parts of the output; few models count the reasoning."""

    reasoning_tokens: Count = None


class Usage(WireModel):
    """The counts."""

    input_tokens: Count = None
    output_tokens: Count = None
    total_tokens: Count = None
    input_token_details: Annotated[InputDetails | None, OrNull] = None
    output_token_details: Annotated[OutputDetails | None, OrNull] = None


class StatusDetails(WireModel):
    """Why a response did not complete. xAI sends a word here."""

    reason: Text = None
    error: Annotated[dict[str, Any] | None, OrNull] = None


class Response(WireModel):
    """A response of a session."""

    id: Text = None
    status: Text = None
    status_details: Annotated[StatusDetails | None, OrNull] = None
    output: list[Item] | None = None
    usage: Annotated[Usage | None, OrNull] = None
