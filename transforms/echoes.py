"""Prompts that stand in front of an answer because the request asked for it: prompts are never stored.

OpenAI's completions and Aleph Alpha call it ``echo``, Text Generation Inference ``return_full_text``, watsonx
``return_options.input_text``.
"""

from schemas.reading import Piece
from schemas.vocabulary import PieceKind


def without_prompts(pieces: list[Piece], prompts: tuple[str, ...], choices: int | None) -> list[Piece]:
    """Take each answer's own prompt off its front; a text that does not begin with it stays as it is.

    ``choices`` are the answers' number: several prompts are answered in order, each by as many of them.
    """
    if not prompts or (choices or 1) % len(prompts):
        return pieces
    answers_each = (choices or 1) // len(prompts)
    kept: list[Piece] = []
    begun: set[int] = set()
    for piece in pieces:
        if piece.kind is PieceKind.ANSWER and piece.choice not in begun:
            begun.add(piece.choice)
            text = piece.text.removeprefix(prompts[min(piece.choice // answers_each, len(prompts) - 1)])
            if not text:
                continue
            piece = piece._replace(text=text)  # noqa: PLW2901 - the same piece without its prompt
        kept.append(piece)
    return kept


def prompts_of(stated: object) -> tuple[str, ...]:
    """The prompts of a request, where they are text: one, or a list of them; none of tokens or images."""
    if isinstance(stated, str):
        return (stated,)
    texts = [one for one in stated if isinstance(one, str)] if isinstance(stated, list) else []
    return tuple(texts) if isinstance(stated, list) and len(texts) == len(stated) else ()
