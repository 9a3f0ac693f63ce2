"""What travels between reading a file and normalising a call: records, bodies, exchanges."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from schemas.vocabulary import TagPolicy

JsonObject = dict[str, Any]


class RawRecord(NamedTuple):
    """One stored record as it was found.

    ``value`` is the line's bytes, or what a container (a JSON array, a Parquet row) had already parsed.
    ``position`` is the byte offset of the line in the decompressed file, the index in the array, or the row's number.
    """

    position: int
    value: bytes | JsonObject


@dataclass(slots=True)
class RecordBatch:
    """Records of one file, up to some megabytes: the unit that travels through the pipeline."""

    file: str
    records: list[RawRecord]
    size: int = 0
    """Bytes of the records, for progress and for bounding a batch."""
    broken: str | None = None
    """Why the file could not be read beyond these records; null where it could."""
    broken_at: int = 0
    """Position at which reading stopped."""
    broken_rest: bytes = b""
    """The bytes of the record that reading stopped in."""
    folded_by: str | None = None
    """The reader of transcripts that reads these records together: all of one file's. Null: each stands for itself."""


RecordBatches = tuple[RecordBatch, ...]
"""What is normalised together: one batch, or those of several small files."""


@dataclass(slots=True)
class Stream:
    """A captured stream as its events, in order: each the JSON object of one ``data:`` line, chunk or frame."""

    events: list[JsonObject]
    cut: bool = False
    """The capture ends inside an event: what came after is lost."""


@dataclass(slots=True)
class StatedCounts:
    """Token counts that the envelope itself states, apart from the body's usage."""

    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    total: int | None = None
    cached: int | None = None
    cache_write: int | None = None


@dataclass(slots=True)
class Exchange:
    """One request and what came of it, as an envelope held them.

    Bodies are decoded: an object, a captured stream, or null where the envelope keeps none. Times are microseconds
    since 1970 UTC. What an envelope does not know stays null; nothing is guessed here.
    """

    source: str
    request: JsonObject | None = None
    response: JsonObject | Stream | None = None
    called_at: int | None = None
    status_code: int | None = None
    latency_ms: float | None = None
    url: str | None = None
    provider: str | None = None
    """The provider's or host's name in the envelope's own spelling."""
    model_requested: str | None = None
    """The model that the envelope names beside the bodies."""
    model: str | None = None
    """The model that answered, where the envelope tells it apart from the one that was asked."""
    response_id: str | None = None
    streamed: bool | None = None
    session_id: str | None = None
    user_id: str | None = None
    team: str | None = None
    api_key_id: str | None = None
    tags: dict[str, str] | None = None
    service_tier_requested: str | None = None
    is_batch: bool | None = None
    cache_hit: bool | None = None
    cost_usd: Decimal | None = None
    error_type: str | None = None
    error_message: str | None = None
    counts: StatedCounts | None = None
    request_rewritten: bool = False
    """The request is the caller's, and the gateway is known to send another one: what it asked for is not what ran."""
    reasoning_estimated: bool = False
    """The envelope is known to replace a missing reasoning count by its own estimate."""
    text_truncated: bool | None = None
    sampled_fraction: float | None = None
    tag_policy: TagPolicy = TagPolicy.LEADING
    undecodable: str | None = None
    """Why the response body could not be decoded; null where it could."""

    @property
    def is_counted(self) -> bool:
        """Whether the envelope's own counts show that a model ran: logs without bodies still tell what was spent."""
        return self.counts is not None and bool(self.counts.input or self.counts.output)
