"""Gemini Interactions (``/interactions``), with ``steps`` or, before June 2026, with ``outputs``.

Surface   Steps in order: ``thought`` (``summary[]`` texts; often a signature alone), ``model_output`` (answer),
          ``function_call`` (a call for the client); all others are the server's own work, or the user's input.
          The first generation has the parts themselves as ``outputs``, with ``text`` for an answer.
Tokens    ``total_thought_tokens`` beside ``total_output_tokens``, ``total_tool_use_tokens`` beside the input.
Effort    ``generation_config.thinking_level`` of the resource mirrors the request's.
Stream    Lifecycle events hold a partial resource, steps come as deltas by ``index``; folded by ``stream.py``.
Sources   Reference on native protocols, section 9.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Asked, Counts, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ReasoningBasis, ThinkingForm, ThinkingSource
from schemas.wire.gemini_interactions import Content, Interaction, Request, Step, Usage
from transforms import clock
from transforms.asked import read_level, spelled
from transforms.errors import read_error
from transforms.protocols.gemini_interactions.stream import fold_events
from transforms.wire_models import parse

NAME = "gemini_interactions"
MARKS = frozenset({"object", "event_type", "steps", "outputs"})
PATHS = ("/interactions",)
VENDOR = "google"
BEGINS = None

_EVENTS = ("interaction.", "step.", "content.")
_OWN_KEYS = frozenset({"generation_config", "previous_interaction_id", "agent", "agent_config"})
_FINISH = {
    "completed": FinishReason.STOP,
    "incomplete": FinishReason.LENGTH,
    "requires_action": FinishReason.TOOL_CALLS,
    "failed": FinishReason.ERROR,
    "cancelled": FinishReason.ABORTED,
    "in_progress": None,
    "queued": None,
}
_NOTHING_CAME = (FinishReason.ERROR, FinishReason.ABORTED, None)
_PARTS_APART = 1000


def claims(body: Mapping[str, Any]) -> bool:
    if body.get("object") == "interaction":
        return True
    kind = body.get("event_type")
    if isinstance(kind, str):
        return kind.startswith(_EVENTS) or (kind == "error" and "error" in body)
    usage = body.get("usage")
    return (
        (isinstance(body.get("steps"), list) or isinstance(body.get("outputs"), list))
        and "status" in body
        and isinstance(usage, dict)
        and "total_input_tokens" in usage
    )


def claims_request(request: Mapping[str, Any]) -> bool:
    return "input" in request and not _OWN_KEYS.isdisjoint(request)


def fold(stream: Stream) -> dict[str, Any]:
    return fold_events(stream)


def read(body: dict[str, Any]) -> Reading:
    if "event_type" in body:  # one event that was stored alone
        body = fold(Stream([body]))
    interaction = parse(Interaction, body)
    usage, status = interaction.usage, interaction.status or None
    pieces = list(_pieces(interaction.steps or interaction.outputs or [], usage))
    failure = read_error(body) if body.get("error") else None
    finish = _FINISH.get(status, FinishReason.OTHER) if status else None
    mirrored = interaction.generation_config
    effort = spelled(mirrored.thinking_level) if mirrored else None
    return Reading(
        pieces=pieces,
        response_id=interaction.id or None,
        model=interaction.model or interaction.agent or None,
        created_at=clock.from_iso(interaction.created) if interaction.created else None,
        choices=1 if pieces or finish not in _NOTHING_CAME else None,
        finish=FinishReason.ERROR if failure else finish,
        finish_raw=status,
        counts=_counts(usage) if usage else None,
        usage=body["usage"] if usage else None,
        effort_reported=effort,
        effort_is_echo=effort is not None,
        service_tier=interaction.service_tier or None,
        error_type=failure.type if failure else None,
        error_message=failure.message if failure else None,
    )


def _pieces(steps: list[Step], usage: Usage | None) -> Iterator[Piece]:
    unthought = usage is not None and usage.total_thought_tokens == 0
    for place, step in enumerate(steps):
        part = place * _PARTS_APART
        if step.type == "thought":
            yield from _thought(step, part, unthought=unthought)
        elif step.type == "model_output":
            yield from _said(step.content, part)
        elif step.type == "text" and step.text:
            yield Piece(PieceKind.ANSWER, step.text, part=part)
        else:
            yield Piece(PieceKind.TOOL_CALL if step.type == "function_call" else PieceKind.OTHER)


def _thought(step: Step, part: int, *, unthought: bool) -> Iterator[Piece]:
    """The summary's texts. A thought without any is withheld; where none was counted, it only carries a signature."""
    summary = [Content(text=step.summary)] if isinstance(step.summary, str) else step.summary
    texts = [content.text for content in summary or () if content.text and not content.text.isspace()]
    for number, text in enumerate(texts, start=part):
        yield Piece(PieceKind.THINKING, text, part=number, source=ThinkingSource.BLOCK, form=ThinkingForm.SUMMARY)
    if not texts:
        yield Piece(PieceKind.OTHER) if unthought else Piece(PieceKind.REDACTED, form=ThinkingForm.OMITTED)


def _said(contents: list[Content] | str | None, part: int) -> Iterator[Piece]:
    for content in [Content(text=contents)] if isinstance(contents, str) else contents or ():
        if content.type in ("text", None) and content.text:
            yield Piece(PieceKind.ANSWER, content.text, part=part)
        elif content.type not in ("text", None):
            yield Piece(PieceKind.OTHER)


def _counts(usage: Usage) -> Counts:
    prompt = usage.total_input_tokens
    return Counts(
        prompt=None if prompt is None else prompt + (usage.total_tool_use_tokens or 0),
        completion=usage.total_output_tokens,
        reasoning=usage.total_thought_tokens,
        total=usage.total_tokens,
        cached=usage.total_cached_tokens,
        convention=ReasoningBasis.ON_TOP,
    )


def asked(request: dict[str, Any]) -> Asked:
    wanted = Request.model_validate(request)
    config = wanted.generation_config
    level = read_level(config.thinking_level if config else None)
    model = wanted.model if isinstance(wanted.model, str) else wanted.agent
    return Asked(
        model=model.removeprefix("models/") if model else None,
        stream=wanted.stream,
        thinking=level.switch,
        effort=level.effort,
        effort_raw=level.raw,
        max_output_tokens=(config.max_output_tokens if config else None) or None,
        service_tier=wanted.service_tier or None,
    )
