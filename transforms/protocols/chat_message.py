"""An assistant's message, its choice or its output items, as loggers store them in place of the whole response.

Langfuse, Braintrust and OpenTelemetry's older events keep only this: whose shape it was (OpenAI's, Anthropic's) is
not always to be seen, so both are read.

Surface  ``content`` as text or blocks; thinking in blocks, else in a field (``reasoning_content``, ``reasoning``).
Tokens   None: what the log around it counts is the envelope's.
Effort   Requested only.
Stream   A list is the choices of one response, or the turns of a tool loop, of which the last is the answer. A list
         with a user's turns is a conversation: which calls it came from is not recorded, so it is a reject.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Asked, MalformedBodyError, Piece, Reading
from schemas.vocabulary import PieceKind
from schemas.wire.chat_message import ChatMessage, Choice
from transforms.asked import asked_openai_shaped
from transforms.content_blocks import pieces_of, thought
from transforms.finish_words import to_finish
from transforms.wire_models import parse

NAME = "chat_message"
MARKS = frozenset({"role", "message", "content", "summary", "call_id"})
PATHS = ()
VENDOR = None
BEGINS = None

_SAYS_SOMETHING = frozenset({"content", "tool_calls", "function_call", "reasoning_content", "reasoning"})
_AROUND_A_CHOICE = frozenset({"message", "finish_reason", "index", "logprobs", "stop_reason", "content_filter_results"})
_NO_BARE_MESSAGE = frozenset({"choices", "usage", "stop_reason", "parts", "object", "status", "model", "created_at"})
_ANNOTATED = ("gen_ai.", "event.")
_ROLES_OF_A_REQUEST = ("user", "system", "developer")
_FIELDS = ("reasoning_content", "reasoning", "thinking")


def claims(body: Mapping[str, Any]) -> bool:
    if _is_output_item(body):
        return True
    if body.get("role") == "assistant":
        return body.get("type") is None and _NO_BARE_MESSAGE.isdisjoint(body) and not _SAYS_SOMETHING.isdisjoint(body)
    message = body.get("message")
    if not isinstance(message, dict) or message.get("role") not in ("assistant", None):
        return False
    around = {key for key in body if not key.startswith(_ANNOTATED)}
    return "index" in around and around <= _AROUND_A_CHOICE and not _SAYS_SOMETHING.isdisjoint(message)


def _is_output_item(item: Mapping[str, Any]) -> bool:
    """Tell whether this is an item of a Responses output that stands alone."""
    match item.get("type"):
        case "message":
            content = item.get("content")
            first = content[0] if isinstance(content, list) and content else None
            return isinstance(first, dict) and first.get("type") in ("output_text", "refusal")
        case "reasoning":
            return isinstance(item.get("summary"), list) and "content" not in item
        case "function_call":
            return "call_id" in item and "arguments" in item
        case _:
            return False


def claims_request(request: Mapping[str, Any]) -> bool:  # noqa: ARG001 - what was sent is some provider's request
    return False


def fold(stream: Stream) -> dict[str, Any]:
    if any(event.get("role") in _ROLES_OF_A_REQUEST for event in stream.events):
        raise MalformedBodyError("a conversation, not an answer: which of its turns the call gave is not recorded")
    if any(_is_output_item(event) for event in stream.events):
        return {"role": "assistant", "content": [block for item in stream.events for block in _blocks(item)]}
    choices = [event for event in stream.events if "message" in event]
    if choices:
        return {"choices": choices}
    return next(event for event in reversed(stream.events) if event.get("role") == "assistant")


def _blocks(item: dict[str, Any]) -> list[Any]:
    content = item.get("content")
    return content if item.get("type") == "message" and isinstance(content, list) else [item]


def asked(request: dict[str, Any]) -> Asked:
    return asked_openai_shaped(request)


def read(body: dict[str, Any]) -> Reading:
    if _is_output_item(body):
        body = {"content": _blocks(body)}
    stored = body.get("choices") or [body if "message" in body else {"message": body}]
    choices = [parse(Choice, one) for one in stored]
    raw = choices[0].finish_reason
    return Reading(
        listed=True,
        pieces=[piece for number, choice in enumerate(choices) for piece in _pieces(choice.message, number)],
        choices=len(choices),
        finish=to_finish(raw),
        finish_raw=raw or None,
    )


def _pieces(message: ChatMessage, choice: int) -> Iterator[Piece]:
    content = list(pieces_of(message.content, model=None, choice=choice))
    if not any(piece.kind in (PieceKind.THINKING, PieceKind.REDACTED) for piece in content):
        fields = [getattr(message, name) for name in _FIELDS]
        text = next((value for value in fields if isinstance(value, str) and value and not value.isspace()), None)
        if text is not None:
            yield thought(text, model=None, choice=choice, field=True)
    yield from content
    if message.refusal:
        yield Piece(PieceKind.ANSWER, message.refusal, choice)
    calls = len(message.tool_calls or ()) + bool(message.function_call)
    shown = sum(piece.kind is PieceKind.TOOL_CALL for piece in content)
    yield from (Piece(PieceKind.TOOL_CALL, choice=choice) for _ in range(calls - shown))
