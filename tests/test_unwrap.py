"""Unwrapping: what a record of each envelope gives, and that no record of any shape raises."""

import pickle
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.envelope import Envelope, built_in, load
from schemas.exchange import Exchange, RawRecord, StatedCounts, Stream
from schemas.reject import Reject
from schemas.vocabulary import RejectReason, TagPolicy
from transforms.unwrap import Skip, Unwrapper

GOLDEN = Path(__file__).parent / "golden" / "envelopes"
AUTO = Unwrapper(built_in())


def golden(case: str) -> list[Any]:
    """What the lines of a golden case unwrap to, in order."""
    folder = GOLDEN / case
    mapping = folder / "source.yaml"
    unwrapper = Unwrapper([load(mapping)]) if mapping.exists() else AUTO
    lines = (folder / "input.jsonl").read_bytes().splitlines()
    return [outcome for line in lines for outcome in unwrapper.unwrap(RawRecord(0, line))]


def one(record: dict[str, Any], **mapping: Any) -> Any:
    """What one record gives by a mapping, or by the one that recognises it."""
    given_by = {"name": "mine", "title": "Ours", "recognise": {"all": ["x"]}, "request": "request", **mapping}
    unwrapper = Unwrapper([Envelope.model_validate(given_by)]) if mapping else AUTO
    [outcome] = unwrapper.unwrap(RawRecord(0, record))
    return outcome


# The built-in envelopes


def test_litellm() -> None:
    [call] = golden("litellm_messages_stored_as_chat")
    assert call.source == "litellm"
    assert call.request == {
        "model": "claude-opus-4-8",
        "messages": [{"role": "user", "content": "2+2?"}],
        "stream": True,
        "reasoning_effort": "high",
    }
    assert call.called_at == 1_796_082_223_753_000
    assert (call.latency_ms, call.cost_usd) == (29.8, Decimal("0.0011"))
    assert (call.user_id, call.team, call.api_key_id, call.session_id) == ("u7", "Search", "search-prod", "t-1")
    assert (call.provider, call.url) == ("anthropic", "https://api.anthropic.com/v1/messages")
    assert call.tags == {
        "svc": "search",
        "nightly": "true",
        "model_group": "opus",
        "cost_centre": "4711",
        "organization": "org-9",
    }
    assert call.counts == StatedCounts(input=10, output=42, total=52)
    assert (call.streamed, call.cache_hit, call.status_code, call.error_type) == (True, None, None, None)
    assert call.reasoning_estimated is False


def test_litellm_estimates_where_the_provider_counts_none() -> None:
    [call] = golden("litellm_bedrock_count_is_estimated")
    assert call.reasoning_estimated is True
    assert call.api_key_id == "88dc28d0f030c55ed4ab77ed8faf098196cb1c05df778539800c9f1243fe6b4b"  # a hash stays


def test_litellm_failed() -> None:
    [call] = golden("litellm_failed_call")
    assert call.response is None
    assert call.request["reasoning_effort"] == "high"
    assert (call.status_code, call.error_type, call.error_message) == (400, "BadRequestError", "unsupported value")


def test_litellm_of_other_kinds_is_skipped() -> None:
    assert golden("litellm_embedding_is_skipped") == [Skip("litellm: no text generation")]


def test_litellm_spend_logs() -> None:
    whole, cut, without = golden("litellm_spend_logs_bodies_as_text_cut_or_missing")
    assert whole.request["reasoning_effort"] == "high"
    assert whole.response["object"] == "chat.completion"
    assert whole.called_at == 1_796_082_223_753_000  # no zone is UTC
    assert (whole.api_key_id, whole.user_id, whole.cache_hit) == ("search-prod", "u7", None)
    assert whole.tags == {"cost_centre": "4711", "svc": "search", "model_group": "best"}
    assert (whole.text_truncated, cut.text_truncated) == (None, True)
    assert (without.request, without.response) == (None, None)
    assert without.counts == StatedCounts(input=12, output=40, total=52)  # what was spent is known without bodies


def test_openai_batch() -> None:
    responses, chat, refused, expired, embeddings, asked = golden("openai_batch_output_errors_and_input")
    assert (responses.response["object"], chat.response["object"]) == ("response", "chat.completion")
    assert (refused.status_code, refused.response["error"]["message"]) == (400, "bad")
    assert (expired.response, expired.error_type, expired.error_message) == (None, "batch_expired", "expired")
    assert all(call.is_batch and call.called_at is None for call in (responses, chat, refused, expired))
    assert [call.tags for call in (responses, expired)] == [{"custom_id": "row-1"}, {"custom_id": "row-4"}]
    assert embeddings == Skip("openai_batch: embeddings")
    assert asked == Skip("openai_batch: line of the input file")


def test_openai_batch_by_vllm() -> None:
    plain, nested = golden("openai_batch_vllm_plain_error")
    assert (plain.status_code, plain.error_type, plain.error_message) == (400, None, "The model does not exist")
    assert (nested.error_type, nested.error_message) == ("BadRequestError", "too long")


def test_anthropic_batch() -> None:
    succeeded, errored, expired, canceled = golden("anthropic_batch_all_result_types")
    assert succeeded.response["content"][0]["thinking"] == "Add."
    assert (errored.error_type, errored.error_message) == ("invalid_request_error", "max_tokens: required")
    assert (expired.error_type, canceled.error_type) == ("expired", "canceled")
    assert succeeded.error_type is None
    assert all(call.is_batch and call.status_code is None for call in (succeeded, errored, expired, canceled))


def test_bedrock_invocation_log() -> None:
    converse, joined, invoke, events, as_text, converse_events = golden("bedrock_log_all_body_shapes")
    assert converse.response == joined.response == as_text.response
    assert converse.request == as_text.request
    assert invoke.response["id"] == "msg_bdrk_01AAAAAAAAAAAAAAAAAAAAAA"
    assert [type(call.response) for call in (events, converse_events)] == [Stream, Stream]
    assert [call.streamed for call in (converse, joined, invoke, events)] == [False, True, False, True]
    assert (converse.provider, converse.tags, converse.latency_ms) == ("bedrock", {"team": "search"}, 302)
    assert converse.user_id == "arn:aws:sts::123456789012:assumed-role/App/sess1"
    assert converse.counts == StatedCounts(input=14, output=41)  # its input leaves the cache out


def test_bedrock_invocation_log_without_a_response() -> None:
    throttled, elsewhere = golden("bedrock_log_throttled_and_body_elsewhere")
    assert (throttled.response, throttled.error_type) == (None, "ThrottlingException")
    assert (elsewhere.response, elsewhere.counts) == (None, StatedCounts(input=9, output=41))


def test_exchange_bodies() -> None:
    calls = golden("exchange_all_body_forms")
    assert all(call.request == calls[0].request for call in calls)
    assert all(call.response == calls[0].response for call in calls[:3])
    assert all(call.response == calls[3].response for call in calls[3:8])
    assert len(calls[3].response.events) == 3
    assert calls[8].response.cut


def test_exchange_fields() -> None:
    [call] = golden("exchange_all_fields")
    assert call.called_at == 1_793_700_000_000_000
    assert (call.status_code, call.latency_ms, call.provider) == (200, 812.5, "openai")
    assert (call.user_id, call.team, call.api_key_id, call.session_id) == ("42", "search", "search-prod", "s-1")
    assert call.tags == {"env": "prod", "retries": "2", "canary": "false"}


def test_exchange_html_error_page_is_kept_as_a_call() -> None:
    failed, odd = golden("exchange_html_error_page")
    assert (failed.status_code, failed.response) == (502, None)
    assert "502 Bad Gateway" in failed.undecodable
    assert "what?" in odd.undecodable


def test_no_call() -> None:
    reasons = [(reject.reason, reject.source) for reject in golden("exchange_no_call")]
    assert reasons == [
        (RejectReason.EMPTY_RECORD, "exchange"),
        (RejectReason.NOT_AN_OBJECT, None),
        (RejectReason.INVALID_JSON, None),
        (RejectReason.UNKNOWN_ENVELOPE, None),
    ]


def test_corpus_labels_are_not_read() -> None:
    [call] = golden("corpus_record")
    assert (call.source, call.called_at, call.streamed, call.provider) == ("corpus", None, None, "openrouter")
    assert call.request["reasoning_effort"] == "high"


def test_vertex_batch() -> None:
    gemini, claude, failed = golden("vertex_batch_gemini_and_claude")
    assert (gemini.tags, claude.tags) == ({"team": "search"}, {"custom_id": "row-1"})
    assert gemini.called_at == 1_731_506_668_376_000
    assert (failed.response, failed.error_message) == (None, "Bad Request: max_tokens")
    assert gemini.error_message is None  # an empty status is success


def test_gemini_batch() -> None:
    answered, failed = golden("gemini_batch_rows")
    assert answered.response["responseId"] == "M3iLaY-AI7zTxN8P3Piw4Qg"
    assert (failed.error_type, failed.error_message) == ("INVALID_ARGUMENT", "bad")


def test_portkey_labels_are_json_text() -> None:
    [call] = golden("portkey_blob_object")
    assert (call.user_id, call.team, call.session_id) == ("u7", "search", "8ecf")
    assert call.tags == {"team": "search", "env": "prod"}


def test_helicone_properties_go_before_the_request_s() -> None:
    [call] = golden("helicone_row")
    assert call.tags == {"team": "search", "env": "prod", "Helicone-Session-Id": "s1"}
    assert (call.session_id, call.cost_usd, call.latency_ms) == ("s1", Decimal("0.0004"), 1000)


def test_databricks() -> None:
    legacy, gateway, unity = golden("databricks_three_generations")
    assert legacy.called_at == gateway.called_at == unity.called_at == 1_796_032_801_000_000
    assert [call.latency_ms for call in (legacy, gateway, unity)] == [1200, 1200, 1200]
    assert (legacy.sampled_fraction, unity.sampled_fraction) == (0.5, None)
    assert (unity.response, unity.text_truncated, gateway.text_truncated) == (None, True, None)


def test_tensorzero() -> None:
    [call] = golden("tensorzero_chunks_joined_by_newlines")
    assert len(call.response.events) == 2
    assert call.called_at == 1_796_032_801_000_000


def test_har() -> None:
    stream, coded, other, failed = golden("har_entries")
    assert isinstance(stream.response, Stream)
    assert coded.response["type"] == "message"
    assert other == Skip("har: other traffic")
    assert (failed.status_code, failed.error_message, failed.response) == (None, "Connection reset", None)
    assert stream.request["max_tokens"] == 900


def test_a_mapping_of_one_s_own() -> None:
    call, tool = golden("custom_spans_with_parents")
    assert (call.source, call.called_at, call.latency_ms) == ("acme_gateway", 1_796_032_801_000_000, 1250)
    assert (call.cost_usd, call.user_id, call.team) == (Decimal("0.0011"), "u7", "search")
    assert (call.model_requested, call.tags) == ("gpt-5.5", {"service": "shop"})
    assert tool == Skip("acme_gateway: not kind in llm")


# Recognising


def golden_lines() -> Iterator[Any]:
    for path in sorted(GOLDEN.glob("*/input.jsonl")):
        if not path.with_name("source.yaml").exists() and path.parent.name != "exchange_no_call":
            for number, line in enumerate(path.read_bytes().splitlines()):
                yield pytest.param(line, path.parent.name, id=f"{path.parent.name}-{number}")


@pytest.mark.parametrize(("line", "case"), list(golden_lines()))
def test_every_record_is_recognised_by_one_envelope(line: bytes, case: str) -> None:
    rules = [envelope for envelope in built_in() if not envelope.recognise.only_if_no_other]
    outcomes = Unwrapper(rules).unwrap(RawRecord(0, line))
    if case.startswith("exchange"):
        assert [getattr(outcome, "reason", None) for outcome in outcomes] == [RejectReason.UNKNOWN_ENVELOPE]
    else:
        assert not any(getattr(outcome, "reason", None) is RejectReason.UNKNOWN_ENVELOPE for outcome in outcomes)
    assert {name.partition(":")[0] for name in map(_source, AUTO.unwrap(RawRecord(0, line)))} <= {
        envelope.name for envelope in built_in() if case.startswith(envelope.name.split("_")[0])
    }


def _source(outcome: Exchange | Skip | Reject) -> str:
    return outcome.rule if isinstance(outcome, Skip) else str(outcome.source)


def test_every_built_in_envelope_has_a_golden_case() -> None:
    seen = {_source(outcome) for param in golden_lines() for outcome in AUTO.unwrap(RawRecord(0, param.values[0]))}
    assert {envelope.name for envelope in built_in()} <= seen


def test_two_envelopes_that_recognise_one_record_are_named() -> None:
    rule = {"title": "Ours", "recognise": {"all": ["a"]}, "response": "a"}
    envelopes = [Envelope.model_validate({"name": name, **rule}) for name in ("one", "two")]
    [reject] = Unwrapper(envelopes).unwrap(RawRecord(0, {"a": {"b": 1}}))
    assert isinstance(reject, Reject)
    assert reject.detail == "may be one; may be two; keys: a"


def test_the_keys_of_an_unknown_record_are_named() -> None:
    reject = one({f"key{n}": n for n in range(20)})
    assert reject.detail == f"keys: {', '.join(f'key{n}' for n in range(12))}, …"


def test_records_of_one_shape_may_be_of_two_envelopes() -> None:
    rules = [
        {"name": name, "title": "Ours", "recognise": {"equal": {"kind": name}}, "response": "r"} for name in ("a", "b")
    ]
    unwrapper = Unwrapper([Envelope.model_validate(rule) for rule in rules])
    records = [{"kind": kind, "r": {"x": 1}} for kind in ("a", "b", "c", "a")]
    outcomes = [unwrapper.unwrap(RawRecord(0, record))[0] for record in records]
    assert [outcome.source for outcome in outcomes if not isinstance(outcome, Skip)] == ["a", "b", None, "a"]


def test_an_unwrapper_travels() -> None:
    record = RawRecord(0, {"request": {"model": "m"}})
    AUTO.unwrap(record)
    assert pickle.loads(pickle.dumps(AUTO)).unwrap(record) == AUTO.unwrap(record)  # noqa: S301


# Reading


def test_objects_with_nothing_between_them() -> None:
    line = b'{"response": {"a": 1}}{"response": {"a": 2}}{"resp'
    first, second, broken = AUTO.unwrap(RawRecord(0, line))
    assert isinstance(first, Exchange)
    assert isinstance(second, Exchange)
    assert (first.response, second.response) == ({"a": 1}, {"a": 2})
    assert isinstance(broken, Reject)
    assert broken.reason is RejectReason.INVALID_JSON


def test_exploding() -> None:
    mapping: dict[str, Any] = {"records": "groups[*].calls[*]", "fields": {"team": "^.team", "user_id": "^.^.user"}}
    unwrapper = Unwrapper(
        [Envelope.model_validate({"name": "m", "title": "M", "recognise": {"all": ["x"]}, "request": "q", **mapping})]
    )
    record = {"user": "u", "groups": [{"team": "a", "calls": [{"q": {"n": 1}}, 5]}, {"calls": [{"q": {"n": 2}}]}, 7]}
    first, number, second = unwrapper.unwrap(RawRecord(0, record))
    assert isinstance(first, Exchange)
    assert isinstance(second, Exchange)
    assert (first.team, first.user_id, second.team, second.user_id) == ("a", "u", None, "u")
    assert isinstance(number, Reject)
    assert number.reason is RejectReason.NOT_AN_OBJECT
    assert unwrapper.unwrap(RawRecord(0, {"groups": []})) == [Skip("m: holds no records")]
    [reject] = unwrapper.unwrap(RawRecord(0, {"a": 1}))
    assert isinstance(reject, Reject)
    assert reject.reason is RejectReason.UNKNOWN_ENVELOPE


@pytest.mark.parametrize(
    ("key", "kept"),
    [
        ("search-prod", "search-prod"),
        ("88dc28d0f030c55ed4ab77ed8faf098196cb1c05df778539800c9f1243fe6b4b", None),
        ("6f1c2d9e-0a1b-4c3d-8e9f-001122334455", None),
        ("platform team: production eu west 1 (chat)", "sha256:"),
        ("platform-team-production-eu-west-1-chat-service", None),
        ("arn:aws:iam::123456789012:role/application/Component", None),
        ("sk-proj-abc", "sha256:"),
        ("Bearer abc", "sha256:"),
        ("AIzaSyA-1234567890abcdefghijklmnopqrstu", "sha256:"),
        ("Zk3vQ9xT1LmN8pR5sW2yB7cD4fG6hJ0k", "sha256:"),
    ],
)
def test_a_secret_never_leaves(key: str, kept: str | None) -> None:
    found = one({"request": {"model": "m"}, "api_key_id": key}).api_key_id
    if kept == "sha256:":
        assert found.startswith("sha256:")
        assert len(found) == len("sha256:") + 16
        assert key not in found
    else:
        assert found == (kept or key)


@pytest.mark.parametrize(
    ("field", "spec", "stored", "value"),
    [
        ("status_code", "s", "429", 429),
        ("status_code", "s", 200.0, 200),
        ("status_code", "s", 0, None),
        ("status_code", "s", "", None),
        ("status_code", "s", True, None),
        ("latency_ms", "s", -1, None),
        ("latency_ms", "s", "12.5", 12.5),
        ("latency_ms", {"path": "s", "scale": 1000}, 0.0298, 29.8),
        ("latency_ms", "s", {"ms": 1}, None),
        ("called_at", "s", 1796082223753, 1_796_082_223_753_000),
        ("called_at", {"path": "s", "unit": "ms"}, 1796082223753, 1_796_082_223_753_000),
        ("called_at", {"path": "s", "unit": "ns"}, "1796082223753000000", 1_796_082_223_753_000),
        ("called_at", {"path": "s", "unit": "s"}, "2026-11-30T23:43:43.753Z", 1_796_082_223_753_000),
        ("called_at", "s", [], None),
        ("streamed", "s", "True", True),
        ("streamed", "s", "None", None),
        ("streamed", {"path": "s", "map": {"yes": True, "no": False}}, "no", False),
        ("streamed", {"path": "s", "map": {"yes": True}}, "no", None),
        ("streamed", {"path": "s", "map": {"yes": True}, "default": False}, "no", False),
        ("cost_usd", "s", 0.00012345678901234567, Decimal("0.00012345678901234567")),
        ("cost_usd", {"path": "s", "scale": 0.01}, 0.3, Decimal("0.003")),
        ("cost_usd", "s", "free", None),
        ("cost_usd", "s", "1E+40", None),
        ("user_id", "s", 42, "42"),
        ("user_id", "s", " ", None),
        ("user_id", "s", {"id": 1}, None),
        ("user_id", ["s.id", "s"], "u", "u"),
        ("user_id", "s.id", '{"id": "u"}', "u"),
        ("user_id", "s[-1]", ["a", "b"], "b"),
        ("user_id", "s[5]", ["a", "b"], None),
        ("sampled_fraction", "s", 0, None),
        ("sampled_fraction", "s", 0.25, 0.25),
        ("sampled_fraction", "s", 25, None),
        ("text_truncated", {"path": "s", "contains": "cut"}, "was cut", True),
        ("text_truncated", {"path": "s", "contains": "cut"}, "whole", None),
        ("is_batch", {"const": True}, None, True),
    ],
)
def test_fields(field: str, spec: object, stored: object, value: object) -> None:
    call = one({"request": {"model": "m"}, "s": stored}, fields={field: spec})
    assert getattr(call, field) == value
    assert type(getattr(call, field)) is type(value) or isinstance(value, int)


@pytest.mark.parametrize(
    ("labels", "tags"),
    [
        ({"a": "x", "b": 1, "c": 1.5, "d": True}, {"a": "x", "b": "1", "c": "1.5", "d": "true"}),
        ({"a": "x", "e": None, "f": {"deep": 1}, "g": [1]}, {"a": "x"}),
        (["a:x", "b", "a:y", 5, "c:d:e"], {"a": "y", "b": "true", "c": "d:e"}),
        ('{"a": "x"}', {"a": "x"}),
        ('["a:x"]', {"a": "x"}),
        ("plain", {"labels": "plain"}),
        ("{no json", {"labels": "{no json"}),
        ([], None),
        (None, None),
    ],
)
def test_tags(labels: object, tags: object) -> None:
    assert one({"request": {"model": "m"}, "labels": labels}, tags={"keep": ["labels"]}).tags == tags


def test_tags_last_wins_and_dropped_ones_go() -> None:
    record = {"request": {"model": "m"}, "a": {"k": 1, "secret": "s"}, "b": {"k": 2}, "c": {"deep": "z"}}
    call = one(record, tags={"keep": ["a", "b", {"named": "c.deep"}, {"none": "c.no"}], "drop": ["secret"]})
    assert call.tags == {"k": "2", "named": "z"}


@pytest.mark.parametrize(
    ("test", "stored", "holds"),
    [
        ({"eq": "a"}, "a", True),
        ({"eq": None}, "a", False),
        ({"in": ["a", 5]}, 5, True),
        ({"in": ["a"]}, {"b": 1}, False),
        ({"not_in": ["a"]}, "b", True),
        ({"not_in": ["a"]}, "a", False),
        ({"exists": True}, None, True),
        ({"exists": False}, None, False),
        ({"not_null": True}, None, False),
        ({"glob": "*/v1/*"}, "https://h/v1/x", True),
        ({"glob": ["x", "y*"]}, 5, False),
        ({"not_null": True, "eq": "a"}, "b", False),
    ],
)
def test_where(test: dict[str, Any], stored: object, holds: bool) -> None:  # noqa: FBT001
    found = one({"request": {"model": "m"}, "s": stored}, where=[{"path": "s", "otherwise": "other", **test}])
    assert isinstance(found, Exchange) is holds
    assert holds or found == Skip("mine: other")


def test_a_request_that_cannot_be_read_leaves_the_call() -> None:
    call = one({"request": '{"model": "m", "mess', "response": {"id": "x"}})
    assert (call.request, call.response, call.undecodable) == (None, {"id": "x"}, None)
    alone = one({"request": '{"model": "m", "mess', "timestamp": "2026-11-03T10:00:00Z"})
    assert (alone.reason, alone.date) == (RejectReason.UNDECODABLE_BODY, 20760)
    assert "request: cut" in alone.detail


def test_a_body_that_should_be_base64_and_is_not() -> None:
    body = {"path": "r", "base64_if": {"path": "coded", "eq": True}}
    assert "no base64" in one({"r": "%%%", "coded": True}, response=body).undecodable
    assert one({"r": "eyJhIjogMX0=", "coded": True}, response=body).response == {"a": 1}
    assert one({"r": '{"a": 1}', "coded": False}, response=body).response == {"a": 1}


def test_the_tag_policy_travels_with_the_exchange() -> None:
    assert one({"request": {"m": 1}}, inline_tags="paired_pi").tag_policy is TagPolicy.PAIRED_PI


def test_counts_that_nothing_states_are_null() -> None:
    usage = {"input": {"path": ["a", "b"], "add": ["c"]}, "total": "t"}
    assert one({"request": {"m": 1}, "c": 5}, usage=usage).counts is None
    assert one({"request": {"m": 1}, "b": 2, "c": 5}, usage=usage).counts == StatedCounts(input=7)
    assert one({"request": {"m": 1}, "t": "9", "a": -1, "b": True}, usage=usage).counts == StatedCounts(total=9)


# Any record

WORDS = [
    "request", "response", "timestamp", "status", "tags", "custom_id", "result", "type", "message", "error", "body",
    "call_type", "model_parameters", "startTime", "metadata", "log", "entries", "url", "method", "schemaType", "input",
    "output", "capture", "source", "index", "key", "api_key_id", "event", "payload", "chunk", "bytes", "content",
    "text",
]  # fmt: skip
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        ["ModelInvocationLog", "POST", "data: {", '{"a": 1}', "[1]", '["a:b"]', "2026-11-03", "1e999", "²"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | st.text(), inner, max_size=6),
    max_leaves=20,
)


@settings(max_examples=300)
@given(values)
def test_any_record_gives_exchanges_skips_or_rejects(value: Any) -> None:
    records = [
        RawRecord(0, value),
        RawRecord(0, orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS) if _dumps(value) else b""),
    ]
    for unwrapper in (AUTO, *FORCED):
        for record in records:
            outcomes = unwrapper.unwrap(record)
            assert outcomes
            assert all(isinstance(outcome, Exchange | Skip | Reject) for outcome in outcomes)


FORCED = [Unwrapper([envelope]) for envelope in built_in()]


def _dumps(value: Any) -> bool:
    try:
        orjson.dumps(value)
    except TypeError:  # an integer beyond 64 bits
        return False
    return True


@settings(max_examples=100)
@given(st.binary(max_size=60) | st.text(alphabet='{}[]":,\\ \n1aé', max_size=40).map(str.encode))
def test_any_bytes_give_a_reject_or_more(raw: bytes) -> None:
    assert AUTO.unwrap(RawRecord(0, raw))
