"""Chat Completions: OpenAI's shape, spoken by most hosts, each with fields, lists and usage names of its own.

Surface      ``choices[].message``: ``content`` (text, or a list with ``thinking`` parts), thinking in a field beside it
             (``reasoning_content``, ``reasoning``, ``reasoning_text``), in details or blocks, or as tags in the text.
Tokens       ``usage.completion_tokens_details.reasoning_tokens`` and its variants; inside the completion count or on
             top of it: the record's arithmetic says which, never the host's name.
Effort       Requested only: no body of this shape states it.
Stream       ``choices[].delta``, folded by ``stream.py``.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from schemas.exchange import JsonObject, Stream
from schemas.reading import Asked, MalformedBodyError, Reading
from schemas.vocabulary import FinishReason, PieceKind
from schemas.wire.openai_chat import Body, Choice, Message
from transforms.asked import asked_openai_shaped
from transforms.clock import from_epoch
from transforms.errors import CallError, read_error
from transforms.protocols.openai_chat.content import message_pieces
from transforms.protocols.openai_chat.stream import fold_chunks
from transforms.protocols.openai_chat.usage import read_cost, read_counts, usage_of

NAME = "openai_chat"
MARKS = frozenset({"object", "choices"})
PATHS = ("/chat/completions", "/text/chat", "/agents/completions")
VENDOR = None
BEGINS = None

_OBJECTS = ("chat.completion", "chat.completion.chunk")
_EMPTY_CHUNK = frozenset({"id", "model", "usage", "prompt_filter_results"})
_TEXT_COMPLETIONS = ("text_completion", "text.completion", "completion.chunk")
"""Another shape, whose chunks may hold a copy of the text as a delta (Together)."""
_FINISH: dict[str, FinishReason] = {
    word: reason
    for reason, words in {
        FinishReason.STOP: "stop eos eos_token end_turn stop_sequence stop_str end complete completed done",
        FinishReason.LENGTH: "length max_tokens max_output_tokens max_completion_tokens max_length model_length",
        FinishReason.TOOL_CALLS: "tool_calls tool_call tool_use function_call",
        FinishReason.CONTENT_FILTER: (
            "content_filter content_filtered sensitive safety recitation prohibited_content blocklist spii "
            "image_safety guardrail_intervened"
        ),
        FinishReason.REFUSAL: "refusal",
        FinishReason.ERROR: "error network_error insufficient_system_resource malformed_function_call",
        FinishReason.ABORTED: "aborted abort cancelled canceled",
    }.items()
    for word in words.split()
}
"""Every word met in ``finish_reason``, in small letters (reference 7.13); another word is ``other``."""
_NO_FINISH = frozenset({"", "null"})
_BODY_MARKS = {
    "x_groq": "groq",
    "time_info": "cerebras",
    "copilot_usage": "copilot",  # before Azure's, on which it runs
    "venice_parameters": "venice",
    "base_resp": "minimax",
    "prompt_filter_results": "azure",
    "generationId": "vercel",
}
_USAGE_MARKS = {"num_sources_used": "xai", "cost_in_usd_ticks": "xai", "search_context_size": "perplexity"}
_REQUESTS_OF_OTHERS = frozenset(
    {
        "system", "anthropic_version", "output_config",  # Anthropic
        "inferenceConfig", "additionalModelRequestFields", "toolConfig", "schemaVersion", "modelId",  # Converse, Nova
        "options", "keep_alive", "think", "format",  # Ollama
        "documents", "citation_options", "safety_mode", "k", "p", "chat_history",  # Cohere
        "contents", "input", "parameters",  # Gemini, Responses, DashScope
    }
)  # fmt: skip
_REQUESTS_OF_OURS = frozenset(
    {
        "max_completion_tokens", "reasoning_effort", "frequency_penalty", "presence_penalty", "response_format",
        "stream_options", "logprobs", "n", "seed", "stop", "user", "parallel_tool_calls", "extra_body",
    }
)  # fmt: skip
_TURNS_OF_OURS = ("system", "developer", "tool", "function")
_TURNS_OF_PROTOBUF = ("ROLE_USER", "ROLE_SYSTEM", "ROLE_ASSISTANT", "ROLE_DEVELOPER")
"""xAI's gRPC, written as JSON."""


def claims(body: Mapping[str, Any]) -> bool:
    kind = body.get("object")
    if kind in _OBJECTS:
        return True
    choices = body.get("choices")
    if choices.__class__ is not list or kind in _TEXT_COMPLETIONS:
        return False
    if choices:
        first = choices[0]
        return first.__class__ is dict and ("message" in first or "delta" in first)
    return not kind and not _EMPTY_CHUNK.isdisjoint(body)  # Azure's first chunk has an empty object and no choices


def claims_request(request: Mapping[str, Any]) -> bool:
    messages = request.get("messages")
    if not isinstance(messages, list) or not _REQUESTS_OF_OTHERS.isdisjoint(request) or _is_protobuf(messages):
        return False
    if not _REQUESTS_OF_OURS.isdisjoint(request):
        return True
    if any(isinstance(turn, dict) and turn.get("role") in _TURNS_OF_OURS for turn in messages):
        return True
    thinking = request.get("thinking")
    if isinstance(thinking, dict) and "token_budget" in thinking:  # Cohere
        return False
    tools, model = request.get("tools"), request.get("model")
    if isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools):
        return False
    return not (isinstance(model, str) and model.startswith("claude-") and "max_tokens" in request)


def _is_protobuf(messages: list[Any]) -> bool:
    return any(isinstance(turn, dict) and turn.get("role") in _TURNS_OF_PROTOBUF for turn in messages[:1])


def fold(stream: Stream) -> dict[str, Any]:
    return fold_chunks(stream)


def asked(request: dict[str, Any]) -> Asked:
    wish = asked_openai_shaped(request)
    if wish.model is None and isinstance(name := request.get("model_id"), str):  # watsonx
        wish.model = name or None
    return wish


def read(body: dict[str, Any]) -> Reading:
    try:
        parsed = Body.model_validate(body)
    except ValidationError as error:
        raise MalformedBodyError(_complaint(error)) from error
    choices = _in_order(parsed.choices or [])
    messages = [choice.message or choice.delta for choice in choices]
    reading = Reading(
        pieces=[piece for number, one in enumerate(messages) if one for piece in message_pieces(one, number)],
        response_id=parsed.id or None,
        model=parsed.model or parsed.model_id or None,
        created_at=from_epoch(parsed.created) if parsed.created else None,
        choices=len(choices) or None,
        service_tier=parsed.service_tier or None,
    )
    if choices:
        reading.finish, reading.finish_raw = _finish(choices[0])
    usage = usage_of(body)
    if usage is not None:
        _read_usage(reading, usage, body, messages[0] if messages else None)
    elif "cost" in body:
        reading.cost_usd = read_cost({}, body)
    failure = _error(body, choices)
    if failure is not None:
        reading.error_type, reading.error_message = failure
        reading.finish = FinishReason.ERROR
    reading.provider_hint = _host(body, usage or {})
    return reading


def _complaint(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _in_order(choices: list[Choice]) -> list[Choice]:
    if len(choices) < 2 or any(choice.index is None for choice in choices):
        return choices
    return sorted(choices, key=lambda choice: choice.index or 0)


def _finish(choice: Choice) -> tuple[FinishReason | None, str | None]:
    """The word as sent; LiteLLM turns words it does not know into ``stop`` and keeps the original (reference 2.5)."""
    original = (choice.provider_specific_fields or {}).get("native_finish_reason")
    raw = original if isinstance(original, str) and original else choice.finish_reason
    raw = raw or choice.native_finish_reason or choice.stop_reason
    if raw is None and choice.finish_details:  # OpenAI in 2023
        kind = choice.finish_details.get("type")
        raw = kind if isinstance(kind, str) else None
    if raw is None or raw in _NO_FINISH:
        return None, None
    reason = _FINISH.get(raw.lower(), FinishReason.OTHER)
    message = choice.message or choice.delta
    if reason is FinishReason.STOP and message is not None and message.refusal and not message.content:
        reason = FinishReason.REFUSAL
    return reason, raw


def _read_usage(reading: Reading, usage: JsonObject, body: JsonObject, message: Message | None) -> None:
    counts = read_counts(usage, body, metadata=message.provider_metadata if message else None)
    if counts.reasoning == 0 and usage.get("reasoning_tokens") == 0 and _was_never_counted(reading, usage):
        counts.reasoning = None
    if message and message.thinking_blocks and counts.reasoning:
        # LiteLLM counts a Claude's thinking by a tokenizer of its own where the upstream gave no count.
        counts.estimated = "claude" in (reading.model or "") and "output_tokens_details" not in usage
    reading.usage, reading.counts = usage, counts
    reading.cost_usd = read_cost(usage, body)
    if reading.service_tier is None and isinstance(tier := usage.get("service_tier"), str):
        reading.service_tier = tier or None


def _was_never_counted(reading: Reading, usage: JsonObject) -> bool:
    """A bare ``reasoning_tokens: 0`` beside thinking that is there to be seen: SGLang's default (reference 2.25)."""
    details = usage.get("completion_tokens_details")
    if isinstance(details, dict) and details.get("reasoning_tokens") is not None:
        return False
    return any(
        piece.kind is PieceKind.THINKING or (piece.kind is PieceKind.ANSWER and "</think" in piece.text)
        for piece in reading.pieces
    )


def _error(body: JsonObject, choices: list[Choice]) -> CallError | None:
    if body.get("error") or "base_resp" in body:
        return read_error(body)
    for choice in choices:
        if choice.error:
            return read_error({"error": choice.error})
    groq = body.get("x_groq")
    return read_error({"error": groq.get("error")}) if isinstance(groq, dict) and groq.get("error") else None


def _host(body: JsonObject, usage: JsonObject) -> str | None:
    """A host that left a mark which no other host leaves."""
    for marks, place in ((_BODY_MARKS, body), (_USAGE_MARKS, usage)):
        if not marks.keys().isdisjoint(place):
            host = next((host for mark, host in marks.items() if place.get(mark) is not None), None)
            if host is not None:
                return host
    identity = body.get("id")
    if isinstance(identity, str) and identity.startswith("gen-") and isinstance(body.get("provider"), str):
        return "openrouter"
    model = body.get("model")
    return "fireworks" if isinstance(model, str) and model.startswith("accounts/fireworks/") else None
