"""nr-llm's CompletionResponse (TYPO3), serialised by its public properties.

Surface  ``thinking`` holds native and inline thinking already merged (ADR-016); ``content`` is the answer.
Tokens   ``usage`` knows prompt, completion and total only; the total is always their sum, and nothing counts reasoning.
Effort   ``metadata.nrllm_reasoning_effort`` is the effort that ran, and ``…_source`` says whether the provider reported
         it or the request set it (ADR-204); absent where the provider has no such scale.
Stream   None: nr-llm keeps the completed response.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Asked, Counts, Piece, Reading
from schemas.vocabulary import EffortSource, PieceKind, ReasoningBasis, ThinkingSource
from schemas.wire.nr_llm_completion import Completion, Usage
from transforms.asked import asked_openai_shaped
from transforms.finish_words import to_finish
from transforms.thinking_form import shown_form
from transforms.wire_models import parse

NAME = "nr_llm_completion"
MARKS = frozenset({"finishReason"})
PATHS = ()
VENDOR = None
BEGINS = None

_FROM_PROVIDER = "provider"


def claims(body: Mapping[str, Any]) -> bool:
    usage = body.get("usage")
    return (
        "finishReason" in body
        and "model" in body
        and isinstance(body.get("content"), str)
        and isinstance(usage, dict)
        and "promptTokens" in usage
    )


def claims_request(request: Mapping[str, Any]) -> bool:  # noqa: ARG001 - ChatOptions look like any chat request
    return False


def fold(stream: Stream) -> dict[str, Any]:
    return stream.events[-1]


def asked(request: dict[str, Any]) -> Asked:
    return asked_openai_shaped(request)


def read(body: dict[str, Any]) -> Reading:
    completion = parse(Completion, body)
    usage = completion.usage or Usage()
    cost = usage.estimated_cost
    reading = Reading(
        pieces=_pieces(completion),
        model=completion.model or None,
        choices=1,
        finish=to_finish(completion.finish_reason),
        finish_raw=completion.finish_reason or None,
        counts=Counts(
            prompt=usage.prompt_tokens,
            completion=usage.completion_tokens,
            total=usage.total_tokens,
            convention=ReasoningBasis.INSIDE,
        ),
        usage=body["usage"] if isinstance(body.get("usage"), dict) else None,
        cost_usd=None if cost is None else Decimal(str(cost)),
        provider_hint=completion.provider or None,
    )
    metadata = completion.metadata
    if metadata is not None and metadata.effort_source == _FROM_PROVIDER:
        reading.effort_reported = metadata.effort
    elif metadata is not None:
        reading.effort_reported, reading.effort_source = metadata.effort, EffortSource.REQUEST
    return reading


def _pieces(completion: Completion) -> list[Piece]:
    pieces: list[Piece] = []
    if completion.thinking:
        form = shown_form(completion.model)
        # Its tags may have stood anywhere in the content: where a family is known to summarise, it never writes tags.
        pieces.append(Piece(PieceKind.THINKING, completion.thinking, source=ThinkingSource.FIELD, form=form))
    if completion.content:
        pieces.append(Piece(PieceKind.ANSWER, completion.content))
    pieces += [Piece(PieceKind.TOOL_CALL) for _ in completion.tool_calls or ()]
    return pieces
