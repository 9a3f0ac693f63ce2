"""Times as stored logs spell them, to microseconds since 1970 UTC. Nothing here ever reads the machine's clock."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
DAY_US = 86_400_000_000
_LATEST = 4_102_444_800_000_000  # 2100-01-01: a later time is no time, but a number in another unit


def from_epoch(value: float | Decimal) -> int | None:
    """Seconds, milli-, micro- or nanoseconds since 1970, told apart by magnitude (safe from 1973 to 2100)."""
    if not 0 < value < 5e18:  # also false for NaN
        return None
    if value < 1e11:
        micros = value * 1_000_000
    elif value < 1e14:
        micros = value * 1_000
    elif value < 1e17:
        micros = value
    else:
        micros = value // 1_000
    whole = round(micros)
    return whole if whole < _LATEST else None


def from_iso(text: str) -> int | None:
    """ISO 8601, with or without ``T``, zone and fraction; without a zone it is UTC. Null where it is no such time."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return from_datetime(moment)


def from_datetime(moment: datetime) -> int | None:
    """A datetime; one without a zone is UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    micros = (moment - _EPOCH) // _MICROSECOND
    return micros if 0 < micros < _LATEST else None


def from_any(value: object) -> int | None:
    """A time in any of these forms: a number, a number in a string, ISO text, a datetime."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float | Decimal):
        return from_epoch(value)
    if isinstance(value, str):
        text = value.strip()
        if text.isascii() and text.replace(".", "", 1).isdigit():
            return from_epoch(Decimal(text))
        return from_iso(text)
    return from_datetime(value) if isinstance(value, datetime) else None


def to_date(micros: int) -> int:
    """The UTC date of a time, as days since 1970."""
    return micros // DAY_US
