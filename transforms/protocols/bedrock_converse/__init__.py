"""Bedrock Converse and ConverseStream, and Amazon Nova's own InvokeModel body, which is the same but for two names.

Surface   ``output.message.content[]`` in order: ``reasoningContent`` (text, or bytes nobody can read), ``text`` and
          ``citationsContent`` (answer), ``toolUse`` (a call for the client, unless its type is ``server_tool_use``).
Tokens    Cache reads and writes stand beside ``inputTokens``; thinking is inside ``outputTokens``. Its own count comes
          only of Claude, and only where the request asked for that field of the model's body.
Effort    Requested only, in each vendor's own spelling; no field of the response says it.
Stream    ``messageStart``, ``contentBlockStart/Delta/Stop``, ``messageStop``, ``metadata`` (usage), each by its name or
          as its payload alone.
Sources   Reference, sections 5 and 6: botocore's model of the service, and what SDKs and gateways were seen to do.
"""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Counts, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ReasoningBasis, ThinkingForm, ThinkingSource
from schemas.wire.bedrock_converse import Block, Body, ReasoningContent, SdkMetadata, Usage
from transforms import clock
from transforms.errors import read_error
from transforms.protocols.bedrock_converse.request import asked as asked
from transforms.protocols.bedrock_converse.request import claims_request as claims_request
from transforms.protocols.bedrock_converse.stream import fold_events
from transforms.wire_models import parse

NAME = "bedrock_converse"
MARKS = frozenset(
    {
        "output", "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "contentBlockIndex",
        "messageStop", "metadata", "stopReason", "metrics",
    }
)  # fmt: skip
PATHS = ("/converse",)
VENDOR = "amazon"
BEGINS = None

_FINISH = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "tool_use": FinishReason.TOOL_CALLS,
    "content_filtered": FinishReason.CONTENT_FILTER,
    "guardrail_intervened": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.REFUSAL,
}
"""All others are ``other``: ``malformed_model_output`` and ``malformed_tool_use`` were billed like any output."""
_WITHHELD = "[REDACTED]"
"""What Nova 2 writes in the place of its thinking (AWS, Nova 2 user guide, reasoning capabilities)."""
_ENCRYPTED_BY_OPENAI = ("gAAAA", "Z0FBQU")
"""How OpenAI's encrypted reasoning begins, as it is and once more in base64; OpenAI's models keep it here."""
_NO_SDK = SdkMetadata()


# Claims


def claims(body: Mapping[str, Any]) -> bool:
    output = body.get("output")
    if isinstance(output, dict):
        return isinstance(output.get("message"), dict)
    if "contentBlockDelta" in body or "messageStart" in body or "contentBlockIndex" in body or "messageStop" in body:
        return True
    if "contentBlockStart" in body or "contentBlockStop" in body:
        return True
    if "metadata" in body:
        return _counts_tokens(body["metadata"])
    return body.keys() <= _BARE_END and ("stopReason" in body or ("metrics" in body and _counts_tokens(body)))


_BARE_END = frozenset(
    {
        "stopReason",
        "additionalModelResponseFields",
        "usage",
        "metrics",
        "trace",
        "serviceTier",
        "performanceConfig",
        "p",
    }
)
"""The payloads of ``messageStop`` and ``metadata``, alone; ``p`` is padding."""


def _counts_tokens(metadata: object) -> bool:
    usage = metadata.get("usage") if isinstance(metadata, dict) else None
    return isinstance(usage, dict) and "inputTokens" in usage


def fold(stream: Stream) -> dict[str, Any]:
    return fold_events(stream)


# Bodies


def read(body: dict[str, Any]) -> Reading:
    answer = parse(Body, body)
    usage = body.get("usage")
    failure = read_error({"error": body["error"]}) if body.get("error") else None
    finish = _FINISH.get(answer.stop_reason, FinishReason.OTHER) if answer.stop_reason else None
    if body.get("aborted") is True:
        finish = FinishReason.ABORTED
    sdk = answer.response_metadata or answer.js_metadata or _NO_SDK
    return Reading(
        pieces=[piece for block in answer.output.message.content or [] for piece in _pieces(block)],
        response_id=sdk.request_id or sdk.request_id_js,
        created_at=_http_date(sdk.headers.date) if sdk.headers and sdk.headers.date else None,
        choices=1,
        finish=FinishReason.ERROR if failure else finish,
        finish_raw=answer.stop_reason,
        counts=_counts(answer.usage, _thinking_tokens(answer)) if answer.usage else None,
        usage=usage if isinstance(usage, dict) else None,
        service_tier=answer.service_tier.type if answer.service_tier else None,
        error_type=failure.type if failure else None,
        error_message=failure.message if failure else None,
        provider_hint="bedrock",
    )


def _http_date(text: str) -> int | None:
    """The time of an HTTP date header, as microseconds since 1970 UTC."""
    try:
        return clock.from_datetime(parsedate_to_datetime(text))
    except ValueError:
        return None


def _pieces(block: Block) -> list[Piece]:
    if block.text is not None:
        return [Piece(PieceKind.ANSWER, block.text)]
    if block.reasoning_content is not None:
        return [_thinking(block.reasoning_content)]
    if block.citations_content is not None:
        return [Piece(PieceKind.ANSWER, "".join(cited.text or "" for cited in block.citations_content.content or []))]
    if block.tool_use is not None and block.tool_use.type != "server_tool_use":
        return [Piece(PieceKind.TOOL_CALL)]
    return [Piece(PieceKind.OTHER)]


def _thinking(reasoning: ReasoningContent) -> Piece:
    payload = reasoning.redacted_content
    if payload is not None or reasoning.redacted_reasoning is not None:
        encrypted = isinstance(payload, str) and payload.startswith(_ENCRYPTED_BY_OPENAI)
        return Piece(PieceKind.REDACTED, form=ThinkingForm.ENCRYPTED if encrypted else ThinkingForm.REDACTED)
    text = (reasoning.reasoning_text.text if reasoning.reasoning_text else None) or ""
    if text.strip() == _WITHHELD:
        return Piece(PieceKind.REDACTED, form=ThinkingForm.REDACTED)
    if not text or text.isspace():
        return Piece(PieceKind.REDACTED, form=ThinkingForm.OMITTED)
    return Piece(PieceKind.THINKING, text, source=ThinkingSource.BLOCK)


def _counts(usage: Usage, thinking_tokens: int | None) -> Counts:
    prompt = _first(usage.input_tokens, usage.input_token_count)
    read_back = _first(usage.cache_read_input_tokens, usage.cache_read_input_token_count)
    written = _first(usage.cache_write_input_tokens, usage.cache_write_input_token_count)
    return Counts(
        prompt=None if prompt is None else prompt + (read_back or 0) + (written or 0),
        completion=_first(usage.output_tokens, usage.output_token_count),
        reasoning=thinking_tokens,
        total=usage.total_tokens,
        cached=read_back,
        cache_write=written,
        cache_write_1h=_written_for_an_hour(usage),
        convention=ReasoningBasis.INSIDE,
    )


def _first(*counts: int | None) -> int | None:
    return next((count for count in counts if count is not None), None)


def _written_for_an_hour(usage: Usage) -> int | None:
    """Null where the details are missing; they list every span of time that something was written for."""
    if not usage.cache_details:
        return None
    return sum(detail.input_tokens or 0 for detail in usage.cache_details if detail.ttl == "1h")


def _thinking_tokens(answer: Body) -> int | None:
    fields = answer.additional_model_response_fields
    details = fields.usage.output_tokens_details if fields and fields.usage else None
    return details.thinking_tokens if details else None
