"""The shapes of plain text completions, as data: where each keeps its texts and the facts beside them.

A path is the keys from the body down; where a shape has several answers, paths that begin with ``*`` start at the
answer. Sources: reference protocols-native 14 and protocols-openai-shaped 2.26, the servers' own documentation,
recorded traffic of all but Reka and llama.cpp, and the types of reka-api 3.2.0 and aleph-alpha-client 11.5.1.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

Path = tuple[str, ...]


ALONE = "sequences"
"""Where answers stand that their server gives as a mere list (``transforms/streams.py``, and the fold of llama.cpp)."""


class Shape(NamedTuple):
    """One shape. ``answers`` is the list of answers; where that is ``ALONE``, a body without it is the only answer."""

    name: str
    answers: str
    marks: tuple[str, ...]
    """Keys that an answer must have, all of them."""
    text: Path
    delta: Path
    """Where an event of a stream keeps its text."""
    finish: Path
    prompt: Path = ()
    completion: Path = ()
    cached: Path = ()
    id: Path = ()
    model: Path = ()
    created_at: Path = ()
    calls: Path = ()
    """Where an answer lists its calls for the client."""
    usage: tuple[Path, ...] = ()
    """What is kept as the usage object: the counts' own places."""
    host: str | None = None
    """Who bills, where the shape proves it."""


SHAPES = (
    Shape(  # Text Generation Inference, Hugging Face's hosts, SageMaker: /generate, /generate_stream, /invocations
        name="tgi",
        answers=ALONE,
        marks=("generated_text",),
        text=("generated_text",),
        delta=("token", "text"),
        finish=("*", "details", "finish_reason"),
        prompt=("*", "details", "input_length"),
        completion=("*", "details", "generated_tokens"),
        usage=(("*", "details", "generated_tokens"), ("*", "details", "input_length")),
    ),
    Shape(  # IBM watsonx.ai: /ml/v1/text/generation
        name="watsonx",
        answers="results",
        marks=("generated_text",),
        text=("generated_text",),
        delta=("generated_text",),
        finish=("*", "stop_reason"),
        prompt=("*", "input_token_count"),
        completion=("*", "generated_token_count"),
        model=("model_id",),
        created_at=("created_at",),
        usage=(("*", "input_token_count"), ("*", "generated_token_count")),
        host="watsonx",
    ),
    Shape(  # llama.cpp's own /completion: tokens_evaluated is the whole prompt, timings.cache_n the part from the cache
        name="llamacpp",
        answers=ALONE,
        marks=("content", "stop", "tokens_predicted"),
        text=("content",),
        delta=("content",),
        finish=("*", "stop_type"),
        prompt=("tokens_evaluated",),
        completion=("tokens_predicted",),
        cached=("timings", "cache_n"),
        model=("model",),
        usage=(("tokens_evaluated",), ("tokens_predicted",), ("tokens_cached",), ("timings",)),
    ),
    Shape(  # Aleph Alpha: /complete
        name="aleph_alpha",
        answers="completions",
        marks=("completion",),
        text=("completion",),
        delta=("completion",),
        finish=("*", "finish_reason"),
        prompt=("num_tokens_prompt_total",),
        completion=("num_tokens_generated",),
        usage=(("num_tokens_prompt_total",), ("num_tokens_generated",)),
    ),
    Shape(  # Reka chat: usage named as Anthropic's, told apart by its answers
        name="reka",
        answers="responses",
        marks=("message",),
        text=("message", "content"),
        delta=("message", "content"),
        finish=("*", "finish_reason"),
        prompt=("usage", "input_tokens"),
        completion=("usage", "output_tokens"),
        id=("id",),
        model=("model",),
        calls=("message", "tool_calls"),
        usage=(("usage",),),
    ),
)


KEYS = frozenset({"generated_text", "token", "stop", *(shape.answers for shape in SHAPES)})
"""A body, or an event, of any of the shapes has one of these: most others are told apart by this alone."""


def answers_of(body: Mapping[str, Any], shape: Shape) -> list[Any]:
    """The answers of a body: those of the shape's list, else the body itself."""
    listed = body.get(shape.answers)
    if isinstance(listed, list):
        return listed
    return [body] if shape.answers == ALONE else []


def shape_of(body: Mapping[str, Any]) -> Shape | None:
    """The shape that a body, or an event, has; null where it has none."""
    for shape in SHAPES:
        answers = answers_of(body, shape)
        first = answers[0] if answers else None
        if isinstance(first, dict) and all(mark in first for mark in shape.marks):
            return shape
    return None


def text_of(stored: Any) -> Any:
    """A text, or the texts of a list of typed ones (Reka) joined; anything else as it is, for the reader to refuse."""
    if not isinstance(stored, list):
        return stored
    texts = [item.get("text") for item in stored if isinstance(item, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def value_at(body: object, path: Path, answer: object = None) -> Any:
    """The value at a path, ``*`` being the answer; null where the path leads nowhere."""
    place = body
    if path[:1] == ("*",):
        place, path = answer, path[1:]
    for key in path:
        place = place.get(key) if isinstance(place, dict) else None
    return place if path else None


def summed(counts: list[Any]) -> int | None:
    """The sum of counts; null where one of them is not reported."""
    return sum(counts) if all(count.__class__ is int for count in counts) else None
