"""Replicate's predictions: what is read of their bodies."""

from typing import Annotated, Any

from schemas.wire.lenient import Count, OrNull, Text, WireModel


class Metrics(WireModel):
    """The counts, where the model reports them."""

    input_token_count: Count = None
    output_token_count: Count = None


class Body(WireModel):
    """A prediction, at any time of its life; what ``output`` is depends on the model."""

    id: Text = None
    model: Text = None
    version: Text = None
    created_at: Text = None
    status: Text = None
    error: Any = None
    output: Any = None
    metrics: Annotated[Metrics | None, OrNull] = None
