"""A marker is planted in every text of every golden record, and none is left in any file of the lake after a purge."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from pipelines.cli import main
from pipelines.inspection import outcomes
from schemas.envelope import built_in
from transforms.protocols import PROTOCOLS
from transforms.unwrap import Unwrapper

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(path for path in GOLDEN.rglob("input.jsonl") if not (path.parent / "source.yaml").exists())
MARKER = "a marked secret"
TEXT_KEYS = {
    "text", "content", "thinking", "thought", "reasoning", "reasoning_content", "reasoning_text", "delta", "summary",
    "output_text", "generated_text", "completion", "outputText", "output", "refusal", "message", "response",
    "tool_plan", "partial_json", "arguments", "detail", "error", "generation", "value",
}  # fmt: skip
"""Keys whose values are texts, be they one word long."""
POLICY = "defaults: {privacy: text-free, tags: immediately, rejects: immediately}\n"


def planted(value: Any, key: str = "") -> Any:
    """A JSON value with the marker behind every text in it, also in JSON and streams that stand in strings."""
    if isinstance(value, dict):
        return {name: planted(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [planted(item, key) for item in value]
    if not isinstance(value, str) or not value.strip():
        return value
    if value.lstrip()[:1] in "{[":
        return _in_json(value)
    if "data:" in value:
        return "\n".join(map(_in_line, value.split("\n")))
    return f"{value} {MARKER}" if key in TEXT_KEYS or " " in value else value


def _in_json(text: str) -> str:
    try:
        return json.dumps(planted(json.loads(text)))
    except ValueError:
        return f"{text} {MARKER}"


def _in_line(line: str) -> str:
    name, colon, rest = line.partition(":")
    is_data = name == "data" and rest.strip().startswith("{")
    return f"{name}{colon} {_in_json(rest.strip())}" if is_data else line


def _lines(case: Path) -> Iterator[bytes]:
    for line in case.read_bytes().splitlines():
        try:
            yield json.dumps(planted(json.loads(line))).encode()
        except ValueError:
            yield line + b" " + MARKER.encode()


def run(*arguments: str | Path) -> None:
    result = CliRunner().invoke(main, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output


def holding(lake: Path) -> dict[str, set[str]]:
    """The files below a lake that hold the marker, and in which columns."""
    found: dict[str, set[str]] = {}
    for file in lake.rglob("*"):
        if file.suffix == ".parquet":
            table = pq.ParquetFile(file).read()
            columns = {name for name in table.column_names if MARKER in str(table[name].to_pylist())}
        else:
            columns = {"bytes"} if file.is_file() and MARKER.encode() in file.read_bytes() else set()
        if columns:
            found[str(file.relative_to(lake))] = columns
    return found


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All golden records in one lake with prices, the marker in every text; the log lies beside it."""
    folder = tmp_path_factory.mktemp("marked")
    (folder / "logs").mkdir()
    for number, case in enumerate(CASES):
        (folder / "logs" / f"{number:04}.jsonl").write_bytes(b"\n".join(_lines(case)) + b"\n")
    (folder / "logs" / "broken.jsonl").write_text(f"no JSON: {MARKER}\n")
    run("normalise", folder / "logs", "--lake", folder / "lake")
    run("prices", "--lake", folder / "lake")
    return folder / "lake"


def test_it_is_in_the_texts_of_every_protocol(lake: Path) -> None:
    """Else the test below would prove nothing."""
    unwrapper = Unwrapper(built_in())
    logs = sorted((lake.parent / "logs").iterdir())
    calls = [call for log in logs for outcome in outcomes(str(log), unwrapper) for call in outcome.calls]
    marked = {call.protocol for call in calls if MARKER in f"{call.thinking} {call.answer} {call.error_message}"}
    assert {protocol.NAME for protocol in PROTOCOLS} - marked == set()


def test_no_marker_is_left_in_any_file_of_the_lake(lake: Path) -> None:
    before = holding(lake)
    assert {"thinking", "answer", "error_message", "tags", "raw", "detail"} <= set().union(*before.values())
    (lake.parent / "policy.yaml").write_text(POLICY)
    run("retain", "--lake", lake, "--policy", lake.parent / "policy.yaml", "--grace", "0")
    assert holding(lake) == {}
    run("normalise", lake.parent / "logs", "--lake", lake, "--full")
    assert holding(lake) == {}


def test_a_text_free_run_never_writes_it(lake: Path, tmp_path: Path) -> None:
    run("normalise", lake.parent / "logs", "--lake", tmp_path / "lake", "--no-text")
    assert holding(tmp_path / "lake") == {}
