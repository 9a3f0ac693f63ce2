"""Recorded traffic of public projects: every record is accounted for, and no delimiter leaks into the other text.

The corpus lies beside the repository; without it these tests are skipped.
"""

import gzip
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from schemas.account import Tally
from schemas.call import Call
from schemas.envelope import built_in
from schemas.reject import Reject
from schemas.vocabulary import RejectReason
from tests.conftest import SHARED
from tests.lakes import ask, thinkledger
from transforms.expand import expand
from transforms.normalise import normalise
from transforms.read import read
from transforms.unwrap import Unwrapper

RECORDS = SHARED / "corpus" / "records"
FAMILIES = sorted(path.name.removesuffix(".jsonl.gz") for path in RECORDS.glob("*.jsonl.gz"))
pytestmark = pytest.mark.skipif(not RECORDS.is_dir(), reason=f"the corpus is not at {RECORDS}")
needs_families = pytest.mark.parametrize("family", FAMILIES)

ENDPOINTS = {
    "openai.chat_completions": "openai_chat",
    "openai.responses": "openai_responses",
    "anthropic.messages": "anthropic_messages",
    "google.generate_content": "gemini_generate_content",
    "vertex.generate_content": "gemini_generate_content",
}


@cache
def normalised(family: str) -> tuple[list[Call], list[Reject], Tally]:
    calls: list[Call] = []
    rejects: list[Reject] = []
    tally = Tally()
    unwrapper = Unwrapper(built_in())
    for shard in expand(str(RECORDS / f"{family}.jsonl.gz")):
        for batch in read(shard):
            outcome = normalise(batch, unwrapper)
            calls += outcome.calls
            rejects += outcome.rejects
            tally.add(outcome.tally)
    return calls, rejects, tally


@needs_families
def test_every_record_is_accounted_for(family: str) -> None:
    calls, rejects, tally = normalised(family)
    with gzip.open(RECORDS / f"{family}.jsonl.gz") as file:
        lines = sum(1 for _ in file)
    assert tally.records >= lines
    assert len(calls) + tally.parts + tally.skipped.total() + len(rejects) == tally.records
    assert [r.detail for r in rejects if r.reason is RejectReason.INTERNAL_ERROR] == []
    assert [r.detail for r in rejects if r.reason is RejectReason.AMBIGUOUS_PROTOCOL] == []


OTHER_BODIES = {"contentBlockDelta", "nothing_object", "this", "totalTokens", "delta", "deleted", "results"}


@pytest.mark.parametrize("family", [family for family in FAMILIES if family in ENDPOINTS])
def test_unknown_bodies_at_known_endpoints_are_of_another_kind(family: str) -> None:
    _, rejects, _ = normalised(family)
    for reject in rejects:
        if reject.reason is RejectReason.UNKNOWN_PROTOCOL:
            assert OTHER_BODIES & set(_keys(orjson.loads(reject.raw)["response"])), reject.detail


def _keys(body: Any) -> Iterator[str]:
    for part in body if isinstance(body, list) else [body]:
        if isinstance(part, dict):
            yield from part


DELIMITER = re.compile(
    r"<(/?)(?:mm:|seed:|ant)?(?:think|thinking|thought|reasoning|reason)\s*>|\[(/?)THINK\]|◁(/?)think▷|<\|channel\|>|<\|message\|>",
    re.IGNORECASE,
)
CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def _leaks(text: str | None) -> list[str]:
    return [match.group() for match in DELIMITER.finditer(CODE.sub("", text or ""))]


PROSE = {
    # Answers that talk about tags, read one by one.
}


@needs_families
def test_no_delimiter_leaks_into_an_answer_or_a_trace(family: str) -> None:
    calls, _, _ = normalised(family)
    leaking = {
        f"{call.source_file.rpartition('/')[2]}:{call.source_position}": found
        for call in calls
        if (found := _leaks(call.answer) + [leak for leak in _leaks(call.thinking) if "/" in leak])
    }
    assert {place: found for place, found in leaking.items() if place not in PROSE} == {}


def test_the_whole_corpus_through_a_lake(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    done = thinkledger("normalise", RECORDS, "--lake", lake, timeout=600)
    assert done.returncode == 0, done.stderr
    [(records, *fates)] = ask(lake, "SELECT records, calls, parts, duplicates, skipped, rejects FROM runs")
    assert sum(fates) == records >= sum(len(gzip.open(path).readlines()) for path in RECORDS.iterdir())
    assert ask(lake, "SELECT count(*) FROM calls")[0][0] == fates[0]
    assert ask(lake, "SELECT count(*) FROM rejects")[0][0] == fates[4]
