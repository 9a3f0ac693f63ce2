"""The report: its figures are the lake's, it is one file that needs nothing else, and what is not known is said."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipelines import wording
from pipelines.charts import output_parts
from pipelines.cli import main
from pipelines.report import facts_of, page, write
from pipelines.sample_traffic import write_sample
from schemas.call import Call
from tests.lake_runs import DAY, add, call, reject
from tests.lakes import ask, thinkledger
from transforms.lake import Lake

NOW = datetime(2026, 12, 1, tzinfo=UTC)
_VOID = {"meta"}
_EVIL = """<script>alert("1")</script>&'"""


class _Page(HTMLParser):
    """The page's texts, its elements and their attributes; every element must be closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"] and data.strip():
            self.texts.append(" ".join(data.split()))

    def tiles(self) -> dict[str, str]:
        """The headline figures by what they count."""
        return {
            self.texts[at + 1]: self.texts[at]
            for at, text in enumerate(self.texts[: self.texts.index("thinkledger query totals")])
            if at + 1 < len(self.texts) and re.match(r"[\d$<>]|not known", text)
        }


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    write_sample(folder / "logs", 300)
    assert thinkledger("normalise", folder / "logs", "--lake", folder / "lake").returncode == 0
    return folder / "lake"


def _of(lake: Path, *calls: Call) -> _Page:
    add(Lake.create(lake), *calls)
    return _Page(page(facts_of(lake), "lake", NOW))


def _report(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["report", *map(str, arguments)])


def test_figures_are_the_lakes(lake: Path, tmp_path: Path) -> None:
    result = _report("--lake", lake, "--out", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    shown = _Page((tmp_path / "r.html").read_text())
    [(calls, output, reasoning, counted, cost)] = ask(
        lake,
        """SELECT count(*), sum(output_tokens), sum(reasoning_tokens),
           sum(output_tokens) FILTER (WHERE reasoning_tokens IS NOT NULL), sum(cost_reported_usd) FROM calls""",
    )
    tiles = shown.tiles()
    assert tiles["calls"] == f"{calls:,}"
    assert tiles["output tokens"] == f"{output:,}"
    assert tiles["reasoning tokens reported"] == f"{reasoning:,}"
    assert tiles["of the output is reasoning"] == f"{100 * reasoning / counted:.1f}%"
    assert f"over the {100 * counted / output:.1f}% of it that is counted" in shown.texts
    assert tiles["reported cost"] == f"${cost:.4f}"
    table = shown.texts[shown.texts.index("calls with a cost") :]
    for model, tokens in ask(lake, "SELECT model, sum(output_tokens) FROM calls WHERE model IS NOT NULL GROUP BY ALL"):
        row = next(at for at, text in enumerate(table) if text.startswith(f"{model} · "))
        assert table[row + 2] == f"{tokens:,}"
    [(duplicates, rejects)] = ask(lake, "SELECT duplicates, rejects FROM runs")
    account = shown.texts[shown.texts.index("records in") :]
    assert account[account.index("+ duplicates") + 1] == str(duplicates)
    assert account[account.index("+ rejects") + 1] == str(rejects)


def test_page_is_one_file_without_references(lake: Path) -> None:
    html = page(facts_of(lake), "lake", NOW)
    shown = _Page(html)
    assert sum(tag == "svg" for tag, _ in shown.elements) == 11
    assert not {tag for tag, _ in shown.elements} & {"script", "link", "img", "iframe", "object", "image", "use"}
    names = {name for _, attributes in shown.elements for name in attributes}
    assert not {name for name in names if name in {"src", "href", "xlink:href"} or name.startswith("on")}
    assert set(re.findall(r"https?://[^\"]+", html)) == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "url(" not in html
    assert "@import" not in html


def test_period(lake: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    assert _report("--lake", lake, "--out", out, "--since", "2026-10-05", "--until", "2026-10-05").exit_code == 0
    [(calls,)] = ask(lake, "SELECT count(*) FROM calls WHERE date = '2026-10-05'")
    assert _Page(out.read_text()).tiles()["calls"] == str(calls)
    assert _report("--lake", lake, "--out", out, "--since", "2031-01-01").exit_code == 0
    assert "The lake holds no calls in this period" in " ".join(_Page(out.read_text()).texts)


def test_empty_lake_gives_a_page(tmp_path: Path) -> None:
    shown = _of(tmp_path / "lake")
    assert {"No calls", "Nothing was rejected."} <= set(shown.texts)
    assert not any(tag == "svg" for tag, _ in shown.elements)


def test_wrong_use_is_one_line(lake: Path, tmp_path: Path) -> None:
    for arguments in (("--lake", tmp_path, "--out", tmp_path / "r.html"), ("--lake", lake, "--out", tmp_path / "no/r")):
        result = _report(*arguments)
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_null_is_not_known_and_never_zero(tmp_path: Path) -> None:
    silent = call("a", provider="acme", model="m", output_tokens=None, input_tokens=None)
    tiles = _of(tmp_path / "lake", silent).tiles()
    assert tiles["output tokens"] == "not known"
    assert tiles["reasoning tokens reported"] == "not known"
    assert tiles["of the output is reasoning"] == "not known"
    assert tiles["reported cost"] == "not known"
    assert tiles["calls"] == "1"


def test_a_share_stands_beside_its_coverage_and_contradictions_split_nothing(tmp_path: Path) -> None:
    shown = _of(
        tmp_path / "lake",
        call("a", model="m", output_tokens=100, reasoning_tokens=40),
        call("b", model="m", output_tokens=200),
        call("c", model="m", output_tokens=100, reasoning_tokens=150, reasoning_basis="unknown"),
    )
    assert shown.tiles()["of the output is reasoning"] == "40%"
    assert "over the 25% of it that is counted" in shown.texts
    assert "40% reasoning · 25% counted" in shown.texts
    assert "Output tokens that no fitting count splits: 300." in shown.texts


def test_undated_calls_are_counted_but_not_over_time(tmp_path: Path) -> None:
    shown = _of(tmp_path / "lake", call("a", day=None, model="m", output_tokens=7))
    assert shown.tiles()["output tokens"] == "7"
    assert "No call with a date reports its output: there is nothing to show over time." in shown.texts
    assert "Output tokens by model" in shown.texts
    assert "Output tokens by day" not in shown.texts
    assert "undated" in shown.texts  # the age of its answer


def test_many_models_become_the_leading_ones_and_others(tmp_path: Path) -> None:
    shown = _of(tmp_path / "lake", *(call(f"c{n}", model=f"m{n}", output_tokens=1000 + n) for n in range(200)))
    rest = sum(1000 + n for n in range(180))
    at = shown.texts.index("others (180 models)")
    assert shown.texts[at + 1 : at + 3] == ["180", f"{rest:,}"]


def test_texts_of_the_data_are_escaped(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    evil = call(
        "a", model=_EVIL, provider=_EVIL, billed_by=_EVIL, protocol=_EVIL, source=_EVIL, thinking="t",
        thinking_form="full", effort_applied="high", reasoning_tokens=2, source_file=_EVIL,
    )  # fmt: skip
    add(Lake.create(lake), evil, rejects=[replace(reject(_EVIL.encode()), detail=_EVIL, source=_EVIL)])
    html = page(facts_of(lake), _EVIL, NOW)
    assert "<script" not in html
    texts = " ".join(_Page(html).texts)
    assert texts.count(_EVIL) >= 8


def test_step_follows_the_period(tmp_path: Path) -> None:
    for days, step in ((0, "day"), (365, "day"), (366, "month"), (4000, "year")):
        lake = tmp_path / str(days)
        shown = _of(lake, call("a", model="m"), call("b", DAY + days, model="m"))
        assert f"Output tokens by {step}" in shown.texts


def test_page_appears_whole(lake: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    assert write(lake, out) == out.stat().st_size
    assert list(tmp_path.iterdir()) == [out]


def test_bars_are_as_long_as_their_figures() -> None:
    row = {"reasoning_share": 0.75, "reasoning_coverage": 1.0, "output_not_split": None}
    rows = [
        {"name": "one", "output_tokens": 400, "reasoning_in_output": 300, "rest_of_output": 100, **row},
        {"name": "two", "output_tokens": 200, "reasoning_in_output": 150, "rest_of_output": 50, **row},
    ]
    lengths = re.findall(
        r"M[\d.]+,[\d.]+h([\d.]+)v[\d.]+h-[\d.]+Z\" fill=\"var\(--(reasoning|rest)\)\"", output_parts(rows)
    )
    found = sorted((part, float(length)) for length, part in lengths)
    unit = found[0][1] / 150
    assert [round(length / unit) for _, length in found] == [150, 300, 50, 100]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (wording.percent(0), "0%"),
        (wording.percent(0.0001), "<0.1%"),
        (wording.percent(0.9999), ">99.9%"),
        (wording.percent(1), "100%"),
        (wording.percent(0.8137), "81.4%"),
        (wording.percent(None), "not known"),
        (wording.number(1234567), "1,234,567"),
        (wording.number(None), "not known"),
        (wording.short(999_999), "999,999"),
        (wording.short(3_139_450), "3.14 million"),
        (wording.short(Decimal(12_345_678_901)), "12.35 billion"),
        (wording.size(999), "999 bytes"),
        (wording.size(35_005_575), "35.0 MB"),
        (wording.usd(Decimal("5.622270000000")), "$5.62"),
        (wording.usd(Decimal("0.00001")), "<$0.0001"),
        (wording.usd(Decimal(0)), "$0.00"),
        (wording.usd(None), "not known"),
    ],
)
def test_wording(written: str, meant: str) -> None:
    assert written == meant
