"""OpenInference (Arize, Phoenix): a span's ``llm.*`` attributes, flat, as OTLP's typed list, or nested.

Surface  ``llm.output_messages[]``: ``contents[]`` of type reasoning and text, or ``content``. Without messages the text
         in ``output.value`` is the answer.
Tokens   ``llm.token_count``: the prompt holds the cache, the completion holds the reasoning.
Effort   Requested only, in ``llm.invocation_parameters`` in the provider's own spelling.
Stream   A list of attributes, folded into one object.
Source   Reference protocols-native 22.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from schemas.exchange import Stream
from schemas.reading import Asked, Counts, Piece, Reading
from schemas.vocabulary import PieceKind, ReasoningBasis
from schemas.wire.openinference import CompletionDetails, Llm, Message, PromptDetails, TokenCount
from transforms.asked import asked_openai_shaped
from transforms.attributes import flat, parsed
from transforms.content_blocks import pieces_of
from transforms.finish_words import to_finish
from transforms.wire_models import parse

NAME = "openinference"
PATHS = ()
VENDOR = None
BEGINS = None

_ROOT = "llm."
_COLUMN = "attributes."
"""Phoenix's data frames put it before every attribute's name."""
_SIGNS = frozenset(
    root + name
    for root in (_ROOT, _COLUMN + _ROOT)
    for name in (
        "model_name",
        "token_count.prompt",
        "token_count.completion",
        "token_count.total",
        "invocation_parameters",
        "output_messages",
        "output_messages.0.message.role",
        "output_messages.0.message.content",
    )
)
_NESTED = frozenset({"model_name", "output_messages", "token_count", "invocation_parameters"})
_OF_GENAI = "gen_ai."
MARKS = frozenset({*_SIGNS, "key", "llm"})


def claims(body: Mapping[str, Any]) -> bool:
    key = body.get("key")
    if key is not None and "value" in body:
        return isinstance(key, str) and key in _SIGNS
    nested = body.get("llm")
    if isinstance(nested, dict):
        return not _NESTED.isdisjoint(nested)
    return not _SIGNS.isdisjoint(body) and not any(key.startswith(_OF_GENAI) for key in body)


def claims_request(request: Mapping[str, Any]) -> bool:
    return "llm.invocation_parameters" in request


def fold(stream: Stream) -> dict[str, Any]:
    return flat(stream.events)


def asked(request: dict[str, Any]) -> Asked:
    """Read the invocation parameters, alone or among a span's attributes."""
    stored = request.get("llm.invocation_parameters", request.get("invocation_parameters"))
    params = parsed(stored)
    return asked_openai_shaped({**request, **params} if isinstance(params, dict) else request)


def read(body: dict[str, Any]) -> Reading:
    nested = body.get("llm")
    stored = nested if isinstance(nested, dict) else unflattened(body)
    llm = parse(Llm, stored)
    messages = [one.message for one in llm.output_messages or ()]
    model = llm.model_name or None
    pieces = [piece for number, message in enumerate(messages) for piece in _pieces(message, number, model)]
    output = _output_value(body)
    if not messages and output is not None:
        pieces = [Piece(PieceKind.ANSWER, output)]
    raw = next((word for word in (*(message.finish_reason for message in messages), llm.finish_reason) if word), None)
    return Reading(
        listed=True,
        pieces=pieces,
        model=model,
        choices=len(messages) or (1 if pieces else None),
        finish=to_finish(raw),
        finish_raw=raw,
        counts=_counts(llm.token_count) if llm.token_count else None,
        usage=stored["token_count"] if llm.token_count else None,
        cost_usd=Decimal(str(llm.cost.total)) if llm.cost and llm.cost.total is not None else None,
        provider_hint=llm.provider or llm.system or None,
    )


def unflattened(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Everything under ``llm.`` as one nested object; keys that are numbers are places in a list."""
    own = {name.removeprefix(_COLUMN): value for name, value in attributes.items()}
    return _branches({name.removeprefix(_ROOT): value for name, value in own.items() if name.startswith(_ROOT)})


def _branches(flat_object: Mapping[str, Any]) -> dict[str, Any]:
    root: dict[str, Any] = {}
    for name, value in flat_object.items():
        *parents, last = name.split(".")
        node = root
        for parent in parents:
            inner = node.setdefault(parent, {})
            if not isinstance(inner, dict):
                break
            node = inner
        else:
            node.setdefault(last, _nested(value))
    return {key: _with_lists(value) for key, value in root.items()}


def _nested(value: Any) -> Any:
    """A value in which Phoenix's data frames flatten the objects of a list once more."""
    if isinstance(value, list):
        return [_nested(item) for item in value]
    return _branches(value) if isinstance(value, dict) and any("." in key for key in value) else value


def _with_lists(node: Any) -> Any:
    if not isinstance(node, dict) or not node:
        return node
    values = {key: _with_lists(value) for key, value in node.items()}
    if not all(key.isascii() and key.isdigit() and len(key) < 5 for key in values):
        return values
    return [values[key] for key in sorted(values, key=int)]


def _output_value(body: Mapping[str, Any]) -> str | None:
    output = body.get("output.value", body.get(f"{_COLUMN}output.value"))
    if output is None and isinstance(nested := body.get("output"), Mapping):
        output = nested.get("value")
    return output if isinstance(output, str) and output and not output.isspace() else None


def _pieces(message: Message, choice: int, model: str | None) -> Iterator[Piece]:
    blocks = [_block(content.message_content) for content in message.contents or () if content.message_content]
    found = list(pieces_of(blocks or message.content, model=model, choice=choice, apart=True))
    yield from found
    shown = sum(piece.kind is PieceKind.TOOL_CALL for piece in found)
    yield from (Piece(PieceKind.TOOL_CALL, choice=choice) for _ in range(len(message.tool_calls or ()) - shown))


def _block(content: dict[str, Any]) -> dict[str, Any]:
    """A content part as a block: a reasoning part with ``data`` alone is Anthropic's redacted thinking."""
    if content.get("type") == "reasoning" and content.get("data") and not content.get("text"):
        return {**content, "type": "redacted_thinking"}
    return content


def _counts(count: TokenCount) -> Counts:
    given = count.prompt_details or PromptDetails()
    made = count.completion_details or CompletionDetails()
    return Counts(
        prompt=count.prompt,
        completion=count.completion,
        reasoning=made.reasoning,
        total=count.total,
        cached=given.cache_read,
        cache_write=given.cache_write,
        convention=ReasoningBasis.INSIDE,
    )
