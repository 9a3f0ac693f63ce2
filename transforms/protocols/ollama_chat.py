"""Ollama ``/api/chat``, of Ollama itself and of ollama.com.

Surface   ``message.thinking`` and ``message.content``, each one text; ``message.tool_calls`` are the client's.
          Before 0.9, and where parsing is off, the thinking stands as tags in the content.
Tokens    ``prompt_eval_count`` and ``eval_count`` on the last line; the thinking is inside, and never counted apart.
Effort    Requested only, by ``think``: true, false or a level.
Stream    One object a line; texts and calls are parts, all else is on the line that says ``done``.
Sources   Reference on native protocols, section 11.
"""

from collections.abc import Mapping
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Asked, Reading
from schemas.wire.ollama import ChatBody, Message
from transforms import ollama
from transforms.wire_models import parse

NAME = "ollama_chat"
MARKS = frozenset({"done"})
PATHS = ("/api/chat",)
VENDOR = "ollama"
BEGINS = None

_OWN_KEYS = frozenset({"options", "keep_alive", "think"})


def claims(body: Mapping[str, Any]) -> bool:
    return "message" in body and ollama.is_line(body)


def claims_request(request: Mapping[str, Any]) -> bool:
    return isinstance(request.get("messages"), list) and not _OWN_KEYS.isdisjoint(request)


def fold(stream: Stream) -> dict[str, Any]:
    parts = [event["message"] for event in stream.events if isinstance(event.get("message"), dict)]
    calls = [call for part in parts if isinstance(part.get("tool_calls"), list) for call in part["tool_calls"]]
    message = {name: _joined(part.get(name) for part in parts) for name in ("content", "thinking")}
    return {**ollama.last_line(stream), "message": {**message, "tool_calls": calls}}


def _joined(texts: Any) -> str:
    return "".join([text for text in texts if isinstance(text, str)])


def read(body: dict[str, Any]) -> Reading:
    parsed = parse(ChatBody, body)
    message = parsed.message or Message()
    return ollama.reading(
        body, parsed, list(ollama.said(message.thinking, message.content, len(message.tool_calls or ())))
    )


def asked(request: dict[str, Any]) -> Asked:
    return ollama.asked(request)
