"""The registry of protocols: one line each. Exactly one may claim a body; there is no order and no priority."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from transforms.protocols import (
    anthropic_complete,
    anthropic_messages,
    bedrock_converse,
    bedrock_invoke_agent,
    bedrock_invoke_text,
    chat_message,
    cohere_chat_v2,
    cohere_v1,
    dashscope_generation,
    gemini_generate_content,
    gemini_interactions,
    gemini_live,
    langchain_message,
    mistral_conversations,
    nr_llm_completion,
    ollama_chat,
    ollama_generate,
    openai_assistants,
    openai_chat,
    openai_completions,
    openai_realtime,
    openai_responses,
    openinference,
    otel_genai,
    pi_ai,
    pydantic_ai,
    replicate_prediction,
    text_completion,
    vercel_ai_sdk,
    xai_grpc_chat,
)
from transforms.wire_protocol import WireProtocol

PROTOCOLS: tuple[WireProtocol, ...] = (
    anthropic_complete,
    anthropic_messages,
    bedrock_converse,
    bedrock_invoke_agent,
    bedrock_invoke_text,
    chat_message,
    cohere_chat_v2,
    cohere_v1,
    dashscope_generation,
    gemini_generate_content,
    gemini_interactions,
    gemini_live,
    langchain_message,
    mistral_conversations,
    nr_llm_completion,
    ollama_chat,
    ollama_generate,
    openai_assistants,
    openai_chat,
    openai_completions,
    openai_realtime,
    openai_responses,
    openinference,
    otel_genai,
    pi_ai,
    pydantic_ai,
    replicate_prediction,
    text_completion,
    vercel_ai_sdk,
    xai_grpc_chat,
)


def claimants(body: Mapping[str, Any]) -> list[WireProtocol]:
    """The protocols that claim a body or an event; more than one is an error of ours."""
    return [protocol for protocol in _marked_by(tuple(body)) if protocol.claims(body)]


@lru_cache(maxsize=4096)
def _marked_by(keys: tuple[str, ...]) -> tuple[WireProtocol, ...]:
    # Bodies by the million have the same few sets of keys: a third of the protocols is asked, not all.
    return tuple(protocol for protocol in PROTOCOLS if not protocol.MARKS.isdisjoint(keys))
