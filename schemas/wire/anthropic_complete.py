"""Anthropic's Text Completions: what is read of a body."""

from schemas.wire.lenient import Count, WireModel


class Metrics(WireModel):
    """Bedrock's counts, beside the last chunk of a stream: the API itself has none."""

    inputTokenCount: Count = None  # noqa: N815 - as sent
    outputTokenCount: Count = None  # noqa: N815
