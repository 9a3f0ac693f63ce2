"""Events of the Responses API to the body that the same answer has when it is not streamed.

The last event repeats the whole response, so the thousands of deltas before it are not even looked at. They matter
where it has an empty ``output`` (Codex backend, reference 2.32), or is missing (a cut capture, a bare ``error``).
"""

from collections.abc import Mapping
from typing import NamedTuple

from schemas.exchange import JsonObject, Stream
from schemas.reading import MalformedBodyError
from transforms.protocols.openai_responses.delta_objects import OBJECT as DELTA_OBJECT
from transforms.protocols.openai_responses.delta_objects import as_events

BODY_OBJECTS = ("response", "response.compaction")


class _Slot(NamedTuple):
    """Where the text of a delta belongs: the item's type, its list, the part's number, type and key."""

    item: str
    parts: str
    number: str
    part: str
    key: str


_ANSWER_SLOT = _Slot("message", "content", "content_index", "output_text", "text")
_REFUSAL_SLOT = _Slot("message", "content", "content_index", "refusal", "refusal")
_SUMMARY_SLOT = _Slot("reasoning", "summary", "summary_index", "summary_text", "text")
_CHAIN_SLOT = _Slot("reasoning", "content", "content_index", "reasoning_text", "text")
_DELTAS = {
    "response.output_text.delta": _ANSWER_SLOT,
    "response.refusal.delta": _REFUSAL_SLOT,
    "response.reasoning_summary_text.delta": _SUMMARY_SLOT,
    "response.reasoning_text.delta": _CHAIN_SLOT,
    # Names of the API's first months, which some copies kept.
    "response.reasoning_summary.delta": _SUMMARY_SLOT,
    "response.reasoning.delta": _CHAIN_SLOT,
}
_WHOLES = {kind.removesuffix("delta") + "done": slot for kind, slot in _DELTAS.items()}
_TERMINAL = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
    "response.done": "completed",  # copies of the API
}
_UNPLACED = 1 << 30
"""The place of items whose events give no ``output_index``: behind the others, in order of arrival."""


def fold_events(stream: Stream) -> JsonObject:
    """Turn a stream's events into the body of the same answer.

    Raises ``MalformedBodyError`` where it holds the ends of several responses, though nothing says where each began:
    reading one of them would lose what the others cost.
    """
    events = stream.events
    snapshots = _snapshots(events)
    if any(event.get("object") == DELTA_OBJECT for event in snapshots):
        events = as_events(events)
        snapshots = _snapshots(events)
    ends = [event for event in snapshots if _is_end(event)]
    end = _response_of(ends[-1]) if ends else {}
    if len(ends) > 1:
        _refuse_several(ends)
    thoughts = _thoughts(events)
    if not thoughts and end.get("output") and end.get("model") is not None and end.get("status") is not None:
        return end
    body: JsonObject = {}
    for event in snapshots:  # an early event may name the model that the last one leaves out
        body.update({key: value for key, value in _response_of(event).items() if value is not None})
    if not end.get("output"):
        body["output"] = _rebuild(events) or body.get("output") or []
    if isinstance(body["output"], list):
        body["output"] = thoughts + body["output"]
    body.setdefault("object", "response")
    body["usage"] = end.get("usage")  # what was spent before a capture broke off is not known
    if ends:
        body["status"] = end.get("status") or _TERMINAL.get(ends[-1].get("type", ""))
    if not body.get("error") and body.get("status") != "completed":
        body["error"] = _error_event(events)
    return body


def _snapshots(events: list[JsonObject]) -> list[JsonObject]:
    return [event for event in events if "response" in event or "object" in event]


def _thoughts(events: list[JsonObject]) -> list[JsonObject]:
    """What Perplexity's events of reasoning and searching say was thought; its bodies do not repeat it."""
    texts = [event["thought"] for event in events if "thought" in event]
    return [
        {"type": "reasoning", "content": [{"type": "reasoning_text", "text": text}]}
        for text in texts
        if isinstance(text, str) and text
    ]


def _is_end(event: JsonObject) -> bool:
    kind = event.get("type")
    if kind is None:  # a list of polled bodies: the last is the newest
        return event.get("object") in BODY_OBJECTS
    return isinstance(kind, str) and kind in _TERMINAL


def _response_of(event: JsonObject) -> JsonObject:
    response = event if event.get("object") in BODY_OBJECTS else event.get("response")
    return response if isinstance(response, dict) else {}


def _refuse_several(ends: list[JsonObject]) -> None:
    ids = {str(found) for end in ends if (found := _response_of(end).get("id")) is not None}
    if len(ids) > 1:
        some = ", ".join(sorted(ids)[:3])
        raise MalformedBodyError(f"a stream of {len(ids)} responses ({some}, …): each is a call of its own")


def _error_event(events: list[JsonObject]) -> object:
    """The last bare ``error`` event, flat or as ``{"error": {…}}`` (both are OpenAI's); null without one.

    Perplexity's ``response.failed`` has the error in place of a response.
    """
    for event in reversed(events):
        if event.get("type", "error") in ("error", "response.failed"):
            nested = event.get("error")
            if nested:
                return nested
            if event.get("message") or event.get("code"):
                return {"code": event.get("code"), "message": event.get("message")}
    return None


_Key = tuple[int, str]
"""An item of the output: its place and its type, as some copies give every item the same place."""


def _rebuild(events: list[JsonObject]) -> list[JsonObject]:
    """The items of a response whose last event has none: the finished ones, and drafts of those that never finished."""
    finished: dict[tuple[int, str, str], JsonObject] = {}
    begun: dict[_Key, JsonObject] = {}
    places: dict[str, int] = {}
    for event in events:
        item = event.get("item")
        if isinstance(item, dict):
            item_type, item_id = str(item.get("type")), str(item.get("id"))
            place = _number(event, "output_index", places.get(item_id, _UNPLACED))
            places[item_id] = place
            if event.get("type") == "response.output_item.done":
                finished[place, item_type, item_id] = item
            elif event.get("type") == "response.output_item.added":
                begun[place, item_type] = item
    items = [(place, item) for (place, _, _), item in finished.items()]
    done = {(place, item_type) for place, item_type, _ in finished}
    texts = _texts(events, done)
    items += [(key[0], _draft(key, begun, texts)) for key in {**begun, **texts} if key not in done]
    return [item for _, item in sorted(items, key=lambda placed: placed[0])]


def _texts(events: list[JsonObject], done: set[_Key]) -> dict[_Key, dict[tuple[_Slot, int], list[str]]]:
    """The text of each part of the items that are not done, from its deltas or from the event that repeats it whole."""
    texts: dict[_Key, dict[tuple[_Slot, int], list[str]]] = {}
    for event in events:
        kind = event.get("type")
        if not isinstance(kind, str):
            continue
        whole = _WHOLES.get(kind)
        slot = whole or _DELTAS.get(kind)
        if slot is None:
            continue
        key = (_number(event, "output_index", _UNPLACED), slot.item)
        text = event.get(slot.key if whole else "delta")
        if key not in done and isinstance(text, str) and text:
            part = texts.setdefault(key, {}).setdefault((slot, _number(event, slot.number)), [])
            if whole:
                part.clear()
            part.append(text)
    return texts


def _draft(
    key: _Key, begun: Mapping[_Key, JsonObject], texts: Mapping[_Key, Mapping[tuple[_Slot, int], list[str]]]
) -> JsonObject:
    lists: dict[str, list[JsonObject]] = {}
    for (slot, _), text in sorted(texts.get(key, {}).items(), key=lambda part: part[0][1]):
        lists.setdefault(slot.parts, []).append({"type": slot.part, slot.key: "".join(text)})
    return {**begun.get(key, {}), "type": key[1], **lists}


def _number(event: JsonObject, key: str, default: int = 0) -> int:
    value = event.get(key)
    return value if isinstance(value, int) else default
