"""A list of messages to the one that answers: chunks merged as LangChain merges them, or a conversation's last."""

from collections.abc import Mapping
from typing import Any

from schemas.exchange import Stream
from transforms.protocols.langchain_message.envelope import Json, fields_of, is_message

CHUNK = "AIMessageChunk"


def fold_messages(stream: Stream) -> Json:
    """The last answer of a conversation, or the answer that all chunks together are."""
    whole = [event for event in stream.events if "generations" in event or "messages" in event]
    if whole:
        return whole[-1]
    messages = [event for event in stream.events if is_message(event)]
    chunks = [fields_of(event) for event in messages if _is_chunk(event)]
    return {"type": CHUNK, **_merged(chunks)} if chunks else {"type": "ai", **fields_of(messages[-1])}


def _is_chunk(event: Mapping[str, Any]) -> bool:
    path = event.get("id")
    return event.get("type") == CHUNK or (isinstance(path, list) and path[-1:] == [CHUNK])


def _merged(chunks: list[Json]) -> Json:
    whole: Json = {"content": _content(chunks)}
    for key in ("additional_kwargs", "response_metadata"):
        whole[key] = _united([chunk[key] for chunk in chunks if isinstance(chunk.get(key), dict)])
    usages = [chunk["usage_metadata"] for chunk in chunks if isinstance(chunk.get("usage_metadata"), dict)]
    if usages:
        whole["usage_metadata"] = _added(usages)
    calls = [call for chunk in chunks for call in _list(chunk.get("tool_call_chunks")) if isinstance(call, dict)]
    begun = {str(call.get("index", place)) for place, call in enumerate(calls)}
    ready = max((_list(chunk.get("tool_calls")) for chunk in chunks), key=len)
    whole["tool_calls"] = [{}] * max(len(begun), len(ready))
    whole["id"] = next((chunk["id"] for chunk in chunks if isinstance(chunk.get("id"), str)), None)
    return whole


def _content(chunks: list[Json]) -> object:
    contents = [chunk.get("content") for chunk in chunks]
    if all(isinstance(content, str) or content is None for content in contents):
        return "".join(content for content in contents if isinstance(content, str))
    blocks: list[Any] = []
    begun: dict[str, Json] = {}
    for content in contents:
        for block in content if isinstance(content, list) else [content]:
            if not isinstance(block, dict):
                blocks += [block] if isinstance(block, str) and block else []
            elif block.get("index") is not None and str(block["index"]) in begun:
                _extend(begun[str(block["index"])], block)
            else:
                blocks.append(dict(block))
                begun[str(block.get("index"))] = blocks[-1]
    return blocks


def _extend(block: Json, piece: Mapping[str, Any]) -> None:
    """The next piece of a block of the same index: texts are joined, all else is set once."""
    for key, value in piece.items():
        before = block.get(key)
        if key in _TEXTS and isinstance(before, str) and isinstance(value, str):
            block[key] = before + value
        elif before is None:
            block[key] = value


_TEXTS = ("text", "thinking", "reasoning")


def _united(parts: list[Json]) -> Json:
    """Later facts over earlier ones; thinking comes in pieces and is joined, once each."""
    whole: Json = {}
    for part in parts:
        for key, value in part.items():
            before = whole.get(key)
            joins = key in ("reasoning_content", "reasoning", "thinking") and isinstance(value, str)
            whole[key] = before + value if joins and isinstance(before, str) else (before if value is None else value)
    return whole


def _added(usages: list[Json]) -> Json:
    whole: Json = {}
    for usage in usages:
        for key, value in usage.items():
            if isinstance(value, dict):
                inner = whole.get(key)
                whole[key] = _added([inner, value]) if isinstance(inner, dict) else _added([value])
            elif isinstance(value, int) and not isinstance(value, bool):
                before = whole.get(key)
                whole[key] = (before if isinstance(before, int) else 0) + value
    return whole


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
