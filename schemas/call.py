"""THE schema: one row per call, one request to a model and what came of it.

``COLUMNS`` is the single place where a column's name, type and meaning are declared; the Arrow schema, the table in
the README and the check of ``Call`` are made from it. Nulls mean "not reported", never zero. A new column is added at
the end, and old files read as null.
"""

from dataclasses import dataclass, fields
from decimal import Decimal
from typing import NamedTuple

import pyarrow as pa

SCHEMA_VERSION = 1
NORMALISER_VERSION = "1"
"""Rises whenever the same input may give another row: the later version wins over the earlier one."""

_WORD = pa.dictionary(pa.int32(), pa.string())
_TIME = pa.timestamp("us", tz="UTC")
COST = pa.decimal128(38, 12)
SEGMENT = pa.struct(
    [
        pa.field("kind", pa.string()),
        pa.field("choice", pa.int64()),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
    ]
)
TAGS = pa.map_(pa.string(), pa.string())


class Column(NamedTuple):
    """One column: its name, its Arrow type, and what it means."""

    name: str
    type: pa.DataType
    meaning: str


COLUMNS: tuple[Column, ...] = (
    Column("call_id", pa.string(), "stable identity: the same call from any file or envelope has the same id"),
    Column("response_id", pa.string(), "the provider's id of the response"),
    Column("session_id", pa.string(), "the conversation or trace that the call belongs to"),
    Column("called_at", _TIME, "when the request was made, else when the response was created"),
    Column("provider", _WORD, "whose model or API shape it is: openai, anthropic, google, deepseek, xai, …"),
    Column("billed_by", _WORD, "who sends the bill where that is another: bedrock, azure, vertex, openrouter, …"),
    Column("protocol", _WORD, "the body's shape: openai_chat, anthropic_messages, …"),
    Column("source", _WORD, "the envelope that the call came in"),
    Column("model_requested", _WORD, "the model as asked for, in the body or in the URL"),
    Column("model", _WORD, "the model as the response reports it, else as asked for"),
    Column("streamed", pa.bool_(), "true: a stream was asked for or captured; false: the request asks for none"),
    Column("thinking", pa.large_string(), "the visible thinking text"),
    Column("answer", pa.large_string(), "the final answer's text"),
    Column(
        "segments",
        pa.list_(SEGMENT),
        "the order of the pieces: kind is thinking, answer, commentary, tool_call or redacted; start and end count "
        "code points in thinking or answer (substring(answer, start + 1, end - start))",
    ),
    Column("thinking_form", _WORD, "full, summary, encrypted, redacted, omitted or tokens_only"),
    Column("thinking_source", _WORD, "block, field, tag or channel; where two gave text, the first of these"),
    Column("split_rule", _WORD, "how inline text was split: leading_pair, missing_open, unclosed, channel, …"),
    Column("thinking_chars", pa.int64(), "code points of the thinking; outlives the text"),
    Column("answer_chars", pa.int64(), "code points of the answer; outlives the text"),
    Column("tool_calls", pa.int32(), "calls for the client to answer, not tools that the server ran itself"),
    Column("choices", pa.int32(), "how many answers the response holds"),
    Column("finish_reason", _WORD, "stop, length, tool_calls, content_filter, refusal, error, aborted or other"),
    Column("finish_reason_raw", _WORD, "the provider's own word for it"),
    Column("input_tokens", pa.int64(), "ALL input tokens"),
    Column("cached_input_tokens", pa.int64(), "the part of the input that was read from a cache"),
    Column("cache_write_tokens", pa.int64(), "the part of the input that was written to a cache"),
    Column("cache_write_1h_tokens", pa.int64(), "the part of the cache writes that is kept for an hour"),
    Column("output_tokens", pa.int64(), "ALL billed output tokens"),
    Column("reasoning_tokens", pa.int64(), "the part of the output that was reasoning"),
    Column("reasoning_basis", _WORD, "inside, on_top, inferred or unknown: how the record's own arithmetic read"),
    Column("reasoning_basis_source", _WORD, "total, proof or protocol: what decided the basis"),
    Column("reasoning_tokens_source", _WORD, "reported, or estimated by a gateway"),
    Column("counts_disagree", pa.bool_(), "the envelope's own counts differ from the body's"),
    Column("usage_raw", pa.string(), "the usage object as it was, JSON"),
    Column("thinking_requested", _WORD, "off, on or adaptive: the coarse switch, if the request had one"),
    Column("thinking_budget_requested", pa.int64(), "a token budget, if the request had one"),
    Column("effort_requested", _WORD, "none, minimal, low, medium, high, xhigh or max"),
    Column("effort_requested_raw", _WORD, "the value as spelled (may be a number, a boolean, default, ultra, …)"),
    Column("effort_applied", _WORD, "the effort that ran"),
    Column("effort_applied_source", _WORD, "who says so: response, response_echo, request or model_profile"),
    Column("effort_change", _WORD, "same, raised or lowered: applied against what was asked for"),
    Column("service_tier_requested", _WORD, "the service tier as asked for"),
    Column("service_tier", _WORD, "the service tier that served the call"),
    Column("is_batch", pa.bool_(), "the call ran in a batch"),
    Column("cache_hit", pa.bool_(), "the gateway answered from its own cache: not billed"),
    Column("cost_reported_usd", COST, "what the provider or gateway says the call cost, in US dollars"),
    Column("status_code", pa.int32(), "the HTTP status"),
    Column("error_type", _WORD, "the kind of error; a failed call is a call"),
    Column("error_message", pa.string(), "the error's text"),
    Column("latency_ms", pa.float64(), "how long the call took, in milliseconds"),
    Column("user_id", pa.string(), "the user to charge"),
    Column("team", pa.string(), "the team to charge"),
    Column("api_key_id", pa.string(), "an alias or a hash of the key, never a secret"),
    Column(
        "tags",
        TAGS,
        "labels to charge by; keys are unique. part_of and iteration are ours: another model's run within an answer "
        "has the answer's call_id in part_of, and what the run was for in iteration",
    ),
    Column("source_file", _WORD, "lineage: the file"),
    Column("source_position", pa.int64(), "lineage: byte offset of the line, index in the array, or Parquet row"),
    Column("run_id", _WORD, "lineage: the run that wrote the row"),
    Column("normaliser_version", _WORD, "lineage: the version of the rules that read it"),
    Column("text_truncated", pa.bool_(), "the log cut the text"),
    Column("sampled_fraction", pa.float64(), "the log holds only this fraction of all calls"),
    Column("redactions", pa.int32(), "patterns redacted at ingest"),
    Column("thinking_purged_at", _TIME, "when retention removed the thinking; it never comes back"),
    Column("answer_purged_at", _TIME, "when retention removed the answer; it never comes back"),
    Column("date", pa.date32(), "partition key: the UTC date of called_at"),
)

SCHEMA = pa.schema([pa.field(c.name, c.type, metadata={"meaning": c.meaning}) for c in COLUMNS])
PARTITION_KEY = "date"
UNDATED = "__HIVE_DEFAULT_PARTITION__"
"""The partition of calls that no clock dated; DuckDB reads it as NULL and keeps the type DATE."""


class Segment(NamedTuple):
    """One piece of a response by its place: code points in ``thinking`` or in ``answer``."""

    kind: str
    choice: int
    start: int
    end: int


@dataclass(slots=True)
class Call:
    """One row before it is Arrow. Times are microseconds since 1970 UTC; ``date`` is days since 1970."""

    call_id: str
    source: str
    source_file: str
    source_position: int
    response_id: str | None = None
    session_id: str | None = None
    called_at: int | None = None
    provider: str | None = None
    billed_by: str | None = None
    protocol: str | None = None
    model_requested: str | None = None
    model: str | None = None
    streamed: bool | None = None
    thinking: str | None = None
    answer: str | None = None
    segments: list[Segment] | None = None
    thinking_form: str | None = None
    thinking_source: str | None = None
    split_rule: str | None = None
    thinking_chars: int | None = None
    answer_chars: int | None = None
    tool_calls: int | None = None
    choices: int | None = None
    finish_reason: str | None = None
    finish_reason_raw: str | None = None
    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    reasoning_basis: str | None = None
    reasoning_basis_source: str | None = None
    reasoning_tokens_source: str | None = None
    counts_disagree: bool | None = None
    usage_raw: str | None = None
    thinking_requested: str | None = None
    thinking_budget_requested: int | None = None
    effort_requested: str | None = None
    effort_requested_raw: str | None = None
    effort_applied: str | None = None
    effort_applied_source: str | None = None
    effort_change: str | None = None
    service_tier_requested: str | None = None
    service_tier: str | None = None
    is_batch: bool | None = None
    cache_hit: bool | None = None
    cost_reported_usd: Decimal | None = None
    status_code: int | None = None
    error_type: str | None = None
    error_message: str | None = None
    latency_ms: float | None = None
    user_id: str | None = None
    team: str | None = None
    api_key_id: str | None = None
    tags: dict[str, str] | None = None
    run_id: str | None = None
    normaliser_version: str = NORMALISER_VERSION
    text_truncated: bool | None = None
    sampled_fraction: float | None = None
    redactions: int | None = None
    thinking_purged_at: int | None = None
    answer_purged_at: int | None = None
    date: int | None = None


CALL_FIELDS: frozenset[str] = frozenset(field.name for field in fields(Call))
