"""Costs files: the same costs as reckoned on the spot, derived for what changed and for nothing else."""

from pathlib import Path
from typing import Any

import pytest

from pipelines import prices
from schemas.account import PartitionAccount
from schemas.lake import Kind
from tests import lake_runs
from tests.lake_runs import DAY, add, call
from transforms.costs import costed, uncosted
from transforms.lake import Lake
from transforms.publish import rewrite


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake.create(tmp_path / "lake")
    add(lake, paid("a"), paid("b", DAY + 1), paid("c", None), paid("d", model="nobody-knows"))
    prices.run(lake.path)
    return lake


def paid(call_id: str, day: float | None = DAY + 0.5, **fields: Any) -> Any:
    return call(call_id, day, **{"provider": "openai", "protocol": "openai_chat", "model": "gpt-4.1", **fields})


def rows(lake: Lake) -> list[tuple[Any, ...]]:
    return lake_runs.ask(lake.path, "SELECT * EXCLUDE (tags) FROM call_costs ORDER BY ALL")


def reckoned(lake: Lake) -> list[tuple[Any, ...]]:
    """The same lake as if it had no costs files."""
    run = lake.begin_run()
    pointer = lake.pointer()
    lake.abort(run)
    (lake.path / "lake.json").write_text(pointer.model_copy(update={"costs": {}}).model_dump_json())
    (lake.path / "thinkledger.duckdb").unlink()
    lake.abort(lake.begin_run())
    found = rows(lake)
    (lake.path / "lake.json").write_text(pointer.model_dump_json())
    (lake.path / "thinkledger.duckdb").unlink()
    lake.abort(lake.begin_run())
    return found


def test_files_hold_what_would_be_reckoned(lake: Lake) -> None:
    assert uncosted(lake.pointer()) == {}
    found = rows(lake)
    assert len(found) == 4
    assert found == reckoned(lake)
    assert lake_runs.ask(lake.path, "SELECT count(cost_usd) FROM call_costs") == [(3,)]


def test_only_what_changes_is_derived_anew(lake: Lake) -> None:
    before = lake.pointer().costs
    add(lake, paid("e", DAY + 0.7), paid("f", DAY + 9, model="gpt-4.1-mini"))
    after = lake.pointer()
    assert costed(after) == after.costs
    same = {name for name, file in after.costs.items() if before.get(name) == file}
    assert same == {"date=2024-10-05", "date=__HIVE_DEFAULT_PARTITION__"}
    assert rows(lake) == reckoned(lake)


def test_costs_of_an_older_file_of_calls_are_never_read(lake: Lake) -> None:
    run = lake.begin_run()
    partition = next(iter(lake.pointer().calls))
    account = rewrite(run, PartitionAccount(kind=Kind.CALLS, partition=partition))
    assert account.file
    stale = lake.pointer().model_copy(deep=True)
    stale.put(Kind.CALLS, partition, account.file)
    lake.abort(run)
    assert list(uncosted(stale)) == [partition]
    assert partition not in costed(stale)


def test_new_prices_change_no_file_of_calls_and_all_costs(lake: Lake) -> None:
    calls, costs = dict(lake.pointer().calls), dict(lake.pointer().costs)
    contract = lake.path.parent / "contract.csv"
    contract.write_text("provider,model,input,output\nopenai,gpt-4.1,100,200\n")
    prices.run(lake.path, contract)
    assert lake.pointer().calls == calls
    assert not set(costs.values()) & set(lake.pointer().costs.values())
    assert lake_runs.ask(lake.path, "SELECT DISTINCT cost_source FROM call_costs ORDER BY 1") == [
        ("contract",),
        ("none",),
    ]
    assert rows(lake) == reckoned(lake)


def test_a_lake_without_prices_has_no_costs_files(tmp_path: Path) -> None:
    lake = Lake.create(tmp_path / "lake")
    add(lake, paid("a"))
    assert lake.pointer().costs == {}
    assert lake_runs.ask(lake.path, "SELECT cost_usd, cost_source FROM call_costs") == [(None, "none")]
