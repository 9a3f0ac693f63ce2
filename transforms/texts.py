"""From pieces to the two texts of a call, and the segments that keep their order (design 3.1)."""

from collections.abc import Iterable
from typing import NamedTuple

from schemas.call import Segment
from schemas.delimiters import leaves_no_mark
from schemas.reading import Piece
from schemas.vocabulary import Effort, PieceKind, SplitRule, TagPolicy, ThinkingForm, ThinkingSource
from transforms.inline_tags import split
from transforms.thinking_form import shown_form

# Members of an enum are looked up slowly, and every piece is asked for its kind.
_THINKING, _ANSWER, _COMMENTARY = PieceKind.THINKING, PieceKind.ANSWER, PieceKind.COMMENTARY
_TOOL_CALL, _OTHER = PieceKind.TOOL_CALL, PieceKind.OTHER
_TEXT_KINDS = (_THINKING, _ANSWER, _COMMENTARY)
_BLANK_LINE = "\n\n"
_SOURCE_ORDER = (ThinkingSource.BLOCK, ThinkingSource.FIELD, ThinkingSource.TAG, ThinkingSource.CHANNEL)
_NATIVE = (ThinkingSource.BLOCK, ThinkingSource.FIELD)
_WITHHELD_ORDER = (ThinkingForm.REDACTED, ThinkingForm.ENCRYPTED, ThinkingForm.OMITTED)


class Texts(NamedTuple):
    """The texts of a call. ``form`` is null where no piece shows that the model thought."""

    thinking: str | None
    answer: str | None
    segments: list[Segment]
    form: ThinkingForm | None
    source: ThinkingSource | None
    rule: SplitRule | None
    effort: Effort | None
    """The effort that ran, where a tag's name tells it."""
    tool_calls: int


def compose(
    pieces: list[Piece], *, policy: TagPolicy, model: str | None, failed: bool, reasoning_format: str | None = None
) -> Texts:
    """Join neighbours, read inline tags, and lay the texts of all choices one behind the other.

    ``reasoning_format`` is what the request asked for: an answer in which nothing marks the thinking is flagged.
    """
    runs = _join_neighbours(pieces)
    rule: SplitRule | None = None
    effort: Effort | None = None
    if any(run.kind is _ANSWER for run in runs):
        native = "".join([run.text for run in runs if run.kind is _THINKING])
        runs, rule, effort = _read_tags(runs, native=native or None, policy=policy, model=model, failed=failed)
        if rule is None and not native and leaves_no_mark(model, reasoning_format):
            rule = SplitRule.UNSPLITTABLE
    thinking: list[str] = []
    answer: list[str] = []
    segments: list[Segment] = []
    ends = {_THINKING: 0, _ANSWER: 0}
    before: Piece | None = None
    for run in runs:
        if run.kind in _TEXT_KINDS:
            name, text = (_THINKING, thinking) if run.kind is _THINKING else (_ANSWER, answer)
            start = ends[name]
            if before is not None and _are_neighbours(before, run):
                segment_start = segments.pop().start
            else:
                if text:
                    text.append(_BLANK_LINE)
                    start += len(_BLANK_LINE)
                segment_start = start
            text.append(run.text)
            ends[name] = start + len(run.text)
            segments.append(Segment(run.kind, run.choice, segment_start, ends[name]))
        elif run.kind is not _OTHER:
            segments.append(Segment(run.kind, run.choice, 0, 0))
        before = run
    return Texts(
        thinking="".join(thinking) or None,
        answer="".join(answer) or None,
        segments=segments,
        form=_form(runs, model),
        source=_source(runs),
        rule=rule,
        effort=effort,
        tool_calls=sum([run.kind is _TOOL_CALL for run in runs]),
    )


def _source(runs: list[Piece]) -> ThinkingSource | None:
    sources = {run.source for run in runs if run.kind is _THINKING}
    return next((source for source in _SOURCE_ORDER if source in sources), None)


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
        one.kind is other.kind and one.choice == other.choice and one.part == other.part and one.source is other.source
    )


def _read_tags(
    runs: list[Piece], *, native: str | None, policy: TagPolicy, model: str | None, failed: bool
) -> tuple[list[Piece], SplitRule | None, Effort | None]:
    read: list[Piece] = []
    rule: SplitRule | None = None
    effort: Effort | None = None
    for number, run in enumerate(runs):
        found = None
        if run.kind is _ANSWER:
            found = split(run.text, policy=policy, model=model, native=native, failed=failed, signed=run.signed)
        if found is None:
            read.append(run)
            continue
        rule = rule or found.rule
        effort = effort or found.effort
        # A part number of its own for each split: parts of two runs never touch.
        base = (number + 1) * 1_000_000
        read.extend(
            Piece(part.kind, part.text, run.choice, base + part.part, found.source if part.kind is _THINKING else None)
            for part in found.parts
        )
    return read, rule, effort


def _form(runs: Iterable[Piece], model: str | None) -> ThinkingForm | None:
    """Text beats its absence; a summary among full texts makes it a summary, as the whole cannot be claimed."""
    withheld: set[ThinkingForm] = set()
    text: ThinkingForm | None = None
    for run in runs:
        if run.kind is _THINKING:
            # Tags and channels hold what the model wrote; of blocks and fields the protocol or the model says it.
            form = run.form or (shown_form(model) if run.source in _NATIVE else None)
            text = ThinkingForm.SUMMARY if ThinkingForm.SUMMARY in (form, text) else ThinkingForm.FULL
        elif run.kind is PieceKind.REDACTED:
            withheld.add(run.form or ThinkingForm.REDACTED)
    return text or next((form for form in _WITHHELD_ORDER if form in withheld), None)
