"""Scheduled runs: only what is new is read; files that grew, were rotated or repaired; rows derived anew."""

import gzip
import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pipelines.cli import main
from tests.lakes import ask, rows
from tests.traffic import exchange
from transforms import columns
from transforms.inputs import Listed, find
from transforms.ledger import State, Way, entry, plan

WAY = Way("auto")


def run(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    """A run in this process; gives its summary."""
    result = invoke("normalise", *arguments, "--json")
    assert result.exit_code == code, result.output
    summary: dict[str, Any] = json.loads(result.stdout)
    return summary


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)), catch_exceptions=False)


def answers(lake: Path) -> list[str]:
    return [answer for (answer,) in ask(lake, "SELECT answer FROM calls ORDER BY answer")]


def test_only_what_is_new_is_read(tmp_path: Path) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    logs.mkdir()
    (logs / "a.jsonl").write_bytes(exchange(1) + exchange(2))
    first = run(logs, "--lake", lake)
    assert (first["records"], first["files"]) == (2, {"new": 1})
    again = run(logs, "--lake", lake)
    assert (again["records"], again["files"], again["generation"]) == (0, {"unchanged": 1}, first["generation"])
    with (logs / "a.jsonl").open("ab") as file:
        file.write(exchange(3))
    (logs / "b.jsonl").write_bytes(exchange(4))
    third = run(logs, "--lake", lake)
    assert (third["records"], third["calls"], third["files"]) == (2, 2, {"grown": 1, "new": 1})
    assert answers(lake) == ["answer 1", "answer 2", "answer 3", "answer 4"]
    full = run(logs, "--lake", lake, "--full")
    assert (full["records"], full["calls"], full["duplicates"]) == (4, 0, 4)


def test_many_small_files_are_read_together_and_each_for_itself(tmp_path: Path) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    logs.mkdir()
    for number in range(300):
        (logs / f"{number}.jsonl").write_bytes(exchange(number) if number % 3 else b"no JSON\n")
    (logs / "empty.jsonl").touch()
    assert run(logs, "--lake", lake)["files"] == {"new": 301}
    files = "SELECT count(*), count(DISTINCT source_file) FROM"
    assert ask(lake, f"{files} calls") == [(200, 200)]
    assert ask(lake, f"{files} rejects") == [(100, 100)]
    assert run(logs, "--lake", lake)["files"] == {"unchanged": 301}


def test_a_half_written_last_line_is_a_reject_until_it_is_complete(tmp_path: Path) -> None:
    log, lake = tmp_path / "a.jsonl", tmp_path / "lake"
    whole = exchange(1) + exchange(2)
    log.write_bytes(whole[:-40])
    assert run(log, "--lake", lake)["rejects_by"] == {"invalid_json": 1}
    log.write_bytes(whole + exchange(3)[:-1])
    second = run(log, "--lake", lake)
    assert (second["files"], second["records"], second["removed"]) == ({"grown": 1}, 2, 1)
    log.write_bytes(whole + exchange(3) + exchange(4))
    third = run(log, "--lake", lake)
    assert (third["calls"], third["duplicates"], third["rejects"]) == (1, 1, 0)
    undisturbed = tmp_path / "undisturbed"
    run(log, "--lake", undisturbed)
    assert rows(lake) == rows(undisturbed)
    assert rows(lake, "rejects") == rows(undisturbed, "rejects") == []


def test_a_cut_gzip_that_arrives_whole_later_leaves_no_reject(tmp_path: Path) -> None:
    log, lake = tmp_path / "a.jsonl.gz", tmp_path / "lake"
    whole = gzip.compress(exchange(1) + exchange(2), mtime=0)
    log.write_bytes(whole[:-30])
    assert run(log, "--lake", lake)["rejects_by"] == {"unreadable_file": 1}
    log.write_bytes(whole)
    assert run(log, "--lake", lake)["files"] == {"changed": 1}
    assert answers(lake) == ["answer 1", "answer 2"]
    assert rows(lake, "rejects") == []


def test_a_rotated_log_is_read_whole_and_keeps_what_it_was_rejected_for(tmp_path: Path) -> None:
    log, lake = tmp_path / "a.jsonl", tmp_path / "lake"
    log.write_bytes(b"no JSON\n" + exchange(1))
    run(log, "--lake", lake)
    log.write_bytes(exchange(2) + exchange(3) + exchange(4))
    assert run(log, "--lake", lake)["files"] == {"changed": 1}
    assert answers(lake) == ["answer 1", "answer 2", "answer 3", "answer 4"]
    assert [row["raw"] for row in rows(lake, "rejects")] == [b"no JSON"]


def test_a_grown_transcript_is_read_whole(tmp_path: Path) -> None:
    session = Path(__file__).parent / "golden" / "transcripts" / "claude_code_session" / "input.jsonl"
    lines = session.read_bytes().splitlines(keepends=True)
    log, lake, undisturbed = tmp_path / "s.jsonl", tmp_path / "lake", tmp_path / "undisturbed"
    log.write_bytes(b"".join(lines[: len(lines) // 2]))
    run(log, "--lake", lake)
    log.write_bytes(b"".join(lines))
    assert run(log, "--lake", lake)["files"] == {"changed": 1}
    run(log, "--lake", undisturbed)
    assert rows(lake) == rows(undisturbed)


def test_dates_that_were_left_out_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    log, lake = tmp_path / "a.jsonl", tmp_path / "lake"
    log.write_bytes(exchange(1) + exchange(2, timestamp="2026-11-04T00:00:00Z"))
    assert run(log, "--lake", lake, "--since", "2026-11-04")["skipped"] == 1
    assert run(log, "--lake", lake, "--since", "2026-11-05")["files"] == {"unchanged": 1}
    assert run(log, "--lake", lake)["files"] == {"again": 1}
    assert answers(lake) == ["answer 1", "answer 2"]


def test_a_template_takes_the_folders_of_its_days(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    for day in (2, 3, 4):
        folder = tmp_path / f"dt=2026-11-0{day}"
        folder.mkdir()
        (folder / "a.jsonl").write_bytes(exchange(day, timestamp=f"2026-11-0{day}T12:00:00Z"))
    template = f"{tmp_path}/dt=%Y-%m-%d/*.jsonl"
    assert run(template, "--lake", lake, "--since", "2026-11-03", "--until", "2026-11-04")["files"] == {"new": 2}
    assert answers(lake) == ["answer 3", "answer 4"]
    refused = invoke("normalise", template, "--lake", lake)
    assert refused.exit_code == 2
    assert "time codes need --since" in refused.stderr


def test_a_long_run_commits_step_by_step(tmp_path: Path) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    logs.mkdir()
    for number in range(4):
        (logs / f"{number}.jsonl").write_bytes(exchange(number))
    summary = run(logs, "--lake", lake, "--step", "600")
    assert (summary["records"], summary["calls"], summary["files"]) == (4, 4, {"new": 4})
    assert ask(lake, "SELECT count(*), sum(calls) FROM runs") == [(4, 4)]
    assert run(logs, "--lake", lake)["files"] == {"unchanged": 4}


def test_replace_moves_a_call_whose_time_is_read_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule changes between two runs: the first ignored the time zone. Nothing of the old reading stays."""
    log, lake = tmp_path / "a.jsonl", tmp_path / "lake"
    log.write_bytes(exchange(1, timestamp="2026-11-03T23:30:00-02:00") + exchange(2))
    with monkeypatch.context() as old_rule:
        to_batch = columns.to_batch

        def misread(calls: Any) -> Any:
            for call in calls:
                if call.answer == "answer 1":
                    call.called_at -= 5 * 86_400_000_000
                    call.date -= 5
                    call.call_id = "0" * 32
            return to_batch(calls)

        old_rule.setattr("transforms.normalise.to_batch", misread)
        run(log, "--lake", lake)
    assert ask(lake, "SELECT date FROM calls ORDER BY date") == [(date(2026, 10, 30),), (date(2026, 11, 3),)]
    summary = run(log, "--lake", lake, "--replace")
    assert summary["removed"] == 2
    undisturbed = tmp_path / "undisturbed"
    run(log, "--lake", undisturbed)
    assert rows(lake) == rows(undisturbed)
    assert not list((lake / "calls" / "date=2026-10-30").glob("calls-000002-*"))


def test_replace_tells_what_differs_by_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, lake = tmp_path / "a.jsonl", tmp_path / "lake"
    log.write_bytes(exchange(1) + exchange(2))
    with monkeypatch.context() as old_rule:
        to_batch = columns.to_batch

        def misread(calls: Any) -> Any:
            for call in calls:
                call.date += 1
                call.called_at += 86_400_000_000
                call.output_tokens = None if call.answer == "answer 1" else call.output_tokens
            return to_batch(calls)

        old_rule.setattr("transforms.normalise.to_batch", misread)
        run(log, "--lake", lake)
    assert run(log, "--lake", lake, "--replace")["changes"] == {"called_at": 2, "output_tokens": 1, "date": 2}


def test_rejects_are_tried_again_and_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, lake, undisturbed = tmp_path / "a.jsonl", tmp_path / "lake", tmp_path / "undisturbed"
    log.write_bytes(exchange(1) + b"no JSON\n" + exchange(2))
    with monkeypatch.context() as old_rule:
        old_rule.setattr("transforms.normalise.to_calls", _fail)
        assert run(log, "--lake", lake)["rejects_by"] == {"internal_error": 2, "invalid_json": 1}
    result = invoke("normalise", "--rejects", lake, "--json")
    summary = json.loads(result.stdout)
    assert (summary["records"], summary["calls"], summary["rejects"], summary["removed"]) == (3, 2, 1, 3)
    run(log, "--lake", undisturbed)
    assert rows(lake) == rows(undisturbed)
    assert rows(lake, "rejects") == rows(undisturbed, "rejects")


def test_a_lake_without_rejects_that_could_be_tried_again_stays_as_it_is(tmp_path: Path) -> None:
    log, lake = tmp_path / "a.jsonl", tmp_path / "lake"
    log.write_bytes(exchange(1))
    run(log, "--lake", lake)
    result = invoke("normalise", "--rejects", lake, "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert (summary["records"], summary["removed"], summary["generation"]) == (0, 0, 1)


def _fail(*_: object) -> None:
    raise ValueError("an old fault")


def test_a_job_file_runs_several_inputs_into_one_lake(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(exchange(ord(name)))
    job = tmp_path / "job.yaml"
    job.write_text(
        """
        lake: lake
        partition: hour
        inputs:
          - paths: [a.jsonl]
            source: exchange
          - paths: [b.jsonl]
            since: 2026-11-01
          - paths: [gone.jsonl]
        """
    )
    result = invoke("run", job, "--json")
    assert result.exit_code == 2
    assert "gone.jsonl: no such file" in result.stderr
    summary = json.loads(result.stdout)
    assert (summary["calls"], summary["files"], len(summary["failed"])) == (2, {"new": 2}, 1)
    assert list((tmp_path / "lake" / "calls").glob("date=2026-11-03/hour=10/*.parquet"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("lake: x", "inputs: Field required"),
        ("lake: x\ninputs: [{paths: [a], sauce: b}]", "inputs.0.sauce: Extra inputs are not permitted"),
        ("lake: x\ninputs: [{paths: []}]", "inputs.0.paths: "),
        ("lake: x\ninputs: [{paths: [a], since: soon}]", "'soon' is no day"),
        ("lake: x\nstep: some\ninputs: [{paths: [a]}]", "'some' is no size"),
        ("lake: [", "job.yaml: "),
    ],
)
def test_a_job_file_that_is_wrong_says_where(text: str, told: str, tmp_path: Path) -> None:
    job = tmp_path / "job.yaml"
    job.write_text(text)
    result = invoke("run", job)
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_second_writer_is_refused_or_waits(tmp_path: Path) -> None:
    log, lake = tmp_path / "a.jsonl", tmp_path / "lake"
    log.write_bytes(exchange(1))
    run(log, "--lake", lake)
    holder = subprocess.Popen([sys.executable, "-c", _HOLDER, str(lake)], stdout=subprocess.PIPE)
    with holder:
        assert holder.stdout
        holder.stdout.readline()
        refused = invoke("normalise", log, "--lake", lake, "--full")
        assert refused.exit_code == 2
        assert f"is being written by another (process {holder.pid}" in refused.stderr
        assert run(log, "--lake", lake, "--full", "--wait", "30")["duplicates"] == 1


_HOLDER = """
import sys, time
from pathlib import Path
from transforms.lake import Lake
lake = Lake.open(Path(sys.argv[1]))
run = lake.begin_run(owner="another")
print(flush=True)
time.sleep(2)
lake.abort(run)
"""


def test_what_the_ledger_says_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"{}\n{}\n{")
    [listed] = find([str(file)])
    known = entry(listed, WAY, "run")
    assert (known.size, known.read_to) == (7, 6)
    assert _state(file, known) is State.UNCHANGED
    os.utime(file, (0, 0))
    assert _state(file, known) is State.CHANGED
    file.write_bytes(b"{}\n{}\n{}\n")
    assert _state(file, known) is State.GROWN
    assert plan(find([str(file)]), {str(file): known}, WAY).todo[0].start == 6
    assert _state(file, known, WAY._replace(read_by="litellm")) is State.AGAIN
    file.write_bytes(b"{}\n[]\n{}\n{}\n")
    assert _state(file, known) is State.CHANGED


def _state(file: Path, known: Any, way: Way = WAY) -> State:
    [state] = plan(find([str(file)]), {str(file): known}, way).states
    return state


def test_a_file_that_could_not_be_opened_is_tried_again(tmp_path: Path) -> None:
    gone = Listed(str(tmp_path / "gone"), 5, "1")
    known = entry(gone, WAY, "run")
    assert (known.version, known.digest) == ("", None)
    [todo] = plan([gone], {gone.file: known}, WAY).todo
    assert todo.stale_rejects_from == 0
