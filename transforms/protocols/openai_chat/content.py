"""The pieces of one Chat Completions message: thinking, answer and tool calls, in order.

``content`` is text with most hosts, a list of parts where thinking stands in it (Mistral, Merge, Databricks), and an
object where a host parses JSON answers (Cloudflare). Where a list holds thinking, its order is the order.
"""

import json
from typing import Any

from schemas.exchange import JsonObject
from schemas.reading import Piece
from schemas.vocabulary import PieceKind, ThinkingSource
from schemas.wire.openai_chat import Message
from transforms.protocols.openai_chat.thinking import detail_pieces, thinking_pieces

_ANSWER, _THINKING, _TOOL_CALL, _OTHER = PieceKind.ANSWER, PieceKind.THINKING, PieceKind.TOOL_CALL, PieceKind.OTHER
_CLIENT_CALLS = ("function", "custom", "builtin_function", "", None)
"""Types of tool calls that the client answers; hosts list tools that they ran themselves under other types."""
_CITATIONS = ("reference", "tool_reference")
"""Parts that cut one text into pieces without being a piece of their own (Mistral)."""
_PARTS_APART = 1000


def message_pieces(message: Message, choice: int) -> list[Piece]:
    """Read one message; a refusal's text and a spoken answer's transcript are answers."""
    content = message.content
    if isinstance(content, str):
        pieces = [Piece(_ANSWER, content, choice)] if content else []
        pieces = thinking_pieces(message, choice) + pieces
    else:
        pieces = _content_pieces(content, choice)
        if not any(piece.kind is _THINKING for piece in pieces):
            pieces = thinking_pieces(message, choice) + pieces
    transcript = message.audio.get("transcript") if message.audio and not content else None
    pieces += [Piece(_ANSWER, text, choice) for text in (transcript, message.refusal) if isinstance(text, str) and text]
    if message.tool_calls or message.function_call:
        pieces += [Piece(_TOOL_CALL, "", choice)] * _client_calls(message)
    return pieces


def _client_calls(message: Message) -> int:
    calls = [call for call in message.tool_calls or [] if isinstance(call, dict) and call.get("type") in _CLIENT_CALLS]
    legacy = message.function_call or {}  # Snowflake sends an empty one with every answer
    return len(calls) or (1 if legacy.get("name") else 0)


def _content_pieces(content: list[Any] | dict[str, Any] | None, choice: int) -> list[Piece]:
    if not content:
        return []
    if isinstance(content, dict):
        return [Piece(_ANSWER, json.dumps(content, ensure_ascii=False, separators=(",", ":")), choice)]
    return [piece for place, part in enumerate(content) for piece in _part_pieces(part, choice, place)]


def _part_pieces(part: object, choice: int, place: int) -> list[Piece]:
    if isinstance(part, str):
        return [Piece(_ANSWER, part, choice)]
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(part, dict) or kind in _CITATIONS:
        return []
    if kind == "thinking":
        return [Piece(_THINKING, text, choice, source=ThinkingSource.BLOCK) for text in _texts(part.get("thinking"))]
    if kind in ("reasoning", "redacted_thinking"):
        return detail_pieces(_reasoning_items(part), choice, place * _PARTS_APART)
    text = part.get("refusal") if kind == "refusal" else part.get("text")
    return [Piece(_ANSWER, text, choice) if isinstance(text, str) else Piece(_OTHER, "", choice)]


def _texts(thinking: object) -> list[str]:
    """Mistral's thinking is a list of texts with references between them, Merge's is a text."""
    if isinstance(thinking, str):
        return [thinking]
    items = thinking if isinstance(thinking, list) else []
    return [item["text"] for item in items if isinstance(item, dict) and isinstance(item.get("text"), str)]


def _reasoning_items(part: JsonObject) -> list[Any]:
    """Databricks' reasoning is a list of summary texts, Inspect's a text or what hides it, others give one text."""
    summary, own = part.get("summary"), part.get("reasoning")
    if isinstance(summary, list):
        return summary
    if not isinstance(own, str):
        return [part]
    if part.get("redacted") is not True:
        return [{"type": "reasoning.text", "text": own}]
    return [{"type": "reasoning.summary", "summary": summary}, {"type": "reasoning.encrypted", "data": own}]
