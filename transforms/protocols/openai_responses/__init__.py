"""OpenAI Responses, as OpenAI, Azure, xAI, OpenRouter, DeepSeek, vLLM, SGLang and the Codex backend send it.

Surface      ``output[]``, in order: ``reasoning`` items (``summary[]`` parts; ``content[]`` is the raw chain where a
             host shows it; ``encrypted_content`` is opaque), ``message`` items (answer, refusal, and commentary by
             ``phase``), calls for the client, and what the server ran itself. An item that has both raw chain and
             summary is read by its raw chain alone: the summary tells the same thoughts a second time.
Tokens       ``usage.output_tokens_details.reasoning_tokens``, inside ``output_tokens``. Image generation's
             ``tool_usage`` is a separate spend and not added.
Effort       ``reasoning.effort`` of the response: the one that ran, defaults resolved; vLLM and SGLang repeat the
             request's.
Stream       The last event's ``response`` is the body. Where its ``output`` is empty (Codex backend) or the stream was
             cut, finished items and, failing these, text deltas rebuild it.

Facts: reference on OpenAI-shaped protocols, sections 1.1 to 1.5, 2.1, 2.8, 2.10, 2.24, 2.25, 2.32.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from schemas.exchange import JsonObject, Stream
from schemas.reading import Asked, Counts, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ReasoningBasis, ThinkingForm, ThinkingSource
from schemas.wire.openai_responses import (
    ItemisedCost,
    MessageItem,
    OtherItem,
    Parts,
    ReasoningItem,
    ReasoningSettings,
    Response,
    Usage,
)
from transforms import clock
from transforms.asked import asked_openai_shaped
from transforms.errors import read_error
from transforms.protocols.openai_responses.delta_objects import OBJECT as DELTA_OBJECT
from transforms.protocols.openai_responses.stream import BODY_OBJECTS, fold_events

NAME = "openai_responses"
MARKS = frozenset({"object", "type", "output"})
PATHS = ("/responses",)
VENDOR = "openai"
BEGINS = ("response.created", "response")

_BARE_EVENTS = ("error", "keepalive")
_REQUESTS_OF_OTHERS = frozenset(
    {
        "messages", "contents", "inputs", "model_id",
        "encoding_format", "dimensions", "input_type", "embedding_types",  # embeddings
        "voice", "response_format",  # speech; Responses says ``text.format``
        "generation_config", "system_instruction", "previous_interaction_id", "agent",  # Gemini interactions
    }
)  # fmt: skip
_MODELS_OF_OTHERS = ("embed", "moderation", "rerank", "tts")


def claims(body: Mapping[str, Any]) -> bool:
    shape = body.get("object")
    if shape is not None:
        return shape in BODY_OBJECTS or shape == DELTA_OBJECT
    kind = body.get("type")
    if isinstance(kind, str):
        # Realtime shares the prefix; each of its events has an ``event_id``, and its client's say ``response.create``.
        if kind.startswith("response."):
            return "event_id" not in body and kind != "response.create" and not _is_realtime(body.get("response"))
        return kind in _BARE_EVENTS and "sequence_number" in body
    output = body.get("output")
    return isinstance(output, list) and _is_bare_body(body, output)


def _is_realtime(response: object) -> bool:
    return isinstance(response, dict) and response.get("object") == "realtime.response"


def _is_bare_body(body: Mapping[str, Any], output: list[Any]) -> bool:
    """Some gateways leave ``object`` out: typed items (or none yet), and the counts or the status of this API."""
    usage = body.get("usage")
    counted = isinstance(usage, dict) and "input_tokens" in usage
    if not output:
        return counted
    first = output[0]
    return isinstance(first, dict) and isinstance(first.get("type"), str) and (counted or "status" in body)


def claims_request(request: Mapping[str, Any]) -> bool:
    if not _REQUESTS_OF_OTHERS.isdisjoint(request):
        return False
    given = request.get("input")
    if isinstance(given, list):
        return all(isinstance(item, dict) for item in given)  # embeddings take lists of texts or of tokens
    if isinstance(given, str):
        model = request.get("model")
        return not (isinstance(model, str) and any(word in model for word in _MODELS_OF_OTHERS))
    stored = request.get("prompt")
    return given is None and isinstance(stored, dict) and "id" in stored


def asked(request: dict[str, Any]) -> Asked:
    found = asked_openai_shaped(request)
    conversation = request.get("conversation")
    named = conversation.get("id") if isinstance(conversation, dict) else conversation
    return replace(found, session_id=named) if isinstance(named, str) and named else found


def fold(stream: Stream) -> dict[str, Any]:
    return fold_events(stream)


_FINISH = {
    "completed": FinishReason.STOP,
    "failed": FinishReason.ERROR,
    "cancelled": FinishReason.ABORTED,
    "requires_action": FinishReason.TOOL_CALLS,  # Perplexity
    "in_progress": None,
    "queued": None,
}
_INCOMPLETE = {
    "max_output_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}
_FOR_THE_CLIENT = frozenset(
    {
        "function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call",
        "tool_search_call", "mcp_approval_request",
    }
)  # fmt: skip
_XAI_SERVER_CALL = "xs_call_"
"""xAI shows the searches on X that it ran itself as ``custom_tool_call`` with such a ``call_id``."""
_ANSWER_PARTS = ("output_text", "text", "refusal", None)
_NO_THOUGHT = "google-gemini"
"""OpenRouter wraps Gemini's thought signatures as reasoning items of this ``format``: no thought of their own."""
_VLLM_COUNTS = ("input_tokens_per_turn", "cached_tokens_per_turn")
_TICK_DIGITS = 10


def read(body: dict[str, Any]) -> Reading:
    if "output" not in body and isinstance(body.get("type"), str):  # one event that was stored alone
        body = fold(Stream([body]))
    try:
        response = Response.model_validate(body)
    except ValidationError as error:
        raise MalformedBodyError(_first_of(error)) from None
    usage = response.usage
    pieces = _pieces(response, compaction=body.get("object") == "response.compaction")
    failure = read_error(body) if body.get("error") or "base_resp" in body else None
    finish, finish_raw = _finish(response, failed=failure is not None)
    settings = response.reasoning if isinstance(response.reasoning, ReasoningSettings) else None
    effort = settings.effort if settings else None
    return Reading(
        pieces=pieces,
        response_id=response.id,
        model=response.model,
        created_at=_first_time(response.created_at, response.completed_at),
        choices=1 if pieces or finish not in _NOTHING_CAME else None,
        finish=finish,
        finish_raw=finish_raw,
        counts=_counts(usage, pieces) if usage else None,
        usage=body["usage"] if usage else None,
        effort_reported=effort,
        effort_is_echo=effort is not None and _repeats_the_request(body),
        service_tier=response.service_tier,
        cost_usd=_cost(usage) if usage else None,
        error_type=failure.type if failure else None,
        error_message=failure.message if failure else None,
        provider_hint=_host(body, response),
    )


_NOTHING_CAME = (FinishReason.ERROR, FinishReason.ABORTED, None)


def _first_of(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _first_time(*times: float | None) -> int | None:
    return next((micros for time in times if time is not None and (micros := clock.from_epoch(time))), None)


def _pieces(response: Response, *, compaction: bool) -> list[Piece]:
    items = response.output or []
    if compaction:  # earlier turns, kept or sealed: nothing of them was thought or said by this call
        return [Piece(PieceKind.OTHER)] * len(items)
    answered = {item.call_id for item in items if isinstance(item, OtherItem) and (item.type or "").endswith("_output")}
    pieces: list[Piece] = []
    for item in items:
        part = len(pieces)
        if isinstance(item, ReasoningItem):
            pieces.extend(_thought(item, part))
        elif isinstance(item, MessageItem):
            pieces.extend(_said(item, part))
        else:
            pieces.append(Piece(PieceKind.TOOL_CALL if _is_for_client(item, answered) else PieceKind.OTHER))
    if isinstance(response.reasoning, str) and not _has_text(pieces, PieceKind.THINKING):
        text = response.reasoning
        pieces.insert(0, Piece(PieceKind.THINKING, text, source=ThinkingSource.FIELD, form=ThinkingForm.FULL))
    if response.output_text and not _has_text(pieces, PieceKind.ANSWER, PieceKind.COMMENTARY):
        pieces.append(Piece(PieceKind.ANSWER, response.output_text, part=len(pieces)))
    return pieces


def _has_text(pieces: list[Piece], *kinds: PieceKind) -> bool:
    return any(piece.kind in kinds and not _is_blank(piece.text) for piece in pieces)


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _thought(item: ReasoningItem, part: int) -> Iterator[Piece]:
    chain = "".join(_texts_of(item.content))
    if not _is_blank(chain):
        yield Piece(PieceKind.THINKING, chain, part=part, source=ThinkingSource.BLOCK, form=ThinkingForm.FULL)
        return
    shown = [text for text in _texts_of(item.summary) if not _is_blank(text)]
    for number, text in enumerate(shown, start=part):
        yield Piece(PieceKind.THINKING, text, part=number, source=ThinkingSource.BLOCK, form=ThinkingForm.SUMMARY)
    if shown:
        return
    if not item.encrypted_content:
        yield Piece(PieceKind.REDACTED, form=ThinkingForm.OMITTED)
    elif (item.format or "").startswith(_NO_THOUGHT):
        yield Piece(PieceKind.OTHER)
    else:
        yield Piece(PieceKind.REDACTED, form=ThinkingForm.ENCRYPTED)


def _texts_of(parts: Parts) -> list[str]:
    if isinstance(parts, str):
        return [parts]
    return [part.text for part in parts or () if part.text]


def _said(item: MessageItem, part: int) -> Iterator[Piece]:
    if item.role not in (None, "assistant"):
        yield Piece(PieceKind.OTHER)
        return
    kind = PieceKind.COMMENTARY if item.phase == "commentary" else PieceKind.ANSWER
    if isinstance(item.content, str):
        yield Piece(kind, item.content, part=part)
        return
    for content in item.content or ():
        if content.type in _ANSWER_PARTS:
            yield Piece(kind, content.refusal or content.text or "", part=part)
        elif content.type == "reasoning_text" and content.text:
            yield Piece(
                PieceKind.THINKING, content.text, part=part, source=ThinkingSource.BLOCK, form=ThinkingForm.FULL
            )
        else:
            yield Piece(PieceKind.OTHER)


def _is_for_client(item: OtherItem, answered: set[str | None]) -> bool:
    """Whether the client must answer: not where the call's output stands beside it, or the server says it ran it."""
    if item.type not in _FOR_THE_CLIENT:
        return False
    if item.call_id is not None and (item.call_id in answered or item.call_id.startswith(_XAI_SERVER_CALL)):
        return False
    if item.type == "tool_search_call":
        return item.execution == "client"
    return item.environment is None or item.environment.type in (None, "local")


def _finish(response: Response, *, failed: bool) -> tuple[FinishReason | None, str | None]:
    status = response.status
    if status == "incomplete":
        reason = response.incomplete_details.reason if response.incomplete_details else None
        return _INCOMPLETE.get(reason or "", FinishReason.OTHER), reason or status
    if status == "completed" and _refuses(response):
        return FinishReason.REFUSAL, status
    if failed and status not in ("completed", "cancelled"):
        return FinishReason.ERROR, status
    return _FINISH.get(status, FinishReason.OTHER) if status is not None else None, status


def _refuses(response: Response) -> bool:
    return any(
        part.refusal
        for item in response.output or ()
        if isinstance(item, MessageItem) and isinstance(item.content, list)
        for part in item.content
    )


def _counts(usage: Usage, pieces: list[Piece]) -> Counts | None:
    if usage.input_tokens == usage.output_tokens == usage.total_tokens == 0 and any(piece.text for piece in pieces):
        return None  # text without a token: the server did not count (old vLLM, some test servers)
    details = usage.input_details
    thought = usage.output_details.reasoning_tokens if usage.output_details else None
    return Counts(
        prompt=usage.input_tokens,
        completion=usage.output_tokens,
        reasoning=thought if thought is not None else usage.reasoning_tokens,
        total=usage.total_tokens,
        cached=details.cached_tokens if details else None,
        cache_write=details.cache_write_tokens if details else None,
        beside=(details.audio_tokens or 0) + (details.image_tokens or 0) if details else 0,
        convention=ReasoningBasis.INSIDE,
    )


def _cost(usage: Usage) -> Decimal | None:
    """US dollars. OpenRouter's own fee leaves out what a customer's own key paid upstream, so that is added."""
    if usage.cost_in_usd_ticks is not None:
        return Decimal(usage.cost_in_usd_ticks).scaleb(-_TICK_DIGITS)
    cost = usage.cost.total_cost if isinstance(usage.cost, ItemisedCost) else usage.cost
    if cost is None and usage.pydantic_ai_gateway is not None:
        cost = usage.pydantic_ai_gateway.cost_estimate
    upstream = usage.cost_details.upstream_inference_cost if usage.is_byok and usage.cost_details else None
    amounts = [Decimal(repr(amount)) for amount in (cost, upstream) if amount is not None]
    return sum(amounts, Decimal(0)) if amounts else None


def _repeats_the_request(body: JsonObject) -> bool:
    """Servers that echo: vLLM shows counts per turn or transfer parameters, SGLang the version of its weights."""
    details = body["usage"].get("input_tokens_details") if isinstance(body.get("usage"), dict) else None
    metadata = body.get("metadata")
    return (
        "kv_transfer_params" in body
        or (isinstance(details, dict) and any(name in details for name in _VLLM_COUNTS))
        or (isinstance(metadata, dict) and "weight_version" in metadata)
    )


def _host(body: JsonObject, response: Response) -> str | None:
    """The host that the body proves, by fields that only it sends (reference, 2.3, 2.8, 2.10, 2.12, 2.15)."""
    usage = response.usage
    cost = usage.cost if usage else None
    proofs = {
        "copilot": "copilot_usage" in body,  # before Azure, on which it runs
        "azure": isinstance(body.get("content_filters"), list),
        "minimax": "base_resp" in body,
        "openrouter": (response.id or "").startswith("gen-")
        or isinstance(body.get("provider"), str)
        or (usage is not None and usage.cost_details is not None),
        "xai": usage is not None
        and (usage.cost_in_usd_ticks is not None or "num_server_side_tools_used" in body["usage"]),
        "perplexity": isinstance(cost, ItemisedCost),
    }
    return next((host for host, proven in proofs.items() if proven), None)
