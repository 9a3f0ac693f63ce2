"""DashScope's own generation form (Qwen): ``output`` with messages or a bare text, streamed as pieces or snapshots.

Surface   ``output.choices[].message``: ``reasoning_content`` and ``content`` (a text, or a list on the multimodal
          interface); ``output.text`` where the request asked for no messages.
Tokens    ``usage``: reasoning is in ``output_tokens``, cached tokens are in ``input_tokens``, as in Alibaba's
          compatible form (reference protocols-openai-shaped 2.6).
Effort    ``parameters.enable_thinking``, ``thinking_budget``, ``reasoning_effort`` in the request.
Stream    Each event has ``message``, never ``delta``: pieces or snapshots, told apart by the texts themselves, since
          the request's ``incremental_output`` may not be logged. The counts are totals so far: the last one wins.
Sources   Reference protocols-openai-shaped 2.7: DashScope's SDK, and recorded traffic.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from schemas.exchange import JsonObject, Stream
from schemas.reading import Asked, Counts, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ReasoningBasis, ThinkingForm, ThinkingSource
from schemas.wire.dashscope_generation import Body, Choice, InputDetails, Message, OutputDetails, Usage
from transforms.asked import asked_openai_shaped
from transforms.snapshots import are_snapshots, joined
from transforms.wire_models import parse

NAME = "dashscope_generation"
MARKS = frozenset({"output"})
PATHS = ("/services/aigc/text-generation/", "/services/aigc/multimodal-generation/")
VENDOR = "alibaba"
BEGINS = None

_IDS = ("request_id", "requestId")
_FINISH = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.CONTENT_FILTER,
    "error": FinishReason.ERROR,
}
_NO_FINISH = ("", "null")


# Claims


def claims(body: Mapping[str, Any]) -> bool:
    output = body.get("output")
    if not isinstance(output, dict) or not ("request_id" in body or "requestId" in body):
        return False
    if isinstance(output.get("choices"), list):
        return True
    return isinstance(output.get("text"), str)


def claims_request(request: Mapping[str, Any]) -> bool:
    given = request.get("input")
    return isinstance(given, dict) and "model" in request and ("messages" in given or "prompt" in given)


# Streams


class _Choice:
    """One answer while its events come in."""

    def __init__(self) -> None:
        self.contents: list[str] = []
        self.thinkings: list[str] = []
        self.calls: dict[object, Any] = {}
        self.finish: str | None = None


def fold(stream: Stream) -> dict[str, Any]:
    """Fold the events of one answer; ``aborted`` marks one whose end never came, though nothing is cut off.

    Raises ``MalformedBodyError`` where an output, a choice or a text has another type.
    """
    body: dict[str, Any] = {}
    choices: defaultdict[int, _Choice] = defaultdict(_Choice)
    for event in stream.events:
        for name in (*_IDS, "usage", "code", "message"):
            if event.get(name):
                body[name] = event[name]
        if "output" in event:
            for place, item in _answers(event["output"]):
                _grow(choices[place], item)
    body["output"] = {"choices": [_whole(choice) for _, choice in sorted(choices.items())]}
    ended = any(choice.finish for choice in choices.values())
    if not ended and not stream.cut and "code" not in body:
        body["aborted"] = True
    return body


def _answers(output: Any) -> list[tuple[int, JsonObject]]:
    """The choices of an event with their places; a bare text is a choice of one message."""
    if not isinstance(output, dict):
        raise MalformedBodyError(f"output is {type(output).__name__}, not an object")
    items = output.get("choices")
    if items is None:
        return [(0, {"message": {"content": output.get("text")}, "finish_reason": output.get("finish_reason")})]
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise MalformedBodyError("output.choices is no list of objects")
    indexes = [item.get("index") for item in items]
    return [(index if isinstance(index, int) else place, items[place]) for place, index in enumerate(indexes)]


def _grow(choice: _Choice, item: JsonObject) -> None:
    message = item.get("message")
    if not isinstance(message, dict):
        raise MalformedBodyError(f"output.choices.message is {type(message).__name__}, not an object")
    choice.contents.append(_text(message.get("content")))
    thinking = message.get("reasoning_content")
    choice.thinkings.append(thinking if isinstance(thinking, str) else "")
    finish = item.get("finish_reason")
    if isinstance(finish, str) and finish not in _NO_FINISH:
        choice.finish = finish
    calls = message.get("tool_calls")
    for place, call in enumerate(calls if isinstance(calls, list) else []):
        index = call.get("index") if isinstance(call, dict) else None
        choice.calls.setdefault(index if isinstance(index, int) else place, call)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(text for item in content if (text := _text_of(item)) is not None)
    if content is None:
        return ""
    raise MalformedBodyError(f"output.choices.message.content is {type(content).__name__}, not a text or a list")


def _text_of(item: object) -> str | None:
    text = item.get("text") if isinstance(item, dict) else item
    return text if isinstance(text, str) else None


def _whole(choice: _Choice) -> JsonObject:
    """One message of all events. Thinking falls empty once the answer begins: alone it cannot show pieces."""
    thinkings = choice.thinkings
    while thinkings and not thinkings[-1]:
        thinkings.pop()
    snapshots = all(
        are_snapshots(texts) for texts in (thinkings, choice.contents) if len(list(filter(None, texts))) > 1
    )
    return {
        "message": {
            "content": joined(choice.contents, snapshots=snapshots),
            "reasoning_content": joined(thinkings, snapshots=snapshots),
            "tool_calls": list(choice.calls.values()),
        },
        "finish_reason": choice.finish,
    }


# Bodies


def read(body: dict[str, Any]) -> Reading:
    parsed = parse(Body, body)
    output, usage = parsed.output, body.get("usage")
    choices = output.choices
    if not choices:
        choices = [Choice(message=Message(content=output.text), finish_reason=output.finish_reason)]
    code, message = body.get("code"), body.get("message")
    failed = isinstance(code, str) and code not in ("", "200")
    raw = choices[0].finish_reason
    raw = None if raw is None or raw in _NO_FINISH else raw
    finish = _FINISH.get(raw, FinishReason.OTHER) if raw else None
    if body.get("aborted") is True:
        finish = FinishReason.ABORTED
    return Reading(
        pieces=[piece for number, choice in enumerate(choices) for piece in _pieces(choice.message, number)],
        response_id=parsed.id or None,
        choices=len(choices),
        finish=FinishReason.ERROR if failed else finish,
        finish_raw=raw,
        counts=_counts(parsed.usage) if parsed.usage else None,
        usage=usage if isinstance(usage, dict) else None,
        error_type=code if failed else None,
        error_message=message if failed and isinstance(message, str) else None,
    )


def _pieces(message: Message, choice: int) -> list[Piece]:
    pieces: list[Piece] = []
    if message.reasoning_content:
        source, form = ThinkingSource.FIELD, ThinkingForm.FULL
        pieces.append(Piece(PieceKind.THINKING, message.reasoning_content, choice, source=source, form=form))
    items = [message.content] if isinstance(message.content, str) else message.content or []
    for item in items:
        text = _text_of(item)
        pieces.append(Piece(PieceKind.OTHER, "", choice) if text is None else Piece(PieceKind.ANSWER, text, choice))
    return pieces + [Piece(PieceKind.TOOL_CALL, "", choice)] * len(message.tool_calls or [])


def _counts(usage: Usage) -> Counts:
    inputs = usage.prompt_tokens_details or InputDetails()
    outputs = usage.output_tokens_details or OutputDetails()
    others = usage.completion_tokens_details or OutputDetails()
    reasoning = outputs.reasoning_tokens if outputs.reasoning_tokens is not None else others.reasoning_tokens
    return Counts(
        prompt=usage.input_tokens,
        completion=usage.output_tokens,
        reasoning=reasoning,
        total=usage.total_tokens,
        cached=inputs.cached_tokens,
        cache_write=inputs.cache_creation_input_tokens,
        convention=ReasoningBasis.INSIDE,
    )


# Requests


def asked(request: dict[str, Any]) -> Asked:
    """Read the request. Whether it asks for a stream stands in a header (``X-DashScope-SSE``), not in the body."""
    return asked_openai_shaped(request)
