"""Why a call's texts stay or go: the rule that decides, and the day on which each falls due."""

from typing import Any

from rich.console import Console

from pipelines import query
from pipelines.wrong_use import WrongUseError
from schemas.clocks import Word
from transforms.clocks import call_clocks, held_by, rule_name
from transforms.retain import Order

_TEXTS = ("thinking", "answer", "error_message", "tags", "rest")
_COLUMNS = (
    "call_id", "date", "run_id", "thinking_purged_at", "answer_purged_at",
    *(f"{text} IS NOT NULL AS has_{text}" for text in _TEXTS if text != "rest"),
)  # fmt: skip
_WHAT = {"rest": "free text elsewhere"}


def explained(lake: str, order: Order, call_id: str) -> list[dict[str, Any]]:
    """What a policy says of the rows of one call.

    Raises:
        WrongUseError: the lake has no such call.
    """
    policy = order.policy
    clocks = call_clocks(policy, "calls", [*_COLUMNS, f"{held_by(policy)} AS held_by"])
    # As text: no date of Arrow's says '-infinity'.
    days = ", ".join(
        f"{text}_due::VARCHAR AS {text}_due, coalesce({text}_due <= '{order.as_of}', false) AS {text}_is_due"
        for text in _TEXTS
    )
    found = query.ask(
        lake,
        f"SELECT * EXCLUDE ({', '.join(f'{text}_due' for text in _TEXTS)}), {days}, {rule_name(policy)} AS rule_name "  # noqa: S608
        f"FROM ({clocks}) WHERE call_id = getvariable('call_id')",
        {"call_id": call_id},
    )
    if not found.num_rows:
        raise WrongUseError(f"{lake} has no call {call_id!r}: an id is a value of the column call_id of calls")
    return [_told(row, order) for row in found.to_pylist()]


def _told(row: dict[str, Any], order: Order) -> dict[str, Any]:
    clocks = order.policy.retained(row["rule"])
    return {
        "call_id": row["call_id"],
        "date": row["date"],
        "counted_from": row["counted_from"],
        "rule": row["rule_name"],
        "held_by": [order.policy.holds[place - 1].model_dump(mode="json") for place in row["held_by"]],
        "texts": {
            _WHAT.get(text, text): {
                "clock": Word.IMMEDIATELY if row["is_forgotten"] else getattr(clocks, text),
                "falls_due": _day(row[f"{text}_due"]),
                "is_due": row[f"{text}_is_due"],
                "is_stored": row.get(f"has_{text}"),
                "purged_at": row.get(f"{text}_purged_at"),
            }
            for text in _TEXTS
        },
    }


def _day(due: str | None) -> str | None:
    return "at once" if due == "-infinity" else due


def print_explained(rows: list[dict[str, Any]], console: Console) -> None:
    """Print each row of a call: the rule, the days, the holds."""
    for row in rows:
        day = row["date"] or f"no date, in the lake since {row['counted_from']}"
        console.print(f"call {row['call_id']} ({day}): {row['rule']} decides", highlight=False)
        for text, told in row["texts"].items():
            clock = f"{told['clock']} days" if isinstance(told["clock"], int) else told["clock"]
            console.print(f"  {text:<20} {clock:<12} {_state(told)}", highlight=False)
        for hold in row["held_by"]:
            console.print(f"  held until {hold['until']}: {hold['reason']}", highlight=False)


def _state(told: dict[str, Any]) -> str:
    if told["purged_at"]:
        return f"purged at {told['purged_at']:%Y-%m-%d %H:%M:%S} UTC"
    if told["is_stored"] is False:
        return "there is none"
    return f"falls due {told['falls_due']}" if told["falls_due"] else "never falls due"
