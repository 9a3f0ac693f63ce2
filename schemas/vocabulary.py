"""The words that columns may hold. Each enum is one column's vocabulary (design: one schema)."""

from enum import StrEnum


class Effort(StrEnum):
    """How hard a model was told to think, in order from least to most."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class EffortSource(StrEnum):
    """Who says which effort ran."""

    RESPONSE = "response"
    RESPONSE_ECHO = "response_echo"
    REQUEST = "request"
    MODEL_PROFILE = "model_profile"


class EffortChange(StrEnum):
    """The applied effort against the one asked for."""

    SAME = "same"
    RAISED = "raised"
    LOWERED = "lowered"


class ThinkingSwitch(StrEnum):
    """The coarse switch of a request."""

    OFF = "off"
    ON = "on"
    ADAPTIVE = "adaptive"


class PieceKind(StrEnum):
    """What one piece of a response is. OTHER only separates its neighbours: it never becomes a segment."""

    THINKING = "thinking"
    ANSWER = "answer"
    COMMENTARY = "commentary"
    TOOL_CALL = "tool_call"
    REDACTED = "redacted"
    OTHER = "other"


class ThinkingForm(StrEnum):
    """In which form a call shows that the model thought."""

    FULL = "full"
    SUMMARY = "summary"
    ENCRYPTED = "encrypted"
    REDACTED = "redacted"
    OMITTED = "omitted"
    TOKENS_ONLY = "tokens_only"


class ThinkingSource(StrEnum):
    """Where the thinking text was, first of these where two gave text."""

    BLOCK = "block"
    FIELD = "field"
    TAG = "tag"
    CHANNEL = "channel"


class SplitRule(StrEnum):
    """How inline text was split into thinking and answer."""

    LEADING_PAIR = "leading_pair"
    MISSING_OPEN = "missing_open"
    UNCLOSED = "unclosed"
    CHANNEL = "channel"
    PAIRED_PI = "paired_pi"
    PAIRED_MERGE = "paired_merge"
    FIRST_CLOSE = "first_close"
    UNSPLITTABLE = "unsplittable"


class TagPolicy(StrEnum):
    """How inline tags are read; chosen per source."""

    LEADING = "leading"
    PAIRED_PI = "paired_pi"
    PAIRED_MERGE = "paired_merge"
    FIRST_CLOSE = "first_close"


class FinishReason(StrEnum):
    """Why a response ended."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"
    ERROR = "error"
    ABORTED = "aborted"
    OTHER = "other"


class ReasoningBasis(StrEnum):
    """Whether the reported completion count holds the reasoning tokens."""

    INSIDE = "inside"
    ON_TOP = "on_top"
    INFERRED = "inferred"
    UNKNOWN = "unknown"


class BasisSource(StrEnum):
    """What decided the basis."""

    TOTAL = "total"
    PROOF = "proof"
    PROTOCOL = "protocol"


class CountSource(StrEnum):
    """Who counted the reasoning tokens."""

    REPORTED = "reported"
    ESTIMATED = "estimated"


class RejectReason(StrEnum):
    """Why a record could not become a call."""

    UNREADABLE_FILE = "unreadable_file"
    """The file, or the rest of it, could not be read (cut gzip, corrupt Parquet)."""
    INVALID_JSON = "invalid_json"
    NOT_AN_OBJECT = "not_an_object"
    UNKNOWN_ENVELOPE = "unknown_envelope"
    """No envelope recognised the record's keys."""
    UNDECODABLE_BODY = "undecodable_body"
    """A body is neither JSON nor a captured stream, or was cut so that nothing can be read of it."""
    UNKNOWN_PROTOCOL = "unknown_protocol"
    """No protocol claims the body; the detail names the keys that it has."""
    AMBIGUOUS_PROTOCOL = "ambiguous_protocol"
    MALFORMED_BODY = "malformed_body"
    """A protocol claims the body, but a part that carries meaning has another type than the protocol's."""
    EMPTY_RECORD = "empty_record"
    """The envelope holds neither a response nor a request nor an error."""
    INTERNAL_ERROR = "internal_error"
    """A fault of ours on this record; the detail says where. The record is kept and the run goes on."""


class Fate(StrEnum):
    """How an input record ends; the account adds these up to the records in."""

    CALL = "calls"
    PART = "parts"
    DUPLICATE = "duplicates"
    SKIPPED = "skipped"
    REJECT = "rejects"
