"""Chat Completions chunks to the body that the same answer has when it is not streamed.

State is kept per choice; texts are collected in lists and joined once, since an answer has up to thousands of chunks.
Usage is cumulative wherever it comes more than once, so the last one wins and nothing is added up (reference 1.5).
What has not the shape of a chunk is left where it stands, for the reader of whole bodies to judge.
"""

from collections import defaultdict
from itertools import pairwise
from typing import Any

from schemas.exchange import JsonObject, Stream
from transforms.protocols.openai_chat.pieces import joined, merged_items, once_each

_TEXTS = frozenset({"content", "reasoning_content", "reasoning", "reasoning_text", "refusal"})
_LISTS = frozenset({"reasoning_details", "thinking_blocks", "reasoning_steps"})
_OBJECTS = frozenset({"function_call", "audio", "provider_specific_fields", "provider_metadata"})
_FRAGMENTS = frozenset({"arguments", "transcript", "reasoning_content"})
"""Strings inside objects that come in pieces; every other value inside an object comes whole."""
_BESIDE_DELTA = frozenset({"message", "usage", "error", "provider_specific_fields"})
_CLOSING = ("finish_reason", "native_finish_reason", "stop_reason", "provider_specific_fields", "error")
_LAST_WINS = frozenset({"usage", "service_tier", "x_groq", "cost", "citations", "search_results"})
_NOT_MERGED = frozenset({"choices", "object"})


class _Choice:
    """One answer while its chunks come in."""

    __slots__ = ("ending", "lists", "messages", "objects", "texts", "tools")

    def __init__(self) -> None:
        self.texts: defaultdict[str, list[Any]] = defaultdict(list)
        self.lists: defaultdict[str, list[Any]] = defaultdict(list)
        self.objects: defaultdict[str, JsonObject] = defaultdict(dict)
        self.tools: list[JsonObject] = []
        self.messages: list[Any] = []
        self.ending: JsonObject = {}


def fold_chunks(stream: Stream) -> JsonObject:
    """Fold a stream's events, in order, into a whole body; never raises."""
    body: JsonObject = {}
    choices: defaultdict[int, _Choice] = defaultdict(_Choice)
    width = 0
    for event in stream.events:
        items = event.get("choices")
        # Chunks in the middle differ in their deltas only: whatever else a chunk brings changes the number of its keys.
        if len(event) != width or not items or event.get("usage"):
            _merge_event(body, event)
            width = len(event) if "id" in body and "model" in body else 0
        if items.__class__ is not list:
            continue
        for item in items:
            if item.__class__ is not dict:
                body["choices"] = items
                continue
            index = item.get("index")
            choice = choices[index if index.__class__ is int else 0]
            delta = item.get("delta")
            if delta.__class__ is dict:
                _add_delta(choice, delta)
            if item.get("finish_reason") or not _BESIDE_DELTA.isdisjoint(item):
                _add_rest(body, choice, item)
    _settle_usage(body)
    body["object"] = "chat.completion"
    if "choices" not in body:
        body["choices"] = [_whole_choice(index, choice) for index, choice in sorted(choices.items())]
    return body


def _merge_event(body: JsonObject, event: JsonObject) -> None:
    for key, value in event.items():
        if value and key not in _NOT_MERGED and (key in _LAST_WINS or key not in body):
            body[key] = value
    items = event.get("choices")
    if items and not isinstance(items, list):
        body["choices"] = items


def _settle_usage(body: JsonObject) -> None:
    """Groq's last chunk holds the usage in ``x_groq`` where the request did not ask for it (reference 2.9)."""
    groq = body.get("x_groq")
    if "usage" not in body and isinstance(groq, dict) and groq.get("usage"):
        body["usage"] = groq["usage"]


def _add_delta(choice: _Choice, delta: JsonObject) -> None:
    if delta.get("channel") == "analysis" and not delta.get("reasoning"):
        # A Harmony channel named beside the text (SambaNova, reference 2.19).
        delta = {**delta, "content": None, "reasoning": delta.get("content")}
    for key, value in delta.items():
        if not value:
            continue
        if key in _TEXTS:
            choice.texts[key].append(value)
        elif key in _LISTS and value.__class__ is list:
            choice.lists[key] += value
        elif key == "tool_calls" and value.__class__ is list:
            for call in value:
                _add_call(choice.tools, call)
        elif key in _OBJECTS and value.__class__ is dict:
            _merge_object(choice.objects[key], value)


def _add_rest(body: JsonObject, choice: _Choice, item: JsonObject) -> None:
    """Merge what stands beside the delta: how it ended, Moonshot's usage, copies of the message."""
    for key in _CLOSING:
        if item.get(key):
            choice.ending[key] = item[key]
    if item.get("usage"):
        body["usage"] = item["usage"]
    if item.get("message"):
        choice.messages.append(item["message"])


def _merge_object(whole: JsonObject, piece: JsonObject) -> None:
    for key, value in piece.items():
        before = whole.get(key)
        if key in _FRAGMENTS and isinstance(before, str) and isinstance(value, str):
            whole[key] = before + value
        elif value or key not in whole:
            whole[key] = value


def _add_call(calls: list[JsonObject], piece: object) -> None:
    if not isinstance(piece, dict):
        return
    function = piece.get("function")
    call = _call_of(calls, piece, named=isinstance(function, dict) and bool(function.get("name")))
    if call is None:
        call = {key: value for key, value in piece.items() if key != "function"}
        calls.append(call)
    elif piece.get("id"):
        call["id"] = piece["id"]
    if isinstance(function, dict):
        _merge_object(call.setdefault("function", {}), function)


def _call_of(calls: list[JsonObject], piece: JsonObject, *, named: bool) -> JsonObject | None:
    """Find the call that a piece continues; null where it begins one.

    Some hosts number all parallel calls 0, or none of them: there another id, or a name, begins another call.
    """
    index, identity = piece.get("index"), piece.get("id")
    for call in reversed(calls):
        if index is not None and call.get("index") != index:
            continue
        is_another = bool(identity) and call.get("id") not in (None, "", identity)
        if is_another and index is None and not named:
            continue
        begins = named and (is_another or (index is None and not identity))
        return None if begins else call
    return None


def _whole_choice(index: int, choice: _Choice) -> JsonObject:
    message: Any = {"role": "assistant", "content": None, **choice.objects}
    for key, parts in choice.texts.items():
        message[key] = joined(parts)
    for key, items in choice.lists.items():
        message[key] = once_each(items) if key == "reasoning_steps" else merged_items(items)
    if choice.tools:
        message["tool_calls"] = choice.tools
    if choice.messages and not (choice.texts or choice.lists or choice.tools):
        message = _whole_message(choice.messages)
    return {"index": index, "message": message, "finish_reason": None, **choice.ending}


def _whole_message(messages: list[Any]) -> Any:
    """Chunks with ``message`` in place of ``delta``: texts so far, or pieces where one does not repeat the other."""
    odd = next((message for message in messages if not isinstance(message, dict)), None)
    if odd is not None:
        return odd
    whole = dict(messages[-1])
    for key in _TEXTS:
        texts = [message[key] for message in messages if isinstance(message.get(key), str) and message[key]]
        if texts:
            grows = all(other.startswith(one) for one, other in pairwise(texts))
            whole[key] = texts[-1] if grows else "".join(texts)
    calls = [message["tool_calls"] for message in messages if message.get("tool_calls")]
    if calls:
        whole["tool_calls"] = calls[-1]
    return whole
