"""Text Completions: what is read of a body, in the spellings of its hosts."""

from typing import Annotated

from schemas.wire.lenient import Count, Number, OrNull, Text, WireModel


class PromptDetails(WireModel):
    """Parts of the input."""

    cached_tokens: Count = None


class CompletionDetails(WireModel):
    """Parts of the output."""

    reasoning_tokens: Count = None


class Usage(WireModel):
    """The counts; ``cost`` is OpenRouter's, in US dollars."""

    prompt_tokens: Count = None
    completion_tokens: Count = None
    total_tokens: Count = None
    prompt_tokens_details: Annotated[PromptDetails | None, OrNull] = None
    completion_tokens_details: Annotated[CompletionDetails | None, OrNull] = None
    reasoning_tokens: Count = None
    cost: Number = None


class Choice(WireModel):
    """One of the answers; OpenRouter puts the thinking beside the text."""

    index: Count = None
    text: str | None = None
    reasoning: Text = None
    reasoning_content: Text = None
    finish_reason: Text = None


class Body(WireModel):
    """A whole body."""

    id: Text = None
    model: Text = None
    created: Number = None
    service_tier: Text = None
    choices: list[Choice] | None = None
    usage: Annotated[Usage | None, OrNull] = None
