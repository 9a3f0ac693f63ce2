"""Bedrock InvokeModel's plain texts: Titan, Llama, Mistral, AI21 Jurassic, DeepSeek R1.

Surface   One text, or a list of them, each with a stop word. No shape has a place for thinking: DeepSeek's stands in
          the text, behind tags. No tools, no roles.
Tokens    Titan and Llama count. The others leave it to Bedrock's metrics, which only end a stream; beside a vendor's
          own counts they say the same and are not read.
Effort    None can be asked for.
Stream    Chunks are bodies, but that Titan's hold one text each. Counts are totals so far.
Sources   AWS, "Inference request parameters and response fields for foundation models"; recorded traffic.
"""

from collections.abc import Mapping
from typing import Any

from schemas.exchange import JsonObject, Stream
from schemas.reading import Asked, Counts, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind
from schemas.wire.bedrock_invoke_text import Answer, Body, Metrics, Request
from transforms.wire_models import parse

NAME = "bedrock_invoke_text"
PATHS = ()
"""None of its own: the path of InvokeModel serves every vendor's shape."""
VENDOR = None
BEGINS = None

_LISTS = {
    "results": ("outputText", "completionReason"),  # Titan
    "outputs": ("text", "stop_reason"),  # Mistral
    "completions": ("data", "finishReason"),  # AI21
    "choices": ("text", "stop_reason"),  # DeepSeek
}
"""The key of the list of answers; the keys of an answer's text and of its stop word."""
_ALONE = {
    "outputText": (
        "results",
        "inputTextTokenCount",
        "totalOutputTextTokenCount",
        "completionReason",
    ),  # Titan, streamed
    "generation": (None, "prompt_token_count", "generation_token_count", "stop_reason"),  # Llama, whole and streamed
}
"""The key of a text that stands alone; the list that holds it in a whole body, and keys of which one stands beside."""
MARKS = frozenset(_LISTS.keys() | _ALONE.keys())
_OF_OPENAI = frozenset({"object", "created", "model"})
_FINISH = {
    "finish": FinishReason.STOP,  # Titan, as are those with an underscore
    "finished": FinishReason.STOP,
    "stop_criteria_met": FinishReason.STOP,
    "content_filtered": FinishReason.CONTENT_FILTER,
    "stop": FinishReason.STOP,
    "endoftext": FinishReason.STOP,  # AI21
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
}
"""In any case."""
_GUARDRAIL, _INTERVENED = "amazon-bedrock-guardrailAction", "INTERVENED"
_METRICS = "amazon-bedrock-invocationMetrics"
_COUNTS = ("inputTextTokenCount", "totalOutputTextTokenCount", "prompt_token_count", "generation_token_count")


# Claims


def claims(body: Mapping[str, Any]) -> bool:
    if MARKS.isdisjoint(body):
        return False
    for listed, (text, stop) in _LISTS.items():
        answers = body.get(listed)
        if isinstance(answers, list) and answers:
            first = answers[0]
            ours = isinstance(first, dict) and text in first and stop in first
            return ours and "finish_reason" not in first and _OF_OPENAI.isdisjoint(body)
    return _alone(body) is not None


def _alone(body: Mapping[str, Any]) -> str | None:
    for text, (_, *beside) in _ALONE.items():
        if text in body and any(name in body for name in beside):
            return text
    return None


def claims_request(request: Mapping[str, Any]) -> bool:
    """Requests of Titan and Llama. Those of the others are of OpenAI's shape too: a prompt and a limit."""
    return "textGenerationConfig" in request or "max_gen_len" in request


# Streams


def fold(stream: Stream) -> dict[str, Any]:
    """Fold the chunks of one answer: no vendor streams several."""
    body: JsonObject = {}
    answer: JsonObject = {}
    texts: list[str] = []
    listed: str | None = None
    text_key = "text"
    for event in stream.events:
        body.update({name: value for name, value in event.items() if name not in _LISTS and value is not None})
        found = _chunk(event)
        if found is None:
            continue
        listed, text_key, chunk = found
        answer.update({name: value for name, value in chunk.items() if value is not None})
        text = chunk.get(text_key)
        if isinstance(text, str):
            texts.append(text)
        elif text is not None:
            raise MalformedBodyError(f"{text_key}: {type(text).__name__}, not a text")
    answer[text_key] = "".join(texts)
    body.update({listed: [answer]} if listed else answer)
    ended = _METRICS in body or body.get(_GUARDRAIL) == _INTERVENED or _stop_word(parse(Answer, answer)) is not None
    if not ended and not stream.cut and _exception(body) is None:
        body["aborted"] = True
    return body


def _chunk(event: Mapping[str, Any]) -> tuple[str | None, str, Mapping[str, Any]] | None:
    """Where the whole body lists its answer, the key of the text, and the answer in this chunk; null without one."""
    for listed, (text, _) in _LISTS.items():
        answers = event.get(listed)
        if isinstance(answers, list) and answers:
            if not isinstance(answers[0], dict):
                raise MalformedBodyError(f"{listed}.0: {type(answers[0]).__name__}, not an object")
            return listed, text, answers[0]
    alone = _alone(event)
    return None if alone is None else (_ALONE[alone][0], alone, event)


# Bodies


def read(body: dict[str, Any]) -> Reading:
    whole = parse(Body, body)
    answers = [parse(Answer, answer) for answer in _answers(body)]
    word = next((word for answer in answers if (word := _stop_word(answer)) is not None), None)
    finish = _FINISH.get(word.lower(), FinishReason.OTHER) if word else None
    if word is None and whole.guardrail == _INTERVENED:  # blocked; where it only masks, the model's own word is there
        word, finish = _INTERVENED, FinishReason.CONTENT_FILTER
    counts, usage = _counts(whole, answers, body)
    reading = Reading(
        pieces=[Piece(PieceKind.ANSWER, _text(answer), choice) for choice, answer in enumerate(answers)],
        choices=len(answers),
        finish=FinishReason.ABORTED if body.get("aborted") is True else finish,
        finish_raw=word,
        counts=counts,
        usage=usage,
        provider_hint="bedrock",
    )
    failed = _exception(body)
    if failed is not None:
        frame = body[failed]
        message = frame.get("message") if isinstance(frame, dict) else None
        reading.finish, reading.error_type = FinishReason.ERROR, failed
        reading.error_message = message if isinstance(message, str) else None
    return reading


def _exception(body: JsonObject) -> str | None:
    return next((name for name in body if name.endswith("Exception")), None)


def _answers(body: JsonObject) -> list[Any]:
    return next((body[listed] for listed in _LISTS if isinstance(body.get(listed), list)), [body])


def _text(answer: Answer) -> str:
    return answer.output_text or answer.generation or answer.text or (answer.data.text if answer.data else None) or ""


def _stop_word(answer: Answer) -> str | None:
    return (
        answer.completion_reason
        or answer.stop_reason
        or (answer.finish_reason.reason if answer.finish_reason else None)
    )


def _counts(whole: Body, answers: list[Answer], body: JsonObject) -> tuple[Counts | None, JsonObject | None]:
    """The vendor's own counts, else Bedrock's metrics; with them the usage as it was."""
    by_answer = [answer.token_count for answer in answers if answer.token_count is not None]
    usage = {name: body[name] for name in _COUNTS if body.get(name) is not None}
    if by_answer:
        usage["tokenCount"] = sum(by_answer)
    if usage:
        prompt = whole.input_tokens if whole.input_tokens is not None else whole.prompt_token_count
        totals = (sum(by_answer) if by_answer else None, whole.output_tokens, whole.generation_token_count)
        return Counts(prompt, next((total for total in totals if total is not None), None)), usage
    if whole.metrics is None:
        return None, None
    return _metered(whole.metrics), body[_METRICS]


def _metered(metrics: Metrics) -> Counts:
    cached, written = metrics.cache_read, metrics.cache_write
    prompt = None if metrics.input_tokens is None else metrics.input_tokens + (cached or 0) + (written or 0)
    return Counts(prompt, metrics.output_tokens, cached=cached, cache_write=written)


# Requests


def asked(request: dict[str, Any]) -> Asked:
    wanted = Request.model_validate(request)
    config = wanted.config if isinstance(wanted.config, dict) else {}
    limit = wanted.max_tokens or wanted.max_tokens_camel or wanted.max_gen_len or config.get("maxTokenCount")
    return Asked(max_output_tokens=limit if isinstance(limit, int) and limit > 0 else None)
