"""The thinking of one Chat Completions message, from up to six places, counted once.

Hosts repeat one text in a field, under a second name, in a list of details and in a copy of the upstream's blocks
(reference 1.2, 7.2). A field's text beats a list that says the same; a list that holds more beats the field.
"""

from typing import Any

from schemas.reading import Piece
from schemas.vocabulary import PieceKind, ThinkingForm, ThinkingSource
from schemas.wire.openai_chat import Message

_THINKING, _REDACTED = PieceKind.THINKING, PieceKind.REDACTED
PLACEHOLDERS: dict[str, ThinkingForm] = {
    "Thinking...": ThinkingForm.OMITTED,  # xAI, reference 2.8
    "[REDACTED]": ThinkingForm.REDACTED,
    "redacted-by-litellm": ThinkingForm.REDACTED,
    "[Some reasoning content is encrypted]": ThinkingForm.ENCRYPTED,  # Venice, reference 2.22
}
"""Texts that stand where thinking was withheld, alone or repeated: they are no thinking."""
_LONGEST_PLACEHOLDER = max(map(len, PLACEHOLDERS)) + 2
_SIGNATURES = "google-gemini"
"""Gemini's thought signatures come as encrypted details of this format: they show no thought (reference 2.10)."""


def thinking_pieces(message: Message, choice: int) -> list[Piece]:
    """Read the thinking beside the content, in order."""
    field = _field(message)
    blocks: list[Piece] = []
    if message.thinking_blocks or message.reasoning_details or message.provider_specific_fields:
        blocks = _blocks(message, choice)
    elif message.reasoning_steps:
        blocks = _steps(message.reasoning_steps, choice)
    if field is None:
        return blocks
    if blocks and _holds_more(blocks, field):
        return blocks
    form = next((block.form for block in blocks if block.kind is _THINKING), None)
    withheld = [block for block in blocks if block.form is ThinkingForm.REDACTED]
    return [_text_piece(field, choice, ThinkingSource.FIELD, form), *withheld]


def _field(message: Message) -> str | None:
    for text in (message.reasoning_content, message.reasoning, message.reasoning_text):
        if text and not text.isspace():
            return text
    copy = (message.provider_specific_fields or {}).get("reasoning_content")
    return copy if isinstance(copy, str) and copy and not copy.isspace() else None


def _holds_more(blocks: list[Piece], field: str) -> bool:
    """Whether blocks say another text than the field, or more; hosts join blocks with white space of their own."""
    texts = [block.text for block in blocks if block.kind is _THINKING]
    if not texts or (len(texts) == 1 and texts[0] == field):
        return False
    in_blocks, in_field = ("".join("".join(some).split()) for some in (texts, [field]))
    return in_blocks not in in_field


def _blocks(message: Message, choice: int) -> list[Piece]:
    """The first list that shows thinking: LiteLLM's blocks, details, LiteLLM's copy of the upstream's blocks."""
    copies = (message.provider_specific_fields or {}).get("thinking_blocks")
    for items in (message.thinking_blocks, message.reasoning_details, copies):
        pieces = detail_pieces(items, choice) if isinstance(items, list) else []
        if pieces:
            return pieces
    return []


def detail_pieces(items: list[Any], choice: int, first_part: int = 0) -> list[Piece]:
    """Read details (OpenRouter, MiniMax) or blocks (LiteLLM, Merge); what is encrypted counts where no text is."""
    pieces: list[Piece] = []
    encrypted = False
    part, key = first_part, None
    for item in items:
        if not isinstance(item, dict):
            continue
        kind = str(item.get("type"))
        if kind == "redacted_thinking":
            pieces.append(Piece(_REDACTED, "", choice, form=ThinkingForm.REDACTED))
            continue
        if item.get("data") and kind.endswith("encrypted"):
            encrypted = encrypted or not str(item.get("format")).startswith(_SIGNATURES)
            continue
        text = item.get("text") or item.get("summary") or item.get("thinking")
        if isinstance(text, str) and text:
            one = item.get("index") if item.get("index") is not None else len(pieces)
            part, key = (part if (kind, one) == key or key is None else part + 1), (kind, one)
            form = ThinkingForm.SUMMARY if "summary" in kind else None  # else the model's family tells
            pieces.append(_text_piece(text, choice, ThinkingSource.BLOCK, form, part))
    if encrypted and not pieces:
        return [Piece(_REDACTED, "", choice, form=ThinkingForm.ENCRYPTED)]
    return pieces


def _steps(steps: list[Any], choice: int) -> list[Piece]:
    """Perplexity's ``reasoning_steps``: a thought each, beside what was searched for (reference 2.15)."""
    thoughts = [step["thought"] for step in steps if isinstance(step, dict) and isinstance(step.get("thought"), str)]
    return [
        _text_piece(thought, choice, ThinkingSource.BLOCK, ThinkingForm.FULL, part)
        for part, thought in enumerate(thoughts)
        if thought
    ]


def _text_piece(text: str, choice: int, source: ThinkingSource, form: ThinkingForm | None, part: int = 0) -> Piece:
    withheld = _placeholder(text)
    if withheld is not None:
        return Piece(_REDACTED, "", choice, form=withheld)
    return Piece(_THINKING, text, choice, part, source, form)


def _placeholder(text: str) -> ThinkingForm | None:
    if len(text) <= _LONGEST_PLACEHOLDER or text[:_SEEN] == text[_SEEN : 2 * _SEEN]:
        for word, form in PLACEHOLDERS.items():
            if word in text and not text.replace(word, "").strip():
                return form
    return None


_SEEN = len("Thinking... ")
