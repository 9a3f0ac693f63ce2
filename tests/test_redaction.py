"""Redaction: nothing planted survives in any text, segments stay true, and nothing else changes."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.cli import main
from schemas.call import Call, Segment
from schemas.envelope import built_in
from schemas.exchange import RawRecord, RecordBatch
from schemas.redaction import RedactionError, known_patterns, patterns_of
from schemas.reject import Reject
from schemas.vocabulary import RejectReason
from tests.lakes import ask, rows
from tests.traffic import exchange
from transforms.columns import to_reject_batch
from transforms.normalise import normalise
from transforms.redaction import Redactor
from transforms.unwrap import Unwrapper

GOLDEN = Path(__file__).parent / "golden"
ALL = Redactor(patterns_of(["all"]))
SECRETS = {
    "email": "jane.doe+x@mail.example.org",
    "phone": "+49 (0)30 1234-5678",
    "card": "4111 1111 1111 1111",
    "iban": "DE89 3704 0044 0532 0130 00",
    "key": "sk-ant-api03-AbCdEfGhIjKlMnOpQrSt",
    "ip": "192.168.17.254",
}
NO_SECRETS = [
    "4111 1111 1111 1112",  # no Luhn
    "DE88 3704 0044 0532 0130 00",  # no IBAN
    "1.2.3",
    "an @ sign, a@b, sk-short, +1 2",
    "1761955200000 and 3.14159265358979",
    "300.1.2.3",
]


@pytest.mark.parametrize("name", SECRETS)
def test_each_pattern_finds_its_own(name: str) -> None:
    text, count = Redactor(patterns_of([name])).redact(f"é before {SECRETS[name]}, after")
    assert (text, count) == (f"é before [{name}], after", 1)


@pytest.mark.parametrize("text", NO_SECRETS)
def test_what_only_looks_alike_stays(text: str) -> None:
    assert ALL.redact(text) == (text, 0)


def test_every_named_pattern_is_tested() -> None:
    assert set(SECRETS) == set(known_patterns())


def test_patterns_that_overlap_go_as_a_whole() -> None:
    redactor = Redactor(patterns_of(["a=abc", "b=cde"]))
    assert redactor.redact("xabcdex") == ("x[a]x", 1)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("emial", "did you mean email?"),
        ("badge=(", "badge=("),
        ("badge=x*", "matches nothing at all"),
        ("badge=(?=x)y", "without look-around"),
        ("a b=x", "is no name for a pattern"),
        ("badge=[a-z]+", "matches its own mark"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused(wanted: str, told: str) -> None:
    with pytest.raises(RedactionError) as raised:
        patterns_of([wanted])
    assert told in str(raised.value)


pieces = st.lists(
    st.tuples(
        st.sampled_from(["thinking", "answer", "commentary"]),
        st.lists(st.sampled_from([*SECRETS.values(), *NO_SECRETS, " ", "é🎉", "words, ", "@", "4111 1111 "])).map(
            "".join
        ),
    ),
    max_size=5,
)


def built(parts: list[tuple[str, str]]) -> Call:
    texts = {"thinking": "", "answer": ""}
    segments = []
    for kind, text in parts:
        place = "thinking" if kind == "thinking" else "answer"
        segments.append(Segment(kind, 0, len(texts[place]), len(texts[place]) + len(text)))
        texts[place] += text
    call = Call("a", source="exchange", source_file="a", source_position=0, segments=segments)
    call.thinking, call.answer = texts["thinking"] or None, texts["answer"] or None
    return call


@given(pieces)
@settings(deadline=None, max_examples=150)
def test_segments_stay_true_and_nothing_survives(parts: list[tuple[str, str]]) -> None:
    call = built(parts)
    ALL.redact_call(call)
    for place, kinds in (("thinking", {"thinking"}), ("answer", {"answer", "commentary"})):
        text: str = getattr(call, place) or ""
        own = [segment for segment in call.segments or () if segment.kind in kinds]
        assert "".join(text[segment.start : segment.end] for segment in own) == text
        assert ALL.spans(text) == []
        assert (getattr(call, f"{place}_chars") or len(text)) == len(text)


@given(st.text(max_size=200))
@settings(deadline=None, max_examples=150)
def test_twice_is_once_and_places_are_code_points(text: str) -> None:
    mixed = text + SECRETS["email"] + text
    once, _ = ALL.redact(mixed)
    assert ALL.redact(once) == (once, 0)
    assert SECRETS["email"] not in once


def test_every_surface_of_a_call_is_redacted() -> None:
    secret = SECRETS["email"]
    call = Call(
        call_id="a",
        source="exchange",
        source_file="a",
        source_position=0,
        thinking=f"I see {secret}.",
        answer=f"{secret} {secret}",
        error_message=secret,
        tags={"who": secret, "app": "chat"},
        usage_raw=json.dumps({"total_tokens": 4111111111111111, "note": [secret]}),
    )
    ALL.redact_call(call)
    assert (call.thinking, call.answer, call.error_message) == ("I see [email].", "[email] [email]", "[email]")
    assert call.tags == {"who": "[email]", "app": "chat"}
    assert call.usage_raw == '{"total_tokens":4111111111111111,"note":["[email]"]}'
    assert call.redactions == 6


def test_a_reject_is_redacted_and_stays_the_same_reject() -> None:
    raw = b"\xff{" + SECRETS["email"].encode() + b"}\xfe"
    plain = Reject(RejectReason.INVALID_JSON, f"near {SECRETS['email']}", "a.jsonl", 7, raw)
    redacted = Reject(RejectReason.INVALID_JSON, f"near {SECRETS['email']}", "a.jsonl", 7, raw)
    ALL.redact_reject(redacted)
    assert (redacted.raw, redacted.detail) == (b"\xff{[email]}\xfe", "near [email]")
    ids = to_reject_batch([plain, redacted])["reject_id"].to_pylist()
    assert ids[0] == ids[1]


CASES = sorted(path for path in GOLDEN.rglob("input.jsonl") if path.parent.parent.name != "sql")


@pytest.mark.parametrize("case", CASES, ids=lambda path: str(path.parent.relative_to(GOLDEN)))
def test_no_secret_survives_in_any_golden_record(case: Path) -> None:
    """Planted into every text of the record that is long enough to be one; what is counted stays as it was."""
    for line in case.read_bytes().splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        planted = json.dumps(_planted(record)).encode()
        outcome = normalise(RecordBatch("x", [RawRecord(0, planted)]), Unwrapper(built_in()))
        for call in outcome.calls:
            before = (call.call_id, call.output_tokens, call.reasoning_tokens, call.effort_applied)
            ALL.redact_call(call)
            assert (call.call_id, call.output_tokens, call.reasoning_tokens, call.effort_applied) == before
            shown = [call.thinking, call.answer, call.error_message, call.usage_raw, *(call.tags or {}).values()]
            assert not any(SECRETS["email"] in text for text in shown if text)
        for reject in outcome.rejects:
            ALL.redact_reject(reject)
            assert SECRETS["email"].encode() not in reject.raw


def _planted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _planted(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_planted(item) for item in value]
    is_text = isinstance(value, str) and " " in value and not value.lstrip().startswith(("{", "[", "data:", "event:"))
    return f"{value} {SECRETS['email']}" if is_text else value


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)), catch_exceptions=False)


def test_a_run_redacts_and_counts(tmp_path: Path) -> None:
    log, lake = tmp_path / "a.jsonl", tmp_path / "lake"
    line = exchange(1).replace(b"answer 1", f"write to {SECRETS['email']}, badge B-123456".encode())
    log.write_bytes(line + exchange(2) + f"no JSON: {SECRETS['email']}\n".encode())
    wanted = ("--redact", "email", "--redact", r"badge=B-\d{6}")
    assert invoke("normalise", log, "--lake", lake, *wanted).exit_code == 0
    assert ask(lake, "SELECT answer, redactions FROM calls ORDER BY redactions DESC") == [
        ("write to [email], badge [badge]", 2),
        ("answer 2", 0),
    ]
    assert [row["raw"] for row in rows(lake, "rejects")] == [b"no JSON: [email]"]
    copy = tmp_path / "b.jsonl"
    copy.write_bytes(log.read_bytes())
    assert invoke("normalise", copy, "--lake", lake).exit_code == 0
    assert ask(lake, "SELECT count(*) FROM calls") == [(2,)]
    assert invoke("normalise", log, "--lake", lake, "--redact", "emial").exit_code == 2


def test_without_redaction_none_is_counted(tmp_path: Path) -> None:
    log, lake = tmp_path / "a.jsonl", tmp_path / "lake"
    log.write_bytes(exchange(1))
    assert invoke("normalise", log, "--lake", lake).exit_code == 0
    assert ask(lake, "SELECT redactions FROM calls") == [(None,)]


def test_a_text_free_run_stores_counts_and_no_later_run_brings_texts(tmp_path: Path) -> None:
    log, lake = tmp_path / "a.jsonl", tmp_path / "lake"
    log.write_bytes(exchange(1) + b"no JSON\n")
    assert invoke("normalise", log, "--lake", lake, "--no-text").exit_code == 0
    columns = "SELECT answer, answer_chars, output_tokens, answer_purged_at IS NOT NULL FROM calls"
    assert ask(lake, columns) == [(None, 8, 1, True)]
    assert [(row["reason"], row["raw"], row["detail"]) for row in rows(lake, "rejects")] == [
        ("invalid_json", None, None)
    ]
    assert invoke("normalise", log, "--lake", lake, "--full").exit_code == 0
    assert ask(lake, columns) == [(None, 8, 1, True)]


def test_inspect_shows_what_is_redacted(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(exchange(1).replace(b"answer 1", SECRETS["iban"].encode()))
    shown = json.loads(invoke("inspect", log, "--json", "--redact", "iban").stdout)
    assert (shown["answer"], shown["redactions"]) == ("[iban]", 1)
