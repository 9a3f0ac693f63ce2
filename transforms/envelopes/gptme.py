"""gptme conversations: one message a line, the model's with its counts.

Lines    Messages of the role ``assistant`` are calls.
Tokens   ``input_tokens`` leaves cache reads and writes out, as in Anthropic's API: gptme takes them out of others'.
Cost     ``cost`` is reckoned by the client from its own prices, and is not read.
Effort   Not recorded.
Times    In part without a zone; these are read as UTC, as all such times are.
Source   A recorded conversation, and gptme's code.
"""

from collections.abc import Sequence

from schemas.exchange import Exchange, JsonObject
from transforms.not_calls import NoCall
from transforms.transcript import (
    Results,
    chat_body,
    count_in,
    object_in,
    provider_and_model,
    text_in,
    time_in,
    with_cache,
)

NAME = "gptme"

_RULES = {role: f"{NAME}: a message of the role {role}" for role in ("system", "user", "tool")}
_OTHER = f"{NAME}: another kind of line"
_META = frozenset({"model", "usage", "cost"})


def recognises(head: Sequence[JsonObject]) -> bool:
    """By what gptme writes into messages; home-made logs of chats look nearly the same, and are not read by it."""
    return all(_is_message(line) for line in head) and any(_is_marked(line) or _is_counted(line) for line in head)


def _is_message(line: JsonObject) -> bool:
    return "role" in line and isinstance(line.get("content"), str) and "timestamp" in line and "type" not in line


def _is_marked(line: JsonObject) -> bool:
    """Marks are written only where they hold."""
    return line.get("role") == "system" and (line.get("pinned") is True or line.get("hide") is True)


def _is_counted(line: JsonObject) -> bool:
    meta = _meta(line)
    return "usage" in meta and meta.keys() <= _META and "/" in (text_in(meta, "model") or "")


def _meta(line: JsonObject) -> JsonObject:
    return object_in(line, "metadata")


def fold(lines: Sequence[JsonObject]) -> Results:
    return [[_call(line) if line.get("role") == "assistant" else NoCall(_rule(line))] for line in lines]


def _rule(line: JsonObject) -> str:
    role = text_in(line, "role")
    return _RULES.get(role, _OTHER) if role else _OTHER


def _call(line: JsonObject) -> Exchange:
    provider, model = provider_and_model(text_in(_meta(line), "model"))
    usage = object_in(_meta(line), "usage")
    body = chat_body(model, {"content": line.get("content")}, usage=_usage(usage) if usage else None)
    return Exchange(NAME, response=body, called_at=time_in(line, "timestamp"), provider=provider)


def _usage(usage: JsonObject) -> JsonObject:
    fresh = count_in(usage, "input_tokens")
    read_back, written = count_in(usage, "cache_read_tokens"), count_in(usage, "cache_creation_tokens")
    return {
        **usage,
        "prompt_tokens": with_cache(fresh, read_back, written),
        "completion_tokens": count_in(usage, "output_tokens"),
        "prompt_tokens_details": {"cached_tokens": read_back, "cache_write_tokens": written},
    }
