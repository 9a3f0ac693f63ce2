"""pi-ai's assistant messages, one shape for all the APIs that the pi agent calls.

Surface  ``content[]`` in order: ``thinking`` (text, or none where it was withheld), ``text``, ``toolCall``. A text with
         a ``textSignature`` is left alone by the policy ``paired_pi``.
Tokens   Cache reads and writes stand beside ``input``; ``reasoning`` is inside ``output``. Versions of March 2026 added
         it to an output that held it already: where the total shows this, it is taken off again. A message that failed
         starts with zeros, which count nothing.
Effort   ``thinkingLevel`` is asked for (in a message, or in force in its session), ``providerThinkingLevel`` ran.
Source   Reference on envelopes, 3.23 and 6.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Asked, Counts, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ReasoningBasis, ThinkingForm, ThinkingSource
from schemas.wire.pi_ai import Block, Message, Usage
from transforms import clock
from transforms.asked import read_level
from transforms.wire_models import parse

NAME = "pi_ai"
MARKS = frozenset({"stopReason"})
PATHS = ()
VENDOR = None
BEGINS = None

_FINISH = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "toolUse": FinishReason.TOOL_CALLS,
    "error": FinishReason.ERROR,
    "aborted": FinishReason.ABORTED,
}
_FULL_APIS = ("openai-completions", "mistral")
"""APIs whose thinking is all that the model thought; the others give summaries, but for the Claude families below."""
_FULL_MODELS = ("claude-3", "claude-2")


def claims(body: Mapping[str, Any]) -> bool:
    return body.get("role") == "assistant" and "stopReason" in body and "provider" in body and "content" in body


def claims_request(request: Mapping[str, Any]) -> bool:
    return "thinkingLevel" in request


def fold(stream: Stream) -> dict[str, Any]:
    if len(stream.events) > 1:
        raise MalformedBodyError("several messages in one response")
    return stream.events[0]


def asked(request: dict[str, Any]) -> Asked:
    wish = read_level(request.get("thinkingLevel"))
    return Asked(thinking=wish.switch, effort=wish.effort, effort_raw=wish.raw)


def read(body: dict[str, Any]) -> Reading:
    message = parse(Message, body)
    blocks = [Block(type="text", text=message.content)] if isinstance(message.content, str) else message.content
    finish = _FINISH.get(message.stopReason, FinishReason.OTHER) if message.stopReason else None
    counts = _counts(message.usage) if message.usage else None
    usage = body.get("usage")
    return Reading(
        pieces=[_piece(block, message) for block in blocks],
        response_id=message.responseId,
        model=message.responseModel or message.model,
        created_at=clock.from_any(message.timestamp),
        choices=1,
        finish=finish,
        finish_raw=message.stopReason,
        counts=counts,
        usage=usage if isinstance(usage, dict) else None,
        effort_reported=message.providerThinkingLevel,
        cost_usd=_cost(message.usage) if message.usage and counts else None,
        error_message=message.errorMessage,
    )


def _piece(block: Block, message: Message) -> Piece:
    match block.type:
        case "text":
            return Piece(PieceKind.ANSWER, block.text or "", signed=block.textSignature is not None)
        case "thinking":
            return _thinking(block, message)
        case "toolCall":
            return Piece(PieceKind.TOOL_CALL)
        case _:
            return Piece(PieceKind.OTHER)


def _thinking(block: Block, message: Message) -> Piece:
    text = block.thinking or ""
    if block.redacted:
        return Piece(PieceKind.REDACTED, form=ThinkingForm.REDACTED)
    if not text or text.isspace():
        return Piece(PieceKind.REDACTED, form=ThinkingForm.OMITTED)
    full = (message.api or "").startswith(_FULL_APIS) or any(name in (message.model or "") for name in _FULL_MODELS)
    form = ThinkingForm.FULL if full else ThinkingForm.SUMMARY
    return Piece(PieceKind.THINKING, text, source=ThinkingSource.BLOCK, form=form)


def _counts(usage: Usage) -> Counts | None:
    read_back, written = usage.cacheRead, usage.cacheWrite
    if not (usage.input or usage.output or read_back or written):
        return None
    prompt = None if usage.input is None else usage.input + (read_back or 0) + (written or 0)
    counted = Counts(
        prompt=prompt,
        completion=usage.output,
        reasoning=usage.reasoning,
        total=usage.totalTokens or None,
        cached=read_back,
        cache_write=written,
        cache_write_1h=usage.cacheWrite1h,
        convention=ReasoningBasis.INSIDE,
    )
    if _counts_reasoning_twice(counted):
        counted.completion = (counted.completion or 0) - (counted.reasoning or 0)
    return counted


def _counts_reasoning_twice(counts: Counts) -> bool:
    """Whether the total proves that the output holds the reasoning a second time."""
    prompt, completion, reasoning, total = counts.prompt, counts.completion, counts.reasoning, counts.total
    if not reasoning or prompt is None or completion is None or total is None:
        return False
    return total == prompt + completion - reasoning and completion >= 2 * reasoning


def _cost(usage: Usage) -> Decimal | None:
    """What the provider says; ``total`` is pi-ai's own reckoning."""
    stated = usage.cost.totalFromProvider if usage.cost else None
    return None if stated is None else Decimal(repr(stated))
