"""OpenAI Assistants: what is read of a run."""

from typing import Annotated, Any

from schemas.wire.lenient import Count, Number, OrNull, Text, WireModel


class PromptDetails(WireModel):
    """Parts of the input; the key that holds them is singular."""

    cached_tokens: Count = None


class CompletionDetails(WireModel):
    """Parts of the output."""

    reasoning_tokens: Count = None


class Usage(WireModel):
    """What a run has used, over all its steps."""

    prompt_tokens: Count = None
    completion_tokens: Count = None
    total_tokens: Count = None
    prompt_token_details: Annotated[PromptDetails | None, OrNull] = None
    completion_tokens_details: Annotated[CompletionDetails | None, OrNull] = None


class Reason(WireModel):
    """Why a run is incomplete."""

    reason: Text = None


class Run(WireModel):
    """A run, with the texts of its messages where a stream gave them."""

    id: Text = None
    thread_id: Text = None
    model: Text = None
    status: Text = None
    created_at: Number = None
    reasoning_effort: Text = None
    incomplete_details: Annotated[Reason | None, OrNull] = None
    last_error: Annotated[dict[str, Any] | None, OrNull] = None
    required_action: Annotated[dict[str, Any] | None, OrNull] = None
    usage: Annotated[Usage | None, OrNull] = None
    texts: list[str] | None = None
