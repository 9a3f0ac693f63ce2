"""Posit Assistant: a workspace's messages, one a line, in the AI SDK's form.

Lines    Messages of the role ``assistant`` are calls, also those of branches that were left. The files beside them
         (a conversation's tree, lists of conversations, a workspace's head) hold no texts.
Tokens   ``inputTokens`` leaves the cache out where the total says so; the counts as they were stay beside the API's.
Effort   Not recorded.
Source   Seen in a recorded workspace (schema versions 1 and 3).
"""

from collections.abc import Sequence
from typing import Any

from schemas.exchange import Exchange, JsonObject
from transforms.not_calls import NoCall
from transforms.transcript import Result, Results, count_in, message_body, object_in, text_in, time_in

NAME = "posit_assistant"

_FILES = {
    frozenset({"conversations", "schemaVersion"}): f"{NAME}: a list of conversations",
    frozenset({"messages", "root", "schemaVersion"}): f"{NAME}: a conversation's tree, whose texts stand elsewhere",
    frozenset({"path", "createdAt"}): f"{NAME}: a workspace's head",
}
_FILE_KEYS = 8
"""More than these files have: nearly all records show by this alone that they are none."""
_INPUT = f"{NAME}: a message that no model wrote"
_OTHER = f"{NAME}: another kind of line"
_KINDS = {"reasoning": "thinking", "text": "text", "tool-call": "tool_use"}
"""The AI SDK's parts, and Anthropic's blocks of the same."""


def recognises(head: Sequence[JsonObject]) -> bool:
    return any(("message" in line and _meta(line)) or (len(line) <= _FILE_KEYS and _file(line)) for line in head)


def _meta(line: JsonObject) -> JsonObject:
    options = object_in(object_in(line, "message"), "providerOptions")
    return object_in(object_in(options, "providerMetadata"), "positai")


def _file(line: JsonObject) -> str | None:
    """What a file beside the messages is; a tree may have further keys, the others may not."""
    keys = frozenset(line)
    return next((rule for own, rule in _FILES.items() if own == keys or ("root" in own and own <= keys)), None)


def fold(lines: Sequence[JsonObject]) -> Results:
    return [[_read(line)] for line in lines]


def _read(line: JsonObject) -> Result:
    message, meta = object_in(line, "message"), _meta(line)
    if message.get("role") == "assistant":
        return _call(message, meta)
    return NoCall(_file(line) or (_INPUT if message else _OTHER))


def _call(message: JsonObject, meta: JsonObject) -> Exchange:
    counted = object_in(meta, "usage")
    usage = _usage(counted) if counted else None
    return Exchange(
        NAME,
        response=message_body(text_in(meta, "modelId"), _blocks(message.get("content")), usage=usage),
        called_at=time_in(meta, "timestamp"),
        provider=text_in(meta, "providerId"),
    )


def _blocks(content: Any) -> Any:
    if not isinstance(content, list):
        return [{"type": "text", "text": content}] if isinstance(content, str) else content
    parts = [part for part in content if isinstance(part, dict)]
    return [_block(part, _KINDS.get(str(part.get("type")), "other")) for part in parts]


def _block(part: JsonObject, kind: str) -> JsonObject:
    if kind == "tool_use":
        return {"type": kind, "id": part.get("toolCallId"), "name": part.get("toolName")}
    return {"type": kind, "thinking" if kind == "thinking" else "text": text_in(part, "text")}


def _usage(usage: JsonObject) -> JsonObject:
    whole, output, total = (count_in(usage, name) for name in ("inputTokens", "outputTokens", "totalTokens"))
    read_back, written = count_in(usage, "cacheReadTokens"), count_in(usage, "cacheWriteTokens")
    cached = (read_back or 0) + (written or 0)
    holds_cache = total is not None and total == (whole or 0) + (output or 0) and (whole or 0) >= cached
    return {
        **usage,
        "input_tokens": whole - cached if whole is not None and holds_cache else whole,
        "cache_read_input_tokens": read_back,
        "cache_creation_input_tokens": written,
        "cache_creation": {
            "ephemeral_5m_input_tokens": count_in(usage, "cacheWrite5mTokens"),
            "ephemeral_1h_input_tokens": count_in(usage, "cacheWrite1hTokens"),
        },
        "output_tokens": output,
    }
