"""What a protocol reads from bodies: the pieces in order, the counts as they were, what was asked for.

A reading keeps the provider's facts apart; what they mean together (which tokens are billed, which effort ran, which
text is thinking) is decided in one place for all protocols, by ``transforms/normalise.py`` and the functions it calls.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from schemas.vocabulary import (
    Effort,
    EffortSource,
    FinishReason,
    PieceKind,
    ReasoningBasis,
    ThinkingForm,
    ThinkingSource,
    ThinkingSwitch,
)


class MalformedBodyError(ValueError):
    """A body that a protocol claims holds another type where meaning is carried; the text says where and what."""


class Piece(NamedTuple):
    """One piece of a response, in the order in which the provider gave it.

    Neighbours of one kind, choice and part are one text and are joined with nothing; a blank line stands only where
    something else stood between, or where ``part`` differs (another output item, another summary part).
    ``form`` says of THINKING whether the text is full or a summary, and of REDACTED why there is no text.
    ``signed`` marks answer text that carries a signature of its own (pi leaves such text alone).
    """

    kind: PieceKind
    text: str = ""
    choice: int = 0
    part: int = 0
    source: ThinkingSource | None = None
    form: ThinkingForm | None = None
    signed: bool = False


@dataclass(slots=True)
class Counts:
    """A usage object's counts as reported; null is not reported. ``transforms/usage.py`` says what they mean."""

    prompt: int | None = None
    """Input tokens; parts that the protocol counts beside it (cache, tool-use prompt) are already added."""
    completion: int | None = None
    reasoning: int | None = None
    total: int | None = None
    cached: int | None = None
    cache_write: int | None = None
    cache_write_1h: int | None = None
    beside: int = 0
    """Input tokens (audio, images) listed in the details which may stand outside ``prompt``: they may explain a gap."""
    convention: ReasoningBasis | None = None
    """INSIDE or ON_TOP: what the protocol documents, followed where there is no total."""
    proof: ReasoningBasis | None = None
    """INSIDE or ON_TOP where the body itself proves it (a cost that only one reading gives, a gateway's own sum)."""
    estimated: bool = False
    """The host is known to estimate the reasoning count."""


@dataclass(slots=True)
class FurtherSpend:
    """A run of another model within one answer, billed beside it at that model's price: a call without a text."""

    purpose: str
    """What it was for: ``advisor``."""
    model: str | None
    counts: Counts
    usage: dict[str, Any]
    """The counts as they were."""


@dataclass(slots=True)
class Asked:
    """What a request asked for. Null: the request does not say."""

    model: str | None = None
    stream: bool | None = None
    thinking: ThinkingSwitch | None = None
    budget: int | None = None
    effort: Effort | None = None
    effort_raw: str | None = None
    max_output_tokens: int | None = None
    service_tier: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    tags: dict[str, str] | None = None
    reasoning_format: str | None = None
    """How the host is told to hand over the thinking: ``raw``, ``parsed``, ``hidden``, … (Cerebras, llama.cpp)."""
    echoed: tuple[str, ...] = ()
    """The prompts that the request asks to have repeated in front of the answers, in the answers' order."""
    fallbacks: dict[str, "Asked"] | None = None
    """What is sent to each model that may answer in this one's place, where the request lists them."""


@dataclass(slots=True)
class Reading:
    """One response body, read. ``created_at`` is microseconds since 1970 UTC."""

    pieces: list[Piece] = field(default_factory=list)
    response_id: str | None = None
    session_id: str | None = None
    model: str | None = None
    created_at: int | None = None
    choices: int | None = None
    finish: FinishReason | None = None
    finish_raw: str | None = None
    counts: Counts | None = None
    usage: dict[str, Any] | None = None
    """The usage object as it was."""
    also: list[FurtherSpend] = field(default_factory=list)
    """What other models' runs within this answer cost; no part of ``counts``."""
    fell_back: bool = False
    """The model that was asked declined, and ``model`` is one of the request's fallbacks."""
    effort_reported: str | None = None
    """An effort that the response states, as spelled."""
    effort_is_echo: bool = False
    """The server is known merely to repeat the request's effort."""
    effort_source: EffortSource | None = None
    """Who says so, where the body itself names it."""
    service_tier: str | None = None
    cost_usd: Decimal | None = None
    error_type: str | None = None
    error_message: str | None = None
    listed: bool = False
    """The body was a stored list of whole messages, which is no captured stream."""
    provider_hint: str | None = None
    """A host that the body itself proves (``openrouter`` by its ``provider`` key, ``groq`` by ``x_groq``, …)."""
