"""The registry of protocols: one line each. Exactly one may claim a body; there is no order and no priority."""

from transforms.protocols import anthropic_messages, gemini_generate_content, openai_chat, openai_responses
from transforms.wire_protocol import WireProtocol

PROTOCOLS: tuple[WireProtocol, ...] = (
    anthropic_messages,
    gemini_generate_content,
    openai_chat,
    openai_responses,
)
