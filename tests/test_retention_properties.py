"""Retention, for any policy and lake: spend stays, a second run changes nothing, and no kill does harm."""

from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import prices, retain
from schemas.account import Outcome
from schemas.call import Call
from schemas.lake import Pointer
from schemas.policy import Policy
from tests import lake_runs
from tests.conftest import Killed
from tests.lake_runs import add, call, reject
from transforms import lock
from transforms.accounts import account_of
from transforms.clocks import in_force
from transforms.lake import Lake
from transforms.policies import write_policy
from transforms.retain import Order, places, purge

TODAY = date(2026, 12, 1)
DAY = (TODAY - date(1970, 1, 1)).days
SPEND = "SELECT * EXCLUDE (tags, user_id, session_id) FROM call_costs ORDER BY ALL"
COUNTS = """
SELECT call_id, thinking_chars, answer_chars, tool_calls, input_tokens, output_tokens, reasoning_tokens, effort_applied,
    finish_reason, cost_reported_usd, error_message IS NULL, date
FROM calls ORDER BY ALL
"""

clocks = st.one_of(st.integers(1, 120), st.sampled_from(["keep", "immediately"]))
teams = st.sampled_from(["search", "law", None])
rules = st.fixed_dictionaries(
    {"when": st.fixed_dictionaries({"team": st.sampled_from(["search", "l*"])}), "thinking": clocks}
)
policies = st.fixed_dictionaries(
    {
        "defaults": st.fixed_dictionaries(
            {"thinking": clocks}, optional={"answer": clocks, "rejects": clocks, "tags": clocks}
        )
    },
    optional={
        "rules": st.lists(rules, max_size=2),
        "holds": st.just([{"when": {"team": "law"}, "until": "2026-12-24", "reason": "matter 17"}]),
        "forget": st.sampled_from([[], [{"user": "u1"}], [{"session": "s1"}]]),
    },
)
calls = st.lists(
    st.builds(
        lambda day, **fields: (day, fields),
        st.one_of(st.none(), st.integers(DAY - 130, DAY)),
        team=teams,
        thinking=st.sampled_from([None, "", "some thoughts"]),
        answer=st.sampled_from([None, "an answer"]),
        error_message=st.sampled_from([None, "it failed here"]),
        user_id=st.sampled_from(["u1", "u2", None]),
        session_id=st.sampled_from(["s1", None]),
        tags=st.sampled_from([None, {"app": "chat", "note": "some words"}]),
        cost_reported_usd=st.sampled_from([None, 1]),
        usage_raw=st.sampled_from([None, '{"total_tokens":15,"note":"some words"}']),
    ),
    min_size=1,
    max_size=8,
)


def filled(lake: Lake, rows: list[tuple[int | None, dict[str, Any]]]) -> None:
    made: list[Call] = []
    for number, (day, fields) in enumerate(rows):
        own = {"provider": "openai", "protocol": "openai_chat", "model": "gpt-4.1", "source_position": number}
        made.append(call(f"{number:03}", day, **own, **{key: value or None for key, value in fields.items()}))
    add(lake, *made, rejects=[reject(b"no JSON", DAY - 50), reject(b"{", None)])
    prices.run(lake.path)


@given(policies, calls)
@settings(deadline=None, max_examples=4)
def test_counts_and_spend_stay_whatever_goes(policy: dict[str, Any], rows: list[Any]) -> None:
    with TemporaryDirectory() as folder:
        lake = Lake.create(Path(folder) / "lake")
        filled(lake, rows)
        before = [lake_runs.ask(lake.path, question) for question in (SPEND, COUNTS)]
        (Path(folder) / "policy.yaml").write_text(str(policy))
        wanted = retain.Wanted(str(lake.path), Path(folder) / "policy.yaml", TODAY, grace=timedelta(0))
        look = retain.preview(wanted)
        done = retain.run(wanted)
        assert sorted(map(repr, look.purged)) == sorted(map(repr, done.purged))
        assert [lake_runs.ask(lake.path, question) for question in (SPEND, COUNTS)] == before
        pointer = lake.pointer()
        assert (retain.run(wanted).rows, retain.preview(wanted).rows) == (0, 0)
        assert lake.pointer() == pointer


def purged(lake: Lake) -> None:
    """A run of ``retain`` without its pipeline, whose workers would not die with the launcher."""
    run = lake.begin_run(["retention"])
    policy = Policy.model_validate({"defaults": {"thinking": 30, "rejects": 30}, "forget": [{"user": "u2"}]})
    order = Order(in_force(policy, None, "salt"), TODAY)
    account = account_of(run, [Outcome(purge(run, place, order)) for place in places(run.base, order)])
    file = write_policy(run, order.policy)

    def put(pointer: Pointer) -> None:
        pointer.retention = file

    lake.commit(run, account, put)


def state(lake: Lake) -> list[Any]:
    stamps = "thinking_purged_at IS NULL, answer_purged_at IS NULL"
    return [
        lake_runs.ask(lake.path, f"SELECT * EXCLUDE (run_id, thinking_purged_at, answer_purged_at), {stamps} "  # noqa: S608
                      "FROM calls ORDER BY ALL"),
        lake_runs.ask(lake.path, "SELECT * EXCLUDE (run_id) FROM rejects ORDER BY ALL"),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> list[Any]:
    texts = {"thinking": "some thoughts", "answer": "an answer"}
    return [(DAY - 10 * n, {**texts, "user_id": f"u{n % 3}"}) for n in range(11)]


def test_killed_at_every_rename_and_run_again(rows: list[Any], tmp_path: Path, kill_at: Any) -> None:
    undisturbed = Lake.create(tmp_path / "undisturbed")
    filled(undisturbed, rows)
    before, spend = state(undisturbed), lake_runs.ask(undisturbed.path, SPEND)
    counted = kill_at(-1)
    purged(undisturbed)
    renames = counted["n"]
    assert renames >= 20
    after = state(undisturbed)
    lake = Lake.create(tmp_path / "lake")
    filled(lake, rows)
    for rename in range(1, renames + 1):
        kill_at(rename)
        with pytest.raises(Killed):
            purged(lake)
        kill_at(-1)
        lock._held.clear()
        is_committed = lake.pointer().retention is not None
        lake.abort(lake.begin_run(grace=timedelta(0)))
        assert state(lake) == (after if is_committed else before), f"killed at rename {rename} of {renames}"
        if is_committed:
            break
    purged(lake)
    lake.abort(lake.begin_run(grace=timedelta(0)))
    assert (state(lake), lake_runs.ask(lake.path, SPEND)) == (after, spend)
    files = {path.relative_to(lake.path).as_posix() for path in lake.path.rglob("*-*.parquet")}
    assert files == {path for path in lake.pointer().paths() if path.endswith(".parquet")}
