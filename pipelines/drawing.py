"""Three kinds of chart as inline SVG, drawn by Vega-Lite: bars over time, bars, and a table of shaded cells.

Colours are the page's own variables, so that light, dark and print each have theirs; texts stay texts. Rows are
mappings; a chart's ``hues`` give each of its parts a colour, in the order of stacking.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import altair as alt
import vl_convert
from markupsafe import Markup

from pipelines.wording import Row

_WIDTH = 820
_BARS_WIDTH = 600
"""Of the plots, in pixels, without the names beside them."""
_WIDEST_BAR = 120
_CELL_WIDTH = 92
_LONGEST = 0.72
"""How much of a plot's width the longest bar takes where a text stands beside it."""
_COUNTS: dict[str, Any] = {
    "labelExpr": "datum.value % 1 ? '' : replace(format(datum.value, '~s'), 'G', 'B')",
    "tickCount": 5,
    "domain": False,
    "ticks": False,
}
"""The axis of whole numbers: 1.2k, 3M, 4B."""
_TIMES: dict[str, Any] = {"day": "utcyearmonthdate", "month": "utcyearmonth", "year": "utcyear"}
_CONFIG: dict[str, Any] = {
    "font": "Helvetica, Arial, sans-serif",
    "background": "transparent",
    "padding": {"left": 16, "right": 16, "top": 6, "bottom": 6},  # for readers whose letters are wider
    "aria": False,  # the page's figure says what it shows; a label per bar would double the page
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--soft)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "gridColor": "var(--line)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 280,
    },
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


def over_time(rows: Sequence[Row], size: str, part: str, hues: Mapping[str, str], step: str) -> Markup:
    """Bars of output tokens along the column ``date``; ``step`` is day, month or year."""
    bars_there = len({row["date"] for row in rows})
    axis = alt.Axis(grid=False, tickCount=min(bars_there, 8))
    time = alt.X("date:T", timeUnit=_TIMES[step], title=None, scale=alt.Scale(type="utc"), axis=axis)
    tokens = alt.Y(f"sum({size}):Q", title="output tokens", axis=alt.Axis(**_COUNTS))
    chart = alt.Chart(_data(_placed(rows, part, hues))).mark_bar()
    chart = chart.encode(x=time, y=tokens, order="hue_place:Q", color=_colour(part, hues))
    return _svg(chart.properties(width=min(_WIDTH, _WIDEST_BAR * bars_there), height=240))


def bars(
    rows: Sequence[Row],
    name: str,
    size: str,
    title: str,
    *,
    part: str | None = None,
    hues: Mapping[str, str] | None = None,
    order: Sequence[str] | None = None,
    says: Mapping[str, str] | None = None,
) -> Markup:
    """A bar for each ``name``, the longest first or in the given order; ``says`` are texts beside the bars."""
    lengths: dict[str, int] = {}
    for row in rows:
        lengths[row[name]] = lengths.get(row[name], 0) + int(row[size])
    names = sorted(lengths, key=lambda bar: -lengths[bar]) if order is None else order
    band = alt.Y(f"{name}:N", title=None, sort=[bar for bar in names if bar in lengths])
    domain = [0, (max(lengths.values()) or 1) / (_LONGEST if says else 1)]
    scale = alt.Scale(domain=domain, nice=not says)
    along = alt.X(f"sum({size}):Q", title=title, scale=scale, axis=alt.Axis(**_COUNTS))
    chart: alt.Chart | alt.LayerChart
    if part is None or hues is None:
        chart = alt.Chart(_data(rows)).mark_bar(color="var(--reasoning)").encode(x=along, y=band)
    else:
        there = {hue: colour for hue, colour in hues.items() if any(row[part] == hue for row in rows)}
        chart = alt.Chart(_data(_placed(rows, part, there))).mark_bar()
        chart = chart.encode(x=along, y=band, order="hue_place:Q", color=_colour(part, there))
    if says is not None:
        beside = [{name: bar, "length": lengths[bar], "says": text} for bar, text in says.items() if bar in lengths]
        texts = alt.Chart(_data(beside)).mark_text(align="left", dx=6)
        chart += texts.encode(x="length:Q", y=band, text="says:N")
    return _svg(chart.properties(width=_BARS_WIDTH, height=alt.Step(24)))


def cells(
    rows: Sequence[Row],
    column: str,
    line: str,
    value: str,
    columns: Sequence[str],
    lines: Sequence[str],
    *,
    full: float | None = None,
    text: str | None = None,
) -> Markup:
    """A table whose cells are the darker the larger their value is; ``full`` is the darkest, else the largest.

    ``columns`` and ``lines`` give the order; those without a cell are left out. ``text`` is the column to write into
    the cells, else the value is written.
    """
    heads = [name for name in columns if any(row[column] == name for row in rows)]
    base = alt.Chart(_data(rows)).encode(
        x=alt.X(f"{column}:N", title=None, sort=heads).axis(
            orient="top",
            labelAngle=0,
            labelExpr="split(datum.label, ' ')",
            labelPadding=20 if " " in "".join(heads) else 6,  # a second line grows downwards
        ),
        y=alt.Y(f"{line}:N", title=None, sort=[name for name in lines if any(row[line] == name for row in rows)]),
    )
    most: dict[str, Any] = {"domainMin": 0} if full is None else {"domain": [0, full]}
    shade = alt.Opacity(value, scale=alt.Scale(range=[0.06, 0.55], **most), legend=None)
    says = alt.Text(text) if text else alt.Text(value, format=",")
    table = base.mark_rect(color="var(--reasoning)").encode(opacity=shade) + base.mark_text().encode(text=says)
    return _svg(table.properties(width=alt.Step(min(_CELL_WIDTH, _WIDTH * 3 // 4 // len(heads))), height=alt.Step(27)))


def _placed(rows: Iterable[Row], part: str, hues: Mapping[str, str]) -> list[Row]:
    """The rows with their place in the stack."""
    places = {hue: place for place, hue in enumerate(hues)}
    return [{**row, "hue_place": places[row[part]]} for row in rows]


def _colour(part: str, hues: Mapping[str, str]) -> alt.Color:
    scale = alt.Scale(domain=list(hues), range=list(hues.values()))
    legend = alt.Legend(title=None, orient="top", columns=3 if len(hues) > 7 else 0)
    return alt.Color(f"{part}:N", scale=scale, legend=legend, sort=list(hues))


def _data(rows: Iterable[Row]) -> alt.Data:
    """Inline data: JSON knows no decimals and no dates."""
    return alt.Data(values=[{name: _plain(value) for name, value in row.items()} for row in rows])


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value.isoformat() if isinstance(value, date) else value


def _svg(chart: alt.Chart | alt.LayerChart) -> Markup:
    return Markup(vl_convert.vegalite_to_svg({**chart.to_dict(), "config": _CONFIG}))  # noqa: S704 - Vega escapes texts
