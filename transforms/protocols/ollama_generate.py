"""Ollama ``/api/generate``, of Ollama itself and of ollama.com.

Surface   ``thinking`` and ``response`` at the top, each one text; with ``raw`` the thinking stands as tags in it.
Tokens    ``prompt_eval_count`` and ``eval_count`` on the last line; the thinking is inside, and never counted apart.
Effort    Requested only, by ``think``: true, false or a level.
Stream    One object a line; texts are parts, all else is on the line that says ``done``.
Sources   Reference on native protocols, section 11.
"""

from collections.abc import Mapping
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Asked, Reading
from schemas.wire.ollama import GenerateBody
from transforms import ollama
from transforms.wire_models import parse

NAME = "ollama_generate"
MARKS = frozenset({"done"})
PATHS = ("/api/generate",)
VENDOR = "ollama"
BEGINS = None

_OWN_KEYS = frozenset({"options", "keep_alive", "think", "raw", "template", "context"})


def claims(body: Mapping[str, Any]) -> bool:
    return "response" in body and "message" not in body and ollama.is_line(body)


def claims_request(request: Mapping[str, Any]) -> bool:
    return "prompt" in request and "model" in request and not _OWN_KEYS.isdisjoint(request)


def fold(stream: Stream) -> dict[str, Any]:
    texts = {
        name: "".join([event[name] for event in stream.events if isinstance(event.get(name), str)])
        for name in ("response", "thinking")
    }
    return {**ollama.last_line(stream), **texts}


def read(body: dict[str, Any]) -> Reading:
    parsed = parse(GenerateBody, body)
    return ollama.reading(body, parsed, list(ollama.said(parsed.thinking, parsed.response)))


def asked(request: dict[str, Any]) -> Asked:
    return ollama.asked(request)
