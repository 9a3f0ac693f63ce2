"""Agent transcripts: lines folded into calls, nothing counted twice, every line accounted for."""

import gzip
import pkgutil
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.inspection import outcomes
from pipelines.options import envelopes_of, transcripts_of
from pipelines.wrong_use import WrongUseError
from schemas.call import Call
from schemas.envelope import built_in
from schemas.exchange import Exchange, RawRecord, RecordBatch, Stream
from schemas.vocabulary import RejectReason
from tests.conftest import SHARED
from tests.lakes import ask, thinkledger
from transforms import envelopes, expand, read
from transforms.envelopes import READERS, codex, pi, reader_of
from transforms.expand import first_values, form_of
from transforms.normalise import Outcome, normalise
from transforms.sessions import sessions_in
from transforms.unwrap import Unwrapper

GOLDEN = Path(__file__).parent / "golden"
SESSIONS = sorted(path.parent.name for path in (GOLDEN / "transcripts").glob("*/input.jsonl"))
OTHERS = sorted(path for path in GOLDEN.rglob("input.jsonl") if "transcripts" not in path.parts)
RECORDS = SHARED / "corpus" / "records"
COUNTS = ("input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")

Line = dict[str, Any]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2),
    max_leaves=4,
)


def name_of(session: str) -> str:
    """The reader that a golden session is for: its folder's name begins with it."""
    if session.startswith("iflow"):
        return "claude_code"
    return max((reader.NAME for reader in READERS if session.startswith(reader.NAME)), key=len)


@cache
def lines_of(session: str) -> list[Line]:
    path = GOLDEN / "transcripts" / session / "input.jsonl"
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def folded(lines: list[Any], name: str) -> Outcome:
    records = [RawRecord(place, orjson.dumps(line)) for place, line in enumerate(lines)]
    outcome = normalise(RecordBatch("x", records, folded_by=name), Unwrapper(()))
    tally = outcome.tally
    assert tally.records == tally.calls + tally.parts + tally.skipped.total() + tally.rejects.total() >= len(lines)
    assert [reject.detail for reject in outcome.rejects if reject.reason is RejectReason.INTERNAL_ERROR] == []
    return outcome


def sums(calls: list[Call]) -> Counter[str]:
    """The counts of all calls, each call once."""
    by_id = {call.call_id: call for call in calls}
    return Counter({name: sum(getattr(call, name) or 0 for call in by_id.values()) for name in COUNTS})


# Which files are transcripts


def test_every_reader_has_a_registry_line_and_a_golden_session() -> None:
    modules = {module.name for module in pkgutil.iter_modules(envelopes.__path__)}
    assert sorted(reader.NAME for reader in READERS) == sorted(modules)
    assert {name_of(session) for session in SESSIONS} == modules


@pytest.mark.parametrize("session", SESSIONS)
def test_exactly_one_reader_recognises_a_session(session: str) -> None:
    lines = lines_of(session)
    assert [reader.NAME for reader in READERS if reader.recognises(lines)] == [name_of(session)]


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: str(path.parent.relative_to(GOLDEN)))
def test_no_other_file_is_taken_for_a_session(path: Path) -> None:
    content = path.read_bytes()
    form = form_of([content])
    assert form is not None
    assert reader_of(first_values(content, form)) is None


ORDINARY: dict[str, list[Line]] = {
    "fine-tuning by messages": [
        {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    ],
    "fine-tuning by conversations": [{"id": "1", "conversations": [{"from": "human", "value": "a"}]}],
    "fine-tuning by instruction": [{"instruction": "a", "input": "b", "output": "c"}],
    "instructions with times": [{"id": "1", "timestamp": "2026-11-03T10:00:00Z", "instructions": "a"}],
    "states": [{"record_type": "state", "value": 1}, {"role": "user", "content": "a"}],
    "messages a line": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
    "messages with their times": [
        {"role": "user", "content": "a", "timestamp": "2026-11-03T10:00:00Z", "pinned": False},
        {"role": "assistant", "content": "b", "timestamp": "2026-11-03T10:00:01Z", "metadata": {"model": "gpt-5.5"}},
    ],
    "messages with their counts": [
        {
            "role": "assistant",
            "content": "b",
            "timestamp": "2026-11-03T10:00:01Z",
            "metadata": {"model": "openai/gpt-5.5", "usage": {"input_tokens": 1}, "latency": 2},
        }
    ],
    "a prompt with a task in tags": [
        {"role": "user", "content": [{"type": "text", "text": "<task>Add.</task>"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "4"}]},
    ],
    "a chat with its settings": [{"info": {"model": "x"}, "messages": [{"role": "user", "content": "a"}]}],
    "a history of steps": [{"history": [], "trajectory": []}],
    "an agent that remembers": [{"agent": {"memory": {"content": ["a", "b"]}}}],
    "requests of a session": [{"sessionId": "s", "version": 2, "requests": [{"model": "x", "messages": []}]}],
    "events by an author": [{"author": "Ada", "content": "a", "timestamp": 1793700000}],
    "requests alone": [{"model": "x", "messages": [{"role": "user", "content": "a"}], "stream": True}],
    "a response alone": [
        {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "4"}}]}
    ],
}


@pytest.mark.parametrize("form", ORDINARY)
def test_ordinary_files_are_no_sessions(form: str) -> None:
    lines = ORDINARY[form]
    assert [reader.NAME for reader in READERS if reader.recognises(lines)] == []
    assert sessions_in(Stream(lines)) is None


@pytest.mark.parametrize("asker", [{"requesterUsername": "dev"}, {"responderUsername": "GitHub Copilot"}])
def test_a_chat_that_vs_code_exported_is_a_session(asker: Line) -> None:
    request = {"message": {"text": "2 + 2?"}, "response": [{"value": "4"}], "modelId": "copilot/gpt-5.5"}
    found = sessions_in({**asker, "initialLocation": "panel", "requests": [request]})
    assert found is not None
    assert [exchange.model_requested for exchange in found] == ["gpt-5.5"]


@given(st.lists(JSON, max_size=3), JSON)
def test_any_first_lines_are_looked_at(lines: list[Any], inner: Any) -> None:
    marks = ("type", "message", "payload", "sessionId", "messages", "uuid", "cwd")
    head = [*lines, *({**dict.fromkeys(marks, inner), "type": kind} for kind in ("user", "session", inner))]
    assert reader_of(head) is None or reader_of(head) in READERS


# Folding


@pytest.mark.parametrize("session", SESSIONS)
@given(data=st.data())
def test_a_session_cut_anywhere_counts_no_more_than_the_whole(session: str, data: st.DataObject) -> None:
    lines, name = lines_of(session), name_of(session)
    start = data.draw(st.integers(0, len(lines)))
    whole, part = sums(folded(lines, name).calls), sums(folded(lines[:start], name).calls)
    assert {count: part[count] for count in COUNTS if part[count] > whole[count]} == {}


@pytest.mark.parametrize("session", SESSIONS)
def test_a_session_that_is_stored_twice_holds_the_same_calls(session: str) -> None:
    lines, name = lines_of(session), name_of(session)
    once, twice = folded(lines, name), folded(lines + lines, name)
    assert {call.call_id for call in twice.calls} == {call.call_id for call in once.calls}
    assert sums(twice.calls) == sums(once.calls)


@pytest.mark.parametrize("session", SESSIONS)
@given(data=st.data())
def test_lines_of_any_content_never_raise(session: str, data: st.DataObject) -> None:
    lines = orjson.loads(orjson.dumps(lines_of(session)))
    holder: Any = lines
    key: Any = data.draw(st.integers(0, len(lines) - 1))
    while isinstance(holder[key], dict | list) and holder[key] and data.draw(st.booleans()):
        holder = holder[key]
        keys = sorted(holder) if isinstance(holder, dict) else range(len(holder))
        key = data.draw(st.sampled_from(keys))
    holder[key] = data.draw(JSON)
    folded(lines, name_of(session))


def assistant(name: str | None, request: str | None, block: Line, output: int, **line: Any) -> Line:
    message = {"role": "assistant", "model": "claude-opus-4-8", "content": [block], "usage": {"output_tokens": output}}
    return {"type": "assistant", "requestId": request, "message": {**message, "id": name}, "sessionId": "s", **line}


def text(words: str) -> Line:
    return {"type": "text", "text": words}


def test_the_usage_is_that_of_the_line_with_the_largest_total() -> None:
    lines = [assistant("msg_1", "r", text(f"{n} "), n) for n in (1, 40, 2)]
    [call] = folded(lines, "claude_code").calls
    assert (call.output_tokens, call.answer) == (40, "1 40 2 ")


def test_the_copy_of_the_main_chain_is_kept_wherever_it_stands() -> None:
    lines = [
        assistant("msg_1", "side", text("copy"), 90, isSidechain=True),
        assistant("msg_1", "main", text("main"), 7, isSidechain=False),
    ]
    for order in (lines, lines[::-1]):
        outcome = folded(order, "claude_code")
        [call] = outcome.calls
        assert (call.answer, call.output_tokens, call.tags) == ("main", 7, None)
        assert outcome.tally.skipped == {"claude_code: a message's copy in another branch": 1}


def test_a_cost_that_the_client_reckoned_is_not_what_somebody_said() -> None:
    lines = [assistant("msg_1", "r", text(words), 5, costUSD=0.0123, durationMs=900) for words in ("a", "b")]
    [call] = folded(lines, "claude_code").calls
    assert (call.cost_reported_usd, call.latency_ms) == (None, 900)


def test_a_usage_of_zeros_is_no_report() -> None:
    [call] = folded([assistant("msg_1", "r", text("a"), 0)], "claude_code").calls
    assert (call.input_tokens, call.output_tokens, call.usage_raw) == (None, None, None)


def test_a_notice_of_old_versions_has_its_status_in_the_text() -> None:
    notice = {"model": "<synthetic>", "content": [text('API Error: 529 {"type":"error"}')]}
    [call] = folded([{"type": "assistant", "isApiErrorMessage": True, "message": notice}], "claude_code").calls
    assert (call.status_code, call.finish_reason, call.protocol) == (529, "error", "anthropic_messages")
    assert call.input_tokens is None


def codex_lines(*counts: Line | None) -> list[Line]:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "4"}]}
    lines: list[Line] = []
    for place, info in enumerate(counts):
        time = f"2026-11-03T10:00:{place:02}Z"
        lines.append({"timestamp": time, "type": "response_item", "payload": said})
        lines.append({"timestamp": time, "type": "event_msg", "payload": {"type": "token_count", "info": info}})
    return lines


def counted(total: int, last: int | None = None) -> Line:
    both = {"total_token_usage": total, "last_token_usage": last}
    return {key: {"input_tokens": n, "output_tokens": 1, "total_tokens": n + 1} for key, n in both.items() if n}


def test_without_the_last_count_the_difference_of_totals_counts() -> None:
    lines = codex_lines(counted(100), counted(250), counted(30))
    assert [call.input_tokens for call in folded(lines, "codex").calls] == [100, 150, 30]


def test_a_count_that_comes_behind_the_tools_output_is_of_the_response_before() -> None:
    lines = codex_lines(counted(100, 100))
    output = {"timestamp": "2026-11-03T10:00:00Z", "type": "response_item", "payload": {"type": "function_call_output"}}
    [call] = folded([lines[0], output, lines[1]], "codex").calls
    assert (call.answer, call.input_tokens) == ("4", 100)


def test_a_count_behind_a_new_message_is_of_another_response() -> None:
    aborted, count = codex_lines(counted(100, 100))
    asked = {"timestamp": "2026-11-03T10:00:00Z", "type": "response_item", "payload": {"role": "user", "content": []}}
    calls = folded([aborted, asked, count], "codex").calls
    assert [(call.answer, call.input_tokens) for call in calls] == [("4", None), (None, 100)]


def test_a_record_of_the_parents_thread_makes_its_items_copies() -> None:
    meta = {"timestamp": "2026-11-03T10:00:00Z", "type": "session_meta", "payload": {"id": "own"}}
    record = {"type": "token_usage_record", "payload": {"thread_id": "parent", "usage": {"input_tokens": 9}}}
    outcome = folded([meta, codex_lines(None)[0], record], "codex")
    assert outcome.calls == []
    assert outcome.tally.skipped["codex: a copy from the parent's session"] == 2


def pi_message(words: str, signature: str | None = None, **more: Any) -> Line:
    block = {"type": "text", "text": words, "textSignature": signature}
    body = {"role": "assistant", "content": [block], "provider": "x", "model": "qwen3", "stopReason": "stop", **more}
    return {"type": "message", "message": body}


def test_text_with_a_signature_keeps_its_tags() -> None:
    words = "a<think>b</think>c"
    plain, signed = folded([pi_message(words), pi_message(words, "sig", timestamp=1793700000000)], "pi").calls
    assert (plain.thinking, plain.split_rule) == ("b", "paired_pi")
    assert (signed.thinking, signed.answer) == (None, words)


@pytest.mark.parametrize(("total", "output"), [(150, 50), (190, 90), (None, 90)])
def test_reasoning_is_taken_off_only_where_the_total_proves_that_it_is_there_twice(
    total: int | None, output: int
) -> None:
    usage = {"input": 100, "output": 90, "cacheRead": 0, "cacheWrite": 0, "reasoning": 40, "totalTokens": total}
    [call] = folded([pi_message("4", usage=usage)], "pi").calls
    assert (call.output_tokens, call.reasoning_tokens) == (output, 40)


def test_a_level_holds_on_its_branch_and_not_on_another() -> None:
    def change(own: str, parent: str | None, level: str) -> Line:
        return {"type": "thinking_level_change", "id": own, "parentId": parent, "thinkingLevel": level}

    lines = [change("a", None, "high"), change("b", "a", "low")]
    calls = [{**pi_message("4", timestamp=1793700000000 + n), "id": f"m{n}", "parentId": p} for n, p in enumerate("ab")]
    found = [result for [result] in pi.fold([*lines, *calls])[2:] if isinstance(result, Exchange)]
    assert [exchange.request for exchange in found] == [{"thinkingLevel": "high"}, {"thinkingLevel": "low"}]


def test_a_line_that_is_no_object_is_a_reject_of_its_own() -> None:
    records = [RawRecord(0, b'{"type": "session"}'), RawRecord(20, b"[1]"), RawRecord(24, b'{"type": "mess')]
    outcome = normalise(RecordBatch("x", records, folded_by="pi"), Unwrapper(()))
    assert [(reject.reason, reject.source_position) for reject in outcome.rejects] == [
        (RejectReason.NOT_AN_OBJECT, 20),
        (RejectReason.INVALID_JSON, 24),
    ]


# Whole files


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    path = tmp_path / "rollout.jsonl"
    path.write_bytes((GOLDEN / "transcripts" / "codex_session" / "input.jsonl").read_bytes())
    return path


def test_a_session_is_one_batch_however_large(session_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand, "SHARD_BYTES", 100)
    monkeypatch.setattr(read, "BATCH_BYTES", 100)
    [shard] = expand.expand(str(session_file))
    [batch] = read.read(shard)
    assert (shard.folded_by, batch.folded_by, len(batch.records)) == ("codex", "codex", 25)


def test_a_session_beyond_the_cap_is_read_line_by_line(session_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MAX_TRANSCRIPT_BYTES", 1000)
    [shard] = expand.expand(str(session_file))
    batches = list(read.read(shard))
    assert {batch.folded_by for batch in batches} == {None}
    assert sum(len(batch.records) for batch in batches) == 25


def test_a_compressed_session_and_a_plain_one_are_the_same(session_file: Path) -> None:
    packed = session_file.with_suffix(".gz")
    packed.write_bytes(gzip.compress(session_file.read_bytes()))
    plain, unpacked = (outcomes(str(path), Unwrapper(())) for path in (session_file, packed))
    ids = [call.call_id for outcome in plain for call in outcome.calls]
    assert len(ids) == 6
    assert ids == [call.call_id for outcome in unpacked for call in outcome.calls]


def test_a_session_in_one_object_may_span_lines(tmp_path: Path) -> None:
    line = (GOLDEN / "transcripts" / "gemini_cli_conversation" / "input.jsonl").read_bytes()
    pretty = tmp_path / "session.json"
    pretty.write_bytes(orjson.dumps(orjson.loads(line), option=orjson.OPT_INDENT_2))
    [outcome] = outcomes(str(pretty), Unwrapper(built_in()))
    assert [call.output_tokens for call in outcome.calls] == [122, 8, 8]


def test_a_session_of_stream_json_may_be_one_array(tmp_path: Path) -> None:
    array = tmp_path / "turns.json"
    array.write_bytes(orjson.dumps(lines_of("claude_code_stream_json"), option=orjson.OPT_INDENT_2))
    [outcome] = outcomes(str(array), Unwrapper(built_in()))
    assert [(call.source, call.answer, call.output_tokens) for call in outcome.calls] == [("claude_code", "51.", 5)]


def test_source_names_one_form_of_transcripts_or_none(session_file: Path) -> None:
    def calls(source: str) -> int:
        found = outcomes(str(session_file), Unwrapper(envelopes_of(source)), transcripts_of(source))
        return sum(len(outcome.calls) for outcome in found)

    assert {source: calls(source) for source in ("auto", "codex", "pi", "exchange")} == {
        "auto": 6,
        "codex": 6,
        "pi": 0,
        "exchange": 0,
    }


@pytest.mark.parametrize(
    ("typed", "meant"), [("qwenpa", "qwenpaw"), ("open_code", "opencode"), ("langfus", "langfuse")]
)
def test_a_source_that_is_misspelt_may_be_a_transcript(typed: str, meant: str) -> None:
    with pytest.raises(WrongUseError, match=rf"no built-in source \(did you mean {meant}\?\)"):
        envelopes_of(typed)


def test_the_account_of_a_run_counts_parts(session_file: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    done = thinkledger("normalise", session_file, "--lake", lake)
    assert done.returncode == 0, done.stderr
    assert ask(lake, "SELECT records, calls, parts, skipped, rejects FROM runs") == [(25, 6, 5, 14, 0)]


# Sessions inside of a record


@pytest.mark.parametrize("session", SESSIONS)
def test_a_session_in_one_body_gives_the_same_calls(session: str) -> None:
    lines, name = lines_of(session), name_of(session)
    body = lines[0] if len(lines) == 1 else Stream(lines)
    found = sessions_in(body)
    assert found is not None
    assert len(found) == len(folded(lines, name).calls)


@pytest.mark.parametrize("body", [{"type": "message", "content": []}, {"choices": []}, Stream([]), Stream([{"a": 1}])])
def test_other_bodies_are_no_sessions(body: Line | Stream) -> None:
    assert sessions_in(body) is None


def test_a_session_without_a_call_is_no_reject() -> None:
    line = {"capture": "transcript", "source": "x", "index": 0, "response": {"type": "turn_context", "payload": {}}}
    outcome = normalise(RecordBatch("x", [RawRecord(0, line)]), Unwrapper(built_in()))
    assert (outcome.calls, outcome.rejects, outcome.tally.skipped.total()) == ([], [], 1)


# Recorded sessions


@cache
def recorded(family: str) -> dict[str, list[Line]]:
    with gzip.open(RECORDS / f"{family}.jsonl.gz") as file:
        rows = [orjson.loads(line) for line in file]
    return {row["id"]: _objects(row["response"]) for row in rows if isinstance(row["response"], str)}


def _objects(content: str) -> list[Line]:
    return [orjson.loads(line) for line in content.split("\n") if line.startswith("{")]


needs_corpus = pytest.mark.skipif(not RECORDS.is_dir(), reason=f"the corpus is not at {RECORDS}")


@needs_corpus
def test_the_calls_of_a_recorded_session_add_up_to_its_own_total() -> None:
    compared = 0
    for lines in recorded("transcript.codex").values():
        totals = [
            info["total_token_usage"]
            for line in lines
            if codex.recognises([line]) and (info := line["payload"].get("info"))
        ]
        if totals:
            found = sums(folded(lines, "codex").calls)
            names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
            assert [totals[-1][name] for name in names] == [
                found["input_tokens"], found["cached_input_tokens"], found["output_tokens"], found["reasoning_tokens"]
            ]  # fmt: skip
            compared += 1
    assert compared == 5


@needs_corpus
def test_the_blocks_of_a_recorded_message_are_one_call() -> None:
    outcome = folded(recorded("transcript.claude-code")["8604bf6735406293"], "claude_code")
    assert (len(outcome.calls), outcome.tally.parts) == (18, 48)
    assert sums(outcome.calls)["input_tokens"] == 497_515
