"""Events of an interaction to the resource that the same answer has when it is not streamed.

The lifecycle's events hold the resource without its steps; steps (or outputs) come in parts, by ``index``. Their names
changed in June 2026, their form did not: ``step.start`` was ``content.start``, ``interaction.completed`` was
``interaction.complete`` (reference on native protocols, section 9).
"""

from typing import Any

from schemas.exchange import JsonObject, Stream

_MANY = 100_000
"""No interaction has so many steps: an index beyond is none."""


class _Step:
    """One step while it is put together: texts are collected and joined once."""

    def __init__(self) -> None:
        self.start: JsonObject = {}
        self._texts: list[str] = []
        self._summary: list[str] = []
        self._other_content: list[JsonObject] = []

    def add(self, delta: JsonObject) -> None:
        kind, text = delta.get("type"), delta.get("text")
        if kind == "text" and isinstance(text, str):
            self._texts.append(text)
        elif kind == "thought_summary":
            content = delta.get("content")
            text = content.get("text") if isinstance(content, dict) else text
            if isinstance(text, str):
                self._summary.append(text)
        elif self.start.get("type") == "model_output" and kind in ("image", "audio", "video", "document"):
            self._other_content.append({"type": kind})

    def close(self) -> JsonObject:
        text = "".join(self._texts)
        step = {**self.start}
        if self._summary:
            step["summary"] = [*_list(step.get("summary")), {"type": "text", "text": "".join(self._summary)}]
        if step.get("type") == "text":
            step["text"] = f"{step.get('text') or ''}{text}"
        elif text or self._other_content:
            parts = [{"type": "text", "text": text}] if text else []
            step["content"] = [*_list(step.get("content")), *parts, *self._other_content]
        return step


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def fold_events(stream: Stream) -> JsonObject:
    """Fold events, in order, into one interaction; steps that the last event holds itself are taken as they are."""
    body: JsonObject = {}
    steps: dict[int, _Step] = {}
    key = "steps"
    for event in stream.events:
        kind = event.get("event_type")
        resource = event.get("interaction")
        if isinstance(resource, dict):
            body.update({name: value for name, value in resource.items() if value is not None})
        elif kind == "interaction.status_update" and event.get("status"):
            body["status"] = event["status"]
        if event.get("error"):
            body["error"] = event["error"]
        start = event.get("step", event.get("content"))
        if isinstance(start, dict) and kind in ("step.start", "content.start"):
            key = "steps" if kind == "step.start" else "outputs"
            _at(steps, event).start = start
        delta = event.get("delta")
        if isinstance(delta, dict):
            _at(steps, event).add(delta)
    if steps and not (body.get("steps") or body.get("outputs")):
        body[key] = [step.close() for _, step in sorted(steps.items())]
    return body


def _at(steps: dict[int, _Step], event: JsonObject) -> _Step:
    index = event.get("index")
    place = index if isinstance(index, int) and 0 <= index < _MANY else 0
    return steps.setdefault(place, _Step())
