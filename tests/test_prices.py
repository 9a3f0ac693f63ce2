"""Prices: flattened as the package means them, laid under contracts, matched to models, and joined to calls in SQL."""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from genai_prices.data import providers
from genai_prices.types import ModelInfo, Provider, Usage

from pipelines import prices
from pipelines.cli import main
from pipelines.wrong_use import WrongUseError
from schemas.call import Call
from schemas.prices import CallModel, Match, Price, Rule, Tier, overrides
from tests import lake_runs
from transforms.contract_prices import ContractError, lay_over, read_contract
from transforms.lake import Lake
from transforms.model_map import match_of, model_map
from transforms.prices import list_prices, with_keys

SEED = 20_261_130
CONTEXTS: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "batch": {"processing": "batch"},
    "flex": {"service_tier": "flex"},
    "priority": {"service_tier": "priority"},
    "fast": {"service_tier": "fast", "speed": "fast"},
}
HEADER = (
    "provider,model,tier,valid_from,valid_to,over_input_tokens,"
    "input,cached_input,cache_write,cache_write_1h,output,reasoning\n"
)


@pytest.fixture(scope="module")
def listed() -> list[Price]:
    return with_keys(list_prices())


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake")


def micros(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000


def paid(name: str, at: str | None = "2026-11-03T12:00:00", **fields: Any) -> Call:
    """A call of a model that the contracts of these tests name; all of one date, whenever it was."""
    row = {"provider": "acme", "protocol": "openai_chat", "model": "think-1", **fields}
    return lake_runs.call(name, called_at=micros(at) if at else None, **row)


def put(lake: Lake, *lines: str) -> None:
    """Put the list in force, with a contract of these lines."""
    file = lake.path.parent / "contract.csv"
    file.write_text(HEADER + "\n".join(lines) + "\n")
    prices.run(lake.path, file if lines else None)


def costs(lake: Lake, columns: str) -> dict[str, tuple[Any, ...]]:
    """Columns of the view by call_id."""
    found = lake_runs.ask(lake.path, f"SELECT call_id, {columns} FROM call_costs")  # noqa: S608 - columns of the tests
    return {row[0]: row[1:] for row in found}


def usd(text: str) -> Decimal:
    return Decimal(text)


# The flattened list


def test_rows_of_a_model_never_overlap(listed: list[Price]) -> None:
    def overlap(one: Price, other: Price) -> bool:
        since, until = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
        return (
            max(one.valid_from or since, other.valid_from or since)
            < min(one.valid_to or until, other.valid_to or until)
            and max(one.day_from, other.day_from) < min(one.day_to, other.day_to)
            and max(one.input_from, other.input_from) <= min(one.input_to or 10**9, other.input_to or 10**9)
        )

    by_tier: dict[tuple[int, str], list[Price]] = {}
    for price in listed:
        by_tier.setdefault((price.price_key, price.tier), []).append(price)
    assert [pair for rows in by_tier.values() for pair in combinations(rows, 2) if overlap(*pair)] == []
    assert len({price.price_id for price in listed}) == len(listed)


def test_overrides_speak_of_what_the_package_has() -> None:
    ids = {provider.id for provider in providers}
    assert {override.provider for override in overrides().overrides} <= ids
    assert set(overrides().providers.values()) <= ids
    assert all(override.source.startswith("https://") for override in overrides().overrides)


# Parity with the package


def moments(model: ModelInfo, dice: random.Random) -> Iterator[datetime]:
    """A random moment, and those on both sides of a price change, if there is one."""
    yield datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=dice.randrange(2 * 365 * 24 * 60))
    conditions = [entry.constraint for entry in model.prices] if isinstance(model.prices, list) else []
    conditions += [variant.constraint for variant in model.price_variants or ()]
    days = sorted({c.start_date for c in conditions if c is not None and hasattr(c, "start_date")})
    if days:
        midnight = datetime.combine(dice.choice(days), datetime.min.time(), UTC)
        yield midnight
        yield midnight - timedelta(seconds=1)


def usage_of(bounds: list[int], dice: random.Random) -> dict[str, int]:
    """Token counts that agree with each other, often exactly at a bound of the model's bands."""
    total = dice.choice([*bounds, *(bound + 1 for bound in bounds), dice.randrange(400_000)])
    cached = dice.randrange(total + 1)
    written = dice.randrange(total - cached + 1)
    output = dice.randrange(50_000)
    return {
        "input_tokens": total,
        "cached_input_tokens": cached,
        "cache_write_tokens": written,
        "cache_write_1h_tokens": dice.randrange(written + 1),
        "output_tokens": output,
        "reasoning_tokens": dice.randrange(output + 1),
    }


def expected(model: ModelInfo, provider: Provider, usage: dict[str, int], at: datetime, tier: str) -> Decimal:
    """What the package says."""
    calculation = model.calc_price(
        Usage(
            input_tokens=usage["input_tokens"],
            cache_read_tokens=usage["cached_input_tokens"],
            cache_write_tokens=usage["cache_write_tokens"],
            cache_write_1h_tokens=usage["cache_write_1h_tokens"],
            output_tokens=usage["output_tokens"],
            output_reasoning_tokens=usage["reasoning_tokens"],
        ),
        provider,
        genai_request_timestamp=at,
        price_context=CONTEXTS[tier],
    )
    return calculation.total_price


def sampled(listed: list[Price]) -> Iterator[tuple[Call, Decimal]]:
    """Calls of every kind of provider, model, date, usage and tier, with the package's price for each."""
    dice = random.Random(SEED)  # noqa: S311 - a sample
    tiers_of: dict[tuple[str, str], set[str]] = {}
    bounds_of: dict[tuple[str, str], set[int]] = {}
    for price in listed:
        tiers_of.setdefault((price.provider, price.model), set()).add(price.tier)
        bounds_of.setdefault((price.provider, price.model), set()).update({price.input_to} - {None})  # type: ignore[arg-type]
    number = 0
    for provider in providers:
        for model in dice.sample(provider.models, min(len(provider.models), 40)):
            found = provider.find_model(model.id, all_providers=providers)
            tiers = sorted(tiers_of.get((provider.id, model.id), ()))
            if found is not model or not tiers:
                continue
            for at in moments(model, dice):
                tier = "priority" if dice.random() < 0.1 else dice.choice(tiers)
                usage = usage_of(sorted(bounds_of[provider.id, model.id]), dice)
                number += 1
                call = lake_runs.call(
                    f"call-{number:05d}",
                    called_at=int(at.timestamp()) * 1_000_000,
                    provider=provider.id,
                    protocol="openai_chat",
                    model=model.id,
                    service_tier=None if tier == "batch" else tier,
                    is_batch=tier == "batch" or None,
                    **usage,
                )
                yield call, expected(model, provider, usage, at, tier)


def test_costs_are_the_packages(lake: Lake, listed: list[Price]) -> None:
    samples = list(sampled(listed))
    lake_runs.add(lake, *(call for call, _ in samples))
    put(lake)
    ours = costs(lake, "list_cost_usd, price_overridden, tier_used, price_id, input_cost_usd, output_cost_usd")
    outcomes: Counter[str] = Counter()
    for call, theirs in samples:
        cost, overridden, tier, price_id, input_cost, output_cost = ours[call.call_id]
        if cost is not None and abs(cost - theirs) <= Decimal("1e-9"):
            outcomes["same"] += 1
        elif price_id is None and tier != "default":
            # The package charges the standard rates for a tier that it has none for; we do not guess.
            outcomes["tier without rates"] += 1
        elif input_cost is None or output_cost is None:
            # A model that is not paid by the token on both sides: the package counts what has no rate as free.
            outcomes["no rate for a side"] += 1
        elif overridden:
            # The package knows the tier's rates only later, or never, and charges the standard ones.
            assert cost < theirs
            outcomes["discount of before the package knows it"] += 1
        else:
            # A fee per request, which depends on the search's reach: the package has one, for one reach.
            assert cost is None
            assert call.provider == "perplexity"
            outcomes["fee per request"] += 1
    assert outcomes["same"] >= 800
    assert len(outcomes) == 5, outcomes


# Money


def test_parts_are_priced_at_their_own_rates(lake: Lake) -> None:
    put(lake, "acme,think-1,,,,,10,1,12.5,20,50,")
    tokens: dict[str, Any] = {
        "input_tokens": 1000,
        "cached_input_tokens": 200,
        "cache_write_tokens": 300,
        "output_tokens": 400,
    }
    lake_runs.add(
        lake,
        paid("5m", **tokens),
        paid("1h", **tokens, cache_write_1h_tokens=100, reasoning_tokens=250),
        paid("plain", input_tokens=1000, output_tokens=400),
    )
    found = costs(
        lake,
        "input_cost_usd, cached_input_cost_usd, cache_write_cost_usd, answer_cost_usd, reasoning_cost_usd, "
        "output_cost_usd, list_cost_usd, cost_usd, cost_source",
    )
    # 500 × 10 + 200 × 1 + 300 × 12.5 + 400 × 50, in millionths
    assert found["5m"] == (
        usd("0.005"),
        usd("0.0002"),
        usd("0.00375"),
        None,
        None,
        usd("0.02"),
        usd("0.02895"),
        usd("0.02895"),
        "contract",
    )
    # the 1-hour writes cost 20 each: 200 × 12.5 + 100 × 20
    assert found["1h"][2:7] == (usd("0.0045"), usd("0.0075"), usd("0.0125"), usd("0.02"), usd("0.0297"))
    assert found["plain"][:3] == (usd("0.01"), None, None)


def test_a_long_context_reprices_the_whole_request(lake: Lake) -> None:
    put(lake, "acme,think-1,,,,,1,,,,10,", "acme,think-1,,,,200000,2,,,,15,")
    lake_runs.add(
        lake,
        paid("at", input_tokens=200_000, cached_input_tokens=150_000, output_tokens=10),
        paid("over", input_tokens=200_001, cached_input_tokens=150_000, output_tokens=10),
    )
    assert costs(lake, "list_cost_usd") == {"at": (usd("0.2001"),), "over": (usd("0.400152"),)}


def test_a_price_changes_at_midnight_utc(lake: Lake) -> None:
    put(lake, "acme,think-1,,,2026-11-03,,1,,,,1,", "acme,think-1,,2026-11-03,,,2,,,,2,")
    lake_runs.add(
        lake,
        paid("before", "2026-11-02T23:59:59", input_tokens=1_000_000, output_tokens=0),
        paid("after", "2026-11-03T00:00:00", input_tokens=1_000_000, output_tokens=0),
        paid("undated", None, input_tokens=1_000_000, output_tokens=0),
    )
    assert costs(lake, "cost_usd, cost_source") == {
        "before": (usd("1"), "contract"),
        "after": (usd("2"), "contract"),
        "undated": (None, "none"),  # nobody knows which of the two
    }


def test_an_undated_call_has_a_price_that_never_changed(lake: Lake) -> None:
    put(lake, "acme,think-1,,,,,1,,,,1,")
    lake_runs.add(lake, paid("undated", None, input_tokens=1_000_000, output_tokens=0))
    assert costs(lake, "cost_usd") == {"undated": (usd("1"),)}


def test_the_time_of_day_counts(lake: Lake) -> None:
    put(lake)
    fields: dict[str, Any] = {
        "provider": "deepseek",
        "model": "deepseek-chat",
        "input_tokens": 1_000_000,
        "output_tokens": 0,
    }
    lake_runs.add(
        lake,
        paid("night", "2026-11-03T16:30:00", **fields),
        paid("day", "2026-11-03T16:29:59", **fields),
        paid("morning", "2026-11-03T00:30:00", **fields),
    )
    assert costs(lake, "cost_usd") == {"night": (usd("0.135"),), "day": (usd("0.27"),), "morning": (usd("0.27"),)}


def test_the_served_tier_counts_not_the_asked_one(lake: Lake) -> None:
    put(lake, "acme,think-1,,,,,10,,,,10,", "acme,think-1,flex,,,,5,,,,5,", "acme,think-1,priority,,,,20,,,,20,")
    tokens: dict[str, Any] = {"input_tokens": 1000, "output_tokens": 0}
    lake_runs.add(
        lake,
        paid("fell back", **tokens, service_tier_requested="flex", service_tier="default"),
        paid("served", **tokens, service_tier_requested="auto", service_tier="priority"),
        paid("asked", **tokens, service_tier_requested="flex"),
        paid("neither", **tokens, service_tier_requested="auto"),
        paid("spelled", **tokens, service_tier="STANDARD"),
        paid("another", **tokens, service_tier="scale"),
        paid("batch", **tokens, service_tier="default", is_batch=True),
    )
    assert costs(lake, "cost_usd, tier_used, tier_source") == {
        "fell back": (usd("0.01"), "default", "served"),
        "served": (usd("0.02"), "priority", "served"),
        "asked": (usd("0.005"), "flex", "asked"),
        "neither": (usd("0.01"), "default", "default"),
        "spelled": (usd("0.01"), "default", "served"),
        "another": (None, "scale", "served"),
        "batch": (None, "batch", "served"),
    }


def test_batch_is_cheaper_before_the_package_knows_it_too(lake: Lake) -> None:
    put(lake)
    opus: dict[str, Any] = {
        "provider": "anthropic",
        "model": "claude-opus-4-6",
        "input_tokens": 1_000_000,
        "output_tokens": 0,
    }
    flex: dict[str, Any] = {"provider": "openai", "model": "gpt-5", "input_tokens": 1_000_000, "output_tokens": 0}
    lake_runs.add(
        lake,
        paid("before", "2026-10-13T23:59:59", **opus, is_batch=True),
        paid("after", "2026-10-14T00:00:00", **opus, is_batch=True),
        paid("at once", "2026-10-13T23:59:59", **opus),
        paid("flex before", "2026-10-11T23:59:59", **flex, service_tier="flex"),
        paid("flex after", "2026-10-12T00:00:00", **flex, service_tier="flex"),
    )
    assert costs(lake, "cost_usd, price_overridden") == {
        "before": (usd("2.5"), True),
        "after": (usd("2.5"), False),
        "at once": (usd("5"), False),
        "flex before": (usd("0.625"), True),
        "flex after": (usd("0.625"), False),
    }


def test_reasoning_inside_and_on_top_cost_the_same_for_the_same_output(lake: Lake) -> None:
    put(lake, "acme,think-1,,,,,0,,,,10,", "acme,think-2,,,,,0,,,,10,3")
    tokens: dict[str, Any] = {"input_tokens": 1, "output_tokens": 1000, "reasoning_tokens": 800}
    lake_runs.add(
        lake,
        paid("inside", **tokens, reasoning_basis="inside"),
        paid("on top", **tokens, reasoning_basis="on_top"),
        paid("cheaper", **tokens, model="think-2"),
        paid("smaller output", input_tokens=1, output_tokens=1000, reasoning_tokens=1001, reasoning_basis="unknown"),
        paid("not reported", input_tokens=1, output_tokens=1000),
    )
    assert costs(lake, "answer_cost_usd, reasoning_cost_usd, output_cost_usd, list_cost_usd") == {
        "inside": (usd("0.002"), usd("0.008"), usd("0.01"), usd("0.01")),
        "on top": (usd("0.002"), usd("0.008"), usd("0.01"), usd("0.01")),
        "cheaper": (usd("0.002"), usd("0.0024"), usd("0.0044"), usd("0.0044")),
        "smaller output": (None, None, usd("0.01"), usd("0.01")),
        "not reported": (None, None, usd("0.01"), usd("0.01")),
    }


def test_who_says_what_a_call_cost(lake: Lake) -> None:
    put(lake, "acme,think-1,,,,,10,,,,10,")
    tokens: dict[str, Any] = {"input_tokens": 1000, "output_tokens": 0}
    lake_runs.add(
        lake,
        paid("reported", **tokens, cost_reported_usd=usd("0.5")),
        paid("free", **tokens, cost_reported_usd=usd("0")),
        paid("cached", **tokens, cache_hit=True, cost_reported_usd=usd("0.5")),
        paid("unknown model", **tokens, model="think-9"),
        paid("unknown but reported", **tokens, model="think-9", cost_reported_usd=usd("0.25")),
        paid("failed", input_tokens=None, output_tokens=None, error_type="rate_limit_error"),
        paid("absurd", input_tokens=2_000_000_000, output_tokens=0),
        paid("contradicts itself", input_tokens=10, cached_input_tokens=11, output_tokens=0),
    )
    assert costs(lake, "cost_usd, cost_source, list_cost_usd") == {
        "reported": (usd("0.5"), "reported", usd("0.01")),
        "free": (usd("0"), "reported", usd("0.01")),
        "cached": (usd("0"), "cache_hit", usd("0.01")),
        "unknown model": (None, "none", None),
        "unknown but reported": (usd("0.25"), "reported", None),
        "failed": (None, "none", None),
        "absurd": (None, "none", None),
        "contradicts itself": (None, "none", None),
    }


def test_finer_rates_than_a_millionth_are_exact_to_the_rounding(lake: Lake) -> None:
    put(lake, "acme,think-1,,,,,0.083333333,,,,0.0000005,")
    lake_runs.add(lake, paid("fine", input_tokens=1_000_000, output_tokens=3_000_000))
    assert costs(lake, "input_cost_usd, output_cost_usd, list_cost_usd") == {
        "fine": (usd("0.083333333"), usd("0.0000015"), usd("0.0833348330"))
    }


# Lakes


def test_without_prices_only_what_is_reported_is_known(lake: Lake) -> None:
    lake_runs.add(lake, paid("a", cost_reported_usd=usd("0.5")), paid("b"))
    assert costs(lake, "cost_usd, cost_source, price_rule, price_version, list_cost_usd") == {
        "a": (usd("0.5"), "reported", "unseen", None, None),
        "b": (None, "none", "unseen", None, None),
    }
    assert (
        lake_runs.ask(lake.path, "SELECT count(*) FROM prices UNION ALL SELECT count(*) FROM model_map") == [(0,)] * 2
    )


def test_new_prices_change_no_call_file(lake: Lake) -> None:
    lake_runs.add(lake, paid("a", input_tokens=1000, output_tokens=0))
    put(lake, "acme,think-1,,,,,10,,,,10,")
    before = {path: path.read_bytes() for path in lake.path.rglob("calls-*.parquet")}
    first = costs(lake, "cost_usd, price_version")["a"]
    put(lake, "acme,think-1,,,,,20,,,,10,")
    second = costs(lake, "cost_usd, price_version")["a"]
    assert (first[0], second[0]) == (usd("0.01"), usd("0.02"))
    assert first[1] != second[1]
    assert {path: path.read_bytes() for path in lake.path.rglob("calls-*.parquet")} == before
    put(lake, "acme,think-1,,,,,20,,,,10,")
    assert costs(lake, "cost_usd, price_version")["a"] == second


def test_earlier_prices_stay_for_readers_and_then_go(lake: Lake) -> None:
    put(lake)
    put(lake)
    assert len(list(lake.path.glob("prices/*.parquet"))) == 4
    run = lake.begin_run(grace=timedelta(0))
    lake.abort(run)
    live = lake.pointer().prices
    assert live is not None
    assert {path.name for path in lake.path.glob("prices/*.parquet")} == {
        Path(live.prices).name,
        Path(live.model_map).name,
    }


def test_a_later_run_matches_its_new_models(lake: Lake) -> None:
    lake_runs.add(lake, paid("a", input_tokens=1000, output_tokens=0))
    put(lake, "acme,think-1,,,,,10,,,,10,", "acme,think-2,,,,,20,,,,10,")
    mapped = lake.pointer().prices
    lake_runs.add(lake, paid("again", input_tokens=1000, output_tokens=0))
    assert lake.pointer().prices == mapped
    lake_runs.add(lake, paid("b", model="think-2", input_tokens=1000, output_tokens=0), paid("c", model="think-3"))
    assert costs(lake, "cost_usd, price_rule") == {
        "a": (usd("0.01"), "contract"),
        "again": (usd("0.01"), "contract"),
        "b": (usd("0.02"), "contract"),
        "c": (None, "unknown_provider"),
    }


def test_prices_that_fail_leave_the_lake_as_it_was(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    put(lake, "acme,think-1,,,,,10,,,,10,")
    before = lake.pointer()

    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("transforms.lake.build_views", fail)
    with pytest.raises(OSError, match="no space"):
        put(lake)
    monkeypatch.undo()
    assert lake.pointer() == before
    assert len(list(lake.path.glob("prices/*.parquet"))) == 2
    put(lake)


def test_a_moved_lake_keeps_its_prices(lake: Lake, tmp_path: Path) -> None:
    lake_runs.add(lake, paid("a", input_tokens=1000, output_tokens=0))
    put(lake, "acme,think-1,,,,,10,,,,10,")
    moved = lake.path.rename(tmp_path / "elsewhere")
    assert costs(Lake.open(moved), "cost_usd") == {"a": (usd("0.01"),)}


# Models


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (("openai", None, "openai_chat", "gpt-5"), (Rule.EXACT, "openai", "gpt-5")),
        (("openai", None, "openai_chat", "GPT-5-2025-08-07"), (Rule.PATTERN, "openai", "gpt-5")),
        (("openai", None, "openai_chat", "openai/gpt-5"), (Rule.WITHOUT_PREFIX, "openai", "gpt-5")),
        (
            ("google", None, "gemini_generate_content", "models/gemini-2.5-pro"),
            (Rule.WITHOUT_PREFIX, "google", "gemini-2.5-pro"),
        ),
        (("xai", None, "openai_chat", "grok-4.3"), (Rule.EXACT, "x-ai", "grok-4.3")),
        (("openai", "azure", "openai_chat", "gpt-5.5"), (Rule.OTHER_PROVIDER, "azure", "openai/gpt-5.5")),
        (
            ("anthropic", "openrouter", "openai_chat", "anthropic/claude-opus-4.8"),
            (Rule.EXACT, "openrouter", "anthropic/claude-opus-4.8"),
        ),
        (("openai", "vercel", "openai_chat", "openai/gpt-5"), (Rule.UNKNOWN_PROVIDER, None, None)),
        (("openai", None, "openai_chat", "gpt-nonexistent"), (Rule.UNKNOWN_MODEL, None, None)),
        (("openai", None, "openai_chat", "openai/gpt-oss-20b"), (Rule.UNKNOWN_MODEL, None, None)),
        (("deepseek", None, "openai_chat", "deepseek-ai/DeepSeek-R1"), (Rule.UNKNOWN_MODEL, None, None)),
        (("deepseek", None, "ollama_chat", "deepseek-r1:8b"), (Rule.NO_BILLER, None, None)),
        (("openai", None, "openai_chat", None), (Rule.NO_MODEL, None, None)),
        ((None, None, "openai_chat", "gpt-5"), (Rule.UNKNOWN_PROVIDER, None, None)),
    ],
    ids=lambda value: str(value[-1]),
)
def test_models_find_their_prices(call: tuple[str | None, ...], match: tuple[Any, ...]) -> None:
    assert match_of(CallModel(*call)) == Match(*match)


def test_a_contract_goes_by_who_bills(lake: Lake) -> None:
    put(lake, "azure,gpt-5.5,,,,,4,,,,20,")
    keys = {("contract:azure", "gpt-5.5"): 7}
    matched = model_map([CallModel("openai", "azure", None, name) for name in ("gpt-5.5", "gpt-5.5-2026-04-23")], keys)
    assert matched["rule"].to_pylist() == ["contract", "contract_undated"]
    assert matched["price_key"].to_pylist() == [7, 7]
    assert match_of(CallModel("openai", None, None, "gpt-5.5"), keys).rule is Rule.EXACT


def test_a_table_of_another_version_is_said_to_be() -> None:
    matched = model_map([CallModel("openai", None, None, "gpt-5")], {})
    assert (matched["rule"].to_pylist(), matched["price_key"].to_pylist()) == (["not_in_table"], [None])


# Contracts


def test_beside_a_contract_the_list_goes_on(tmp_path: Path, listed: list[Price]) -> None:
    file = tmp_path / "contract.csv"
    file.write_text(HEADER + "openai,gpt-5,,2026-07-01,2027-01-01,,1,,,,8,\n")
    laid = lay_over(read_contract(file), listed)
    default = sorted(
        (p for p in laid if p.tier is Tier.DEFAULT), key=lambda p: p.valid_from or datetime.min.replace(tzinfo=UTC)
    )
    assert [
        (p.valid_from and p.valid_from.date(), p.valid_to and p.valid_to.date(), p.rates.input_usd) for p in default
    ] == [
        (None, date(2026, 7, 1), Decimal("1.25")),
        (date(2026, 7, 1), date(2027, 1, 1), Decimal(1)),
        (date(2027, 1, 1), None, Decimal("1.25")),
    ]
    assert Tier.FLEX in {p.tier for p in laid}
    assert {p.provider for p in laid} == {"contract:openai"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("provider,model,input\n", "line 1: the column 'output' is missing; needed are provider, model, input, output"),
        (
            "provider,model,input,output,colour\n",
            "line 1: there is no column 'colour'; the columns are provider, model",
        ),
        ("provider,model,input,output\n", "there is no line under the header"),
        (HEADER + "acme,m,,,,,ten,,,,1,\n", "line 2: input: Input should be a valid decimal, not 'ten'"),
        (
            HEADER + "acme,m,,,,,1,,,,1,\nacme,n,,,,,-1,,,,1,\n",
            "line 3: input: Input should be greater than or equal to 0",
        ),
        (HEADER + "acme,m,slow,,,,1,,,,1,\n", "line 2: tier: Input should be 'default', 'batch', 'flex'"),
        (HEADER + "acme,,,,,,1,,,,1,\n", "line 2: model: Field required"),
        (HEADER + "acme,m,,2026-11-31,,,1,,,,1,\n", "line 2: valid_from: Input should be a valid date"),
        (HEADER + "acme,m,,2026-11-02,2026-11-01,,1,,,,1,\n", "line 2: Value error, valid_to 2026-11-01 is not after"),
        (HEADER + "acme,m,,,,,1,,,,1,,7\n", "line 2: more values than columns"),
        (
            HEADER + "acme,m,,,,,1,,,,1,\nAcme,M,,,,,2,,,,1,\n",
            "line 3: acme m has another line for the same time and tier",
        ),
        (
            HEADER + "acme,m,,,2026-11-02,,1,,,,1,\nacme,m,,2026-11-01,,,2,,,,1,\n",
            "line 3: its period overlaps another one",
        ),
        (HEADER + "acme,m,,,,,1,,,,1,\nacme,m,,2026-11-01,,,2,,,,1,\n", "line 3: its period overlaps another one"),
        (HEADER + "acme,m,,,,200000,1,,,,1,\n", "line 2: acme m has no line for shorter inputs"),
    ],
    ids=lambda value: value[-40:].strip(),
)
def test_a_wrong_contract_is_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "contract.csv"
    file.write_text(text)
    with pytest.raises(ContractError) as error:
        read_contract(file)
    assert str(error.value).startswith(f"{file}")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


# The command


def test_the_command_says_what_it_wrote(lake: Lake) -> None:
    lake_runs.add(lake, paid("a"), paid("b", provider="openai", model="gpt-5"))
    shown = CliRunner().invoke(main, ["prices", "--lake", str(lake.path)])
    assert shown.exit_code == 0
    assert "1 of the lake's 2 models are priced, 1 are not" in " ".join(shown.output.split())
    written = json.loads(CliRunner().invoke(main, ["prices", "--lake", str(lake.path), "--json"]).output)
    assert written["unpriced"] == [
        {"provider": "acme", "billed_by": None, "model": "think-1", "rule": "unknown_provider"}
    ]
    assert written["version"].startswith("genai-prices ")


def test_wrong_use_writes_nothing(lake: Lake, tmp_path: Path) -> None:
    before = lake.pointer()
    file = tmp_path / "contract.csv"
    file.write_text("nonsense")
    for arguments in (["--lake", str(lake.path), "--from", str(file)], ["--lake", str(tmp_path)]):
        failed = CliRunner().invoke(main, ["prices", *arguments])
        assert failed.exit_code == 2
    with pytest.raises(WrongUseError, match=r"missing\.csv: No such file"):
        prices.run(lake.path, tmp_path / "missing.csv")
    assert lake.pointer() == before
