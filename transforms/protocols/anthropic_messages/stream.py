"""Anthropic Messages events to the message that the same answer is when it is not streamed.

Reference, section 2: what the events carry, and what proxies were seen to make of them. Only what is read of a message
is put together: tool inputs, citations and opaque payloads stay behind, and Bedrock's metrics frame repeats the usage.
"""

from collections.abc import Mapping
from typing import Any

from schemas.exchange import JsonObject, Stream
from schemas.reading import MalformedBodyError


def fold_events(stream: Stream) -> JsonObject:
    """Fold the events of one message; ``aborted`` marks one whose end never came, though nothing is cut off.

    Raises ``MalformedBodyError`` where a block or a delta is no object, a delta's text no text, a content no list.
    """
    message = _OpenMessage({"type": "message"})
    error: Any = None
    for event in stream.events:
        kind = event.get("type")
        if kind == "content_block_delta":
            message.grow_block(event.get("index"), event.get("delta"))
        elif kind == "content_block_start":
            message.open_block(event.get("index"), event.get("content_block"))
        elif kind == "message_start" or kind == "message":  # noqa: PLR1714 - the value may be unhashable
            start = event if kind == "message" else event.get("message")
            if isinstance(start, dict) and not message.is_repeated_by(start):
                message = _OpenMessage(start)
        elif kind == "message_delta" or kind == "message_stop":  # noqa: PLR1714
            message.update(event)
        else:
            error = _error_in(event) or error
    body = message.close()
    if error is not None:
        body["error"] = error
    elif not message.ended and not stream.cut:
        body["aborted"] = True
    return body


class _Block:
    """One block while its deltas come in: texts are collected and joined once."""

    __slots__ = ("body", "texts")

    def __init__(self, body: Any) -> None:
        self.body = body
        self.texts: list[str] = []

    def close(self) -> Any:
        if self.texts:
            name = self.body["type"]
            begun = self.body.get(name) or ""
            if not isinstance(begun, str):
                raise MalformedBodyError(
                    f"content_block_start.content_block.{name} is {type(begun).__name__}, not a text"
                )
            self.body[name] = "".join([begun, *self.texts])
        return self.body


class _OpenMessage:
    """One message while its events come in."""

    __slots__ = ("_blocks", "_by_index", "_is_counted", "_start", "_usage", "ended")

    def __init__(self, start: Mapping[str, Any]) -> None:
        content, usage = start.get("content") or [], start.get("usage")
        if not isinstance(content, list):
            raise MalformedBodyError(f"message_start.message.content is {type(content).__name__}, not a list")
        self.ended = start.get("stop_reason") is not None
        self._start = dict(start)
        self._usage = dict(usage) if isinstance(usage, dict) else {}
        # Up to message_delta, output_tokens is a placeholder (1, 2, 4…): what was billed is not known.
        self._is_counted = self.ended
        self._blocks = [_Block(block) for block in content]
        self._by_index: dict[int, _Block] = {}

    def is_repeated_by(self, start: Mapping[str, Any]) -> bool:
        """Whether a ``message_start`` begins this very message once more, as behind some proxies."""
        return not self.ended and start.get("id") is not None and start["id"] == self._start.get("id")

    def open_block(self, index: object, block: object) -> _Block:
        if not isinstance(block, dict):
            raise MalformedBodyError(f"content_block_start.content_block is {type(block).__name__}, not an object")
        opened = _Block(dict(block))
        self._blocks.append(opened)
        if isinstance(index, int):
            self._by_index[index] = opened
        return opened

    def grow_block(self, index: object, delta: object) -> None:
        if not isinstance(delta, dict):
            raise MalformedBodyError(f"content_block_delta.delta is {type(delta).__name__}, not an object")
        kind = delta.get("type")
        if kind == "text_delta":
            self._add_text(index, "text", delta.get("text"))
        elif kind == "thinking_delta":
            self._add_text(index, "thinking", delta.get("thinking"))
        elif kind == "signature_delta":
            self._block_at(index, "thinking").body["signature"] = delta.get("signature")

    def update(self, event: Mapping[str, Any]) -> None:
        """Take over the message's end. Its counts are totals so far: they replace those before and never add up."""
        delta, usage = event.get("delta"), event.get("usage")
        if isinstance(delta, dict) and delta.get("stop_reason") is not None:
            self._start["stop_reason"] = delta["stop_reason"]
            self.ended = True
        if isinstance(usage, dict):
            self._usage.update({name: value for name, value in usage.items() if value is not None})
            self._is_counted = self._is_counted or usage.get("output_tokens") is not None
        self.ended = self.ended or event.get("type") == "message_stop"

    def close(self) -> JsonObject:
        if not self._is_counted:
            self._usage.pop("output_tokens", None)
        return {**self._start, "content": [block.close() for block in self._blocks], "usage": self._usage or None}

    def _add_text(self, index: object, name: str, text: object) -> None:
        if isinstance(text, str):
            self._block_at(index, name).texts.append(text)
        elif text is not None:
            raise MalformedBodyError(f"content_block_delta.delta.{name} is {type(text).__name__}, not a text")

    def _block_at(self, index: object, kind: str) -> _Block:
        """The block of this index; a block of its own where the start is lost or was of another kind."""
        block = self._by_index.get(index) if isinstance(index, int) else None
        if block is not None and block.body.get("type") == kind:
            return block
        return self.open_block(index, {"type": kind})


def _error_in(event: Mapping[str, Any]) -> Any:
    """The error of an ``error`` event, or of one of Bedrock's ``…Exception`` frames."""
    if "error" in event:
        return event["error"]
    failed = next((name for name in event if name.endswith("Exception")), None)
    if failed is None:
        return None
    frame = event[failed]
    return {"type": failed, "message": frame.get("message") if isinstance(frame, dict) else None}
