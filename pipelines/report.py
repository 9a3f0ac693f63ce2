"""``thinkledger report``: one self-contained HTML page on what reasoning costs, from the questions in ``sql/``."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from pipelines import charts, query
from pipelines.charts import NOT_KNOWN, Row
from pipelines.options import DATE, date_of, lake_option
from pipelines.wrong_use import WrongUseError

QUESTIONS = (
    "totals",
    "output_by_provider",
    "output_by_model",
    "asked_and_applied",
    "reasoning_by_effort",
    "thinking_bytes_by_age",
    "coverage",
    "rejects_by_reason",
    "accounts",
)
"""Every figure of the page comes from one of these, or from output_by_day, whose step depends on the period."""

_STEPS = ((366, "day"), (8 * 366, "month"))
"""The longest period, in days, that is shown by this step; longer ones by year."""
_LINES = 16
"""How many lines of a long table the page shows."""
_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the lake answers: the rows of each question, all from the same state of the lake."""

    since: date | None
    until: date | None
    step: str
    """How the time axis is divided: day, month or year."""
    rows: dict[str, list[Row]]


@click.command(name="report")
@lake_option
@click.option(
    "--out", default="report.html", show_default=True, type=click.Path(dir_okay=False), help="The page to write."
)
@click.option("--since", type=DATE, help="First UTC date.")
@click.option("--until", type=DATE, help="Last UTC date.")
def command(lake: str, out: str, since: datetime | None, until: datetime | None) -> None:
    """Write one HTML page with charts: what is spent on reasoning, and how much of it is known."""
    size = write(Path(lake), Path(out), date_of(since), date_of(until))
    click.echo(f"wrote {out}: {size:,} bytes, nothing else is needed to read it")


def write(lake: Path, out: Path, since: date | None = None, until: date | None = None) -> int:
    """Write the page of a lake, whole or not at all.

    Returns:
        Its size in bytes.

    Raises:
        WrongUseError: there is no such lake, or the page cannot be written there.
    """
    text = page(facts_of(lake, since, until), lake.name or str(lake), datetime.now(UTC)).encode()
    aside = out.with_name(f".{out.name}.part")
    try:
        aside.write_bytes(text)
        aside.replace(out)
    except OSError as error:
        raise WrongUseError(f"--out {out}: {error.strerror}; name a file in a folder that exists") from error
    return len(text)


def facts_of(lake: Path, since: date | None = None, until: date | None = None) -> Facts:
    """Ask the lake every question of the page, over one connection: no run comes between two answers."""
    with query.connect(str(lake)) as connection:
        for name, day in (("since", since), ("until", until)):
            if day is not None:
                connection.execute(f"SET VARIABLE {name} = $value", {"value": day.isoformat()})

        def rows(question: str) -> list[Row]:
            answer: list[Row] = connection.sql(query.sql_of(question)).to_arrow_table().to_pylist()
            return answer

        answers = {question: rows(question) for question in QUESTIONS}
        step = _step(answers["totals"][0])
        connection.execute("SET VARIABLE step = $value", {"value": step})
        answers["output_by_day"] = rows("output_by_day")
    return Facts(since, until, step, answers)


def _step(totals: Row) -> str:
    if totals["first_date"] is None:
        return _STEPS[0][1]
    days = (totals["last_date"] - totals["first_date"]).days
    return next((step for longest, step in _STEPS if days < longest), "year")


def page(facts: Facts, lake: str, now: datetime) -> str:
    """The page as HTML. What comes from the lake is escaped; a null is written as not known."""
    template = files("pipelines").joinpath("report.html.jinja").read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: NOT_KNOWN if value is None else value,
    )
    environment.filters |= {
        "number": number,
        "short": short,
        "percent": charts.percent,
        "size": size_of,
        "usd": usd,
        "share_of": charts.share_of,
        "model": charts.model_of,
    }
    rows = facts.rows
    return environment.from_string(template).render(
        lake=lake,
        now=now,
        facts=facts,
        charts=_charts(facts),
        totals=rows["totals"][0],
        models=rows["output_by_model"],
        rejects=rows["rejects_by_reason"][:_LINES],
        rejects_left=len(rows["rejects_by_reason"][_LINES:]),
        coverage_left=len(rows["coverage"][_LINES:]),
        changed={change: _calls_where(rows["asked_and_applied"], change) for change in ("raised", "lowered")},
        run=next(iter(rows["accounts"]), None),
    )


def _charts(facts: Facts) -> dict[str, Markup]:
    """The charts for which there is anything to draw."""
    rows = facts.rows
    providers = [{**row, "name": charts.provider_of(row)} for row in rows["output_by_provider"]]
    models = [{**row, "name": charts.model_of(row)} for row in rows["output_by_model"]]
    dated = [row for row in rows["output_by_day"] if row["date"] and row["output_tokens"] is not None]
    stored = rows["thinking_bytes_by_age"]
    drawn: dict[str, tuple[Callable[..., Markup], list[Any], tuple[Any, ...]]] = {
        "output_by_day": (charts.output_by_day, dated, (facts.step,)),
        "models_by_day": (charts.models_by_day, dated, (facts.step,)),
        "providers": (charts.output_parts, _known(providers, "output_tokens"), ("name",)),
        "models": (charts.output_parts, _known(models, "output_tokens"), ("name",)),
        "effort": (charts.effort_asked_and_applied, rows["asked_and_applied"], ()),
        "claims": (charts.effort_claims, rows["asked_and_applied"], ()),
        "means": (charts.reasoning_by_effort, _known(rows["reasoning_by_effort"], "mean_reasoning_tokens"), ()),
        "stored": (charts.stored_by_age, _known(stored, "thinking_bytes"), ()),
        "aged": (charts.calls_by_age, stored, ()),
        "coverage": (charts.coverage, rows["coverage"][:_LINES], ()),
        "rejects": (charts.rejects, rows["rejects_by_reason"], ()),
    }
    return {name: draw(data, *more) for name, (draw, data, more) in drawn.items() if data}


def _known(rows: list[Any], column: str) -> list[Any]:
    return [row for row in rows if row[column] is not None]


def _calls_where(rows: list[Row], change: str) -> int:
    return sum(row["calls"] for row in rows if row["effort_change"] == change)


def number(value: int | Decimal | None) -> str:
    """A count with its thousands apart."""
    return NOT_KNOWN if value is None else f"{value:,.0f}"


def short(value: int | Decimal | None) -> str:
    """A count for a headline: 12,300, 1.23 million."""
    if value is None:
        return NOT_KNOWN
    for least, word in ((10**12, "trillion"), (10**9, "billion"), (10**6, "million")):
        if value >= least:
            return f"{value / least:.2f} {word}"
    return number(value)


def size_of(value: int | Decimal | None) -> str:
    """Bytes in decimal units."""
    if value is None:
        return NOT_KNOWN
    size, unit = float(value), 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.0f} {_UNITS[unit]}" if unit == 0 else f"{size:.1f} {_UNITS[unit]}"


def usd(value: Decimal | None) -> str:
    """Dollars to the cent; less than a dollar to four digits after the point."""
    if value is None:
        return NOT_KNOWN
    if 0 < value < Decimal("0.0001"):
        return "<$0.0001"
    return f"${value:,.2f}" if value == 0 or abs(value) >= 1 else f"${value:.4f}"
