"""The commands as a user runs them: files in, a lake out, DuckDB reads it; reruns, stops, several processes."""

import gzip
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from pipelines.cli import main
from pipelines.sample_traffic import BROKEN_LINES, calls, write_sample
from tests.lakes import ask, rows, thinkledger

CALLS = 400


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traffic") / "logs"
    write_sample(folder, CALLS)
    return folder


@pytest.fixture(scope="module")
def undisturbed(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = tmp_path_factory.mktemp("undisturbed") / "lake"
    assert thinkledger("normalise", logs, "--lake", lake).returncode == 0
    return lake


def test_the_account_balances_and_is_stored(logs: Path, undisturbed: Path) -> None:
    lines = sum(len(_lines(file)) for file in logs.iterdir())
    [account] = ask(undisturbed, "SELECT records, calls, parts, duplicates, skipped, rejects FROM runs")
    records, *fates = account
    assert records == lines
    assert sum(fates) == records
    assert ask(undisturbed, "SELECT count(*), count(DISTINCT call_id) FROM calls") == [(account[1], account[1])]
    assert ask(undisturbed, "SELECT count(*) FROM rejects") == [(len(BROKEN_LINES),)]


def _lines(file: Path) -> list[bytes]:
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return content.splitlines()


def test_a_reject_keeps_its_bytes_and_its_place(logs: Path, undisturbed: Path) -> None:
    content = gzip.decompress((logs / "gateway-2026-11.jsonl.gz").read_bytes())
    found = ask(undisturbed, "SELECT raw, source_position, source_file FROM rejects")
    assert sorted(raw + b"\n" for raw, _, _ in found) == sorted(BROKEN_LINES)
    for raw, position, file in found:
        assert Path(file).name == "gateway-2026-11.jsonl.gz"
        assert content[position : position + len(raw)] == raw


def test_the_sample_gives_every_form_of_thinking(undisturbed: Path) -> None:
    forms = {form for (form,) in ask(undisturbed, "SELECT DISTINCT thinking_form FROM calls")}
    assert forms == {"full", "summary", "encrypted", "tokens_only", None}
    rules = {rule for (rule,) in ask(undisturbed, "SELECT DISTINCT split_rule FROM calls")}
    assert rules == {"leading_pair", "missing_open", "unclosed", None}


def test_the_same_run_twice_changes_no_row(logs: Path, undisturbed: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    for how in ((), ("--full",), ("--replace",)):
        assert thinkledger("normalise", logs, "--lake", lake, *how).returncode == 0
        assert rows(lake) == rows(undisturbed)
        assert rows(lake, "rejects") == rows(undisturbed, "rejects")
    calls = len(rows(lake))
    assert ask(lake, "SELECT calls FROM runs ORDER BY generation") == [(calls,), (0,), (calls,)]


def test_two_processes_give_the_same_lake(logs: Path, undisturbed: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    done = thinkledger("normalise", logs, "--lake", lake, "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert rows(lake) == rows(undisturbed)


def test_files_one_by_one_give_the_same_calls(logs: Path, undisturbed: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    for file in sorted(logs.iterdir(), reverse=True):
        assert thinkledger("normalise", file, "--lake", lake).returncode == 0
    assert rows(lake) == rows(undisturbed)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_says_so_and_goes_on_when_it_is_started_again(
    number: signal.Signals, logs: Path, undisturbed: Path, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    command = [sys.executable, "-m", "pipelines", "normalise", str(logs), "--lake", str(lake)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline and not _exists(tmp_path, "*.arrow"):
            time.sleep(0.002)
        process.send_signal(number)
        assert process.stderr
        told = process.stderr.read()
    assert process.returncode == 130
    assert told.startswith("thinkledger: stopped; the lake is as the last commit left it")
    assert not list((lake / "staging").glob("*"))
    assert rows(lake) == []
    assert thinkledger("normalise", logs, "--lake", lake).returncode == 0
    assert rows(lake) == rows(undisturbed)


def _exists(folder: Path, pattern: str) -> bool:
    return (
        next(folder.rglob(pattern.rpartition("/")[2]) if "/" not in pattern else folder.glob(pattern), None) is not None
    )


@pytest.mark.parametrize("form", ["array", "gzip", "zstd", "parquet_text", "parquet_structs", "objects"])
def test_every_container_gives_the_same_calls(form: str, tmp_path: Path) -> None:
    lines = list(calls(40))
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "log.jsonl").write_bytes(b"".join(lines))
    stored = tmp_path / "stored"
    stored.mkdir()
    _store(form, lines, stored)
    for folder in (plain, stored):
        done = thinkledger("normalise", folder, "--lake", tmp_path / f"lake-{folder.name}")
        assert done.returncode == 0, done.stderr
    # A column of structs gives every record every key: usage objects hold nulls that they had not.
    place = {"source_file", "source_position", *(["usage_raw"] if form == "parquet_structs" else [])}
    one, other = (
        sorted(
            ({k: v for k, v in row.items() if k not in place} for row in rows(tmp_path / f"lake-{name}")),
            key=lambda row: str(row["call_id"]),
        )
        for name in ("plain", "stored")
    )
    assert one == other


def _store(form: str, lines: list[bytes], folder: Path) -> None:
    if form == "array":
        (folder / "log.json").write_bytes(b"[\n" + b",".join(lines) + b"]")
    elif form == "gzip":
        # Two members, as log shippers write them.
        (folder / "log").write_bytes(gzip.compress(b"".join(lines[:9])) + gzip.compress(b"".join(lines[9:])))
    elif form == "zstd":
        (folder / "log.zst").write_bytes(pa.compress(b"".join(lines), "zstd", asbytes=True))
    elif form == "objects":
        for number, line in enumerate(lines):
            (folder / f"{number}.json").write_text(json.dumps(orjson.loads(line), indent=1))
    else:
        records = [orjson.loads(line) for line in lines]
        if form == "parquet_text":
            records = [
                {**record, "request": json.dumps(record["request"]), "response": json.dumps(record["response"])}
                for record in records
            ]
        else:
            # Bodies as structs: a column holds one shape only, so streams stay out.
            records = [record for record in records if isinstance(record["response"], dict)]
            (folder.parent / "plain" / "log.jsonl").write_bytes(b"".join(orjson.dumps(r) + b"\n" for r in records))
        pq.write_table(pa.Table.from_pylist(records), folder / "log.parquet", row_group_size=7)


def test_since_and_until_skip_by_rule(logs: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    done = thinkledger("normalise", logs, "--lake", lake, "--since", "2026-11-01", "--until", "2026-11-03")
    assert done.returncode == 0, done.stderr
    assert ask(lake, "SELECT min(date)::VARCHAR, max(date)::VARCHAR FROM calls") == [("2026-11-01", "2026-11-03")]
    [(records, *fates)] = ask(lake, "SELECT records, calls, parts, duplicates, skipped, rejects FROM runs")
    assert sum(fates) == records


def test_wrong_use_is_one_line_and_writes_nothing(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    log = tmp_path / "log.jsonl"
    log.write_bytes(next(calls(1)))
    wrong = {
        ("normalise", str(tmp_path / "nothing"), "--lake", str(lake)): "no such file",
        ("normalise", str(log), "--lake", str(lake), "--worker", "2"): "did you mean --workers?",
        ("normalise", str(log), "--lake", str(lake), "--source", "litelm"): "litellm",
        ("normalise", "--lake", str(lake)): "INPUT",
        ("normalise", str(log), "--lake", str(lake), "--since", "2026-12-02", "--until", "2026-12-01"): "is after",
        ("query", "tokens_by_dy", "--lake", str(lake)): "did you mean tokens_by_day?",
        ("query", "tokens_by_day", "--lake", str(lake)): "is no lake",
        ("inspect", str(tmp_path / "nothing")): "there is no such file",
    }
    for arguments, hint in wrong.items():
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 2, arguments
        assert hint in result.stderr, arguments
        assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert not lake.exists()


def test_strict_ends_with_one_where_records_were_rejected(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(next(calls(1)) + b"no record\n")
    assert thinkledger("normalise", log, "--lake", tmp_path / "lake", "--strict").returncode == 1
    assert thinkledger("normalise", log, "--lake", tmp_path / "lake").returncode == 0
    assert thinkledger("inspect", log, "--strict").returncode == 1


def test_an_empty_input_makes_an_empty_lake(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.touch()
    assert thinkledger("normalise", log, "--lake", tmp_path / "lake").returncode == 0
    assert ask(tmp_path / "lake", "SELECT count(*) FROM calls") == [(0,)]
    assert ask(tmp_path / "lake", "SELECT records FROM runs") == [(0,)]


def test_inspect_reads_the_standard_input(tmp_path: Path) -> None:
    line = next(calls(1))
    command = [sys.executable, "-m", "pipelines", "inspect", "-", "--json"]
    done = subprocess.run(command, input=line, capture_output=True, timeout=120, check=True)
    [row] = [orjson.loads(text) for text in done.stdout.splitlines()]
    assert row["source_file"] == "-"
    assert row["source"] == "exchange"
    readable = CliRunner().invoke(main, ["inspect", str(_written(tmp_path, line + b"no record\n"))])
    assert readable.exit_code == 0
    assert "1 calls, 1 rejects, 0 skipped by rule" in readable.output


def _written(folder: Path, content: bytes) -> Path:
    path = folder / "log.jsonl"
    path.write_bytes(content)
    return path
