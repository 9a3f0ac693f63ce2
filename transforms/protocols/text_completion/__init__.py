"""Plain text completions: TGI and Hugging Face, watsonx, llama.cpp, Aleph Alpha, Reka.

Surface   One text per answer, and no place for thinking beside it: a model that thinks writes tags into the text.
Tokens    Prompt and completion under each server's names; no reasoning count anywhere.
Effort    Requested at most, by chat-like fields; no body states it.
Stream    Pieces of the text, with counts so far; folded by ``stream.py``.
Shapes    A table, ``shapes.py``: they differ in names only, and so share one reader.
"""

from collections.abc import Mapping
from typing import Any

from schemas.exchange import JsonObject, Stream
from schemas.reading import Asked, Counts, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind
from schemas.wire.text_completion import Completion
from transforms.asked import asked_openai_shaped
from transforms.clock import from_any
from transforms.echoes import prompts_of
from transforms.errors import read_error
from transforms.protocols.text_completion.shapes import KEYS, Shape, answers_of, shape_of, summed, text_of, value_at
from transforms.protocols.text_completion.stream import claims_event, claims_summary, fold_events
from transforms.wire_models import parse

NAME = "text_completion"
MARKS = frozenset({*KEYS, "type"})
PATHS = ("/generate_stream", "/ml/v1/text/generation", "api.aleph-alpha.com/complete", "api.reka.ai/")
VENDOR = None
BEGINS = None

_FINISH: dict[str, FinishReason] = {
    word: reason
    for reason, words in {
        FinishReason.STOP: ("stop eos eos_token stop_sequence word end_of_text stop_sequence_reached"),
        FinishReason.LENGTH: "length limit max_tokens token_limit maximum_tokens context",
        FinishReason.ABORTED: "cancelled",
        FinishReason.ERROR: "error",
    }.items()
    for word in words.split()
}
"""Every word that the shapes are documented to use, in small letters; another word is ``other``."""
_NO_FINISH = frozenset({"", "none", "not_finished"})
_STOPPED = {"stopped_eos": "eos", "stopped_word": "word", "stopped_limit": "limit"}
"""llama.cpp's flags before it had a ``stop_type`` (2024)."""
_ECHOES = (
    ("parameters", "return_full_text"),  # TGI
    ("parameters", "return_options", "input_text"),  # watsonx
    ("echo",),  # Aleph Alpha
)
"""Places of the request that ask for the prompt in front of the answer."""
_PROMPTS = ("inputs", "input", "prompt")
_REQUEST_MARKS = frozenset({"n_predict", "maximum_tokens", "max_new_tokens", "model_id"})
_TGI_REQUEST = frozenset({"inputs", "parameters", "stream", "options"})


def claims(body: Mapping[str, Any]) -> bool:
    if KEYS.isdisjoint(body):
        return claims_summary(body)
    return shape_of(body) is not None or claims_event(body)


def claims_request(request: Mapping[str, Any]) -> bool:
    if isinstance(request.get("inputs"), str):
        return request.keys() <= _TGI_REQUEST
    given = request.get("prompt") if "prompt" in request else request.get("input")
    return isinstance(given, str | list) and not _REQUEST_MARKS.isdisjoint(request)


def fold(stream: Stream) -> dict[str, Any]:
    return fold_events(stream)


def read(body: dict[str, Any]) -> Reading:
    shape = shape_of(body)
    if shape is None:
        raise MalformedBodyError("no answer in a body that held one by its first event")
    answers = answers_of(body, shape)
    parsed = parse(Completion, _facts(body, shape, answers))
    raw = _finish_word(answers[0], parsed.finish)
    failure = read_error(body) if body.get("error") else None
    finish = _FINISH.get(raw.lower(), FinishReason.OTHER) if raw else None
    if body.get("aborted") is True:
        finish = FinishReason.ABORTED
    usage = _usage(body, shape, answers)
    return Reading(
        pieces=[
            piece
            for choice, (text, answer) in enumerate(zip(parsed.texts, answers, strict=True))
            for piece in _pieces(text, value_at(answer, shape.calls), choice)
        ],
        response_id=parsed.id or None,
        model=parsed.model or None,
        created_at=from_any(parsed.created_at),
        choices=len(answers),
        finish=FinishReason.ERROR if failure else finish,
        finish_raw=raw,
        counts=Counts(prompt=parsed.prompt, completion=parsed.completion, cached=parsed.cached) if usage else None,
        usage=usage or None,
        error_type=failure.type if failure else None,
        error_message=failure.message if failure else None,
        listed=body.get("listed") is True,
        provider_hint=shape.host,
    )


def _pieces(text: str | None, calls: object, choice: int) -> list[Piece]:
    called = len(calls) if isinstance(calls, list) else 0
    said = [Piece(PieceKind.ANSWER, text, choice)] if text else []
    return said + [Piece(PieceKind.TOOL_CALL, choice=choice)] * called


def _facts(body: JsonObject, shape: Shape, answers: list[Any]) -> JsonObject:
    if not all(isinstance(answer, dict) for answer in answers):
        raise MalformedBodyError(f"{shape.answers}: an answer is no object")
    names = ("finish", "id", "model", "created_at", "prompt", "completion", "cached")
    facts = {name: value_at(body, getattr(shape, name), answers[0]) for name in names}
    if len(answers) > 1 and shape.completion[:1] == ("*",):  # whether they read one prompt or several is not said
        facts["prompt"] = None
        facts["completion"] = summed([value_at(body, shape.completion, answer) for answer in answers])
    facts["texts"] = [text_of(value_at(answer, shape.text)) for answer in answers]
    return facts


def _finish_word(answer: JsonObject, word: str | None) -> str | None:
    if word is None:
        word = next((word for flag, word in _STOPPED.items() if answer.get(flag) is True), None)
    return None if word is None or word.lower() in _NO_FINISH else word


def _usage(body: JsonObject, shape: Shape, answers: list[Any]) -> JsonObject:
    """The counts as they were, by their own names; those that each of several answers has of its own are lists."""
    known: JsonObject = {}
    for path in shape.usage:
        values = [value_at(body, path, answer) for answer in (answers if path[0] == "*" else answers[:1])]
        if any(value is not None for value in values):
            known[path[-1]] = values if len(values) > 1 else values[0]
    usage = known.get("usage")
    return usage if isinstance(usage, dict) else known


def asked(request: dict[str, Any]) -> Asked:
    found = asked_openai_shaped(request)
    model = request.get("model_id")
    if found.model is None and isinstance(model, str):
        found.model = model or None
    if any(value_at(request, option) is True for option in _ECHOES):
        found.echoed = next((prompts for name in _PROMPTS if (prompts := prompts_of(_plain(request.get(name))))), ())
    return found


def _plain(prompt: object) -> object:
    """A prompt of one text item (Aleph Alpha) as that text; images and several items are left as they are."""
    if (
        isinstance(prompt, list)
        and len(prompt) == 1
        and isinstance(prompt[0], dict)
        and prompt[0].get("type") == "text"
    ):
        return prompt[0].get("data")
    return prompt
