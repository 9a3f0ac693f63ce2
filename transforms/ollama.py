"""What Ollama's two endpoints share: lines folded into one body, counts, the end, and what a request asks for.

Counts stand at the top of the last line only. No split of the reasoning exists: ``eval_count`` holds the thinking
(reference on native protocols, section 11). A stream is what a request gets that does not say otherwise.
"""

from collections.abc import Iterator
from typing import Any

from schemas.exchange import JsonObject, Stream
from schemas.reading import Asked, Counts, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ThinkingForm, ThinkingSource
from schemas.wire.ollama import Body
from transforms import clock
from transforms.asked import asked_openai_shaped
from transforms.errors import read_error

_FINISH = {"stop": FinishReason.STOP, "length": FinishReason.LENGTH}
_NO_GENERATION = ("load", "unload")
"""Ends of requests that only load a model or let it go."""
_COUNTS = ("prompt_eval_count", "eval_count")
_LARGEST_LIMIT = 2**53


def is_line(body: Any) -> bool:
    """Tell whether a body is an answer, or one line of one: ``done`` says whether it is the last."""
    return isinstance(body.get("done"), bool) and body.get("done_reason") not in _NO_GENERATION


def last_line(stream: Stream) -> JsonObject:
    """The line that says how the answer ended, with the error that broke it, if one did.

    ``aborted`` marks an answer whose last line never came, though nothing is cut off. Raises ``MalformedBodyError``
    where lines follow the last one: they are another answer's.
    """
    last: JsonObject = {}
    for event in stream.events:
        if last.get("done") is True and "done" in event:
            raise MalformedBodyError("lines follow the one that says done: each answer is a call of its own")
        if event.get("error"):
            last = {**last, "error": event["error"]}
        elif "done" in event:
            last = event
    if not (last.get("done") is True or "error" in last or stream.cut):
        last = {**last, "aborted": True}
    return last


def said(thinking: str | None, answer: str | None, tool_calls: int = 0) -> Iterator[Piece]:
    """The pieces of an answer in the order in which a model gives them."""
    if thinking:
        yield Piece(PieceKind.THINKING, thinking, source=ThinkingSource.FIELD, form=ThinkingForm.FULL)
    if answer:
        yield Piece(PieceKind.ANSWER, answer)
    yield from [Piece(PieceKind.TOOL_CALL)] * tool_calls


def reading(body: JsonObject, parsed: Body, pieces: list[Piece]) -> Reading:
    """Read what both bodies have in common."""
    failure = read_error(body) if body.get("error") else None
    counted = {name: body[name] for name in _COUNTS if body.get(name) is not None}
    return Reading(
        pieces=pieces,
        model=parsed.model,
        created_at=clock.from_iso(parsed.created_at) if parsed.created_at else None,
        choices=1,
        finish=FinishReason.ERROR if failure else _finish(body, parsed.done_reason),
        finish_raw=parsed.done_reason or None,
        counts=Counts(prompt=parsed.prompt_eval_count, completion=parsed.eval_count) if counted else None,
        usage=counted or None,
        error_type=failure.type if failure else None,
        error_message=failure.message if failure else None,
    )


def _finish(body: JsonObject, reason: str | None) -> FinishReason | None:
    if body.get("aborted") is True:
        return FinishReason.ABORTED
    return _FINISH.get(reason, FinishReason.OTHER) if reason else None


def asked(request: JsonObject) -> Asked:
    """Read a request: ``think`` is a switch or a level, ``options.num_predict`` the limit (negative: none)."""
    found = asked_openai_shaped(request)
    if found.stream is None:
        found.stream = True
    options = request.get("options")
    limit = options.get("num_predict") if isinstance(options, dict) else None
    is_limit = isinstance(limit, int) and not isinstance(limit, bool) and 0 < limit <= _LARGEST_LIMIT
    found.max_output_tokens = limit if is_limit else None
    return found
