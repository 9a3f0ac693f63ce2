"""The report's charts: rows of questions in, inline SVG out. Drawn by Vega-Lite; no chart needs a script to be read.

Colours are names that the page defines, once for light and once for dark; texts stay texts.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

import altair as alt
import vl_convert
from markupsafe import Markup

from schemas.vocabulary import Effort

Row = Mapping[str, Any]

NOT_KNOWN = "not known"
OTHERS = "others"
WIDTH = 820
"""Of the plots, in pixels; the page scales them to its own width."""

_PARTS = {
    "reasoning_in_output": ("reasoning", "var(--reasoning)"),
    "rest_of_output": ("the rest", "var(--rest)"),
    "output_not_split": ("no count tells", "var(--unknown)"),
}
"""What an output consists of, by the questions' columns."""
_FORMS = {
    "full": "var(--c1)",
    "summary": "var(--c2)",
    "encrypted": "var(--c3)",
    "redacted": "var(--c4)",
    "omitted": "var(--c5)",
    "tokens_only": "var(--c6)",
    "no thinking shown": "var(--unknown)",
}
_CHANGES = {
    "same as asked": "var(--rest)",
    "raised": "var(--c2)",
    "lowered": "var(--c1)",
    "nothing to compare": "var(--unknown)",
}
_EFFORTS = [str(effort) for effort in Effort]
_ASKED = [*_EFFORTS, "another value", "thinking off", "nothing asked"]
_STEPS: dict[str, Any] = {"day": "utcyearmonthdate", "month": "utcyearmonth", "year": "utcyear"}
_AGES = ("0-6 days", "7-29 days", "30-89 days", "90 days and more", "undated")
_MODEL_COLOURS = [f"var(--c{number})" for number in range(1, 9)]
_COUNTS = alt.Axis(
    labelExpr="replace(format(datum.value, '~s'), 'G', 'B')", tickCount=5, tickMinStep=1, domain=False, ticks=False
)
"""The axis of a quantity: 1.2k, 3M, 4B."""
_AXIS = {
    "labelColor": "var(--ink)",
    "titleColor": "var(--soft)",
    "domainColor": "var(--line)",
    "tickColor": "var(--line)",
    "gridColor": "var(--line)",
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "labelLimit": 280,
}
_CONFIG: dict[str, Any] = {
    "font": "Helvetica, Arial, sans-serif",
    "background": "transparent",
    "padding": {"left": 16, "right": 16, "top": 6, "bottom": 6},  # for readers whose letters are wider
    "aria": False,  # the figure says what it shows; a label per bar would double the page
    "view": {"stroke": None},
    "axis": _AXIS,
    "axisBand": {"domain": False, "ticks": False, "grid": False, "labelPadding": 6},
    "legend": {
        "labelColor": "var(--ink)",
        "labelFontSize": 12,
        "labelLimit": 280,
        "symbolType": "square",
        "columnPadding": 24,
    },
    "text": {"color": "var(--ink)", "fontSize": 12},
}


def output_by_day(rows: Iterable[Row], step: str) -> Markup:
    """Output tokens over time as reasoning, the rest and what no count splits (question output_by_day)."""
    return _svg(_over_time(_parts(_dated(rows)), _colours(dict(_PARTS.values())), step))


def models_by_day(rows: Iterable[Row], step: str) -> Markup:
    """Output tokens over time by model, the leading ones and all others (question output_by_day)."""
    dated = [{"part": model_of(row), **row, "tokens": row["output_tokens"]} for row in _dated(rows)]
    places = {row["part"]: row["place"] or len(_MODEL_COLOURS) + 1 for row in dated}
    ordered = sorted(places, key=places.__getitem__)
    colours = dict(zip(ordered, _MODEL_COLOURS, strict=False)) | (
        {OTHERS: "var(--unknown)"} if OTHERS in places else {}
    )
    numbered = [{**row, "place": places[row["part"]]} for row in dated]
    return _svg(_over_time(numbered, _colours(colours, columns=3), step))


def output_parts(rows: Iterable[Row], label: str) -> Markup:
    """Output tokens as bars with the share of reasoning and its coverage beside them; ``label`` names the bars."""
    known = [{**row, "says": share_of(row)} for row in rows if row["output_tokens"] is not None]
    bars = (
        alt.Chart(_data(_parts(known)))
        .mark_bar()
        .encode(
            x=_size("sum(tokens):Q", "output tokens", 1.4 * max(int(row["output_tokens"]) for row in known)),
            y=_band(label),
            color=alt.Color("part:N", **_colours(dict(_PARTS.values()))),
            order="place:Q",
        )
    )
    texts = (
        alt.Chart(_data(known)).mark_text(align="left", dx=6).encode(x="output_tokens:Q", y=_band(label), text="says:N")
    )
    return _svg((bars + texts).properties(width=WIDTH - 180, height=alt.Step(24)))


def effort_asked_and_applied(rows: Iterable[Row]) -> Markup:
    """How many calls asked for an effort, against the effort that ran (question asked_and_applied)."""
    cells = [{**row, "asked": _asked(row), "applied": row["effort_applied"] or NOT_KNOWN} for row in rows]
    chart = _heat(cells, "applied", "asked", "sum(calls):Q", [*_EFFORTS, NOT_KNOWN], _ASKED)
    return _svg(chart.properties(width=alt.Step(80), height=alt.Step(28)))


def effort_claims(rows: Iterable[Row]) -> Markup:
    """Who says which effort ran, and whether it is the one that was asked for (question asked_and_applied)."""
    claims = [
        {
            "calls": row["calls"],
            "claim": row["effort_applied_source"] or NOT_KNOWN,
            "change": {"same": "same as asked", None: "nothing to compare"}.get(
                row["effort_change"], row["effort_change"]
            ),
        }
        for row in rows
    ]
    return _svg(_bars(claims, "claim", "calls", "calls", "change", _CHANGES))


def reasoning_by_effort(rows: Iterable[Row]) -> Markup:
    """Mean reasoning tokens of a call, by model and applied effort (question reasoning_by_effort)."""
    cells = [
        {**row, "name": model_of(row), "says": f"{row['mean_reasoning_tokens']:,.0f} ({row['calls_with_count']:,})"}
        for row in rows
        if row["mean_reasoning_tokens"] is not None
    ]
    models = list(dict.fromkeys(row["name"] for row in cells))
    chart = _heat(cells, "effort_applied", "name", "mean_reasoning_tokens:Q", _EFFORTS, models, text="says:N")
    return _svg(chart.properties(width=alt.Step(88), height=alt.Step(28)))


def stored_by_age(rows: Iterable[Row]) -> Markup:
    """Bytes of stored thinking by age and form (question thinking_bytes_by_age)."""
    stored = [
        {**row, "form": row["thinking_form"] or "no thinking shown"}
        for row in rows
        if row["thinking_bytes"] is not None
    ]
    return _svg(_bars(stored, "age", "thinking_bytes", "bytes of thinking", "form", _FORMS, _AGES))


def calls_by_age(rows: Iterable[Row]) -> Markup:
    """Calls that hold a text by age and form of their thinking (question thinking_bytes_by_age)."""
    stored = [{**row, "form": row["thinking_form"] or "no thinking shown"} for row in rows]
    return _svg(_bars(stored, "age", "calls", "calls", "form", _FORMS, _AGES))


def coverage(rows: Iterable[Row]) -> Markup:
    """How often each fact is known, in percent of the calls, by source and protocol (question coverage)."""
    cells = []
    for row in rows:
        name = f"{row['source']} · {row['protocol'] or NOT_KNOWN} ({row['calls']:,})"
        facts = {column.removeprefix("pct_").replace("_", " "): column for column in row if column.startswith("pct_")}
        cells += [{"name": name, "fact": fact, "percent": row[column]} for fact, column in facts.items()]
    names, columns = (list(dict.fromkeys(cell[key] for cell in cells)) for key in ("name", "fact"))
    chart = _heat(cells, "fact", "name", "percent:Q", columns, names, full=100)
    return _svg(chart.properties(width=alt.Step(66), height=alt.Step(26)))


def rejects(rows: Iterable[Row]) -> Markup:
    """Rejected records by reason (question rejects_by_reason)."""
    return _svg(_bars(rows, "reason", "records", "records"))


def model_of(row: Row) -> str:
    """What a row of a question calls its model: the model and whose it is, or all others."""
    if "place" in row and row["place"] is None:
        return OTHERS
    if row["model"] is None and row["provider"] is None:
        return NOT_KNOWN
    return f"{row['model'] or NOT_KNOWN} · {row['provider'] or NOT_KNOWN}"


def provider_of(row: Row) -> str:
    """What a row calls its provider, and who sends the bill where that is another."""
    if row["place"] is None:
        return OTHERS
    return (row["provider"] or NOT_KNOWN) + (f" via {row['billed_by']}" if row["billed_by"] else "")


def percent(share: float | Decimal | None) -> str:
    """A share for people; only nothing is 0% and only all is 100%."""
    if share is None:
        return NOT_KNOWN
    shown = f"{100 * share:.1f}"
    if shown == "0.0" and share > 0:
        return "<0.1%"
    if shown == "100.0" and share < 1:
        return ">99.9%"
    return f"{shown.removesuffix('.0')}%"


def share_of(row: Row) -> str:
    """The share of the output that is reasoning, never without its coverage."""
    if row["reasoning_share"] is None:
        return "share not known"
    return f"{percent(row['reasoning_share'])} reasoning · {percent(row['reasoning_coverage'])} counted"


def _asked(row: Row) -> str:
    asked = row["effort_asked"]
    if asked is None:
        return "nothing asked"
    return asked if asked in _ASKED else "another value"


def _dated(rows: Iterable[Row]) -> Iterator[Row]:
    return (row for row in rows if row["date"] is not None and row["output_tokens"] is not None)


def _parts(rows: Iterable[Row]) -> list[Row]:
    """One row per part of an output that there is."""
    return [
        {**row, "part": name, "place": place, "tokens": row[column]}
        for row in rows
        for place, (column, (name, _)) in enumerate(_PARTS.items())
        if row[column] is not None
    ]


def _over_time(rows: Iterable[Row], colours: dict[str, Any], step: str) -> alt.Chart:
    time = alt.X("date:T", timeUnit=_STEPS[step], title=None, scale=alt.Scale(type="utc"), axis=alt.Axis(grid=False))
    size = alt.Y("sum(tokens):Q", title="output tokens", axis=_COUNTS)
    chart = alt.Chart(_data(rows)).mark_bar()
    chart = chart.encode(x=time, y=size, order="place:Q", color=alt.Color("part:N", **colours))
    return chart.properties(width=WIDTH, height=240)


def _bars(
    rows: Iterable[Row],
    label: str,
    size: str,
    title: str,
    part: str | None = None,
    colours: Mapping[str, str] | None = None,
    order: Iterable[str] | None = None,
) -> alt.Chart:
    data = list(rows)
    chart = alt.Chart(_data(data)).mark_bar(color="var(--reasoning)")
    sort: Any = "-x" if order is None else list(order)
    chart = chart.encode(x=_size(f"sum({size}):Q", title), y=_band(label, sort))
    if part and colours:
        there = {row[part] for row in data}
        chart = chart.encode(
            color=alt.Color(f"{part}:N", **_colours({name: hue for name, hue in colours.items() if name in there}))
        )
    return chart.properties(width=WIDTH - 180, height=alt.Step(24))


def _heat(
    rows: Iterable[Row],
    x: str,
    y: str,
    value: str,
    columns: list[str],
    lines: list[str],
    *,
    full: float | None = None,
    text: str | None = None,
) -> alt.LayerChart:
    """A table whose cells are the darker the larger their value is; ``full`` is the darkest, else the largest."""
    data = list(rows)
    heads = [name for name in columns if any(row[x] == name for row in data)]
    base = alt.Chart(_data(data)).encode(
        x=alt.X(f"{x}:N", title=None, sort=heads).axis(
            orient="top",
            labelAngle=0,
            labelExpr="split(datum.label, ' ')",
            labelPadding=20 if " " in "".join(heads) else 6,  # a second line grows downwards
        ),
        y=_band(y, [name for name in lines if any(row[y] == name for row in data)]),
    )
    most: dict[str, Any] = {"domainMin": 0} if full is None else {"domain": [0, full]}
    shade = alt.Opacity(value, scale=alt.Scale(range=[0.06, 0.55], **most), legend=None)
    says = alt.Text(text) if text else alt.Text(value, format=",")
    return base.mark_rect(color="var(--reasoning)").encode(opacity=shade) + base.mark_text().encode(text=says)


def _band(label: str, sort: Any = None) -> alt.Y:
    return alt.Y(f"{label}:N", title=None, sort=sort)


def _size(field: str, title: str, room: float | None = None) -> alt.X:
    """A quantity; ``room`` is where its axis ends, beyond the longest bar."""
    scale = alt.Scale() if room is None else alt.Scale(domain=[0, room or 1], nice=False)
    return alt.X(field, title=title, scale=scale, axis=_COUNTS)


def _colours(colours: Mapping[str, str], columns: int = 0) -> dict[str, Any]:
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return {"scale": scale, "legend": alt.Legend(title=None, orient="top", columns=columns), "sort": list(colours)}


def _data(rows: Iterable[Row]) -> alt.Data:
    """Inline data: JSON knows no decimals and no dates."""
    return alt.Data(values=[{name: _plain(value) for name, value in row.items()} for row in rows])


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value.isoformat() if isinstance(value, date) else value


def _svg(chart: alt.Chart | alt.LayerChart) -> Markup:
    return Markup(vl_convert.vegalite_to_svg({**chart.to_dict(), "config": _CONFIG}))  # noqa: S704 - Vega escapes texts
