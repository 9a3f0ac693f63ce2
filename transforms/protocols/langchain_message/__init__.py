"""LangChain's AIMessage in its serialisations, alone, in an LLMResult or in a graph's state.

Surface  ``content``: a text, or blocks as each provider's package writes them; else thinking in ``additional_kwargs``.
Tokens   ``usage_metadata`` is normalised: input holds the cache, output holds the reasoning. Without it the provider's
         own usage in ``response_metadata`` or ``llm_output`` is read by the provider's rules.
Effort   Requested only: in the invocation parameters beside the messages.
Stream   ``AIMessageChunk``: contents joined, counts added up (packages give differences).
Source   Reference protocols-native 19.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Asked, MalformedBodyError, Piece, Reading
from schemas.vocabulary import PieceKind
from schemas.wire.langchain_message import AIMessage
from transforms import clock
from transforms.asked import asked_openai_shaped
from transforms.content_blocks import block_pieces, pieces_of, thought
from transforms.finish_words import to_finish
from transforms.protocols.langchain_message.envelope import answers_of, is_message, is_request_message
from transforms.protocols.langchain_message.stream import CHUNK, fold_messages
from transforms.protocols.langchain_message.usage import counts_of
from transforms.wire_models import parse

NAME = "langchain_message"
MARKS = frozenset({"lc", "content", "data", "tool_calls", "generations", "messages"})
PATHS = ()
VENDOR = None
BEGINS = None

_FINISH_KEYS = ("finish_reason", "stop_reason", "stopReason", "finishReason", "done_reason")
_MODEL_KEYS = ("model_name", "model", "model_id", "ls_model_name")
_USAGE_KEYS = ("token_usage", "tokenUsage", "usage", "estimatedTokenUsage")
_THINKING_KEYS = ("reasoning_content", "reasoning", "thinking")
_RUN_IDS = ("run-", "lc_run-")


def claims(body: Mapping[str, Any]) -> bool:
    if is_message(body):
        return True
    generations = body.get("generations")
    if isinstance(generations, list) and generations:
        return isinstance(generations[0], list)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or "choices" in body:
        return False
    return isinstance(messages[-1], dict) and is_message(messages[-1])


def claims_request(request: Mapping[str, Any]) -> bool:
    messages = request.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    if isinstance(first, list):  # a batch of conversations
        first = first[0] if first else None
    return isinstance(first, dict) and is_request_message(first)


def fold(stream: Stream) -> dict[str, Any]:
    return fold_messages(stream)


def asked(request: dict[str, Any]) -> Asked:
    """Read the invocation parameters, at the request's top or under their own name."""
    inner = request.get("invocation_params")
    params = {**request, **inner} if isinstance(inner, dict) else request
    wire = {_WIRE_NAMES.get(key, key): value for key, value in params.items() if value is not None}
    if "thinking_level" in params:
        wire["google"] = {"thinking_config": {"thinking_level": params["thinking_level"]}}
    return asked_openai_shaped(wire)


_WIRE_NAMES = {"model_name": "model", "model_id": "model", "effort": "reasoning_effort", "streaming": "stream"}


# Bodies


def read(body: dict[str, Any]) -> Reading:
    answers = answers_of(body)
    if not answers:
        raise MalformedBodyError("no AI message in it")
    messages = [parse(AIMessage, message) for message, _ in answers]
    about = [message.response_metadata or {} for message in messages]
    output = body.get("llm_output")
    output = output if isinstance(output, dict) else {}
    first, info = messages[0], answers[0][1]
    places = (about[0], info, output)
    model = _text(places, *_MODEL_KEYS)
    usage_metadata, native = _usages(answers, about, output)
    reading = Reading(
        listed=body.get("type") != CHUNK,
        pieces=[piece for number, one in enumerate(messages) for piece in _pieces(one, number, model)],
        response_id=_text((about[0], output), "id") or _own_id(first),
        model=model,
        created_at=clock.from_any(about[0].get("created", about[0].get("created_at"))),
        choices=len(messages),
        finish_raw=_text(places, *_FINISH_KEYS) or _status(about[0]),
        service_tier=_text(places, "service_tier"),
        counts=counts_of(usage_metadata, native),
        usage=usage_metadata or native,
        provider_hint=_text(places, "model_provider"),
    )
    reading.finish = to_finish(reading.finish_raw)
    return reading


def _text(places: tuple[dict[str, Any], ...], *keys: str) -> str | None:
    for place in places:
        for key in keys:
            value = place.get(key)
            if isinstance(value, str) and value:
                return value
    return None


def _status(about: dict[str, Any]) -> str | None:
    """OpenAI's Responses state no finish reason but a status, and of an incomplete one the reason."""
    details = about.get("incomplete_details")
    return _text((details if isinstance(details, dict) else {},), "reason") or _text((about,), "status")


def _own_id(message: AIMessage) -> str | None:
    """The message's id, where it is the provider's and not that of the framework's run."""
    return message.id if message.id and not message.id.startswith(_RUN_IDS) else None


def _usages(
    answers: list[tuple[dict[str, Any], dict[str, Any]]], about: list[dict[str, Any]], output: dict[str, Any]
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The usage as LangChain normalised it, and the provider's own; of several choices all say the same."""
    metadata = next((one["usage_metadata"] for one, _ in answers if isinstance(one.get("usage_metadata"), dict)), None)
    stored = (place.get(key) for place in (*about, output) for key in _USAGE_KEYS)
    return metadata, next((usage for usage in stored if isinstance(usage, dict) and usage), None)


def _pieces(message: AIMessage, choice: int, model: str | None) -> Iterator[Piece]:
    content = list(pieces_of(message.content, model=model, choice=choice))
    if not any(piece.kind in (PieceKind.THINKING, PieceKind.REDACTED) for piece in content):
        yield from _thinking_beside(message.additional_kwargs or {}, choice, model)
    yield from content
    # The same calls stand in the content (Anthropic's blocks), in the message and in what the provider sent.
    beside = (message.additional_kwargs or {}).get("tool_calls")
    stated = max(len(message.tool_calls or ()), len(beside) if isinstance(beside, list) else 0)
    shown = sum(piece.kind is PieceKind.TOOL_CALL for piece in content)
    yield from (Piece(PieceKind.TOOL_CALL, choice=choice) for _ in range(stated - shown))


def _thinking_beside(kwargs: dict[str, Any], choice: int, model: str | None) -> Iterator[Piece]:
    """Thinking of providers whose messages have a field for it; the first that is there counts."""
    for key in _THINKING_KEYS:
        value = kwargs.get(key)
        if isinstance(value, str) and value and not value.isspace():
            yield thought(value, model=model, choice=choice, field=True)
            return
        if isinstance(value, dict) and value:  # OpenAI's reasoning item, in versions before blocks
            yield from block_pieces({**value, "type": "reasoning"}, model=model, choice=choice)
            return
