"""How figures and names are written for people. A null is written as not known, never as zero."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

Row = Mapping[str, Any]
"""A row of a question's answer."""

NOT_KNOWN = "not known"
OTHERS = "others"
_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")
_WORDS = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"))


def number(value: float | Decimal | None) -> str:
    """A count with its thousands apart: 12,300."""
    return NOT_KNOWN if value is None else f"{value:,.0f}"


def short(value: int | Decimal | None) -> str:
    """A count for a headline: 12,300, 1.23 million."""
    if value is None:
        return NOT_KNOWN
    return next((f"{value / least:.2f} {word}" for least, word in _WORDS if value >= least), number(value))


def percent(share: float | Decimal | None) -> str:
    """A share between 0 and 1; only nothing is 0% and only all is 100%."""
    if share is None:
        return NOT_KNOWN
    shown = f"{100 * share:.1f}"
    if shown == "0.0" and share > 0:
        return "<0.1%"
    if shown == "100.0" and share < 1:
        return ">99.9%"
    return f"{shown.removesuffix('.0')}%"


def size(value: int | Decimal | None) -> str:
    """Bytes in decimal units: 57 bytes, 35.0 MB."""
    if value is None:
        return NOT_KNOWN
    if value < 1000:
        return f"{value} bytes"
    left, unit = float(value), 0
    while left >= 1000 and unit < len(_UNITS) - 1:
        left, unit = left / 1000, unit + 1
    return f"{left:.1f} {_UNITS[unit]}"


def usd(value: Decimal | None) -> str:
    """Dollars to the cent; less than a dollar to four digits after the point."""
    if value is None:
        return NOT_KNOWN
    if 0 < value < Decimal("0.0001"):
        return "<$0.0001"
    return f"${value:,.2f}" if value == 0 or value >= 1 else f"${value:.4f}"


def model(row: Row) -> str:
    """The model and whose it is; all others where the row has a place that is null."""
    if "place" in row and row["place"] is None:
        return OTHERS
    if row["model"] is None and row["provider"] is None:
        return NOT_KNOWN
    return f"{row['model'] or NOT_KNOWN} · {row['provider'] or NOT_KNOWN}"


def provider(row: Row) -> str:
    """The provider, and who sends the bill where that is another; all others where the place is null."""
    if row["place"] is None:
        return OTHERS
    return (row["provider"] or NOT_KNOWN) + (f" via {row['billed_by']}" if row["billed_by"] else "")


def share(row: Row) -> str:
    """The share of the output that is reasoning, never without its coverage."""
    if row["reasoning_share"] is None:
        return "share not known"
    return f"{percent(row['reasoning_share'])} reasoning · {percent(row['reasoning_coverage'])} counted"
