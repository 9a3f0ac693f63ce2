"""Paths, folders, globs and time templates to files."""

import os
from datetime import date
from pathlib import Path

import pytest

from transforms.inputs import InputNotFoundError, Listed, fill, find, is_template


def _tree(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"{}\n")


def _names(folder: Path, found: list[Listed]) -> list[str]:
    return [str(Path(listed.file).relative_to(folder)) for listed in found]


def test_folders_and_globs_leave_out_hidden_files_and_markers(tmp_path: Path) -> None:
    _tree(tmp_path, "b.jsonl", "a/x.gz", "a/_SUCCESS", "a/.hidden", "a/x.tmp", "a/.x.gz.crc", ".git/config", "a/b/y")
    _tree(tmp_path, "t/_delta_log/0.json", "t/part-0.parquet", "_named.jsonl")
    everything = ["_named.jsonl", "a/b/y", "a/x.gz", "b.jsonl", "t/part-0.parquet"]
    assert _names(tmp_path, find([str(tmp_path)])) == everything
    assert _names(tmp_path, find([f"{tmp_path}/*"])) == everything
    assert _names(tmp_path, find([f"{tmp_path}/a/*"])) == ["a/b/y", "a/x.gz"]
    assert _names(tmp_path, find([f"{tmp_path}/**/*.json*"])) == ["_named.jsonl", "b.jsonl", "t/_delta_log/0.json"]


def test_a_named_file_is_always_taken_and_only_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _tree(tmp_path, ".hidden", "logs/calls[1].jsonl", "logs/x.tmp")
    monkeypatch.chdir(tmp_path)
    inputs = ["logs", "./logs/../.hidden", "logs/calls[1].jsonl", str(tmp_path / "logs"), "logs/x.tmp"]
    found = find(inputs, skip=("*hidden*",))
    assert _names(tmp_path, found) == [".hidden", "logs/calls[1].jsonl", "logs/x.tmp"]


def test_skip_patterns_see_the_whole_path(tmp_path: Path) -> None:
    _tree(tmp_path, "12/a.json.gz", "12/data/a_input.json.gz", "amazon-bedrock-logs-permission-check")
    found = find([str(tmp_path)], skip=("*/data/*", "*permission-check*"))
    assert _names(tmp_path, found) == ["12/a.json.gz"]


def test_an_input_that_matches_nothing_is_one_clear_line(tmp_path: Path) -> None:
    _tree(tmp_path, "only/_SUCCESS", "calls.jsonl")
    for name in ("gone.jsonl", "*.parquet", "only", "only/*", "calls.jsonl/x"):
        with pytest.raises(InputNotFoundError) as raised:
            find([str(tmp_path / "calls.jsonl"), str(tmp_path / name)])
        assert str(raised.value) == f"{tmp_path}/{name}: no such file or folder, or none in it that can be read"


def test_what_cannot_be_read_twice_or_listed_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "broken-link").symlink_to("nowhere")
    with pytest.raises(InputNotFoundError, match="pipe: not a regular file"):
        find([str(tmp_path / "pipe")])
    with pytest.raises(InputNotFoundError, match="broken-link: No such file"):
        find([str(tmp_path / "broken-link")])
    with pytest.raises(InputNotFoundError, match=r"^nowhere://bucket/x: .*nowhere"):
        find(["nowhere://bucket/x"])


def test_a_file_comes_with_its_size_and_the_time_of_its_last_change(tmp_path: Path) -> None:
    _tree(tmp_path, "a")
    [listed] = find([str(tmp_path)])
    assert listed == Listed(str(tmp_path / "a"), 3, str((tmp_path / "a").stat().st_mtime_ns))


@pytest.mark.parametrize(("name", "expected"), [("logs/%Y/%m", True), ("a%20b", False), ("100%%", False), ("%H", True)])
def test_only_time_codes_make_a_template(name: str, expected: bool) -> None:  # noqa: FBT001 - a parameter
    assert is_template(name) is expected


def test_a_file_whose_name_looks_like_a_template_is_a_file(tmp_path: Path) -> None:
    _tree(tmp_path, "%Y.jsonl")
    assert not is_template(f"{tmp_path}/%Y.jsonl")


def test_a_template_is_filled_day_by_day(tmp_path: Path) -> None:
    _tree(tmp_path, "dt=2026-10-31/a", "dt=2026-11-01/b", "dt=2026-11-03/c")
    names = fill(f"{tmp_path}/dt=%Y-%m-%d/*", date(2026, 10, 31), date(2026, 11, 2))
    assert _names(tmp_path, find(names)) == ["dt=2026-10-31/a", "dt=2026-11-01/b"]


def test_a_template_with_hours_is_filled_hour_by_hour(tmp_path: Path) -> None:
    _tree(tmp_path, "2026/306/00.jsonl", "2026/306/23.jsonl", "2026/307/00.jsonl")
    names = fill(f"{tmp_path}/%Y/%j/%H.jsonl", date(2026, 11, 2), date(2026, 11, 2))
    assert _names(tmp_path, find(names)) == ["2026/306/00.jsonl", "2026/306/23.jsonl"]


def test_a_template_that_finds_nothing_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(InputNotFoundError, match=r"nothing is there from 2026-11-01 to 2026-11-02.*dt=2026-11-01"):
        fill(f"{tmp_path}/dt=%Y-%m-%d", date(2026, 11, 1), date(2026, 11, 2))
