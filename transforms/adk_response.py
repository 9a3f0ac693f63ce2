"""A response of Google's ADK (one candidate's content, with its counts beside it) as Gemini's own body."""

from collections.abc import Mapping
from typing import Any

from schemas.exchange import JsonObject

_FINISH = ("finishReason", "finish_reason")
_AROUND = {"usageMetadata": "usage_metadata", "modelVersion": "model_version"}
_BESIDE = frozenset({*_FINISH, *_AROUND, *_AROUND.values(), "invocationId", "invocation_id", "turnComplete"})
"""What shows that a content is a whole response, and no mere message."""


def is_response(body: Mapping[str, Any]) -> bool:
    """Tell whether this is such a response."""
    content = body.get("content")
    return (
        isinstance(content, dict)
        and isinstance(content.get("parts"), list)
        and "candidates" not in body
        and not _BESIDE.isdisjoint(body)
    )


def body_of(response: Mapping[str, Any]) -> JsonObject:
    """Give it as a body with one candidate."""
    candidate: JsonObject = {"index": 0, "content": response.get("content")}
    reason = next((response[name] for name in _FINISH if response.get(name)), None)
    if reason is not None:
        candidate["finishReason"] = reason
    body: JsonObject = {"candidates": [candidate]}
    for name, snake in _AROUND.items():
        value = response.get(name, response.get(snake))
        if value is not None:
            body[name] = value
    return body
