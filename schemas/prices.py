"""The price table: what a million tokens cost, by model, tier, time and length of the input; and who matched which row.

Both are Arrow tables of the lake (``prices/``). They are made by ``thinkledger prices`` and joined to the calls by
``sql/views/call_costs.sql``: no price ever enters a call's row.
"""

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Annotated, NamedTuple, Self

import pyarrow as pa
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from schemas.yaml_text import load_yaml

SECONDS_OF_DAY = 86_400
RATE = pa.decimal128(18, 9)
"""US dollars per million tokens (or per request). Nine places hold every published rate and half of it exactly."""
_TIME = pa.timestamp("us", tz="UTC")


def _to_nine_places(rate: Decimal) -> Decimal:
    """Some gateways publish floats (0.0833333333333333); the rest of them is less than 1e-15 dollars a token."""
    return rate.quantize(Decimal("1e-9"))


Rate = Annotated[Decimal, Field(ge=0, lt=1500, allow_inf_nan=False), AfterValidator(_to_nine_places)]
"""The bound keeps the costs of a call within 64 bits (``sql/views/call_costs.sql``); the dearest list price is 600."""


class Tier(StrEnum):
    """The service tiers that have prices of their own."""

    DEFAULT = "default"
    BATCH = "batch"
    FLEX = "flex"
    PRIORITY = "priority"
    FAST = "fast"


class Basis(StrEnum):
    """Whose price it is."""

    LIST = "list"
    CONTRACT = "contract"


class Rule(StrEnum):
    """How a call's model found its prices; the last five found none."""

    CONTRACT = "contract"
    """The contract names the model."""
    CONTRACT_UNDATED = "contract_undated"
    """The contract names the model without the date that the call's name ends with."""
    EXACT = "exact"
    """The price table has a model of this name."""
    PATTERN = "pattern"
    """The price table's own patterns for the model cover the name."""
    WITHOUT_PREFIX = "without_prefix"
    """As ``exact`` or ``pattern``, after what a gateway or a region puts before the name was taken off."""
    OTHER_PROVIDER = "other_provider"
    """The biller has no price of its own; the price table says that it charges the maker's."""
    NO_MODEL = "no_model"
    NO_BILLER = "no_biller"
    """The call ran on the caller's own machine, so far as its protocol tells."""
    UNKNOWN_PROVIDER = "unknown_provider"
    UNKNOWN_MODEL = "unknown_model"
    NOT_IN_TABLE = "not_in_table"
    """The installed package has it, the table in force does not: ``thinkledger prices`` renews the table."""


class Rates(BaseModel):
    """US dollars per million tokens; null where there is no such price. ``request_usd`` is charged once a call."""

    model_config = ConfigDict(frozen=True)

    input_usd: Rate | None = None
    cached_input_usd: Rate | None = None
    cache_write_usd: Rate | None = None
    cache_write_1h_usd: Rate | None = None
    output_usd: Rate | None = None
    reasoning_usd: Rate | None = None
    request_usd: Rate | None = None


class Price(BaseModel):
    """One row: the rates of one model and tier in one period, one part of the day and one band of input length.

    The periods are half open: ``valid_from <= called_at < valid_to``, null without end; so are the seconds of the UTC
    day. The band holds whole calls by ALL their input tokens, both ends inclusive.
    """

    model_config = ConfigDict(frozen=True)

    price_key: int = 0
    provider: str
    model: str
    tier: Tier = Tier.DEFAULT
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    day_from: int = 0
    day_to: int = SECONDS_OF_DAY
    input_from: int = 0
    input_to: int | None = None
    rates: Rates
    basis: Basis = Basis.LIST
    overridden: bool = False
    source: str

    @property
    def price_id(self) -> str:
        """The row's name: stable as long as the row says the same of when it holds."""
        since = f"{self.valid_from:%Y-%m-%d}" if self.valid_from else "always"
        parts = [self.provider, self.model, self.tier, since, f"{self.day_from}s", f"{self.input_from}+"]
        return "|".join([*parts, *(["override"] if self.overridden else [])])


class CallModel(NamedTuple):
    """What the calls of a lake say of whose model they ran on; prices are looked up once for each."""

    provider: str | None
    billed_by: str | None
    protocol: str | None
    model: str | None


class Match(NamedTuple):
    """Which prices a model has, and by which rule; null where it has none."""

    rule: Rule
    provider: str | None = None
    model: str | None = None


class Override(BaseModel):
    """A published discount that the price package does not know for some time; its fields are explained in the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str
    tier: Tier
    factor: Rate | None = None
    cache_factor: Rate | None = None
    models: tuple[str, ...] = ("",)
    since: date | None = None
    until: date | None = None
    source: str
    note: str

    @model_validator(mode="after")
    def _factors_come_together(self) -> Self:
        if (self.factor is None) != (self.cache_factor is None):
            raise ValueError(f"{self.provider} {self.tier}: factor and cache_factor come together")
        return self

    def covers(self, model: str, tier: Tier, day: date) -> bool:
        """Tell whether it holds for one of the provider's models on a day."""
        period = (self.since or day) <= day and (self.until is None or day < self.until)
        return self.tier is tier and period and model.startswith(self.models)


class Overrides(BaseModel):
    """The whole of ``price_overrides.yaml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str
    providers: dict[str, str]
    prefixes: frozenset[str]
    open_weights: tuple[str, ...]
    own_machine: frozenset[str]
    overrides: tuple[Override, ...]


@cache
def overrides() -> Overrides:
    """Read the file. Raises ``pydantic.ValidationError`` where it is not as described."""
    return Overrides.model_validate(load_yaml((files("schemas") / "price_overrides.yaml").read_text("utf-8")))


class ContractLine(BaseModel):
    """One line of a contract: rates in US dollars per million tokens. ``valid_to`` is exclusive.

    ``provider`` is whoever bills: the call's ``billed_by``, else its ``provider``. An empty rate falls back as the
    price table's do: cached input and cache writes to the input's, reasoning to the output's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str = Field(min_length=1)
    model: str = Field(min_length=1)
    tier: Tier = Tier.DEFAULT
    valid_from: date | None = None
    valid_to: date | None = None
    over_input_tokens: int = Field(default=0, ge=0)
    """The line holds for calls with MORE input tokens than this, up to the next line's; 0: from the first."""
    input: Rate
    cached_input: Rate | None = None
    cache_write: Rate | None = None
    cache_write_1h: Rate | None = None
    output: Rate
    reasoning: Rate | None = None

    @model_validator(mode="after")
    def _period_is_one(self) -> Self:
        if self.valid_from and self.valid_to and self.valid_from >= self.valid_to:
            raise ValueError(f"valid_to {self.valid_to} is not after valid_from {self.valid_from}")
        return self


_WORD = pa.string()
PRICE_SCHEMA = pa.schema(
    [
        pa.field("price_key", pa.int32(), nullable=False),
        pa.field("provider", _WORD),
        pa.field("model", _WORD),
        pa.field("tier", _WORD),
        pa.field("valid_from", _TIME),
        pa.field("valid_to", _TIME),
        pa.field("day_from", pa.int32()),
        pa.field("day_to", pa.int32()),
        pa.field("input_from", pa.int64()),
        pa.field("input_to", pa.int64()),
        *(pa.field(name, RATE) for name in Rates.model_fields),
        pa.field("basis", _WORD),
        pa.field("overridden", pa.bool_()),
        pa.field("source", _WORD),
        pa.field("price_id", _WORD),
        pa.field("price_version", _WORD),
    ]
)
MODEL_MAP_SCHEMA = pa.schema(
    [
        *(pa.field(name, _WORD) for name in CallModel._fields),
        pa.field("rule", _WORD),
        pa.field("price_provider", _WORD),
        pa.field("price_model", _WORD),
        pa.field("price_key", pa.int32()),
    ]
)


def to_table(prices: Iterable[Price], version: str) -> pa.Table:
    """The price table as it is stored."""
    rows = [
        {
            **price.model_dump(exclude={"rates"}),
            **price.rates.model_dump(),
            "price_id": price.price_id,
            "price_version": version,
        }
        for price in prices
    ]
    return pa.Table.from_pylist(rows, schema=PRICE_SCHEMA)
