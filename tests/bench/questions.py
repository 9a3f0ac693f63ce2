"""Seconds per question over a lake of ten million calls, made for it.

``python -m tests.bench.questions [--calls 10000000] [--days 92] [--folder FOLDER] [--rounds 3] [NAME …]``. A folder
that is named keeps its lake for the next time. The rows are random but shaped like traffic: a dozen models, 5,000
users, 200 keys, a million sessions, nulls wherever a provider may report nothing. Prices are the real ones. The texts
are short: no question reads them, which ``tests/test_golden_sql.py`` proves.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from string import Template

import duckdb
import pyarrow as pa

from pipelines import query
from schemas.call import COLUMNS, PARTITION_KEY, SCHEMA
from schemas.lake import Kind, LakeFile, Pointer
from transforms.lake import DATABASE, POINTER
from transforms.views import build_views

FIRST = date(2026, 8, 1)
_LIMIT_S = 2.0
_REQUIRED = {"what_if_model": {"to_model": "gpt-5-mini"}}
_MODELS = (
    ("openai", "gpt-5"),
    ("openai", "gpt-5-mini"),
    ("openai", "gpt-5.4"),
    ("openai", "o3"),
    ("openai", "gpt-4.1"),
    ("anthropic", "claude-opus-4-5"),
    ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "claude-haiku-4-5"),
    ("google", "gemini-2.5-pro"),
    ("google", "gemini-2.5-flash"),
    ("deepseek", "deepseek-reasoner"),
    ("xai", "grok-4"),
    ("ollama", "qwen3:8b"),
)
_ROWS = """
SELECT
    md5(concat($day, ':', n)) AS call_id,
    concat('resp_', hash(n, $day)) AS response_id,
    concat('session-', $day, '-', n // 10) AS session_id,
    $day::DATE::TIMESTAMP + to_microseconds((n * 86_400_000_000) // $rows) AS called_at,
    $models[pick].provider AS provider,
    CASE WHEN chance < 0.2 THEN 'openrouter' WHEN chance < 0.3 THEN 'bedrock' END AS billed_by,
    ['openai_chat', 'openai_responses', 'anthropic_messages'][1 + n % 3] AS protocol,
    ['litellm', 'exchange'][1 + n % 2] AS source,
    $models[pick].model AS model_requested,
    $models[pick].model AS model,
    'Some thinking.' AS thinking,
    'Some answer.' AS answer,
    CASE WHEN chance < 0.7 THEN 'full' WHEN chance < 0.8 THEN 'encrypted' END AS thinking_form,
    CASE WHEN chance < 0.7 THEN (other * 9000)::BIGINT END AS thinking_chars,
    CASE WHEN chance < 0.9 THEN (3000 * chance)::BIGINT END AS answer_chars,
    CASE
        WHEN other < 0.02 THEN 'length' WHEN other < 0.03 THEN 'error' WHEN other < 0.2 THEN 'tool_calls' ELSE 'stop'
    END AS finish_reason,
    CASE WHEN other >= 0.01 THEN (chance * other * 60_000)::BIGINT END AS input_tokens,
    CASE WHEN other >= 0.3 THEN (chance * other * 20_000)::BIGINT END AS cached_input_tokens,
    CASE WHEN other >= 0.8 THEN (chance * other * 10_000)::BIGINT END AS cache_write_tokens,
    CASE WHEN other >= 0.9 THEN (chance * other * 5_000)::BIGINT END AS cache_write_1h_tokens,
    CASE WHEN other >= 0.01 THEN (other * 6000)::BIGINT END AS output_tokens,
    CASE WHEN chance < 0.7 AND other >= 0.01 THEN (other * 4000)::BIGINT END AS reasoning_tokens,
    CASE WHEN chance < 0.7 THEN 'inside' END AS reasoning_basis,
    'reported' AS reasoning_tokens_source,
    ['low', 'medium', 'high', NULL][1 + (chance * 3.99)::INTEGER % 4] AS effort_requested,
    ['low', 'medium', 'high', NULL][1 + (other * 3.99)::INTEGER % 4] AS effort_applied,
    CASE WHEN chance < 0.5 THEN 'request' ELSE 'response' END AS effort_applied_source,
    CASE WHEN chance < 0.5 THEN 'same' WHEN chance < 0.6 THEN 'raised' END AS effort_change,
    CASE WHEN chance < 0.1 THEN 'flex' END AS service_tier_requested,
    CASE WHEN chance < 0.3 THEN 'default' END AS service_tier,
    chance > 0.95 AS is_batch,
    chance BETWEEN 0.94 AND 0.95 AS cache_hit,
    CASE WHEN chance < 0.25 THEN (chance * other)::DECIMAL(38, 12) END AS cost_reported_usd,
    CASE WHEN other < 0.03 AND other >= 0.02 THEN 500 ELSE 200 END AS status_code,
    CASE WHEN other < 0.03 AND other >= 0.02 THEN 'server_error' END AS error_type,
    1000 * chance AS latency_ms,
    concat('user-', hash(n) % 5000) AS user_id,
    concat('team-', hash(n) % 40) AS team,
    concat('key-', hash(n) % 200) AS api_key_id,
    MAP {'app': concat('app-', n % 7)} AS tags,
    'traffic.jsonl' AS source_file,
    n AS source_position,
    '1' AS normaliser_version
FROM (
    SELECT range AS n, random() AS chance, random() AS other, 1 + (random() * 2147483647)::BIGINT % $number AS pick
    FROM range($rows)
)
"""


def main(arguments: list[str]) -> int:
    """Make the lake where there is none yet, ask every question, and print the seconds; 1 where one is too slow."""
    options = _options(arguments)
    if options.folder:
        return _measure(Path(options.folder), options)
    with tempfile.TemporaryDirectory(prefix="thinkledger-bench-") as folder:
        return _measure(Path(folder), options)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.bench.questions", description=__doc__)
    parser.add_argument("names", nargs="*", help="the questions; all of them by default")
    parser.add_argument("--calls", type=int, default=10_000_000, help="how many calls (default 10,000,000)")
    parser.add_argument("--days", type=int, default=92, help="over how many days (default 92)")
    parser.add_argument("--folder", help="keep the lake here")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each (default 3)")
    return parser.parse_args(arguments)


def _measure(folder: Path, options: argparse.Namespace) -> int:
    lake = folder / "lake"
    if not (lake / POINTER).exists():
        shutil.rmtree(lake, ignore_errors=True)
        started = time.perf_counter()
        write_lake(lake, options.calls, options.days)
        subprocess.run(
            [sys.executable, "-m", "pipelines", "prices", "--lake", lake], stdout=subprocess.DEVNULL, check=True
        )
        _print(f"{options.calls:,} calls in {options.days} days, made in {time.perf_counter() - started:,.1f} s")
    slow = []
    for name in options.names or [question.name for question in query.listed()]:
        seconds = sorted(_seconds(lake, name) for _ in range(options.rounds))
        median = statistics.median(seconds)
        slow += [name] * (median > _LIMIT_S)
        _print(f"{name:<32} {median:6.2f} s   best {seconds[0]:6.2f}   worst {seconds[-1]:6.2f}")
    _print(f"slower than {_LIMIT_S:g} s: {', '.join(slow) or 'none'}")
    return int(bool(slow))


def _seconds(lake: Path, name: str) -> float:
    started = time.perf_counter()
    query.ask(str(lake), query.sql_of(name), _REQUIRED.get(name, {}))
    return time.perf_counter() - started


def write_lake(lake: Path, calls: int, days: int) -> None:
    """Write a lake of random calls, in the layout that runs write: one Parquet file a date, the pointer, the views."""
    for folder in ("calls", "runs"):
        (lake / folder).mkdir(parents=True)
    pointer = Pointer(generation=1, token="bench", committed_at=datetime.now(UTC))  # noqa: S106
    with duckdb.connect() as db:
        db.from_arrow(pa.Table.from_batches([], schema=SCHEMA)).create("shape")
        for number in range(days):
            day = FIRST + timedelta(days=number)
            pointer.put(Kind.CALLS, f"date={day}", _write_day(db, lake, day, calls // days))
    (lake / POINTER).write_text(pointer.model_dump_json())
    build_views(lake / DATABASE, lake, pointer)


def _write_day(db: duckdb.DuckDBPyConnection, lake: Path, day: date, rows: int) -> LakeFile:
    path = f"calls/date={day}/calls-000001-bench.parquet"
    (lake / path).parent.mkdir()
    models = ", ".join(f"{{'provider': '{provider}', 'model': '{model}'}}" for provider, model in _MODELS)
    filled = Template(_ROWS).substitute(models=f"([{models}])", number=len(_MODELS), rows=rows, day=f"'{day}'")
    columns = ", ".join(column.name for column in COLUMNS if column.name != PARTITION_KEY)
    db.execute(
        f"COPY (SELECT {columns} FROM (FROM shape UNION ALL BY NAME ({filled}))) TO '{lake / path}' "  # noqa: S608
        "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 50_000)"
    )
    return LakeFile(path=path, rows=rows, bytes=(lake / path).stat().st_size)


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
