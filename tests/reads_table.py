"""README's table of what is read: a row per protocol and host, every cell backed by a golden case.

A protocol's evidence is the expected rows of its own golden folder. The host of a case is the one that the case's name
begins with (``groq_field_whole``, in the spellings of ``schemas/providers.yaml``), else who bills the call, else whose
the model is. A model that is named with its owner (``openai/gpt-oss-120b``) says nothing of the host. Hosts of which no
case shows a reasoning surface share one row a protocol.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from schemas.providers import biller_named, vendor_named
from transforms.protocols import PROTOCOLS

_GOLDEN = Path(__file__).parent / "golden"
SERVERS = (
    "codex", "harmony", "litellm", "llamacpp", "lm_studio", "merge", "nim", "ollama", "reka", "sglang", "tgi", "vllm",
)  # fmt: skip
"""Servers of one's own, gateways and forms without a host of their own: they are in no list of billers."""
_NO_HOST = "not named"
_WITHHELD = ("encrypted", "redacted", "omitted")
_ORDER = (
    "block", "field", "channel", "tag", "withheld", "inside", "on_top", "inferred", "unknown",
    "level", "switch", "budget",
)  # fmt: skip
_WORDS = {"on_top": "on top", "response_echo": "echo", "model_profile": "profile"}
Row = dict[str, Any]


class Column(NamedTuple):
    """A column: its heading, and what one row of a golden case shows of it (nothing: null)."""

    heading: str
    shown: Callable[[Row], Iterable[str | None]]


def _if(condition: object, word: str = "yes") -> str | None:
    return word if condition else None


COLUMNS = (
    Column("thinking", lambda row: [_place_of_thinking(row)]),
    Column("answer", lambda row: [_if(row["answer"])]),
    Column("reasoning tokens", lambda row: [_reading_of_tokens(row)]),
    Column(
        "effort asked",
        lambda row: [
            _if(row["effort_requested"], "level"),
            _if(row["thinking_requested"], "switch"),
            _if(row["thinking_budget_requested"] is not None, "budget"),
        ],
    ),
    Column("effort applied", lambda row: [row["effort_applied"] and row["effort_applied_source"]]),
    Column("whole", lambda row: [_if(row["streamed"] is not True)]),
    Column("streamed", lambda row: [_if(row["streamed"])]),
)
_SURFACES = ("thinking", "reasoning tokens", "effort asked", "effort applied")


def _place_of_thinking(row: Row) -> str | None:
    place: str | None = row["thinking_source"]
    return place if row["thinking"] else _if(row["thinking_form"] in _WITHHELD, "withheld")


def _reading_of_tokens(row: Row) -> str | None:
    basis: str | None = row["reasoning_basis"]
    return basis if row["reasoning_tokens"] is not None or basis == "inferred" else None


def protocols_table() -> str:
    """Markdown, in the order of the registry."""
    headings = ["protocol", "host", *(column.heading for column in COLUMNS)]
    lines = [_line(headings), "|---" * len(headings) + "|"]
    lines += [_line(cells) for protocol in PROTOCOLS for cells in _rows(protocol.NAME)]
    return "\n".join(lines)


def _rows(protocol: str) -> Iterator[list[str]]:
    by_host: defaultdict[str, list[Row]] = defaultdict(list)
    for host, row in _evidence(protocol):
        by_host[host].append(row)
    plain = sorted(host for host, rows in by_host.items() if not any(_has_surface(row) for row in rows))
    for host in sorted(by_host.keys() - plain):
        yield [f"`{protocol}`", host, *_cells(by_host[host])]
    if plain:
        yield [f"`{protocol}`", ", ".join(plain), *_cells(row for host in plain for row in by_host[host])]


def _evidence(protocol: str) -> Iterator[tuple[str, Row]]:
    """The calls of the protocol's golden cases, each with its host."""
    for expected in sorted((_GOLDEN / protocol).rglob("expected.jsonl")):
        for row in map(orjson.loads, expected.read_bytes().splitlines()):
            if row.get("protocol") == protocol:
                yield _host(expected.parent.name, row), row


def _host(case: str, row: Row) -> str:
    server = next((name for name in SERVERS if case.startswith(name) or row["protocol"].startswith(name)), None)
    vendor = None if "/" in (row["model"] or "") else row["provider"]
    return server or biller_named(case) or vendor_named(case) or row["billed_by"] or vendor or _NO_HOST


def _has_surface(row: Row) -> bool:
    return any(any(column.shown(row)) for column in COLUMNS if column.heading in _SURFACES)


def _cells(rows: Iterable[Row]) -> list[str]:
    rows = list(rows)
    return [_cell(word for row in rows for word in column.shown(row) if word) for column in COLUMNS]


def _cell(words: Iterable[str]) -> str:
    ordered = sorted(set(words), key=lambda word: (_ORDER.index(word) if word in _ORDER else len(_ORDER), word))
    return ", ".join(_WORDS.get(word, word) for word in ordered)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
