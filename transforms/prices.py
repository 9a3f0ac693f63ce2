"""The price package's data as flat rows: one per model, tier, period, part of the day and band of input length.

The package (genai-prices) resolves a price by evaluating conditions at a moment. All its conditions are bounds on the
date and on the time of day, so asking it once between each two neighbouring bounds gives rows that say the same.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from importlib.metadata import version
from itertools import groupby, pairwise
from typing import NamedTuple

from genai_prices.data import providers
from genai_prices.types import (
    ModelInfo,
    ModelPrice,
    PriceVariant,
    Provider,
    StartDateConstraint,
    TieredPrices,
    TimeOfDateConstraint,
)

from schemas.prices import SECONDS_OF_DAY, Price, Rates, Tier, overrides

_CONTEXTS: Mapping[Tier, Mapping[str, str]] = {
    Tier.BATCH: {"processing": "batch"},
    Tier.FLEX: {"service_tier": "flex"},
    Tier.PRIORITY: {"service_tier": "priority"},
    Tier.FAST: {"service_tier": "fast", "speed": "fast"},
}
"""How the package spells the circumstances that change a price."""
_KEYS = {
    "input_usd": ("input_mtok",),
    "cached_input_usd": ("cache_read_mtok",),
    "cache_write_usd": ("cache_write_5m_mtok", "cache_write_mtok"),
    "cache_write_1h_usd": ("cache_write_1h_mtok",),
    "output_usd": ("output_mtok",),
    "reasoning_usd": ("output_reasoning_mtok",),
    "request_usd": ("requests_kcount",),
}
_CACHE = ("cached_input_usd", "cache_write_usd", "cache_write_1h_usd")
_UNDATED = date(2000, 1, 1)
"""Any day does, where no price has a date."""


class _Band(NamedTuple):
    input_from: int
    input_to: int | None
    rates: Rates


class _Offer(NamedTuple):
    """What one tier of a model costs at a moment."""

    bands: tuple[_Band, ...]
    source: str
    overridden: bool = False


class _Period(NamedTuple):
    """Dates and seconds of the day, both half open."""

    since: date | None
    until: date | None
    day_from: int
    day_to: int


@cache
def package_version() -> str:
    """The price package's name and version."""
    return f"genai-prices {version('genai-prices')}"


@cache
def list_prices() -> tuple[Price, ...]:
    """Every price of the package, and the published discounts that it does not know.

    A provider that charges other makers' prices (Azure, Vertex) has rows for their models too, by the name
    ``maker/model``; their discounts are not its own.
    """
    return tuple(price for provider in providers for price in _of_provider(provider))


def content_hash(prices: Iterable[Price]) -> str:
    """A hash of all that the prices say; their order does not matter."""
    lines = sorted(price.model_dump_json(exclude={"price_key"}) for price in prices)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def with_keys(prices: Iterable[Price]) -> list[Price]:
    """Number the models, so that the join to the calls is one of integers."""
    in_order = sorted(prices, key=lambda price: (price.provider, price.model))
    models = groupby(in_order, key=lambda price: (price.provider, price.model))
    return [price.model_copy(update={"price_key": key}) for key, (_, rows) in enumerate(models) for price in rows]


def _of_provider(provider: Provider) -> Iterator[Price]:
    for model in provider.models:
        yield from _of_model(provider.id, model.id, model, model.price_variants or ())
    for other in providers:
        if other.id in (provider.fallback_model_providers or ()):
            for model in other.models:
                yield from _of_model(provider.id, f"{other.id}/{model.id}", model, ())


def _of_model(provider: str, name: str, model: ModelInfo, variants: Sequence[PriceVariant]) -> Iterator[Price]:
    periods = list(_periods(provider, model, variants))
    for tier in Tier:
        offers = [(period, _offer(provider, name, model, variants, tier, _moment(period))) for period in periods]
        for period, offer in _joined(offers):
            for band in offer.bands:
                yield Price(
                    provider=provider,
                    model=name,
                    tier=tier,
                    valid_from=_midnight(period.since),
                    valid_to=_midnight(period.until),
                    day_from=period.day_from,
                    day_to=period.day_to,
                    input_from=band.input_from,
                    input_to=band.input_to,
                    rates=band.rates,
                    overridden=offer.overridden,
                    source=offer.source,
                )


def _periods(provider: str, model: ModelInfo, variants: Sequence[PriceVariant]) -> Iterator[_Period]:
    """Between these bounds no condition changes; all dates of one part of the day, then those of the next."""
    conditions = [variant.constraint for variant in variants]
    if isinstance(model.prices, list):
        conditions += [price.constraint for price in model.prices]
    days: set[date] = {c.start_date for c in conditions if isinstance(c, StartDateConstraint)}
    days |= {
        day
        for override in overrides().overrides
        for day in (override.since, override.until)
        if override.provider == provider and day
    }
    seconds = {0, SECONDS_OF_DAY}
    for condition in conditions:
        if isinstance(condition, TimeOfDateConstraint):
            seconds |= {_second(condition.start_time), _second(condition.end_time)}
    bounds: list[date | None] = [None, *sorted(days), None]
    for day_from, day_to in pairwise(sorted(seconds)):
        for since, until in pairwise(bounds):
            yield _Period(since, until, day_from, day_to)


def _offer(
    provider: str, name: str, model: ModelInfo, variants: Sequence[PriceVariant], tier: Tier, moment: datetime
) -> _Offer | None:
    """What the tier costs at a moment; null where nobody says."""
    standard = model.get_prices(moment)
    if tier is Tier.DEFAULT:
        return _Offer(_bands(standard), package_version())
    active = [v for v in _of_tier(variants, tier) if v.constraint is None or v.constraint.active(moment)]
    if active:
        return _Offer(_bands(model.get_prices(moment, _CONTEXTS[tier])), package_version())
    for override in overrides().overrides:
        if override.provider == provider and override.covers(name, tier, moment.date()):
            factors = _later_ratios(model, variants, tier)
            if not factors and override.factor is not None and override.cache_factor is not None:
                factors = dict.fromkeys(_KEYS, override.factor) | dict.fromkeys(_CACHE, override.cache_factor)
            if factors:
                return _Offer(tuple(_scaled(band, factors) for band in _bands(standard)), override.source, True)  # noqa: FBT003
    return None


def _of_tier(variants: Sequence[PriceVariant], tier: Tier) -> list[PriceVariant]:
    context = _CONTEXTS[tier]
    return [v for v in variants if v.when.items() <= context.items() and v.prices.__dict__]


def _later_ratios(model: ModelInfo, variants: Sequence[PriceVariant], tier: Tier) -> dict[str, Decimal]:
    """How the tier's rates stand to the standard ones on the first day on which the package knows them."""
    starts = [
        v.constraint.start_date for v in _of_tier(variants, tier) if isinstance(v.constraint, StartDateConstraint)
    ]
    if not starts:
        return {}
    moment = datetime.combine(min(starts), time(), UTC)
    standard, tiered = _bands(model.get_prices(moment))[0].rates, _bands(model.get_prices(moment, _CONTEXTS[tier]))[0]
    ratios = {}
    for name in _KEYS:
        then, with_tier = getattr(standard, name), getattr(tiered.rates, name)
        if then and with_tier is not None:
            ratios[name] = with_tier / then
    return ratios


def _scaled(band: _Band, factors: Mapping[str, Decimal]) -> _Band:
    """All token rates by their factors; a fee per request has no discount that anybody published."""
    rates = {name: rate * factors.get(name, Decimal(1)) for name, rate in band.rates if rate is not None}
    if band.rates.request_usd is not None:
        rates["request_usd"] = band.rates.request_usd
    return band._replace(rates=Rates(**rates))


def _bands(prices: ModelPrice) -> tuple[_Band, ...]:
    """The package's tiers by input length: a call with MORE tokens than a tier's start pays its rate for all."""
    tiered = [value for value in prices.__dict__.values() if isinstance(value, TieredPrices)]
    starts = sorted({tier.start for value in tiered for tier in value.tiers})
    bands = pairwise([-1, *starts, None])
    return tuple(_Band(over + 1, upto, _rates(prices, over)) for over, upto in bands if over is not None)


def _rates(prices: ModelPrice, over: int) -> Rates:
    found: dict[str, Decimal] = {}
    for name, keys in _KEYS.items():
        rates = [rate for key in keys if (rate := _rate(prices.__dict__.get(key), over)) is not None]
        if rates:
            found[name] = rates[0] / 1000 if name == "request_usd" else rates[0]
    return Rates(**found)


def _rate(value: Decimal | TieredPrices | None, over: int) -> Decimal | None:
    if isinstance(value, TieredPrices):
        return next((tier.price for tier in reversed(value.tiers) if tier.start <= over), value.base)
    return value


def _joined(offers: Iterable[tuple[_Period, _Offer | None]]) -> list[tuple[_Period, _Offer]]:
    """Neighbouring dates that cost the same are one row, then neighbouring parts of the day."""
    known = [(period, offer) for period, offer in offers if offer is not None]
    by_date: list[tuple[_Period, _Offer]] = []
    for period, offer in known:
        last = by_date[-1] if by_date else None
        if last and last[1] == offer and last[0].until == period.since and last[0].day_from == period.day_from:
            by_date[-1] = (last[0]._replace(until=period.until), offer)
        else:
            by_date.append((period, offer))
    by_day: list[tuple[_Period, _Offer]] = []
    for period, offer in sorted(by_date, key=lambda entry: (entry[0].since or date.min, entry[0].day_from)):
        last = by_day[-1] if by_day else None
        if last and last[1] == offer and last[0][:2] == period[:2] and last[0].day_to == period.day_from:
            by_day[-1] = (last[0]._replace(day_to=period.day_to), offer)
        else:
            by_day.append((period, offer))
    return by_day


def _moment(period: _Period) -> datetime:
    """The first moment of a period; of one without a start, a moment before its end."""
    day = period.since or (period.until - timedelta(days=1) if period.until else _UNDATED)
    return datetime.combine(day, time(), UTC) + timedelta(seconds=period.day_from)


def _midnight(day: date | None) -> datetime | None:
    return datetime.combine(day, time(), UTC) if day else None


def _second(moment: time) -> int:
    """The second of the UTC day; a time without a zone is UTC."""
    utc = datetime.combine(_UNDATED, moment, moment.tzinfo or UTC).astimezone(UTC)
    return utc.hour * 3600 + utc.minute * 60 + utc.second
