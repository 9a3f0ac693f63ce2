"""Vercel AI SDK, versions 4 to 7: results, provider results, UI messages, and their streams.

Surface  ``content[]`` (from 5) or ``text``, ``reasoning``, ``toolCalls`` (4); of UI messages ``parts[]``. An empty
         reasoning part is thinking whose text was withheld.
Tokens   Three spellings of usage. ``outputTokens`` holds the reasoning where the record's own total does not say
         otherwise; packages of version 5 left Anthropic's cache out of ``inputTokens``: the raw usage beside it shows.
Effort   Requested only: ``reasoning`` (7) or ``providerOptions`` by provider.
Steps    A result of several steps is one row: its texts and counts are those of all steps, and only the last step's
         tool calls are still open.
Source   Reference protocols-native 18.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Asked, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind
from schemas.wire.vercel_ai_sdk import Result, Step, UIMessage, UnifiedFinish
from transforms import clock
from transforms.asked import asked_openai_shaped
from transforms.content_blocks import pieces_of, thought
from transforms.finish_words import to_finish
from transforms.json_text import to_json
from transforms.protocols.vercel_ai_sdk.stream import EVENTS, fold_parts
from transforms.protocols.vercel_ai_sdk.usage import counts_of_all, of_metadata
from transforms.wire_models import parse

NAME = "vercel_ai_sdk"
MARKS = frozenset({"type", "parts", "steps", "finishReason", "response"})
PATHS = ()
VENDOR = None
BEGINS = None

_RESULT_KEYS = frozenset(
    {
        "steps", "usage", "totalUsage", "warnings", "providerMetadata", "experimental_providerMetadata", "toolCalls",
        "toolResults", "reasoningText", "reasoningDetails", "resolvedOutput",
    }
)  # fmt: skip
_ROOTS_OF_OTHERS = frozenset({"candidates", "choices", "usageMetadata", "message", "output_text"})
_UI_PARTS = frozenset(
    {"text", "reasoning", "step-start", "file", "source-url", "source-document", "dynamic-tool", "tool-invocation"}
)
_TOOL_PARTS = ("tool-", "dynamic-tool")
_ANSWERED = ("output-available", "output-error", "result")


def claims(body: Mapping[str, Any]) -> bool:
    kind = body.get("type")
    if isinstance(kind, str) and kind in EVENTS:
        return True
    if isinstance(body.get("parts"), list):
        return _is_ui_message(body)
    steps = body.get("steps")
    if isinstance(steps, list) and steps and isinstance(steps[0], dict) and "finishReason" in steps[0]:
        return True
    if isinstance(body.get("model"), str) or not _ROOTS_OF_OTHERS.isdisjoint(body):
        return False
    if "finishReason" in body:
        return not _RESULT_KEYS.isdisjoint(body)
    response = body.get("response")  # of an object's stream, which states no finish reason
    return "object" in body and "usage" in body and isinstance(response, dict) and "modelId" in response


def _is_ui_message(body: Mapping[str, Any]) -> bool:
    """UI parts have their text under ``text``; OpenTelemetry's have it under ``content``, Gemini's have no type."""
    parts = body["parts"]
    if body.get("role") != "assistant" or not parts or not isinstance(parts[0], dict):
        return False
    kinds = [part.get("type") for part in parts if isinstance(part, dict)]
    known = any(isinstance(kind, str) and (kind in _UI_PARTS or kind.startswith(_TOOL_PARTS)) for kind in kinds)
    return known and not any(isinstance(part, dict) and "content" in part for part in parts)


def claims_request(request: Mapping[str, Any]) -> bool:
    model = request.get("model")
    return "providerOptions" in request or (isinstance(model, dict) and "modelId" in model)


def fold(stream: Stream) -> dict[str, Any]:
    return fold_parts(stream)


# Requests


def asked(request: dict[str, Any]) -> Asked:
    """Read a call's settings; ``providerOptions`` are rewritten to the wire's own names and read as those."""
    wire = {key: value for key, value in request.items() if key not in ("model", "providerOptions")}
    model = request.get("model")
    wire["model"] = model.get("modelId") if isinstance(model, dict) else model
    limit = request.get("maxOutputTokens", request.get("maxTokens"))
    if limit is not None:
        wire["max_output_tokens"] = limit
    options = request.get("providerOptions")
    for chosen in options.values() if isinstance(options, dict) else ():
        if isinstance(chosen, dict):
            wire.update(_wire_names(chosen))
    return asked_openai_shaped(wire)


def _wire_names(options: Mapping[str, Any]) -> dict[str, Any]:
    wire: dict[str, Any] = {}
    for key in ("reasoningEffort", "effort"):
        if options.get(key) is not None:
            wire["reasoning_effort"] = options[key]
    if isinstance(options.get("thinkingConfig"), dict):
        wire["google"] = {"thinking_config": options["thinkingConfig"]}
    for key in ("thinking", "reasoningConfig"):
        if isinstance(options.get(key), Mapping):
            wire["thinking"] = {_IN_THINKING.get(name, name): value for name, value in options[key].items()}
    for key, name in _PLAIN_NAMES.items():
        if options.get(key) is not None:
            wire[name] = options[key]
    return wire


_IN_THINKING = {"budgetTokens": "budget_tokens", "tokenBudget": "budget_tokens", "maxReasoningEffort": "effort"}
_PLAIN_NAMES = {"serviceTier": "service_tier", "user": "user", "reasoning": "reasoning"}


# Bodies


def read(body: dict[str, Any]) -> Reading:
    if isinstance(body.get("parts"), list):
        return _read_ui_message(body)
    result = parse(Result, body)
    steps = result.steps or [result]
    last = steps[-1]
    response = (result.response if result.response and result.response.id else None) or last.response or result.response
    finish = result.finish_reason or last.finish_reason
    unified, raw = _finish(finish)
    reading = Reading(
        pieces=[piece for number, step in enumerate(steps) for piece in _step(step, number, len(steps), response)],
        choices=1,
        finish=unified,
        finish_raw=raw or result.raw_finish_reason or last.raw_finish_reason,
        counts=counts_of_all(result, steps),
        usage=_usage(body, several=len(steps) > 1),
        service_tier=of_metadata(result, last, "serviceTier"),
    )
    if result.object is not None and not reading.pieces:  # what an object's call answered, as the SDK parsed it
        reading.pieces.append(Piece(PieceKind.ANSWER, to_json(result.object).decode()))
    if response is not None:
        reading.response_id = (response.id or None) if len(steps) == 1 else None  # of several calls, no one's id
        reading.model = response.model_id or None
        reading.created_at = clock.from_any(response.timestamp)
    if body.get("aborted") is True:
        reading.finish = FinishReason.ABORTED
    if isinstance(error := body.get("error"), str):
        reading.error_message, reading.finish = error, FinishReason.ERROR
    return reading


def _usage(body: Mapping[str, Any], *, several: bool) -> dict[str, Any] | None:
    """The usage object that was read; where it is the sum over all steps, those of the steps."""
    total = body.get("totalUsage")
    if isinstance(total, dict):
        return total
    stored = body.get("steps")
    of_steps = [
        step["usage"] for step in stored or () if isinstance(step, dict) and isinstance(step.get("usage"), dict)
    ]
    if several and of_steps:
        return {"steps": of_steps}
    usage = body.get("usage")
    return usage if isinstance(usage, dict) else next(iter(of_steps), None)


def _finish(finish: str | UnifiedFinish | None) -> tuple[FinishReason | None, str | None]:
    if finish is None:
        return None, None
    word, raw = (
        (finish.unified, finish.raw or finish.unified) if isinstance(finish, UnifiedFinish) else (finish, finish)
    )
    return (None if word == "unknown" else to_finish(word)), raw


def _step(step: Step, number: int, steps: int, response: Any) -> Iterator[Piece]:
    """The pieces of one step. Tool calls of a step that another one follows were answered by the SDK."""
    model = step.response.model_id if step.response and step.response.model_id else response and response.model_id
    for piece in _contents(step, model):
        place = piece.part + number * 1_000_000
        if piece.kind is PieceKind.TOOL_CALL and number < steps - 1:
            yield piece._replace(kind=PieceKind.OTHER)
        else:
            yield piece._replace(part=place)


def _contents(step: Step, model: str | None) -> Iterator[Piece]:
    if isinstance(step.content, list) and step.content:
        yield from pieces_of(step.content, model=model, apart=True)
        return
    messages = step.response.messages if step.response else None
    stored = [one for one in messages or () if isinstance(one, dict) and one.get("role") == "assistant"]
    if stored and not isinstance(step.reasoning, str) and isinstance(stored[-1].get("content"), list):
        yield from pieces_of(stored[-1]["content"], model=model, apart=True)
        return
    thinking = step.reasoning_text or step.reasoning
    if isinstance(thinking, str):
        yield thought(thinking, model=model, field=True)
    elif isinstance(thinking, list):
        yield from pieces_of(thinking, model=model, apart=True)
    if step.text is not None and not isinstance(step.text, str):
        raise MalformedBodyError(f"text: {type(step.text).__name__}, not a text")
    if step.text:
        yield Piece(PieceKind.ANSWER, step.text)
    yield from (Piece(PieceKind.TOOL_CALL) for _ in step.tool_calls or ())


def _read_ui_message(body: dict[str, Any]) -> Reading:
    message = parse(UIMessage, body)
    metadata = message.metadata or {}
    usage = metadata.get("totalUsage", metadata.get("usage"))
    model = metadata.get("modelId", metadata.get("model"))
    model = model if isinstance(model, str) else None
    facts = parse(Result, {"usage": usage, "finishReason": metadata.get("finishReason")})
    finish, raw = _finish(facts.finish_reason)
    return Reading(
        pieces=[piece for number, part in enumerate(message.parts) for piece in _ui_part(part, number, model)],
        response_id=message.id or None,
        model=model,
        created_at=clock.from_any(metadata.get("createdAt")),
        choices=1,
        finish=finish,
        finish_raw=raw,
        counts=counts_of_all(facts, [facts]),
        usage=usage if isinstance(usage, dict) else None,
    )


def _ui_part(part: dict[str, Any], number: int, model: str | None) -> Iterator[Piece]:
    kind = part.get("type")
    if isinstance(kind, str) and kind.startswith(_TOOL_PARTS):
        inner = part.get("toolInvocation")  # version 4
        state = inner.get("state") if isinstance(inner, dict) else part.get("state")
        yield Piece(PieceKind.OTHER if state in _ANSWERED else PieceKind.TOOL_CALL)
    else:
        yield from (piece._replace(part=number) for piece in pieces_of([part], model=model))
