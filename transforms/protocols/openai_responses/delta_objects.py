"""Streams of ``response.delta`` objects, whose ``delta`` starts, adds to and stops parts, as the events of the API.

No page describes the form: it was seen in a capture of ``gpt-5-nano`` (braintrustdata/lingua, September 2025).
"""

from schemas.exchange import JsonObject
from schemas.reading import MalformedBodyError

OBJECT = "response.delta"

_TEXTS = {
    "output_text": "response.output_text.delta",
    "refusal": "response.refusal.delta",
    "summary_text": "response.reasoning_summary_text.delta",
    "reasoning_text": "response.reasoning_text.delta",
}


def as_events(events: list[JsonObject]) -> list[JsonObject]:
    """Give each object as the event that it stands for; other events stay, and what holds nothing goes.

    Raises ``MalformedBodyError`` where a text has no part that would tell what it is.
    """
    item = 0
    part: object = None
    translated: list[JsonObject] = []
    for event in events:
        delta = event.get("delta")
        if event.get("object") != OBJECT or not isinstance(delta, dict):
            translated.append(event)
            continue
        kind, index = delta.get("type"), delta.get("index", 0)
        if kind == "response.start":
            translated.append({"type": "response.created", "response": delta.get("response")})
        elif kind == "output_item.start":
            item, part = index, None
            translated.append(
                {"type": "response.output_item.added", "output_index": item, "item": delta.get("output_item")}
            )
        elif kind == "content_part.start":
            begun = delta.get("content_part")
            part = begun.get("type") if isinstance(begun, dict) else None
        elif kind == "content_part.delta":
            if not isinstance(part, str):
                raise MalformedBodyError("a text of a part that never began: nothing says what it is")
            place = {"output_index": item, "content_index": index, "summary_index": index}
            translated.append({"type": _TEXTS.get(part), "delta": delta.get("text"), **place})
        elif kind == "response.stop":
            translated.append({"type": "response.done", "response": delta.get("response")})
    return translated
