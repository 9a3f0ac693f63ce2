"""OpenAI Assistants: a run that has ended, with its usage; its messages are other objects, and hold no counts.

Surface      A stream's ``thread.message.delta`` events hold the answer; a stored run holds no text at all. Thinking is
             never shown. ``required_action`` names calls for the client.
Tokens       ``usage`` of the run, over all its steps; reasoning inside ``completion_tokens``.
Effort       ``reasoning_effort`` of the run, as asked for or as the assistant has it.
Stream       ``thread.run.*`` events each hold the whole run: the last one counts. Steps' usage is a part of the run's.
A run that has not ended is no call yet: one run is stored many times while it is polled (``transforms/not_calls.py``).
Sources      OpenAI's API reference on runs, and recorded traffic.
"""

from collections.abc import Mapping
from typing import Any

from schemas.exchange import JsonObject, Stream
from schemas.reading import Asked, Counts, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ReasoningBasis
from schemas.wire.openai_assistants import Run, Usage
from transforms.asked import asked_openai_shaped
from transforms.clock import from_epoch
from transforms.errors import read_error
from transforms.wire_models import parse

NAME = "openai_assistants"
MARKS = frozenset({"object"})
PATHS = ("/threads/",)
VENDOR = "openai"
BEGINS = None

_FINISH = {
    "completed": FinishReason.STOP,
    "incomplete": FinishReason.OTHER,
    "requires_action": FinishReason.TOOL_CALLS,
    "failed": FinishReason.ERROR,
    "expired": FinishReason.ERROR,
    "cancelled": FinishReason.ABORTED,
    "queued": None,
    "in_progress": None,
    "cancelling": None,
}
_ENDED = ("completed", "incomplete", "failed", "expired", "cancelled")
_LIMITS = ("max_completion_tokens", "max_prompt_tokens")
_DELTAS = ("thread.message.delta", "thread.run.step.delta")


def claims(body: Mapping[str, Any]) -> bool:
    kind = body.get("object")
    if kind == "thread.run":
        return body.get("status") in _ENDED or isinstance(body.get("usage"), dict)
    return kind in _DELTAS


def claims_request(request: Mapping[str, Any]) -> bool:
    return "assistant_id" in request


def fold(stream: Stream) -> dict[str, Any]:
    """The last run of a stream, with the messages' ``texts`` in order."""
    run: JsonObject = {}
    texts: dict[object, list[str]] = {}
    for event in stream.events:
        kind = event.get("object")
        if kind == "thread.run":
            run = event
        elif kind == "thread.message.delta":
            texts.setdefault(str(event.get("id")), []).extend(_deltas(event.get("delta")))
        elif event.get("error"):
            run = {**run, "last_error": event["error"]}
    return {**run, "texts": ["".join(parts) for parts in texts.values()]}


def _deltas(delta: object) -> list[str]:
    parts = delta.get("content") if isinstance(delta, dict) else None
    found = []
    for part in parts if isinstance(parts, list) else ():
        text = part.get("text") if isinstance(part, dict) else None
        value = text.get("value") if isinstance(text, dict) else None
        if isinstance(value, str):
            found.append(value)
    return found


def read(body: dict[str, Any]) -> Reading:
    if body.get("object") in _DELTAS and "texts" not in body:  # one event that was stored alone
        body = fold(Stream([body]))
    run = parse(Run, body)
    failure = read_error({"error": run.last_error}) if run.last_error else None
    finish, raw = _finish(run)
    pieces = [Piece(PieceKind.ANSWER, text, part=place) for place, text in enumerate(run.texts or ()) if text]
    pieces += [Piece(PieceKind.TOOL_CALL)] * _calls(run.required_action)
    return Reading(
        pieces=pieces,
        response_id=run.id or None,
        session_id=run.thread_id or None,
        model=run.model or None,
        created_at=from_epoch(run.created_at) if run.created_at else None,
        choices=1 if pieces or finish not in (FinishReason.ERROR, FinishReason.ABORTED, None) else None,
        finish=FinishReason.ERROR if failure else finish,
        finish_raw=raw,
        counts=_counts(run.usage) if run.usage else None,
        usage=body["usage"] if run.usage else None,
        effort_reported=run.reasoning_effort or None,
        effort_is_echo=True,
        error_type=failure.type if failure else None,
        error_message=failure.message if failure else None,
    )


def _finish(run: Run) -> tuple[FinishReason | None, str | None]:
    """A run says ``completed`` though a limit cut its answer: the reason beside it tells."""
    reason = run.incomplete_details.reason if run.incomplete_details else None
    if reason and run.status in ("completed", "incomplete"):
        return (FinishReason.LENGTH if reason in _LIMITS else FinishReason.OTHER), reason
    return (_FINISH.get(run.status, FinishReason.OTHER) if run.status else None), run.status or None


def _calls(action: JsonObject | None) -> int:
    outputs = action.get("submit_tool_outputs") if action else None
    calls = outputs.get("tool_calls") if isinstance(outputs, dict) else None
    return len(calls) if isinstance(calls, list) else 0


def _counts(usage: Usage) -> Counts:
    into, out = usage.prompt_token_details, usage.completion_tokens_details
    return Counts(
        prompt=usage.prompt_tokens,
        completion=usage.completion_tokens,
        reasoning=out.reasoning_tokens if out else None,
        total=usage.total_tokens,
        cached=into.cached_tokens if into else None,
        convention=ReasoningBasis.INSIDE,
    )


def asked(request: dict[str, Any]) -> Asked:
    return asked_openai_shaped(request)
