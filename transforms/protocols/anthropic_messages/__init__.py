"""Anthropic Messages, also as Bedrock InvokeModel, Vertex rawPredict and compatible servers send it.

Surface   ``content[]`` in order: ``thinking`` (text and signature), ``redacted_thinking`` (bytes nobody can read),
          ``text`` (answer), ``tool_use`` (a call for the client). All other blocks are the server's own work.
Tokens    Cache reads and writes stand beside ``input_tokens``; thinking is inside ``output_tokens``, and its own
          count is null where the model reports none. Of ``usage.iterations`` a compaction is added, an advisor
          is a call of its own.
Effort    Requested only: no field of the response says it. Where a fallback answered, what was sent to it counts.
Stream    ``message_start``, ``content_block_start/delta/stop``, ``message_delta`` (cumulative usage), ``message_stop``.
Sources   Reference, sections 2, 3 and 4: the types of Anthropic's SDK, and what hosts and gateways were seen to do.
"""

from collections.abc import Mapping
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Asked, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ThinkingForm, ThinkingSource
from schemas.wire.anthropic_messages import Block, Message, OutputConfig, Request, Thinking
from transforms.asked import Wish, spelled
from transforms.effort import to_effort, to_switch
from transforms.errors import read_error
from transforms.protocols.anthropic_messages.stream import fold_events
from transforms.protocols.anthropic_messages.usage import spend_of
from transforms.thinking_form import shown_form
from transforms.wire_models import parse

NAME = "anthropic_messages"
MARKS = frozenset({"type", "content"})
PATHS = ("/v1/messages", "/publishers/anthropic/models/")
VENDOR = "anthropic"
BEGINS = ("message_start", "message")

_FINISH = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "tool_use": FinishReason.TOOL_CALLS,
    "refusal": FinishReason.REFUSAL,
    "pause_turn": FinishReason.OTHER,  # the server paused its own tools; the client sends the turn back to go on
    "compaction": FinishReason.OTHER,
}
_HOSTS = {"msg_bdrk_": "bedrock", "msg_vrtx_": "vertex"}
"""Prefixes of message ids, and the host that gives them."""
_FOREIGN_REASONING = "litellm_encrypted_reasoning:"
"""LiteLLM keeps OpenAI's encrypted reasoning under this mark, in a signature or in ``redacted_thinking``."""


# Claims

_EVENTS = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    }
)


def claims(body: Mapping[str, Any]) -> bool:
    kind = body.get("type")
    if isinstance(kind, str) and kind in _EVENTS:
        return True
    if "content" not in body:
        return False
    if kind == "message":
        # An output item of OpenAI's Responses has this type and role too, but a status or other blocks, and no usage.
        if "stop_reason" in body or "usage" in body:
            return True
        return body.get("role") == "assistant" and "status" not in body and not _is_output_item(body["content"])
    return kind is None and isinstance(body["content"], list) and "stop_reason" in body and "finish_reason" not in body


def _is_output_item(content: object) -> bool:
    first = content[0] if isinstance(content, list) and content else None
    return isinstance(first, dict) and first.get("type") == "output_text"


_OTHER_REQUESTS = frozenset(
    {
        "max_completion_tokens", "frequency_penalty", "presence_penalty", "response_format", "stream_options",
        "logprobs", "n", "seed", "stop", "user", "parallel_tool_calls", "extra_body", "reasoning_effort",  # OpenAI
        "inferenceConfig", "additionalModelRequestFields", "toolConfig", "schemaVersion", "modelId",  # Converse, Nova
        "options", "keep_alive", "think", "format",  # Ollama
        "documents", "citation_options", "safety_mode", "k", "p",  # Cohere
    }
)  # fmt: skip


def claims_request(request: Mapping[str, Any]) -> bool:
    messages = request.get("messages")
    if not isinstance(messages, list):
        return False
    if "anthropic_version" in request:
        return True
    if not _OTHER_REQUESTS.isdisjoint(request) or _has_openai_turns(messages):
        return False
    tools, thinking, model = request.get("tools"), request.get("thinking"), request.get("model")
    return (
        ("system" in request and "max_tokens" in request)
        or "output_config" in request
        or (isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools))
        or (isinstance(thinking, dict) and "budget_tokens" in thinking)
        # The API's own names: routers write ``anthropic/claude-…`` into requests of OpenAI's shape.
        or (isinstance(model, str) and model.startswith("claude-") and "max_tokens" in request)
    )


def _has_openai_turns(messages: list[Any]) -> bool:
    """Roles of OpenAI's. A system turn exists here too, but only within a conversation, where it may set an effort."""
    roles = [message.get("role") for message in messages if isinstance(message, dict)]
    return roles[:1] == ["system"] or any(role in ("developer", "tool", "function") for role in roles)


# Streams


def fold(stream: Stream) -> dict[str, Any]:
    return fold_events(stream)


# Bodies


def read(body: dict[str, Any]) -> Reading:
    message = parse(Message, body)
    usage = body.get("usage")
    failure = read_error(body) if body.get("error") else None
    finish = _FINISH.get(message.stop_reason, FinishReason.OTHER) if message.stop_reason else None
    if body.get("aborted") is True:
        finish = FinishReason.ABORTED
    spend = spend_of(message.usage) if message.usage else None
    fallback = spend.fallback if spend else None
    model = fallback or message.model  # a stream began with the name of the model that then declined
    return Reading(
        pieces=[_piece(block, model) for block in message.content],
        response_id=message.id,
        model=model,
        choices=1,
        finish=FinishReason.ERROR if failure else finish,
        finish_raw=message.stop_reason,
        counts=spend.counts if spend else None,
        usage=usage if isinstance(usage, dict) else None,
        also=spend.also if spend else [],
        fell_back=fallback is not None,
        service_tier=message.usage.service_tier if message.usage else None,
        error_type=failure.type if failure else None,
        error_message=failure.message if failure else None,
        provider_hint=_HOSTS.get(message.id[:9]) if message.id else None,
    )


def _piece(block: Block, model: str | None) -> Piece:
    match block.type:
        case "text":
            return Piece(PieceKind.ANSWER, _text(block.text, "text"))
        case "thinking":
            return _thinking(_text(block.thinking, "thinking"), block.signature, model)
        case "redacted_thinking":
            form = ThinkingForm.ENCRYPTED if _is_foreign(block.data) else ThinkingForm.REDACTED
            return Piece(PieceKind.REDACTED, form=form)
        case "tool_use":
            return Piece(PieceKind.TOOL_CALL)
        case _:
            return Piece(PieceKind.OTHER)


def _thinking(text: str, signature: object, model: str | None) -> Piece:
    foreign = _is_foreign(signature)
    if not text or text.isspace():
        return Piece(PieceKind.REDACTED, form=ThinkingForm.ENCRYPTED if foreign else ThinkingForm.OMITTED)
    form = ThinkingForm.SUMMARY if foreign else shown_form(model) or ThinkingForm.FULL
    return Piece(PieceKind.THINKING, text, source=ThinkingSource.BLOCK, form=form)


def _text(value: object, name: str) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    raise MalformedBodyError(f"content: a block's {name} is {type(value).__name__}, not a text")


def _is_foreign(payload: object) -> bool:
    return isinstance(payload, str) and payload.startswith(_FOREIGN_REASONING)


# Requests


def asked(request: dict[str, Any]) -> Asked:
    wanted = Request.model_validate(request)
    own = Asked(
        model=wanted.model,
        stream=wanted.stream,
        max_output_tokens=wanted.max_tokens,
        service_tier=wanted.service_tier,
        user_id=wanted.metadata.user_id if wanted.metadata else None,
    )
    own.thinking, own.budget, own.effort, own.effort_raw = _wish(wanted, request)
    if isinstance(wanted.fallbacks, list):
        own.fallbacks = _fallbacks(wanted.fallbacks, own)
    return own


def _wish(wanted: Request, request: Mapping[str, Any]) -> Wish:
    thinking = wanted.thinking or Thinking()
    effort = spelled(_effort(wanted))
    if effort is None and thinking.budget_tokens is None and wanted.thinking:
        effort = spelled(request["thinking"].get("budget_tokens"))  # a level in the budget's place
    return Wish(to_switch(thinking.type), thinking.budget_tokens, to_effort(effort), effort)


def _fallbacks(entries: list[Any], own: Asked) -> dict[str, Asked]:
    """What each fallback is sent: what its entry sets, and the request's own of what it does not (reference 2.5)."""
    sent: dict[str, Asked] = {}
    for entry in entries:
        wanted = Request.model_validate(entry) if isinstance(entry, dict) else Request()
        if wanted.model is None:
            continue
        wish = _wish(wanted, entry)
        switch, budget = (wish.switch, wish.budget) if wanted.thinking else (own.thinking, own.budget)
        effort, raw = (wish.effort, wish.raw) if wish.raw is not None else (own.effort, own.effort_raw)
        sent[wanted.model] = Asked(wanted.model, thinking=switch, budget=budget, effort=effort, effort_raw=raw)
    return sent


def _effort(request: Request) -> object:
    """The effort in force: the last one set within the conversation beats the request's own (reference 2.5)."""
    turns = request.messages if isinstance(request.messages, list) else []
    for turn in reversed(turns):
        if isinstance(turn, dict) and turn.get("role") == "system":
            config = turn.get("output_config")
            if isinstance(config, dict) and config.get("effort") is not None:
                return config["effort"]
    config = request.output_config or OutputConfig()
    return next(
        (value for value in (config.effort, request.reasoning_effort, request.effort) if value is not None), None
    )
