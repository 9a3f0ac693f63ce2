"""Where the answers are: LangChain's serialisations of a message, an LLMResult's generations, a graph's state."""

from collections.abc import Mapping
from typing import Any

_OWN_TYPES = ("ai", "AIMessage", "AIMessageChunk")
_OTHER_TYPES = (
    "human", "system", "tool", "function", "chat", "HumanMessage", "SystemMessage", "ToolMessage", "HumanMessageChunk",
    "SystemMessageChunk", "ToolMessageChunk",
)  # fmt: skip

Json = dict[str, Any]


def is_message(value: Mapping[str, Any]) -> bool:
    """Tell whether this is an AI message: a constructor's dump, ``messages_to_dict``, or its plain fields."""
    if "lc" in value:
        return _class_of(value) in _OWN_TYPES
    if value.get("type") not in _OWN_TYPES:
        return False
    return "content" in value or isinstance(value.get("data"), dict) or "tool_calls" in value


def is_request_message(value: Mapping[str, Any]) -> bool:
    """Tell whether this is a message of any role, in a conversation that was sent."""
    return is_message(value) or _class_of(value) in _OTHER_TYPES or value.get("type") in _OTHER_TYPES


def fields_of(message: Mapping[str, Any]) -> Json:
    """A message's own fields, in whatever they are wrapped."""
    for wrapper in ("kwargs", "data"):
        inner = message.get(wrapper)
        if isinstance(inner, dict):
            return inner
    return dict(message)


def answers_of(body: Mapping[str, Any]) -> list[tuple[Json, Json]]:
    """The answers in a body, each with what its generation says beside it. Of a state's messages it is the last one."""
    generations = body.get("generations")
    if isinstance(generations, list):
        flat = [one for batch in generations if isinstance(batch, list) for one in batch if isinstance(one, dict)]
        return [_answer_of(generation) for generation in flat]
    messages = body.get("messages")
    if isinstance(messages, list) and not is_message(body):
        found = [one for one in messages if isinstance(one, dict) and is_message(one)]
        return [(fields_of(found[-1]), {})] if found else []
    return [(fields_of(body), {})]


def _answer_of(generation: Mapping[str, Any]) -> tuple[Json, Json]:
    """A generation's message, else its text: models without a chat give no message."""
    info = generation.get("generation_info")
    message = generation.get("message")
    inner = fields_of(message) if isinstance(message, dict) else {"content": generation.get("text")}
    return inner, info if isinstance(info, dict) else {}


def _class_of(message: Mapping[str, Any]) -> str | None:
    path = message.get("id")
    name = path[-1] if "lc" in message and isinstance(path, list) and path else None
    return name if isinstance(name, str) else None
