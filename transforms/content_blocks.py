"""Content blocks as frameworks store them, whatever package wrote them, to pieces.

Frameworks pass the blocks of providers on, each renamed a little, and the same word in ``type`` names several shapes
(reference protocols-native 1.5). Which key holds the text, and whether it is a text or a list, tells them apart.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from schemas.reading import MalformedBodyError, Piece
from schemas.vocabulary import PieceKind, ThinkingForm, ThinkingSource
from schemas.wire.content_block import ContentBlock
from transforms.thinking_form import shown_form

_ANSWERS = frozenset({"text", "output_text", "text-plain"})
_THOUGHTS = frozenset({"thinking", "reasoning", "reasoning_content"})
_CALLS = frozenset({"tool_use", "tool_call", "tool-call", "function_call", "tool_call_chunk"})
_THOUGHT_KEYS = ("thinking", "reasoning", "text", "content")
_REDACTED_KEYS = frozenset({"redactedData", "redactedContent", "redacted_content"})
_ENCRYPTED_KEYS = frozenset({"reasoningEncryptedContent", "encrypted_content"})


def pieces_of(content: object, *, model: str | None, choice: int = 0, apart: bool = False) -> Iterator[Piece]:
    """The pieces of a message's content: a text, a list of blocks and texts, or null.

    ``apart`` says that the framework gives each part of a thinking summary a block of its own, so that neighbouring
    blocks are parts and not pieces of one text. Raises ``MalformedBodyError`` for content of another type.
    """
    if isinstance(content, str):
        yield Piece(PieceKind.ANSWER, content, choice)
    elif isinstance(content, list):
        for number, block in enumerate(content):
            if isinstance(block, str):
                yield Piece(PieceKind.ANSWER, block, choice)
            elif isinstance(block, dict):
                yield from block_pieces(block, model=model, choice=choice, part=number if apart else 0)
            else:
                raise MalformedBodyError(f"content.{number}: {type(block).__name__}, neither a block nor a text")
    elif content is not None:
        raise MalformedBodyError(f"content: {type(content).__name__}, neither a text nor a list")


def block_pieces(stored: Mapping[str, Any], *, model: str | None, choice: int = 0, part: int = 0) -> Iterator[Piece]:
    """The pieces of one block; a block of a kind that holds neither text nor thinking only separates its neighbours."""
    block = ContentBlock.model_validate(stored)
    kind = block.type
    if kind in _ANSWERS:
        text = block.text if block.text is not None else block.content
        yield Piece(PieceKind.ANSWER, _joined(text, "text"), choice)
    elif kind in _THOUGHTS:
        yield from _thoughts(block, model, choice, part)
    elif kind == "redacted_thinking":
        yield Piece(PieceKind.REDACTED, choice=choice, form=ThinkingForm.REDACTED)
    elif kind in _CALLS:
        yield Piece(PieceKind.TOOL_CALL, choice=choice)
    elif kind == "refusal":
        yield Piece(PieceKind.ANSWER, _joined(block.refusal, "refusal"), choice)
    else:
        yield Piece(PieceKind.OTHER, choice=choice)


def thought(text: str, *, model: str | None, choice: int = 0, part: int = 0, field: bool = False) -> Piece:
    """A thinking text; one of white space only is a thought whose text was withheld."""
    if not text or text.isspace():
        return Piece(PieceKind.REDACTED, choice=choice, form=ThinkingForm.OMITTED)
    source = ThinkingSource.FIELD if field else ThinkingSource.BLOCK
    return Piece(PieceKind.THINKING, text, choice, part, source, shown_form(model))


def _thoughts(block: ContentBlock, model: str | None, choice: int, part: int) -> Iterator[Piece]:
    texts = [text for text in _texts(block) if text and not text.isspace()]
    if not texts:
        yield Piece(PieceKind.REDACTED, choice=choice, form=_withheld(block))
        return
    form = ThinkingForm.SUMMARY if _is_summary(block.summary) else shown_form(model)
    for number, text in enumerate(texts):
        yield Piece(PieceKind.THINKING, text, choice, part + number, ThinkingSource.BLOCK, form)


def _is_summary(items: object) -> bool:
    """OpenAI's items say that they are a summary; Cohere's package has the whole thinking under the same key."""
    return isinstance(items, list) and any(isinstance(i, dict) and i.get("type") == "summary_text" for i in items)


def _texts(block: ContentBlock) -> list[str]:
    """The texts of a thinking block; the parts of a summary apart."""
    for key in _THOUGHT_KEYS:
        value = getattr(block, key)
        if value:
            return [_joined(value, key)]
    nested = block.reasoning_content
    if isinstance(nested, dict):  # Bedrock's, in LangChain
        return [_joined(nested.get("text"), "reasoning_content.text")]
    if nested:
        return [_joined(nested, "reasoning_content")]
    if isinstance(block.summary, list):
        return [_joined(item, "summary") for item in block.summary]
    if isinstance(block.details, list):  # AI SDK 4
        return [_joined(block.details, "details")]
    return [_joined(block.summary, "summary")]


def _joined(value: object, where: str) -> str:
    """A text, an object that has one under ``text``, or a list of either, joined with nothing."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, dict):
        return _joined(value.get("text"), where)
    if isinstance(value, list):
        return "".join(_joined(item, where) for item in value)
    raise MalformedBodyError(f"{where}: {type(value).__name__}, not a text")


def _withheld(block: ContentBlock) -> ThinkingForm:
    """Why a thinking block has no text: the payload beside it says."""
    if block.encrypted_content:
        return ThinkingForm.ENCRYPTED
    places = [*_inner(block.provider_metadata), *_inner(block.provider_options), block.extras, block.reasoning_content]
    payloads = [place for place in places if isinstance(place, dict)]
    if any(place.get(key) for place in payloads for key in _REDACTED_KEYS) or _has_redacted(block.details):
        return ThinkingForm.REDACTED
    if any(place.get(key) for place in payloads for key in _ENCRYPTED_KEYS):
        return ThinkingForm.ENCRYPTED
    return ThinkingForm.OMITTED


def _inner(metadata: dict[str, Any] | None) -> Iterable[object]:
    return metadata.values() if metadata else ()


def _has_redacted(details: object) -> bool:
    items = details if isinstance(details, list) else []
    return any(isinstance(item, dict) and item.get("type") == "redacted" for item in items)
