"""Converse events to the body that the same answer has when it is not streamed (reference, sections 5 and 6).

Two forms hold the same: events keyed by their name (``{"contentBlockDelta": {…}}``: botocore, logs, Nova's own chunks)
and the payload alone, as it is on the wire (``{"contentBlockIndex": 0, "delta": {…}}``). Text and thinking blocks have
no start. Usage comes in the last event, mostly; an aborted stream has none.
"""

from collections.abc import Mapping
from typing import Any

from schemas.exchange import JsonObject, Stream
from schemas.reading import MalformedBodyError

NAMED_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata")
_OF_THE_END = ("stopReason", "additionalModelResponseFields", "usage", "metrics", "trace", "serviceTier")
_METRICS = "amazon-bedrock-invocationMetrics"
_KINDS = ("reasoningContent", "text", "toolUse")


def fold_events(stream: Stream) -> JsonObject:
    """Fold the events of one message; ``aborted`` marks one whose end never came, though nothing is cut off.

    Raises ``MalformedBodyError`` where an event or a delta is no object, or a delta's text no text.
    """
    blocks = _Blocks()
    body: JsonObject = {}
    metrics: Any = None
    for event in stream.events:
        payload = _payload(event)
        if "delta" in payload:
            blocks.grow(payload.get("contentBlockIndex"), payload["delta"])
        elif "start" in payload:
            blocks.open(payload.get("contentBlockIndex"), payload["start"])
        else:
            body.update({name: payload[name] for name in _OF_THE_END if payload.get(name) is not None})
            metrics = event.get(_METRICS) or metrics
            if error := _error_in(event):
                body["error"] = error
    body["output"] = {"message": {"role": "assistant", "content": blocks.close()}}
    if metrics is not None:
        body.setdefault("usage", metrics)  # it only repeats the usage, where there is one
    if "stopReason" not in body and "error" not in body and not stream.cut:
        body["aborted"] = True
    return body


def _payload(event: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in NAMED_EVENTS:
        if name in event:
            payload = event[name]
            if not isinstance(payload, dict):
                raise MalformedBodyError(f"{name} is {type(payload).__name__}, not an object")
            return payload
    return event


def _error_in(event: Mapping[str, Any]) -> JsonObject | None:
    """What one of the ``…Exception`` members of the stream says."""
    failed = next((name for name in event if name.endswith("Exception")), None)
    if failed is None:
        return None
    frame = event[failed]
    return {"type": failed, "message": frame.get("message") if isinstance(frame, dict) else None}


class _Blocks:
    """The blocks while their deltas come in; texts are collected and joined once."""

    def __init__(self) -> None:
        self._blocks: list[tuple[JsonObject, list[str]]] = []
        self._open: tuple[object, str | None] = (None, None)

    def open(self, index: object, start: object) -> None:
        if not isinstance(start, dict):
            raise MalformedBodyError(f"contentBlockStart.start is {type(start).__name__}, not an object")
        self._begin(index, dict(start))

    def grow(self, index: object, delta: object) -> None:
        if not isinstance(delta, dict):
            raise MalformedBodyError(f"contentBlockDelta.delta is {type(delta).__name__}, not an object")
        text = delta.get("text")
        if text is not None:
            self._texts_of(index, "text").append(_checked(text))
        reasoning = delta.get("reasoningContent")
        if isinstance(reasoning, dict):
            self._think(index, reasoning)
        if "toolUse" in delta and self._open != (index, "toolUse"):  # its start is lost
            self._begin(index, {"toolUse": {}})

    def close(self) -> list[JsonObject]:
        for block, texts in self._blocks:
            if texts and "text" in block:
                block["text"] = "".join(texts)
            elif texts:
                block["reasoningContent"]["reasoningText"]["text"] = "".join(texts)
        return [block for block, _ in self._blocks]

    def _think(self, index: object, reasoning: Mapping[str, Any]) -> None:
        payload = reasoning.get("redactedContent", reasoning.get("data"))  # the latter is an older name
        if payload is not None:
            if self._open != (index, "redactedContent"):  # of several pieces the first tells as much as all
                self._begin(index, {"reasoningContent": {"redactedContent": payload}})
                self._open = (index, "redactedContent")
            return
        texts = self._texts_of(index, "reasoningContent")
        if reasoning.get("text") is not None:
            texts.append(_checked(reasoning["text"]))

    def _texts_of(self, index: object, kind: str) -> list[str]:
        """The texts of the open block; a block of its own where this delta is of another kind or another index."""
        if self._open != (index, kind):
            self._begin(index, {"text": ""} if kind == "text" else {"reasoningContent": {"reasoningText": {}}})
        return self._blocks[-1][1]

    def _begin(self, index: object, block: JsonObject) -> None:
        self._blocks.append((block, []))
        self._open = (index, next((kind for kind in _KINDS if kind in block), None))


def _checked(text: object) -> str:
    if not isinstance(text, str):
        raise MalformedBodyError(f"contentBlockDelta.delta: a text is {type(text).__name__}")
    return text
