"""Recorded traffic of public projects: every record is accounted for, and no delimiter leaks into the other text.

The corpus lies beside the repository; without it these tests are skipped.
"""

import gzip
import re
from functools import cache
from pathlib import Path

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


NO_GENERATION = {
    # Bodies that no model gave, read one by one.
    "cohere.v1_chat": {"nothing_object"},  # a test server
    "llamacpp.completion": {"execution_time_seconds"},  # a test server
    "openai.chat_completions": {"nothing_object", "contentType"},  # test servers
    "vertex.generate_content": {"this"},  # a test of unknown fields
}


@needs_families
def test_every_body_that_no_protocol_claims_is_no_generation(family: str) -> None:
    _, rejects, _ = normalised(family)
    details = [reject.detail for reject in rejects if reject.reason is RejectReason.UNKNOWN_PROTOCOL]
    assert [one for one in details if not any(key in one for key in NO_GENERATION.get(family, ()))] == []


@pytest.mark.parametrize("family", [family for family in FAMILIES if family in ENDPOINTS])
def test_calls_at_known_endpoints_are_of_their_protocol(family: str) -> None:
    calls, _, _ = normalised(family)
    others = {call.protocol for call in calls} - {ENDPOINTS[family]}
    assert others <= {"bedrock_converse", "ollama_chat", "openai_chat"}


DELIMITER = re.compile(
    r"<(/?)(?:mm:|seed:|ant)?(?:think|thinking|thought|reasoning|reason)\s*>|\[(/?)THINK\]|◁(/?)think▷|<\|channel\|>|<\|message\|>",
    re.IGNORECASE,
)
CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def _leaks(text: str | None) -> list[str]:
    return [match.group() for match in DELIMITER.finditer(CODE.sub("", text or ""))]


READ_BY_EYE = {
    # The agent's own extraction put the rest of the model's text behind its closing tag into the rationale.
    "bedrock.invoke_agent.jsonl.gz:232533",
    "bedrock.invoke_agent.jsonl.gz:245933",
}


@needs_families
def test_no_delimiter_leaks_into_an_answer_or_a_trace(family: str) -> None:
    calls, _, _ = normalised(family)
    leaking = {
        f"{call.source_file.rpartition('/')[2]}:{call.source_position}": found
        for call in calls
        if (found := _leaks(call.answer) + [leak for leak in _leaks(call.thinking) if "/" in leak])
    }
    assert {place: found for place, found in leaking.items() if place not in READ_BY_EYE} == {}


def test_the_whole_corpus_through_a_lake(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    done = thinkledger("normalise", RECORDS, "--lake", lake, timeout=600)
    assert done.returncode == 0, done.stderr
    [(records, *fates)] = ask(lake, "SELECT records, calls, parts, duplicates, skipped, rejects FROM runs")
    assert sum(fates) == records
    assert ask(lake, "SELECT count(*) FROM calls")[0][0] == fates[0]
    assert ask(lake, "SELECT count(*) FROM rejects")[0][0] == fates[4]
