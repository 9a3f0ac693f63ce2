"""Events of plain text completions to the body that the same answer has when it is not streamed."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from schemas.exchange import JsonObject, Stream
from schemas.reading import MalformedBodyError
from transforms.protocols.text_completion.shapes import ALONE, SHAPES, Shape, shape_of, summed, text_of, value_at
from transforms.snapshots import are_snapshots, joined

_BY_NAME = {shape.name: shape for shape in SHAPES}
_ALEPH_ALPHA_EVENTS = frozenset({"stream_chunk", "stream_summary", "completion_summary"})
_NOT_FINISHED = "not_finished"


def claims_event(event: Mapping[str, Any]) -> bool:
    """Tell whether an event that no whole body looks like belongs to one of the shapes."""
    return _shape_of_event(event) is not None


def claims_summary(event: Mapping[str, Any]) -> bool:
    """Tell whether it is an event of Aleph Alpha's, known by its type alone."""
    kind = event.get("type")
    return kind.__class__ is str and kind in _ALEPH_ALPHA_EVENTS


def _shape_of_event(event: Mapping[str, Any]) -> Shape | None:
    if isinstance(event.get("token"), dict) and ("generated_text" in event or "details" in event):
        return _BY_NAME["tgi"]
    if claims_summary(event):
        return _BY_NAME["aleph_alpha"]
    if isinstance(event.get("content"), str) and event.get("stop").__class__ is bool:
        return _BY_NAME["llamacpp"]
    responses = event.get("responses")
    if isinstance(responses, list) and responses and isinstance(responses[0], dict) and "chunk" in responses[0]:
        return _BY_NAME["reka"]
    return None


def fold_events(stream: Stream) -> JsonObject:
    """Fold the events of one answer; ``aborted`` marks one whose end never came, though nothing is cut off.

    Raises ``MalformedBodyError`` where a text has another type.
    """
    shape = next((found for event in stream.events if (found := shape_of(event) or _shape_of_event(event))), None)
    if shape is None:
        raise MalformedBodyError("no event of a plain text completion")
    if shape.name == "tgi":
        return _fold_tgi(stream)
    body = _fold_pieces(stream, shape)
    error = next((event["error"] for event in stream.events if event.get("error")), None)
    if error is not None:
        body["error"] = error
    return body


# Text Generation Inference


def _fold_tgi(stream: Stream) -> JsonObject:
    """Tokens up to the event that repeats the whole text."""
    events = stream.events
    last = next((event for event in reversed(events) if isinstance(event.get("generated_text"), str)), None)
    error = next((event for event in events if event.get("error")), None)
    if last is not None:
        return {"generated_text": last["generated_text"], "details": last.get("details")}
    texts = [_checked(value_at(event, ("token", "text"))) for event in events if not _is_special(event)]
    body: JsonObject = {"generated_text": "".join(texts)}
    if error is not None:
        body["error"] = {"type": error.get("error_type"), "message": error["error"]}
    elif not stream.cut:
        body["aborted"] = True
    return body


def _is_special(event: JsonObject) -> bool:
    return value_at(event, ("token", "special")) is True


# All others


def _fold_pieces(stream: Stream, shape: Shape) -> JsonObject:
    """Texts are joined per answer; of all other values the last that says something counts, of counts the largest."""
    body: JsonObject = {}
    answers: defaultdict[int, JsonObject] = defaultdict(dict)
    texts: defaultdict[int, list[str]] = defaultdict(list)
    ended: set[int] = set()
    for event in stream.events:
        if shape.answers != ALONE:
            _merge(body, event)
        for place, item in _items(event, shape):
            _merge(answers[place], item)
            stored = value_at(item, ("chunk", "content") if "chunk" in item else shape.delta)
            texts[place].append(_checked(text_of(stored)))
            if _ends(event, item):
                ended.add(place)
    snapshots = shape.name == "reka" and all(are_snapshots(parts) for parts in texts.values() if len(parts) > 1)
    for place, parts in texts.items():
        _put(answers[place], shape.text, joined(parts, snapshots=snapshots))
        calls = value_at(answers[place], ("chunk", *shape.calls[-1:]))
        if shape.calls and isinstance(calls, list):
            answers[place][shape.calls[0]][shape.calls[-1]] = calls
    known = [{**dict.fromkeys(shape.marks), **answer} for _, answer in sorted(answers.items())]
    if shape.answers == ALONE:
        body = _together(known) | {"listed": all(event.get("stop") and event.get("content") for event in stream.events)}
    else:
        body[shape.answers] = known or [dict.fromkeys(shape.marks)]
    if not stream.cut and (not ended or answers.keys() - ended):
        body["aborted"] = True
    return body


def _together(answers: list[JsonObject]) -> JsonObject:
    """llama.cpp's answers to several prompts, or to one prompt, which is read once however often it is answered."""
    if len(answers) == 1:
        return answers[0]
    prompts = {str(answer.get("prompt")): answer.get("tokens_evaluated") for answer in answers}
    told = all(isinstance(answer.get("prompt"), str) for answer in answers)
    return {
        ALONE: answers,
        "model": answers[0].get("model"),
        "tokens_evaluated": summed([*prompts.values()]) if told else None,
        "tokens_predicted": summed([answer["tokens_predicted"] for answer in answers]),
    }


def _items(event: JsonObject, shape: Shape) -> list[tuple[int, JsonObject]]:
    """The parts of an event that belong to one answer each; llama.cpp's is such a part itself."""
    listed = event.get(shape.answers)
    if isinstance(listed, list):
        return [(place, item) for place, item in enumerate(listed) if isinstance(item, dict)]
    index = event.get("index")
    place = index if isinstance(index, int) else 0
    if event.get("type") in ("stream_chunk", "stream_summary"):
        kept: JsonObject = {name: event[name] for name in ("completion", "finish_reason") if name in event}
        return [(place, kept)]
    return [(place, event)] if shape.answers == ALONE else []


def _ends(event: JsonObject, item: JsonObject) -> bool:
    reason = item.get("finish_reason") or item.get("stop_reason")
    return event.get("stop") is True or (isinstance(reason, str) and reason.lower() != _NOT_FINISHED)


def _merge(whole: JsonObject, piece: JsonObject) -> None:
    for name, value in piece.items():
        before = whole.get(name)
        if value.__class__ is int and before.__class__ is int:
            whole[name] = max(value, before)
        elif value is not None:
            whole[name] = value


def _put(answer: JsonObject, path: tuple[str, ...], text: str) -> None:
    *parents, last = path
    place = answer
    for key in parents:
        inner = place.get(key)
        grown: JsonObject = dict(inner) if isinstance(inner, dict) else {}
        place[key] = grown
        place = grown
    place[last] = text


def _checked(text: object) -> str:
    if text is None:
        return ""
    if isinstance(text, str):
        return text
    raise MalformedBodyError(f"a text of the stream is {type(text).__name__}, not a text")
