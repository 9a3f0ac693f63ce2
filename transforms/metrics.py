"""Every counter that Beam sees. They are for dashboards: a retried bundle counts again; the account is exact."""

from enum import StrEnum

from apache_beam.metrics.metric import Metrics

_NAMESPACE = "thinkledger"


class Count(StrEnum):
    """A counter's name."""

    STAGED_CALLS = "staged_calls"
    """Calls written to staged parts."""
    STAGED_REJECTS = "staged_rejects"
    """Rejects written to staged parts."""
    STAGED_BYTES = "staged_bytes"
    """Arrow bytes of the staged parts."""
    PUBLISHED_PARTITIONS = "published_partitions"
    """Partitions that got a new file."""
    DUPLICATES = "duplicates"
    """Rows that arrived and lost."""
    REPLACED = "replaced"
    """Live rows that lost to a row that arrived."""


def count(name: Count, by: int = 1) -> None:
    """Add to a counter; inside a running DoFn only."""
    Metrics.counter(_NAMESPACE, name).inc(by)
