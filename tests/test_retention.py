"""Retention: what a policy may say, when texts fall due, what a run takes out, and that nothing else changes."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from pipelines import prices
from pipelines.cli import main
from schemas.call import Call
from schemas.clocks import Word
from schemas.policy_file import PolicyError, load_policy
from tests import lake_runs
from tests.lake_runs import add, call, reject
from transforms.lake import Lake

TODAY = "2026-12-01"
DAY = (date(2026, 11, 1) - date(1970, 1, 1)).days
"""Thirty days before."""


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake")


def policy(lake: Lake, text: str) -> Path:
    file = lake.path.parent / "policy.yaml"
    file.write_text(text)
    return file


def told(call_id: str, day: float | None = DAY, **fields: Any) -> Call:
    row = {"thinking": "a secret thought", "provider": "openai", "model": "gpt-4.1", "protocol": "openai_chat"}
    return call(call_id, day, **{**row, "user_id": "u1", "team": "search", **fields})


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)), catch_exceptions=False)


def retain(lake: Lake, *arguments: str | Path, as_of: str = TODAY) -> dict[str, Any]:
    result = invoke("retain", "--lake", lake.path, "--as-of", as_of, "--json", *arguments)
    assert result.exit_code == 0, result.output
    summary: dict[str, Any] = json.loads(result.stdout)
    return summary


def texts(lake: Lake) -> dict[str, tuple[Any, ...]]:
    found = lake_runs.ask(lake.path, "SELECT call_id, thinking, answer FROM calls ORDER BY call_id")
    return {name: tuple(rest) for name, *rest in found}


# What a policy may say


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "says no policy"),
        ("defaults:", "defaults"),
        ("defaults: {thinking: 0}", "defaults.thinking: is 0; write a whole number of days"),
        ("defaults: {thinking: -1}", "defaults.thinking: is -1"),
        ("defaults: {thinking: }", "defaults.thinking: is empty"),
        ("defaults: {thinking: ''}", "defaults.thinking: is ''"),
        ("defaults: {thinking: 1.5}", "defaults.thinking: is 1.5"),
        ("defaults: {thinking: true}", "defaults.thinking: is True"),
        ("defaults: {thinking: never}", "defaults.thinking: is 'never'"),
        ("defaults: {thinkin: 3}", "did you mean thinking?"),
        ("defaults: {thinking: 3, thinking: 4}", "the key thinking comes twice"),
        ("rules: [{when: {}, thinking: 3}]", "rules[1].when: is empty"),
        ("rules: [{when: {user: }, thinking: 3}]", "rules[1].when: is empty"),
        ("rules: [{when: {team: a}}]", "rules[1]: names no clock"),
        ("rules: [{when: {thinking_form: fulll}, thinking: 3}]", "'fulll' is none of"),
        ("holds: [{when: {team: a}, until: 2027-01-01}]", "holds[1].reason"),
        ("forget: [{user: a, session: b}]", "forget[1]: name a user or a session"),
        ("defaults: {privacy: text-free, thinking: 3}", "text-free takes every text at once"),
        ("defaults: [", "policy.yaml: "),
    ],
)
def test_a_policy_that_is_not_clear_is_refused(text: str, said: str, lake: Lake) -> None:
    add(lake, told("a"))
    file = policy(lake, text)
    with pytest.raises(PolicyError) as raised:
        load_policy(file)
    assert said in str(raised.value)
    result = invoke("retain", "--lake", lake.path, "--policy", file)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert texts(lake) == {"a": ("a secret thought", "yes")}


def test_what_is_left_out_is_kept(lake: Lake) -> None:
    found = load_policy(policy(lake, "defaults: {thinking: 30}"))
    assert found.retained(0).answer is Word.KEEP
    assert found.rejects() == 30


# When texts fall due


def test_the_clocks_of_the_simplest_policy(lake: Lake) -> None:
    add(lake, told("on the day"), told("a day later", DAY + 1), told("old", DAY - 100))
    file = policy(lake, "defaults:\n  thinking: 30\n  answer: 90\n")
    summary = retain(lake, "--policy", file)
    assert summary["rows"] == 2
    assert texts(lake) == {
        "a day later": ("a secret thought", "yes"),
        "old": (None, None),
        "on the day": (None, "yes"),
    }
    stamps = "SELECT call_id, thinking_purged_at IS NOT NULL, answer_purged_at IS NOT NULL FROM calls ORDER BY 1"
    assert lake_runs.ask(lake.path, stamps) == [
        ("a day later", False, False),
        ("old", True, True),
        ("on the day", True, False),
    ]
    sizes = "SELECT DISTINCT thinking_chars, answer_chars, input_tokens FROM calls"
    assert lake_runs.ask(lake.path, sizes) == [(16, 3, 10)]


def test_the_first_rule_that_a_call_meets_decides(lake: Lake) -> None:
    add(
        lake,
        told("law", team="law"),
        told("tagged", tags={"keep": "yes"}),
        told("big", model="gpt-4.1-big"),
        told("else"),
        told("no team", team=None),
    )
    rules = """
    defaults: {thinking: 10}
    rules:
      - {when: {team: law}, thinking: keep}
      - {when: {tag: {keep: "y*"}}, thinking: 365}
      - {when: {model: ["*-big", other], provider: openai}, thinking: immediately}
      - {when: {team: "*"}, thinking: 31}
    """
    retain(lake, "--policy", policy(lake, rules))
    assert {name for name, (thinking, _) in texts(lake).items() if thinking is None} == {"big", "no team"}


def test_a_hold_wins_until_it_ends(lake: Lake) -> None:
    add(lake, told("held", team="law"), told("free"))
    rules = """
    defaults: {thinking: immediately}
    holds: [{when: {team: law}, until: 2026-12-24, reason: matter 17}]
    """
    file = policy(lake, rules)
    retain(lake, "--policy", file)
    assert texts(lake) == {"free": (None, "yes"), "held": ("a secret thought", "yes")}
    assert retain(lake, as_of="2026-12-24")["rows"] == 0
    assert retain(lake, as_of="2026-12-25")["rows"] == 1


def test_undated_calls_count_from_when_the_lake_got_them(lake: Lake) -> None:
    add(lake, told("undated", None))
    file = policy(lake, "defaults: {thinking: 30}")
    today = lake_runs.ask(lake.path, "SELECT max(started_at)::DATE FROM runs")[0][0]
    assert retain(lake, "--policy", file, as_of=str(today))["rows"] == 0
    assert retain(lake, as_of="2099-01-01")["rows"] == 1


def test_whoever_is_forgotten_stays_forgotten(lake: Lake) -> None:
    add(lake, told("a"), told("b", user_id="u2"), told("c", user_id="u2", session_id="s1"))
    before = lake_runs.ask(lake.path, "SELECT team, sum(input_tokens) FROM calls GROUP BY ALL")
    retain(lake, "--policy", policy(lake, "forget: [{user: u1}, {session: s1}]"))
    assert {name: thinking is None for name, (thinking, _) in texts(lake).items()} == {"a": True, "b": False, "c": True}
    users = dict(lake_runs.ask(lake.path, "SELECT call_id, user_id FROM calls"))
    assert users["b"] == "u2"
    assert users["a"].startswith("forgotten-")
    assert lake_runs.ask(lake.path, "SELECT team, sum(input_tokens) FROM calls GROUP BY ALL") == before
    retain(lake, "--policy", policy(lake, "defaults: {answer: keep}"))
    add(lake, told("d", source_position=9))
    assert texts(lake)["d"] == (None, None)
    for file in (lake.path / "retention").glob("policy-*.json"):
        assert '"u1"' not in file.read_text()


def test_text_free_keeps_counts_only(lake: Lake) -> None:
    add(lake, told("a", error_message="it said: secret", tags={"app": "chat", "note": "a secret note"}))
    retain(lake, "--policy", policy(lake, "defaults: {privacy: text-free}"))
    assert texts(lake) == {"a": (None, None)}
    [(error, tags)] = lake_runs.ask(lake.path, "SELECT error_message, tags FROM calls")
    assert error == "[purged]"
    assert tags == {"app": "chat", "note": "[purged]"}


# What a run does


def test_a_look_says_what_a_run_does_and_changes_nothing(lake: Lake) -> None:
    add(lake, told("a"), told("b", DAY - 3), told("c", DAY + 3), rejects=[reject(b"no JSON", DAY)])
    file = policy(lake, "defaults: {thinking: 30, answer: 32}")
    generation = lake.pointer().generation
    look = retain(lake, "--policy", file, "--dry-run")
    assert lake.pointer().generation == generation
    done = retain(lake, "--policy", file)
    assert look["purged"] == done["purged"]
    assert (look["rows"], look["bytes"]) == (done["rows"], done["bytes"]) == (3, 16 + 19 + 14)
    assert retain(lake)["rows"] == 0
    assert lake.pointer().generation == generation + 1


def test_a_second_run_writes_no_file(lake: Lake) -> None:
    add(lake, told("a"))
    file = policy(lake, "defaults: {thinking: immediately}")
    retain(lake, "--policy", file)
    before = lake.pointer()
    again = retain(lake, "--policy", file)
    assert (again["rows"], lake.pointer()) == (0, before)


def test_what_arrives_past_its_retention_arrives_without_text(lake: Lake) -> None:
    add(lake, told("a"))
    retain(lake, "--policy", policy(lake, "defaults: {thinking: 30, answer: 9000}"))
    account = add(lake, told("a"), told("late", 10), told("young", (date.today() - date(1970, 1, 1)).days))  # noqa: DTZ011
    assert texts(lake) == {"a": (None, "yes"), "late": (None, None), "young": ("a secret thought", "yes")}
    assert sum(partition.expired for partition in account.partitions) == 1


def test_rejects_go_with_the_shortest_clock(lake: Lake) -> None:
    add(lake, rejects=[reject(b"a secret", DAY - 100), reject(b"young", DAY + 20)])
    retain(lake, "--policy", policy(lake, "defaults: {thinking: 60, answer: 90}"))
    found = lake_runs.ask(lake.path, "SELECT reason, raw, detail FROM rejects ORDER BY raw NULLS FIRST")
    assert found == [("invalid_json", None, None), ("invalid_json", b"young", "no JSON")]
    add(lake, rejects=[reject(b"a secret", DAY - 100)])
    assert lake_runs.ask(lake.path, "SELECT count(*), count(raw) FROM rejects") == [(2, 1)]


def test_a_purge_is_proven_once_superseded_files_are_gone(lake: Lake) -> None:
    add(lake, told("a"))
    prices.run(lake.path)
    done = retain(lake, "--policy", policy(lake, "defaults: {thinking: immediately}"))
    assert (done["proven"], done["files_left"]) == (False, 2)
    assert "a secret thought" in everything(lake)
    done = retain(lake, "--grace", "0")
    assert (done["proven"], done["files_left"]) == (True, 0)
    assert "a secret thought" not in everything(lake)
    [proof] = lake_runs.ask(lake.path, "SELECT retention.totals_before = retention.totals_after FROM runs "
                            "WHERE retention IS NOT NULL")  # fmt: skip
    assert proof == (True,)


def everything(lake: Lake) -> str:
    """All values in all Parquet files of a lake, as one text."""
    return "".join(str(pq.read_table(file, partitioning=None).to_pylist()) for file in lake.path.rglob("*.parquet"))


def test_spend_is_the_same_before_and_after(lake: Lake) -> None:
    add(lake, told("a", tags={"app": "chat"}), told("b", DAY + 1, effort_applied="high", reasoning_tokens=3))
    prices.run(lake.path)
    spend = "SELECT * EXCLUDE (tags) FROM call_costs ORDER BY ALL"
    before = lake_runs.ask(lake.path, spend)
    retain(lake, "--policy", policy(lake, "defaults: {privacy: text-free, rejects: immediately}"))
    assert lake_runs.ask(lake.path, spend) == before


def test_a_rule_explains_itself(lake: Lake) -> None:
    add(lake, told("a", team="law"))
    file = policy(lake, "rules: [{when: {team: law}, thinking: 40}]")
    [found] = json.loads(invoke("retain", "--lake", lake.path, "--policy", file, "--explain", "a", "--json").stdout)
    assert found["rule"] == "rule 1 (team=law)"
    assert found["texts"]["thinking"] | {"is_due": None} == {
        "clock": 40,
        "falls_due": "2026-12-11",
        "is_due": None,
        "is_stored": True,
        "purged_at": None,
    }
    result = invoke("retain", "--lake", lake.path, "--policy", file, "--explain", "nobody")
    assert result.exit_code == 2
    assert "has no call 'nobody'" in result.stderr


def test_without_any_policy_nothing_goes(lake: Lake) -> None:
    add(lake, told("a"))
    result = invoke("retain", "--lake", lake.path)
    assert result.exit_code == 2
    assert "has no policy in force; name one: --policy FILE.yaml" in result.stderr


def test_a_copy_without_texts_counts_the_same(lake: Lake, tmp_path: Path) -> None:
    add(lake, told("a", tags={"app": "chat"}), told("b", DAY + 1), rejects=[reject(b"no JSON")])
    prices.run(lake.path)
    copy = tmp_path / "copy"
    assert invoke("export", "--lake", lake.path, "--out", copy).exit_code == 2
    result = invoke("export", "--no-text", "--lake", lake.path, "--out", copy)
    assert result.exit_code == 0, result.output
    spend = "SELECT * FROM call_costs ORDER BY ALL"
    assert lake_runs.ask(copy, spend) == lake_runs.ask(lake.path, spend)
    assert "a secret thought" not in everything(Lake.open(copy))
    assert lake_runs.ask(copy, "SELECT count(*) FROM rejects") == [(0,)]
    assert invoke("export", "--no-text", "--lake", lake.path, "--out", copy).exit_code == 2
    part = tmp_path / "part"
    assert invoke("export", "--no-text", "--lake", lake.path, "--out", part, "--since", "2026-11-02").exit_code == 0
    assert lake_runs.ask(part, "SELECT call_id FROM calls") == [("b",)]


def test_the_views_of_a_lake_without_policy_say_that_nothing_falls_due(lake: Lake) -> None:
    add(lake, told("a"))
    with duckdb.connect(str(lake.path / "thinkledger.duckdb"), read_only=True) as db:
        db.execute("SET VARIABLE lake = $path", {"path": str(lake.path)})
        assert db.execute("SELECT rule, thinking_due FROM call_retention").fetchall() == [(None, None)]
