"""Gemini Live (``BidiGenerateContent``): one turn of a session, as the messages of its socket.

Surface   ``serverContent.modelTurn.parts[]``: ``text`` with ``thought: true`` (a summary), ``text`` (answer). A spoken
          answer's text is ``outputTranscription``. ``toolCall.functionCalls[]`` are calls for the client.
Tokens    ``usageMetadata`` with ``responseTokenCount``; ``thoughtsTokenCount`` is on top, and the total leaves it out.
Effort    Requested only, in the ``setup`` message.
Stream    Always; a session's turns are cut apart before they come here, by ``transforms/bundles.py``.
Sources   Reference on native protocols, sections 1.1 and 8, and recorded sessions.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.exchange import JsonObject, Stream
from schemas.reading import Asked, Counts, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ReasoningBasis, ThinkingForm, ThinkingSource, ThinkingSwitch
from schemas.wire.gemini_live import GenerationConfig, Setup, ThinkingConfig, UsageMetadata
from transforms.asked import merged, read_budget, read_level
from transforms.errors import read_error

NAME = "gemini_live"
MARKS = frozenset({"serverContent", "server_content", "toolCall", "tool_call"})
PATHS = ("BidiGenerateContent",)
VENDOR = "google"
BEGINS = None

_KEYS = ("serverContent", "server_content")
_NO_REASON = "TURN_COMPLETE_REASON_UNSPECIFIED"


def claims(body: Mapping[str, Any]) -> bool:
    if "serverContent" in body or "server_content" in body:
        return True
    return ("toolCall" in body or "tool_call" in body) and _calls(body) is not None


def claims_request(request: Mapping[str, Any]) -> bool:
    return isinstance(request.get("setup"), dict)


def _either(fields: Mapping[str, Any], camel: str, snake: str) -> Any:
    value = fields.get(camel)
    return fields.get(snake) if value is None else value


def _calls(message: Mapping[str, Any]) -> list[Any] | None:
    call = _either(message, "toolCall", "tool_call")
    calls = _either(call, "functionCalls", "function_calls") if isinstance(call, dict) else None
    return calls if isinstance(calls, list) else None


def fold(stream: Stream) -> dict[str, Any]:
    """One body of a turn's messages: ``parts`` in order, ``transcription``, the last counts, and how it ended."""
    body: JsonObject = {"parts": [], "transcription": "", "usageMetadata": None}
    spoken: list[str] = []
    for message in stream.events:
        usage = _either(message, "usageMetadata", "usage_metadata")
        if isinstance(usage, dict):
            body["usageMetadata"] = usage
        if message.get("error"):
            body["error"] = message["error"]
        body["parts"] += [{"functionCall": call} for call in _calls(message) or ()]
        content = _either(message, *_KEYS)
        if isinstance(content, dict):
            _add_content(body, spoken, content)
    body["transcription"] = "".join(spoken)
    return body


def _add_content(body: JsonObject, spoken: list[str], content: JsonObject) -> None:
    turn = _either(content, "modelTurn", "model_turn")
    parts = turn.get("parts") if isinstance(turn, dict) else None
    if parts is not None and not isinstance(parts, list):
        raise MalformedBodyError(f"serverContent.modelTurn.parts: a {type(parts).__name__}, and no list")
    body["parts"] += parts or ()
    transcription = _either(content, "outputTranscription", "output_transcription")
    text = transcription.get("text") if isinstance(transcription, dict) else None
    if isinstance(text, str):
        spoken.append(text)
    for camel, snake in (
        ("turnComplete", "turn_complete"),
        ("turnCompleteReason", "turn_complete_reason"),
        ("interrupted", "interrupted"),
    ):
        value = _either(content, camel, snake)
        if value:
            body[camel] = value


def read(body: dict[str, Any]) -> Reading:
    if "parts" not in body:  # one message that was stored alone
        body = fold(Stream([body]))
    pieces = list(_pieces(body["parts"]))
    if body.get("transcription") and not any(piece.kind is PieceKind.ANSWER for piece in pieces):
        pieces.append(Piece(PieceKind.ANSWER, body["transcription"]))
    usage = body.get("usageMetadata")
    failure = read_error(body) if body.get("error") else None
    finish, raw = _finish(body)
    return Reading(
        pieces=pieces,
        choices=1 if pieces or usage else None,
        finish=FinishReason.ERROR if failure else finish,
        finish_raw=raw,
        counts=_counts(UsageMetadata.model_validate(usage), pieces) if usage else None,
        usage=usage,
        error_type=failure.type if failure else None,
        error_message=failure.message if failure else None,
    )


def _pieces(parts: list[Any]) -> Iterator[Piece]:
    for part in parts:
        text = part.get("text") if isinstance(part, dict) else None
        if isinstance(text, str):
            if text and part.get("thought") is True:
                yield Piece(PieceKind.THINKING, text, source=ThinkingSource.BLOCK, form=ThinkingForm.SUMMARY)
            elif text:
                yield Piece(PieceKind.ANSWER, text)
        elif isinstance(part, dict) and "functionCall" in part:
            yield Piece(PieceKind.TOOL_CALL)


def _finish(body: JsonObject) -> tuple[FinishReason | None, str | None]:
    if body.get("interrupted"):
        return FinishReason.ABORTED, "interrupted"
    reason = body.get("turnCompleteReason")
    if isinstance(reason, str) and reason != _NO_REASON:
        return FinishReason.OTHER, reason
    return (FinishReason.STOP, "turnComplete") if body.get("turnComplete") else (None, None)


def _counts(usage: UsageMetadata, pieces: list[Piece]) -> Counts:
    """A total is left aside where it plainly leaves something out: the thoughts, or an answer that is there."""
    prompt, total = usage.prompt_token_count, usage.total_token_count
    if prompt is not None:
        prompt += usage.tool_use_prompt_token_count or 0
    answered = usage.candidates_token_count if usage.response_token_count is None else usage.response_token_count
    thought = usage.thoughts_token_count
    if total == (prompt or 0) + (answered or 0) and (thought or (answered is None and pieces)):
        total = None
    return Counts(
        prompt=prompt,
        completion=answered,
        reasoning=thought,
        total=total,
        cached=usage.cached_content_token_count,
        convention=ReasoningBasis.ON_TOP,
        proof=_proof(usage, answered, thought),
    )


def _proof(usage: UsageMetadata, answered: int | None, thought: int | None) -> ReasoningBasis | None:
    """Thoughts are text: where all that is counted as the answer is speech, they are not in it."""
    details = usage.response_tokens_details
    if not thought or not answered or details is None:
        return None
    spoken = sum(detail.token_count or 0 for detail in details if detail.modality == "AUDIO")
    return ReasoningBasis.ON_TOP if spoken > answered - thought else None


def asked(request: dict[str, Any]) -> Asked:
    setup = request.get("setup")
    wanted = Setup.model_validate(setup) if isinstance(setup, dict) else Setup()
    config = wanted.generation_config or GenerationConfig()
    thinking = config.thinking_config or ThinkingConfig()
    wish = merged([read_level(thinking.thinking_level), read_budget(thinking.thinking_budget)])
    return Asked(
        model=wanted.model.rpartition("models/")[2] if wanted.model else None,
        thinking=wish.switch or (ThinkingSwitch.ON if wish.budget else None),
        budget=wish.budget,
        effort=wish.effort,
        effort_raw=wish.raw,
        max_output_tokens=config.max_output_tokens or None,
    )
