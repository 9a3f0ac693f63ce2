"""``thinkledger report``: one self-contained HTML page on what reasoning costs, from the questions in ``sql/``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from importlib.resources import files
from pathlib import Path

import click
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from pipelines import charts, query, wording
from pipelines.options import DATE, date_of, lake_option
from pipelines.wording import NOT_KNOWN, Row
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
    size = write(lake, Path(out), date_of(since), date_of(until))
    click.echo(f"wrote {out}: {size:,} bytes, nothing else is needed to read it")


def write(lake: Path | str, out: Path, since: date | None = None, until: date | None = None) -> int:
    """Write the page of a lake, whole or not at all.

    Returns:
        Its size in bytes.

    Raises:
        WrongUseError: there is no such lake, or the page cannot be written there.
    """
    text = page(facts_of(lake, since, until), str(lake), datetime.now(UTC)).encode()
    aside = out.with_name(f".{out.name}.part")
    try:
        aside.write_bytes(text)
        aside.replace(out)
    except OSError as error:
        raise WrongUseError(f"--out {out}: {error.strerror}; name a file in a folder that exists") from error
    return len(text)


def facts_of(lake: Path | str, since: date | None = None, until: date | None = None) -> Facts:
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
    for words in (wording.number, wording.short, wording.percent, wording.size, wording.usd, wording.model):
        environment.filters[words.__name__] = words
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
    """The charts for which there is anything to draw, by the name of their figure."""
    rows = facts.rows
    providers = [{**row, "name": wording.provider(row)} for row in rows["output_by_provider"]]
    models = [{**row, "name": wording.model(row)} for row in rows["output_by_model"]]
    dated = _known(_known(rows["output_by_day"], "date"), "output_tokens")
    data: dict[str, tuple[Callable[[Sequence[Row]], Markup], Sequence[Row]]] = {
        "output_by_day": (partial(charts.output_by_day, step=facts.step), dated),
        "models_by_day": (partial(charts.models_by_day, step=facts.step), dated),
        "providers": (charts.output_parts, _known(providers, "output_tokens")),
        "models": (charts.output_parts, _known(models, "output_tokens")),
        "effort": (charts.effort, rows["asked_and_applied"]),
        "claims": (charts.claims, rows["asked_and_applied"]),
        "means": (charts.means, _known(rows["reasoning_by_effort"], "mean_reasoning_tokens")),
        "stored": (charts.stored, _known(rows["thinking_bytes_by_age"], "thinking_chars")),
        "aged": (charts.aged, rows["thinking_bytes_by_age"]),
        "coverage": (charts.coverage, rows["coverage"][:_LINES]),
        "rejects": (charts.rejects, rows["rejects_by_reason"]),
    }
    return {name: draw(known) for name, (draw, known) in data.items() if known}


def _known(rows: Sequence[Row], column: str) -> list[Row]:
    return [row for row in rows if row[column] is not None]


def _calls_where(rows: Sequence[Row], change: str) -> int:
    return sum(row["calls"] for row in rows if row["effort_change"] == change)
