"""Plain text completions: the few facts that all their shapes have, wherever each keeps them."""

from typing import Any

from schemas.wire.lenient import Count, Text, WireModel


class Completion(WireModel):
    """A body of any of the shapes, its facts found by the shape's paths; a text may be missing."""

    texts: list[str | None]
    finish: Text = None
    id: Text = None
    model: Text = None
    created_at: Any = None
    prompt: Count = None
    completion: Count = None
    cached: Count = None
