"""A record that could not become a call: why, where it was, and its raw bytes. Nothing is lost."""

from dataclasses import dataclass

import pyarrow as pa

from schemas.vocabulary import RejectReason

REJECT_SCHEMA = pa.schema(
    [
        pa.field("reject_id", pa.string(), metadata={"meaning": "stable identity: of the file, position and bytes"}),
        pa.field("reason", pa.string(), metadata={"meaning": "why the record could not become a call"}),
        pa.field("detail", pa.string(), metadata={"meaning": "what was seen"}),
        pa.field("source", pa.string(), metadata={"meaning": "the envelope, where one was recognised"}),
        pa.field("source_file", pa.string(), metadata={"meaning": "lineage: the file"}),
        pa.field("source_position", pa.int64(), metadata={"meaning": "lineage: the place in the file"}),
        pa.field("raw", pa.large_binary(), metadata={"meaning": "the record's bytes"}),
        pa.field("run_id", pa.string(), metadata={"meaning": "lineage: the run that wrote the row"}),
        pa.field("normaliser_version", pa.string(), metadata={"meaning": "lineage: the rules that read it"}),
        pa.field("date", pa.date32(), metadata={"meaning": "partition key: the UTC date that the envelope gives"}),
    ]
)


@dataclass(slots=True)
class Reject:
    """One record that could not be read. ``date`` is days since 1970, null where the envelope gives no time."""

    reason: RejectReason
    detail: str
    source_file: str = ""
    source_position: int = 0
    raw: bytes = b""
    source: str | None = None
    date: int | None = None
    reject_id: str | None = None
    """Null until it is known: of the file, the position and the bytes before any redaction."""
