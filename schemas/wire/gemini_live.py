"""Gemini Live: what is read of a turn's counts and of a session's set-up, in REST's spelling and in the SDK's."""

from typing import Annotated, Any

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from schemas.wire.lenient import Count, OrNull, Text, WireModel


class LiveModel(WireModel):
    """A part of a message, in camel or in snake case."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class ModalityCount(LiveModel):
    """Tokens of one modality; a count of zero is left out."""

    modality: Text = None
    token_count: Count = None


class UsageMetadata(LiveModel):
    """A turn's counts. On Vertex the answer's are ``candidates…``, as in generateContent."""

    prompt_token_count: Count = None
    cached_content_token_count: Count = None
    response_token_count: Count = None
    candidates_token_count: Count = None
    thoughts_token_count: Count = None
    tool_use_prompt_token_count: Count = None
    total_token_count: Count = None
    response_tokens_details: Annotated[list[ModalityCount] | None, OrNull] = None


class ThinkingConfig(LiveModel):
    """What a session asks of the thinking."""

    thinking_level: Annotated[Any, OrNull] = None
    thinking_budget: Annotated[Any, OrNull] = None


class GenerationConfig(LiveModel):
    """Settings of a session."""

    max_output_tokens: Count = None
    thinking_config: Annotated[ThinkingConfig | None, OrNull] = None


class Setup(LiveModel):
    """The first message of a session: it is the request of every turn."""

    model: Text = None
    generation_config: Annotated[GenerationConfig | None, OrNull] = None
