"""The AI SDK's streams to the result that the same call has when it is not streamed.

Three streams use nearly the same parts: the provider's, ``fullStream`` of a result, and the one for the user interface.
Texts come as ``…-start``, ``…-delta`` and ``…-end`` with an id (from version 5), or as one part a piece (version 4).
"""

from collections.abc import Mapping
from typing import Any

from schemas.exchange import Stream

EVENTS = frozenset(
    {
        "text-start", "text-delta", "text-end", "reasoning-start", "reasoning-delta", "reasoning-end", "stream-start",
        "response-metadata", "start-step", "finish-step", "step-finish", "tool-input-start", "tool-input-delta",
        "tool-input-end", "tool-input-available", "redacted-reasoning", "reasoning-signature",
    }
)  # fmt: skip
"""Types that no other protocol has. ``start``, ``finish``, ``error`` and ``reasoning`` are words of many."""

_TOOLS = frozenset({"tool-call", "tool-input-available"})
_TOOL_OUTPUTS = frozenset({"tool-output-available", "tool-output-error"})
"""Of the stream for the user interface: the call was answered by the server."""
_ENDS_STEP = ("finish-step", "step-finish")
_OF_RESULT = ("finishReason", "rawFinishReason", "usage", "totalUsage", "providerMetadata")


class _Step:
    """One call of a model while its parts come in."""

    def __init__(self) -> None:
        self.content: list[dict[str, Any]] = []
        self.response: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}
        self._open: dict[tuple[str, str], dict[str, Any]] = {}

    def add(self, part: Mapping[str, Any]) -> None:
        kind = str(part.get("type"))
        name, _, what = kind.partition("-")
        if name in ("text", "reasoning") and what in ("start", "delta", "end", ""):
            self._add_text(name, what, part)
        elif kind == "redacted-reasoning":
            self.content.append({"type": "redacted_thinking", "data": part.get("data")})
        elif kind in _TOOLS:
            self.content.append({**part, "type": "tool-call"})
        elif kind in _TOOL_OUTPUTS:
            answered = part.get("toolCallId")
            self.content = [
                {**block, "type": "tool-result"} if block.get("toolCallId") == answered else block
                for block in self.content
            ]

    def _add_text(self, name: str, what: str, part: Mapping[str, Any]) -> None:
        key = (name, str(part.get("id")))
        block = self._open.get(key)
        begins_anew = not self.content or self.content[-1]["type"] != name
        if block is None or what == "start" or ("id" not in part and begins_anew):
            block = self._open[key] = {"type": name, "text": ""}
            self.content.append(block)
        text = next((part[word] for word in ("delta", "textDelta", "text") if isinstance(part.get(word), str)), "")
        block["text"] += text
        if part.get("providerMetadata"):
            block["providerMetadata"] = part["providerMetadata"]

    def whole(self) -> dict[str, Any]:
        return {"content": self.content, "response": self.response, **self.facts}


def fold_parts(stream: Stream) -> dict[str, Any]:
    """The result of a stream; one that never says how it ended was aborted."""
    steps = [_Step()]
    result: dict[str, Any] = {}
    ended = False
    for part in stream.events:
        kind = part.get("type")
        if ended and kind in ("start-step", "step-start"):
            steps.append(_Step())
            ended = False
        step = steps[-1]
        if kind in _ENDS_STEP:
            _close(step, part)
            ended = True
        elif kind == "finish":
            _close(result if len(steps) > 1 or ended else step, part)
            result["finished"] = True
        elif kind == "response-metadata":
            step.response.update({key: value for key, value in part.items() if key != "type"})
        elif kind in ("error", "abort"):
            result["error" if kind == "error" else "aborted"] = _error_of(part) if kind == "error" else True
        else:
            step.add(part)
    if not ended and not result.pop("finished", False) and "error" not in result:
        result["aborted"] = True
    result.pop("finished", None)
    _read_metadata(stream, result, steps[-1])
    return {**result, "steps": [step.whole() for step in steps]}


def _read_metadata(stream: Stream, result: dict[str, Any], last: _Step) -> None:
    """What the stream for the user interface says of its message, where a message has its ``id`` and ``metadata``."""
    metadata: dict[str, Any] = {}
    for part in stream.events:
        if isinstance(part.get("messageMetadata"), dict):
            metadata.update(part["messageMetadata"])
        if part.get("type") == "start" and part.get("messageId"):
            last.response.setdefault("id", part["messageId"])
    for name, spellings in _OF_METADATA.items():
        stated = next((metadata[spelling] for spelling in spellings if metadata.get(spelling) is not None), None)
        if stated is not None:
            (last.response if name in ("modelId", "timestamp") else result).setdefault(name, stated)


_OF_METADATA = {
    "totalUsage": ("totalUsage", "usage"),
    "finishReason": ("finishReason",),
    "modelId": ("modelId", "model"),
    "timestamp": ("createdAt",),
}


def _close(target: "_Step | dict[str, Any]", part: Mapping[str, Any]) -> None:
    facts = target.facts if isinstance(target, _Step) else target
    facts.update({key: part[key] for key in _OF_RESULT if part.get(key) is not None})
    if isinstance(target, _Step) and isinstance(part.get("response"), dict):
        target.response.update(part["response"])


def _error_of(part: Mapping[str, Any]) -> str:
    for key in ("errorText", "error"):
        error = part.get(key)
        if isinstance(error, str):
            return error
        if isinstance(error, dict) and isinstance(error.get("message"), str):
            return str(error["message"])
    return "error"
