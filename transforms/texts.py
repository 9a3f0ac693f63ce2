"""From pieces to the two texts of a call, and the segments that keep their order (design 3.1)."""

from collections.abc import Iterable
from typing import NamedTuple

from schemas.call import Segment
from schemas.reading import Piece
from schemas.vocabulary import PieceKind, SplitRule, TagPolicy, ThinkingForm, ThinkingSource
from transforms.inline_tags import split

_THINKING, _ANSWER, _COMMENTARY = PieceKind.THINKING, PieceKind.ANSWER, PieceKind.COMMENTARY
_TEXT_KINDS = (_THINKING, _ANSWER, _COMMENTARY)
_BLANK_LINE = "\n\n"
_SOURCE_ORDER = (ThinkingSource.BLOCK, ThinkingSource.FIELD, ThinkingSource.TAG, ThinkingSource.CHANNEL)
_WITHHELD_ORDER = (ThinkingForm.REDACTED, ThinkingForm.ENCRYPTED, ThinkingForm.OMITTED)


class Texts(NamedTuple):
    """The texts of a call. ``form`` is null where no piece shows that the model thought."""

    thinking: str | None
    answer: str | None
    segments: list[Segment]
    form: ThinkingForm | None
    source: ThinkingSource | None
    rule: SplitRule | None
    tool_calls: int


class _Text:
    """One of the two texts while it is put together."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0

    def add(self, text: str, *, glued: bool) -> tuple[int, int]:
        """Append a text, behind a blank line unless it is glued to the one before; gives its place."""
        if self._parts and not glued:
            self._parts.append(_BLANK_LINE)
            self._length += len(_BLANK_LINE)
        start = self._length
        self._parts.append(text)
        self._length += len(text)
        return start, self._length

    def whole(self) -> str | None:
        return "".join(self._parts) if self._parts else None


def compose(pieces: list[Piece], *, policy: TagPolicy, model: str | None, failed: bool) -> Texts:
    """Join neighbours, read inline tags, and lay the texts of all choices one behind the other."""
    runs = _join_neighbours(pieces)
    native = [run.text for run in runs if run.kind is _THINKING]
    rule: SplitRule | None = None
    if any(run.kind is _ANSWER for run in runs):
        runs, rule = _read_tags(runs, native="".join(native) or None, policy=policy, model=model, failed=failed)
    thinking, answer = _Text(), _Text()
    segments: list[Segment] = []
    sources: set[ThinkingSource] = set()
    before: Piece | None = None
    for run in runs:
        if run.kind in _TEXT_KINDS:
            glued = before is not None and _are_neighbours(before, run)
            text = thinking if run.kind is _THINKING else answer
            start, end = text.add(run.text, glued=glued)
            if glued:
                last = segments.pop()
                start = last.start
            segments.append(Segment(run.kind, run.choice, start, end))
            if run.kind is _THINKING and run.source is not None:
                sources.add(run.source)
        elif run.kind is not PieceKind.OTHER:
            segments.append(Segment(run.kind, run.choice, 0, 0))
        before = run
    return Texts(
        thinking=thinking.whole(),
        answer=answer.whole(),
        segments=segments,
        form=_form(runs),
        source=next((source for source in _SOURCE_ORDER if source in sources), None),
        rule=rule,
        tool_calls=sum(run.kind is PieceKind.TOOL_CALL for run in runs),
    )


def _join_neighbours(pieces: list[Piece]) -> list[Piece]:
    """Neighbours of one kind, choice and part become one; texts of white space only fall out, but still separate."""
    if any(piece.choice for piece in pieces):
        pieces = sorted(pieces, key=lambda piece: piece.choice)
    runs: list[Piece] = []
    texts: list[str] = []
    for piece in pieces:
        if runs and piece.kind in _TEXT_KINDS and _are_neighbours(runs[-1], piece):
            texts.append(piece.text)
            if piece.signed:
                runs[-1] = runs[-1]._replace(signed=True)
            continue
        _close(runs, texts)
        runs.append(piece)
        texts = [piece.text]
    _close(runs, texts)
    return [run if run.kind not in _TEXT_KINDS or run.text.strip() else _SEPARATOR for run in runs]


_SEPARATOR = Piece(PieceKind.OTHER)


def _close(runs: list[Piece], texts: list[str]) -> None:
    if len(texts) > 1:
        runs[-1] = runs[-1]._replace(text="".join(texts))


def _are_neighbours(one: Piece, other: Piece) -> bool:
    return (
        one.kind is other.kind
        and one.choice == other.choice
        and one.part == other.part
        and one.source is other.source
    )


def _read_tags(
    runs: list[Piece], *, native: str | None, policy: TagPolicy, model: str | None, failed: bool
) -> tuple[list[Piece], SplitRule | None]:
    read: list[Piece] = []
    rule: SplitRule | None = None
    for number, run in enumerate(runs):
        found = None
        if run.kind is _ANSWER:
            found = split(run.text, policy=policy, model=model, native=native, failed=failed, signed=run.signed)
        if found is None:
            read.append(run)
            continue
        rule = rule or found.rule
        # A part number of its own for each split: parts of two runs never touch.
        base = (number + 1) * 1_000_000
        read.extend(
            Piece(part.kind, part.text, run.choice, base + part.part, found.source if part.kind is _THINKING else None)
            for part in found.parts
        )
    return read, rule


def _form(runs: Iterable[Piece]) -> ThinkingForm | None:
    """Text beats its absence; a summary among full texts makes it a summary, as the whole cannot be claimed."""
    withheld: set[ThinkingForm] = set()
    text: ThinkingForm | None = None
    for run in runs:
        if run.kind is _THINKING:
            text = ThinkingForm.SUMMARY if ThinkingForm.SUMMARY in (run.form, text) else ThinkingForm.FULL
        elif run.kind is PieceKind.REDACTED:
            withheld.add(run.form or ThinkingForm.REDACTED)
    return text or next((form for form in _WITHHELD_ORDER if form in withheld), None)
