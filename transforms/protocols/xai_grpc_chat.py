"""xAI's gRPC Chat (``xai_api.Chat``), protobuf written as JSON.

Surface      ``outputs[].message``: ``reasoning_content``, ``content``, ``tool_calls``. Where the server ran tools, the
             outputs are the turns of one answer, its tools' results among them; else each output is a choice.
             ``encrypted_content`` is a sealed thought where reasoning was counted; on tools' results it is not.
Tokens       ``usage.reasoning_tokens`` on top of ``completion_tokens``; zeros are left out, and stay null.
Effort       ``settings.reasoning_effort`` of the response: what it was made with, also where nobody asked.
Stream       ``chunk`` objects: deltas by ``index``; usage is cumulative, the last one counts.
Sources      Reference on OpenAI-shaped protocols, section 2.8, and recorded traffic.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from schemas.exchange import JsonObject, Stream
from schemas.reading import Asked, Counts, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ReasoningBasis, ThinkingForm, ThinkingSource
from schemas.wire.xai_grpc_chat import Message, Output, Response, Usage
from transforms import clock
from transforms.asked import asked_openai_shaped
from transforms.errors import read_error
from transforms.wire_models import parse

NAME = "xai_grpc_chat"
MARKS = frozenset({"outputs", "chunk"})
PATHS = ("/xai_api.Chat/",)
VENDOR = "xai"
BEGINS = None

_FINISH = {
    "REASON_STOP": FinishReason.STOP,
    "REASON_MAX_LEN": FinishReason.LENGTH,
    "REASON_MAX_CONTEXT": FinishReason.LENGTH,
    "REASON_TOOL_CALLS": FinishReason.TOOL_CALLS,
}
_NO_FINISH = ("", "REASON_INVALID")
_TOOL_TURN = "ROLE_TOOL"
_FOR_THE_CLIENT = ("TOOL_CALL_TYPE_CLIENT_SIDE_TOOL", "TOOL_CALL_TYPE_INVALID", "", None)
_FILLER = "Thinking..."
"""Streamed in the place of thinking that is withheld (reference 2.8)."""
_TICK_DIGITS = 10
_TEXTS = {
    "content": "content",
    "reasoning_content": "reasoning_content",
    "reasoningContent": "reasoning_content",
    "encrypted_content": "encrypted_content",
    "encryptedContent": "encrypted_content",
}


def claims(body: Mapping[str, Any]) -> bool:
    outputs = body.get("outputs") or ("chunk" in body and _unframed(body).get("outputs"))
    if not outputs or not isinstance(outputs, list):
        return False
    first = outputs[0]
    return isinstance(first, dict) and ("message" in first or "delta" in first)


def claims_request(request: Mapping[str, Any]) -> bool:
    messages = request.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    role = first.get("role") if isinstance(first, dict) else None
    return isinstance(role, str) and role.startswith("ROLE_")


def _unframed(body: Mapping[str, Any]) -> Mapping[str, Any]:
    chunk = body.get("chunk")
    return chunk if isinstance(chunk, dict) else body


def fold(stream: Stream) -> dict[str, Any]:
    body: JsonObject = {}
    outputs: dict[int, JsonObject] = {}
    for event in stream.events:
        chunk = _unframed(event)
        body.update({name: value for name, value in chunk.items() if value is not None and name != "outputs"})
        deltas = chunk.get("outputs")
        for delta in deltas if isinstance(deltas, list) else ():
            if isinstance(delta, dict):
                _add(outputs.setdefault(_index(delta), {"texts": {}, "message": {}}), delta)
    body["outputs"] = [_closed(index, output) for index, output in sorted(outputs.items())]
    return body


def _index(delta: JsonObject) -> int:
    index = delta.get("index")
    return index if isinstance(index, int) and index >= 0 else 0


def _add(output: JsonObject, delta: JsonObject) -> None:
    part = delta.get("delta")
    message = output["message"]
    for name, value in part.items() if isinstance(part, dict) else ():
        if name in _TEXTS and isinstance(value, str):
            output["texts"].setdefault(_TEXTS[name], []).append(value)
        elif isinstance(value, list) and isinstance(message.get(name), list):
            message[name] = [*message[name], *value]
        else:
            message[name] = value
    finish = delta.get("finish_reason") or delta.get("finishReason")
    if finish:
        output["finish_reason"] = finish


def _closed(index: int, output: JsonObject) -> JsonObject:
    texts = {name: "".join(parts) for name, parts in output.pop("texts").items()}
    return {**output, "index": index, "message": {**output["message"], **texts}}


def read(body: dict[str, Any]) -> Reading:
    whole = dict(_unframed(body))
    response = parse(Response, whole)
    outputs = sorted(response.outputs or [], key=lambda output: output.index or 0)
    usage = response.usage
    is_one_answer = _are_turns(outputs, usage)
    raw = _finish_word(outputs, last=is_one_answer)
    failure = read_error(body) if body.get("error") else None
    finish = _FINISH.get(raw, FinishReason.OTHER) if raw else None
    settings = response.settings
    return Reading(
        pieces=list(_pieces(outputs, usage, one_choice=is_one_answer)),
        response_id=response.id or None,
        model=response.model or None,
        created_at=clock.from_iso(response.created) if response.created else None,
        choices=1 if is_one_answer else len(outputs) or None,
        finish=FinishReason.ERROR if failure else finish,
        finish_raw=raw,
        counts=_counts(usage) if usage else None,
        usage=whole["usage"] if usage else None,
        effort_reported=settings.reasoning_effort if settings else None,
        cost_usd=_cost(usage) if usage else None,
        error_type=failure.type if failure else None,
        error_message=failure.message if failure else None,
    )


def _are_turns(outputs: list[Output], usage: Usage | None) -> bool:
    """Whether the outputs are turns of one answer: the server ran tools between them."""
    if usage and usage.server_side_tools_used:
        return True
    return any(message.role == _TOOL_TURN or _server_calls(message) for message in map(_message, outputs))


def _message(output: Output) -> Message:
    return output.message or output.delta or Message()


def _server_calls(message: Message) -> bool:
    return any(call.type not in _FOR_THE_CLIENT for call in message.tool_calls or ())


def _finish_word(outputs: list[Output], *, last: bool) -> str | None:
    words = [output.finish_reason for output in outputs if output.finish_reason not in (None, *_NO_FINISH)]
    if last:
        return words[-1] if words else None
    first = outputs[0].finish_reason if outputs else None
    return None if first in _NO_FINISH else first


def _pieces(outputs: list[Output], usage: Usage | None, *, one_choice: bool) -> Iterator[Piece]:
    thought = bool(usage and usage.reasoning_tokens)
    for place, output in enumerate(outputs):
        message = _message(output)
        choice = 0 if one_choice else place
        if message.role == _TOOL_TURN:
            yield Piece(PieceKind.OTHER, choice=choice)
            continue
        yield from _thoughts(message, choice, place, thought=thought)
        if message.content:
            yield Piece(PieceKind.ANSWER, message.content, choice, place)
        for call in message.tool_calls or ():
            yield Piece(PieceKind.TOOL_CALL if call.type in _FOR_THE_CLIENT else PieceKind.OTHER, choice=choice)


def _thoughts(message: Message, choice: int, place: int, *, thought: bool) -> Iterator[Piece]:
    text = message.reasoning_content or ""
    if text.startswith(_FILLER) and not text.replace(_FILLER, "").strip():
        yield Piece(PieceKind.REDACTED, choice=choice, form=ThinkingForm.OMITTED)
    elif text.strip():
        yield Piece(PieceKind.THINKING, text, choice, place, ThinkingSource.FIELD, ThinkingForm.FULL)
    if message.encrypted_content and thought:
        yield Piece(PieceKind.REDACTED, choice=choice, form=ThinkingForm.ENCRYPTED)


def _counts(usage: Usage) -> Counts:
    return Counts(
        prompt=usage.prompt_tokens,
        completion=usage.completion_tokens,
        reasoning=usage.reasoning_tokens,
        total=usage.total_tokens,
        cached=usage.cached_prompt_text_tokens,
        convention=ReasoningBasis.ON_TOP,
    )


def _cost(usage: Usage) -> Decimal | None:
    ticks = usage.cost_in_usd_ticks
    return None if ticks is None else Decimal(ticks).scaleb(-_TICK_DIGITS)


def asked(request: dict[str, Any]) -> Asked:
    return asked_openai_shaped(request)
