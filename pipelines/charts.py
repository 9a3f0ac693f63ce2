"""Which chart each question of the report gets: rows in, inline SVG out. A function is named after its figure."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from pipelines import drawing
from pipelines.wording import NOT_KNOWN, OTHERS, Row, model, share
from schemas.vocabulary import Effort, ThinkingForm

_GREY = "var(--unknown)"
_PARTS = {"reasoning_in_output": "reasoning", "rest_of_output": "the rest", "output_not_split": "no count tells"}
"""What an output consists of, by the questions' columns."""
_PART_HUES = {"reasoning": "var(--reasoning)", "the rest": "var(--rest)", "no count tells": _GREY}
_MODEL_HUES = [f"var(--c{number})" for number in range(1, 9)]
_NO_FORM = "no thinking shown"
_FORM_HUES = {str(form): hue for form, hue in zip(ThinkingForm, _MODEL_HUES, strict=False)} | {_NO_FORM: _GREY}
_CHANGES = {"same": "same as asked", None: "nothing to compare"}
_CHANGE_HUES = {
    "same as asked": "var(--rest)",
    "raised": "var(--c2)",
    "lowered": "var(--c1)",
    "nothing to compare": _GREY,
}
_EFFORTS = [str(effort) for effort in Effort]
_ASKED = [*_EFFORTS, "another value", "thinking off", "nothing asked"]
_AGES = ("0-6 days", "7-29 days", "30-89 days", "90 days and more", "undated")


def output_by_day(rows: Sequence[Row], step: str) -> Markup:
    """Output tokens over time as reasoning, the rest and what no count splits (question output_by_day)."""
    return drawing.over_time(list(_parts(rows)), "tokens", "part", _PART_HUES, step)


def models_by_day(rows: Sequence[Row], step: str) -> Markup:
    """Output tokens over time by model, the leading ones and all others (question output_by_day)."""
    named = [{**row, "name": model(row)} for row in rows]
    leading = {row["place"]: row["name"] for row in named if row["place"] is not None}
    hues = dict(zip((leading[place] for place in sorted(leading)), _MODEL_HUES, strict=False)) | {OTHERS: _GREY}
    there = {row["name"] for row in named}
    return drawing.over_time(
        named, "output_tokens", "name", {name: hue for name, hue in hues.items() if name in there}, step
    )


def output_parts(rows: Sequence[Row]) -> Markup:
    """Output tokens by the column ``name`` (questions output_by_provider and output_by_model), with the shares."""
    says = {row["name"]: share(row) for row in rows}
    names = [row["name"] for row in rows]
    return drawing.bars(
        list(_parts(rows)), "name", "tokens", "output tokens", part="part", hues=_PART_HUES, order=names, says=says
    )


def effort(rows: Sequence[Row]) -> Markup:
    """How many calls asked for an effort, against the effort that ran (question asked_and_applied)."""
    named = [{**row, "asked": _asked(row), "applied": row["effort_applied"] or NOT_KNOWN} for row in rows]
    return drawing.cells(named, "applied", "asked", "sum(calls):Q", [*_EFFORTS, NOT_KNOWN], _ASKED)


def claims(rows: Sequence[Row]) -> Markup:
    """Who says which effort ran, and whether it is the one that was asked for (question asked_and_applied)."""
    named = [
        {
            "calls": row["calls"],
            "claim": row["effort_applied_source"] or NOT_KNOWN,
            "change": _CHANGES.get(row["effort_change"], row["effort_change"]),
        }
        for row in rows
    ]
    return drawing.bars(named, "claim", "calls", "calls", part="change", hues=_CHANGE_HUES)


def means(rows: Sequence[Row]) -> Markup:
    """Mean reasoning tokens of a call, by model and applied effort (question reasoning_by_effort)."""
    named = [
        {**row, "name": model(row), "says": f"{row['mean_reasoning_tokens']:,.0f} ({row['calls_with_count']:,})"}
        for row in rows
    ]
    models = list(dict.fromkeys(row["name"] for row in named))
    return drawing.cells(named, "effort_applied", "name", "mean_reasoning_tokens:Q", _EFFORTS, models, text="says:N")


def stored(rows: Sequence[Row]) -> Markup:
    """Characters of stored thinking by age and form (question thinking_bytes_by_age)."""
    return _by_age(rows, "thinking_chars", "characters of thinking")


def aged(rows: Sequence[Row]) -> Markup:
    """Calls that hold a text by age and form of their thinking (question thinking_bytes_by_age)."""
    return _by_age(rows, "calls", "calls")


def _by_age(rows: Sequence[Row], size: str, title: str) -> Markup:
    named = [{**row, "form": row["thinking_form"] or _NO_FORM} for row in rows]
    return drawing.bars(named, "age", size, title, part="form", hues=_FORM_HUES, order=_AGES)


def coverage(rows: Sequence[Row]) -> Markup:
    """How often each fact is known, in percent of the calls, by source and protocol (question coverage)."""
    columns = {column: column.removeprefix("pct_").replace("_", " ") for column in rows[0] if column.startswith("pct_")}
    names = [f"{row['source']} · {row['protocol'] or NOT_KNOWN} ({row['calls']:,})" for row in rows]
    percents = [
        {"name": name, "fact": fact, "percent": row[column]}
        for name, row in zip(names, rows, strict=True)
        for column, fact in columns.items()
    ]
    return drawing.cells(percents, "fact", "name", "percent:Q", [*columns.values()], names, full=100)


def rejects(rows: Sequence[Row]) -> Markup:
    """Rejected records by reason (question rejects_by_reason)."""
    return drawing.bars(rows, "reason", "records", "records")


def _asked(row: Row) -> str:
    asked = row["effort_asked"]
    if asked is None:
        return "nothing asked"
    return asked if asked in _ASKED else "another value"


def _parts(rows: Sequence[Row]) -> Iterator[Row]:
    """One row for each part of an output that there is."""
    for row in rows:
        for column, part in _PARTS.items():
            if row[column] is not None:
                yield {**row, "part": part, "tokens": row[column]}
