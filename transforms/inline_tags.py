"""Inline tags: where an answer's own text holds thinking, and where it only talks about tags.

The default policy, ``leading``, believes tags at the text's start and complete blocks behind such a start; everything
else is text, exactly as it was. The other policies follow what their systems document. Delimiters are data
(``schemas/delimiters.yaml``); Harmony's channels come before any tag (``transforms/harmony.py``).
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from schemas.delimiters import Delimiter, Delimiters, delimiters_for, policy_delimiters
from schemas.vocabulary import Effort, PieceKind, SplitRule, TagPolicy, ThinkingSource
from transforms import harmony

_FENCE = re.compile(r"^[ \t]*(`{3,}(?=[^`\n]*$)|~{3,})[ \t]*(\S?)", re.MULTILINE)
_BACKTICKS = re.compile(r"`+")


class TextPart(NamedTuple):
    """One part of a split text. Parts of one kind that touch and differ in ``part`` have a blank line between them."""

    kind: PieceKind
    text: str
    part: int


class Split(NamedTuple):
    """The parts in source order, trimmed, none of them empty but tool calls; and how they were found."""

    parts: list[TextPart]
    rule: SplitRule
    source: ThinkingSource
    effort: Effort | None = None
    """The effort that ran, where the tag's name tells it."""


class _Block(NamedTuple):
    """A block's place: its delimiters begin at ``start`` and end at ``end``; the thinking lies between them."""

    start: int
    inner_start: int
    inner_end: int
    end: int


def split(
    text: str, *, policy: TagPolicy, model: str | None, native: str | None, failed: bool, signed: bool = False
) -> Split | None:
    """Split an answer's text; None leaves it exactly as it is.

    ``text`` is one answer part whose neighbouring pieces are joined, ``native`` the call's thinking text from blocks
    and fields. ``failed`` (errored or aborted) and ``signed`` (the text carries a signature) stop ``paired_pi`` alone.
    """
    has_native = native is not None and bool(native.strip())
    if policy is TagPolicy.PAIRED_PI and (has_native or failed or signed):
        return None
    delimiters = delimiters_for(model)
    return _by_channel(text, delimiters, native) or _by_tag(text, delimiters, policy, native if has_native else None)


def _by_channel(text: str, delimiters: Delimiters, native: str | None) -> Split | None:
    channels = harmony.channels(text, gpt_oss=delimiters.harmony)
    if channels is not None:
        return _without_copy(Split(_channel_parts(channels), SplitRule.CHANNEL, ThinkingSource.CHANNEL), native)
    if delimiters.harmony and harmony.is_unsplittable(text):
        return Split([TextPart(PieceKind.ANSWER, text, 0)], SplitRule.UNSPLITTABLE, ThinkingSource.CHANNEL)
    return None


def _by_tag(text: str, delimiters: Delimiters, policy: TagPolicy, native: str | None) -> Split | None:
    match policy:
        case TagPolicy.PAIRED_PI:
            return _paired(text, policy_delimiters(policy), SplitRule.PAIRED_PI)
        case TagPolicy.PAIRED_MERGE:
            return _paired(text, policy_delimiters(policy), SplitRule.PAIRED_MERGE)
        case TagPolicy.FIRST_CLOSE if native is None:
            return _first_close(text, policy_delimiters(policy))
        case TagPolicy.FIRST_CLOSE | TagPolicy.LEADING:
            return _leading(text, delimiters, native)


def _leading(text: str, delimiters: Delimiters, native: str | None) -> Split | None:
    if delimiters.starts.match(text) is None:
        return _missing_open(text, delimiters) if native is None else None
    start = len(text) - len(text.lstrip())
    pair, opened = next((pair, opened) for pair in delimiters.pairs if (opened := pair.open.match(text, start)))
    closed = pair.close.search(text, opened.end())
    if closed is None:
        if native is not None:
            return None
        block = _Block(start, opened.end(), len(text), len(text))
        return _tag_split(text, [block], pair, SplitRule.UNCLOSED)
    first = _Block(start, opened.end(), closed.start(), closed.end())
    if native is None:
        return _tag_split(text, [first, *_further(text, pair, first.end)], pair, SplitRule.LEADING_PAIR)
    blocks = [first, *_further(text, pair, first.end, touching_only=True)]
    return _without_copy(_tag_split(text, blocks, pair, SplitRule.LEADING_PAIR), native)


def _missing_open(text: str, delimiters: Delimiters) -> Split | None:
    """Take all before the first closing tag, if it stands outside code and no opening tag came before it."""
    lone = [closed for closing in delimiters.lone if (closed := closing.first(text))]
    if not lone:
        return None
    closed = min(lone, key=lambda match: match.start())
    if delimiters.opened.search(text, 0, closed.start()) or _in_code(text, closed.start()):
        return None
    pair = next(pair for pair in delimiters.pairs if pair.close.match(text, closed.start()))
    first = _Block(0, 0, closed.start(), closed.end())
    return _tag_split(text, [first, *_further(text, pair, first.end)], pair, SplitRule.MISSING_OPEN)


def _further(text: str, pair: Delimiter, end: int, *, touching_only: bool = False) -> Iterator[_Block]:
    """Give the complete blocks of the same pair that follow, each behind the one before it or at a line's start."""
    fences = _Fences(text, end)
    for opened in pair.open.finditer(text, end):
        start = opened.start()
        if start < end:
            continue
        touches = start == end
        if touching_only and not touches:
            return
        if not touches and (not _starts_line(text, start, end) or fences.hold(start)):
            continue
        closed = pair.close.search(text, opened.end())
        if closed is None:
            return
        end = closed.end()
        fences = _Fences(text, end)
        yield _Block(start, opened.end(), closed.start(), end)


def _starts_line(text: str, start: int, end: int) -> bool:
    """Tell whether nothing but up to three spaces, as Markdown has it, parts this from a line's start or the block."""
    before = text[max(end, start - 4) : start]
    indent = len(before) - len(before.rstrip(" "))
    return indent <= 3 and (before[: len(before) - indent].endswith("\n") or start - indent == end)


def _paired(text: str, pairs: tuple[Delimiter, ...], rule: SplitRule) -> Split | None:
    """Take every complete pair wherever it stands, in source order, each up to its first closing tag."""
    opening = sorted(
        ((opened, pair) for pair in pairs for opened in pair.open.finditer(text)), key=lambda tag: tag[0].start()
    )
    blocks: list[_Block] = []
    end, without_close = 0, set[Delimiter]()
    for opened, pair in opening:
        if opened.start() < end or pair in without_close:
            continue
        if closed := pair.close.search(text, opened.end()):
            end = closed.end()
            blocks.append(_Block(opened.start(), opened.end(), closed.start(), end))
        else:
            without_close.add(pair)
    return _tag_split(text, blocks, None, rule) if blocks else None


def _first_close(text: str, pairs: tuple[Delimiter, ...]) -> Split | None:
    """Take all before the first closing tag; without one, all behind a leading opening tag.

    What stands before an opening tag belongs to the trace, as in SGLang's parser: only the tag itself goes.
    """
    closing = [(closed, pair) for pair in pairs if (closed := pair.close.search(text))]
    if not closing:
        start = len(text) - len(text.lstrip())
        unclosed = ((pair, opened) for pair in pairs if (opened := pair.open.match(text, start)))
        for pair, opened in unclosed:
            block = _Block(start, opened.end(), len(text), len(text))
            return _tag_split(text, [block], pair, SplitRule.UNCLOSED)
        return None
    closed, pair = min(closing, key=lambda tag: tag[0].start())
    opened_at, trace = 0, 0
    if opened := pair.open.search(text, 0, closed.start()):
        opened_at, trace = opened.span()
    blocks = [_Block(0, 0, opened_at, opened_at), _Block(opened_at, trace, closed.start(), closed.end())]
    return _tag_split(text, blocks, pair, SplitRule.FIRST_CLOSE)


def _tag_split(text: str, blocks: Iterable[_Block], pair: Delimiter | None, rule: SplitRule) -> Split:
    """Cut the text at its blocks. Blocks that touch are one text; the answers of a family that wraps them are bared."""
    parts: list[TextPart] = []
    thinking, end = "", 0
    for block in blocks:
        if between := text[end : block.start].rstrip():
            _append(parts, PieceKind.THINKING, thinking.strip())
            thinking = ""
            _append(parts, PieceKind.ANSWER, _answer(between, pair, behind_tag=end > 0))
        elif block.start > end:
            _append(parts, PieceKind.THINKING, thinking.strip())
            thinking = ""
        thinking += text[block.inner_start : block.inner_end]
        end = block.end
    _append(parts, PieceKind.THINKING, thinking.strip())
    _append(parts, PieceKind.ANSWER, _answer(text[end:], pair, behind_tag=True))
    return Split(parts, rule, ThinkingSource.TAG, pair.effort if pair else None)


def _answer(text: str, pair: Delimiter | None, *, behind_tag: bool) -> str:
    if not behind_tag:
        return text
    if pair and pair.answer_open and (wrapped := pair.answer_open.match(text)):
        text = text[wrapped.end() :]
    if pair and pair.answer_close and (wrapped := pair.answer_close.search(text)):
        text = text[: wrapped.start()].rstrip()
    return _behind_tag(text)


def _behind_tag(text: str) -> str:
    """Take off the rest of a tag's line and the blank lines that follow; the first line of text keeps its indent."""
    body = text.lstrip()
    newline = text.rfind("\n", 0, len(text) - len(body))
    return text[newline + 1 :] if newline >= 0 else body


def _append(parts: list[TextPart], kind: PieceKind, text: str) -> None:
    if kind is PieceKind.TOOL_CALL or (text and not text.isspace()):
        parts.append(TextPart(kind, text, len(parts)))


def _channel_parts(channels: list[harmony.Channel]) -> list[TextPart]:
    parts: list[TextPart] = []
    for position, (kind, text) in enumerate(channels, 1):
        if kind is PieceKind.THINKING:
            _append(parts, kind, text.strip())
        else:
            _append(parts, kind, _behind_tag(text if position == len(channels) else text.rstrip()))
    return parts


def _without_copy(split_text: Split, native: str | None) -> Split:
    """Drop the thinking where it is the native text once more."""
    thinking = "\n\n".join(part.text for part in split_text.parts if part.kind is PieceKind.THINKING)
    if native is None or thinking != native.strip():
        return split_text
    return split_text._replace(parts=[part for part in split_text.parts if part.kind is not PieceKind.THINKING])


class _Fences:
    """Markdown's fenced code from a place on, walked once: asked for places in ascending order."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._walked = start
        self._open: str | None = None

    def hold(self, place: int) -> bool:
        """Tell whether a fence is open at the place; one that never closes is open to the end."""
        for fence in _FENCE.finditer(self._text, self._walked, place):
            mark, info = fence[1], fence[2]
            if self._open is None:
                self._open = mark
            elif mark.startswith(self._open) and not info:
                self._open = None
        self._walked = max(self._walked, place)
        return self._open is not None


def _in_code(text: str, place: int) -> bool:
    """Tell whether a place stands in a code fence or, on its own line, between backticks."""
    if "`" not in text and "~~~" not in text:
        return False
    if _Fences(text, 0).hold(place):
        return True
    line_start = text.rfind("\n", 0, place) + 1
    line_end = text.find("\n", place)
    line = text[line_start : line_end if line_end >= 0 else len(text)]
    opened: re.Match[str] | None = None
    for run in _BACKTICKS.finditer(line):
        if opened is None:
            opened = run if any(later[0] == run[0] for later in _BACKTICKS.finditer(line, run.end())) else None
        elif run[0] == opened[0]:
            if line_start + opened.end() <= place < line_start + run.start():
                return True
            opened = None
    return False
