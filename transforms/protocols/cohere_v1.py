"""Cohere's first API: chat and generate, one text or several, also as Bedrock InvokeModel sends them.

Surface   ``text`` of chat, ``generations[].text`` of generate: answers; these models have no thinking of their own.
Tokens    ``meta.billed_units`` fills the columns, as in version 2; before that ``token_count`` or Bedrock's metrics.
Effort    None.
Stream    Lines with ``is_finished`` and mostly an ``event_type``; ``stream-end`` repeats the whole body.
Identity  ``generation_id`` for chat, since a stream gives it from its start; ``id`` for generate.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from schemas.exchange import JsonObject, Stream
from schemas.reading import Asked, Counts, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind
from schemas.wire.cohere_v1 import Body, Generation, Meta, Metrics, Request, TokenCount
from transforms.errors import read_error
from transforms.wire_models import parse

NAME = "cohere_v1"
MARKS = frozenset({"is_finished", "generation_id", "response_id", "generations"})
PATHS = (
    "cohere.com/v1/chat", "cohere.ai/v1/chat", "/cohere/v1/chat",
    "cohere.com/v1/generate", "cohere.ai/v1/generate", "/cohere/v1/generate",
)  # fmt: skip
VENDOR = "cohere"
BEGINS = None

_METRICS = "amazon-bedrock-invocationMetrics"
_USAGE = ("billed_units", "tokens", "cached_tokens")
_FINISH = {
    "COMPLETE": FinishReason.STOP,
    "STOP_SEQUENCE": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    "TOOL_CALL": FinishReason.TOOL_CALLS,
    "ERROR_TOXIC": FinishReason.CONTENT_FILTER,
    "USER_CANCEL": FinishReason.ABORTED,
    "ERROR": FinishReason.ERROR,
    "ERROR_LIMIT": FinishReason.ERROR,
    "TIMEOUT": FinishReason.ERROR,
}
"""Bedrock also spells them in small letters."""
_REQUEST_MARKS = frozenset({"num_generations", "return_likelihoods", "end_sequences"})


# Claims


def claims(body: Mapping[str, Any]) -> bool:
    if isinstance(body.get("is_finished"), bool):
        return True
    if "generation_id" in body or "response_id" in body:
        return isinstance(body.get("text"), str) and "type" not in body  # OpenAI's events name their response too
    generations = body.get("generations")
    if not isinstance(generations, list) or not generations:
        return False
    return isinstance(generations[0], dict) and isinstance(generations[0].get("text"), str)


def claims_request(request: Mapping[str, Any]) -> bool:
    if isinstance(request.get("message"), str):
        return "messages" not in request and ("chat_history" in request or "model" in request)
    return isinstance(request.get("prompt"), str) and not _REQUEST_MARKS.isdisjoint(request)


# Streams


def fold(stream: Stream) -> dict[str, Any]:
    """Fold a stream: its last event holds the whole body, else the texts of the events are put together."""
    body: dict[str, Any] = {}
    texts: defaultdict[int, list[str]] = defaultdict(list)
    finishes: dict[int, object] = {}
    calls: list[Any] = []
    ended = numbered = False
    for event in stream.events:
        if event.get("event_type") == "stream-end" and isinstance(event.get("response"), dict):
            body.update(event["response"])
        index = event.get("index")
        numbered = numbered or ("event_type" not in event and "is_finished" in event)
        place = index if isinstance(index, int) else 0
        _add_text(texts[place], event.get("text"), repeated=event.get("event_type") == "tool-calls-generation")
        if event.get("event_type") == "tool-calls-generation" and isinstance(event.get("tool_calls"), list):
            calls = event["tool_calls"]
        if event.get("is_finished") is True:
            finishes[place] = event.get("finish_reason")
        ended = ended or event.get("is_finished") is True or "generations" in event
        _take(body, event)
    if "text" not in body and "generations" not in body:
        body.update(_texts_of(texts, finishes, numbered=numbered))
    if calls:
        body.setdefault("tool_calls", calls)
    if not ended and not stream.cut and "error" not in body:
        body["aborted"] = True
    return body


def _add_text(texts: list[str], text: object, *, repeated: bool) -> None:
    if isinstance(text, str):
        if not (repeated and texts):
            texts.append(text)
    elif text is not None:
        raise MalformedBodyError(f"text is {type(text).__name__}, not a text")


def _take(body: JsonObject, event: JsonObject) -> None:
    """Take over what an event says of the whole: ids, the end, Bedrock's counts, an error."""
    for name in ("generation_id", "id", "finish_reason", "generations", _METRICS, "error"):
        if event.get(name):
            body.setdefault(name, event[name])


def _texts_of(texts: dict[int, list[str]], finishes: dict[int, object], *, numbered: bool) -> JsonObject:
    """Bedrock's events without a type are those of generate; all others here are taken for chat's."""
    whole = {place: "".join(parts) for place, parts in sorted(texts.items())}
    if not numbered:
        return {"text": "".join(whole.values())}
    return {"generations": [{"text": text, "finish_reason": finishes.get(place)} for place, text in whole.items()]}


# Bodies


def read(body: dict[str, Any]) -> Reading:
    parsed = parse(Body, body)
    generations = parsed.generations
    if generations is None:
        generations = [Generation(text=parsed.text, finish_reason=parsed.finish_reason)]
    raw = next((one.finish_reason for one in generations if one.finish_reason), None) or parsed.finish_reason or None
    failure = read_error(body) if body.get("error") else None
    usage = _usage(body)
    reading = Reading(
        pieces=[Piece(PieceKind.ANSWER, one.text, choice) for choice, one in enumerate(generations) if one.text],
        response_id=parsed.generation_id or parsed.id or parsed.response_id or None,
        choices=len(generations) or None,
        finish=_FINISH.get(raw.upper(), FinishReason.OTHER) if raw else None,
        finish_raw=raw,
        counts=_counts(parsed, body) if usage else None,
        usage=usage or None,
    )
    reading.pieces += [Piece(PieceKind.TOOL_CALL)] * len(parsed.tool_calls or [])
    if body.get("aborted") is True:
        reading.finish = FinishReason.ABORTED
    if failure is not None:
        reading.finish, reading.error_type, reading.error_message = FinishReason.ERROR, failure.type, failure.message
    return reading


def _usage(body: JsonObject) -> JsonObject:
    """The counts as they were, without the version and the warnings that stand beside them."""
    meta = body.get("meta")
    usage = {name: meta[name] for name in _USAGE if name in meta} if isinstance(meta, dict) else {}
    return usage | {name: body[name] for name in ("token_count", _METRICS) if body.get(name)}


def _counts(parsed: Body, body: JsonObject) -> Counts:
    """The billed units, else what was counted under another name."""
    meta = parsed.meta or Meta()
    units = meta.billed_units or meta.tokens
    if units is not None:
        return Counts(prompt=units.input_tokens, completion=units.output_tokens)
    if _METRICS in body:
        metrics = parse(Metrics, body[_METRICS]) if isinstance(body[_METRICS], dict) else Metrics()
        return Counts(prompt=metrics.inputTokenCount, completion=metrics.outputTokenCount)
    counted = parsed.token_count or TokenCount()
    return Counts(prompt=counted.prompt_tokens, completion=counted.response_tokens)


# Requests


def asked(request: dict[str, Any]) -> Asked:
    wanted = Request.model_validate(request)
    return Asked(
        model=wanted.model,
        stream=wanted.stream,
        max_output_tokens=wanted.max_tokens,
        session_id=wanted.conversation_id,
    )
