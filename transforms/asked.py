"""What a request asked for, in every spelling (design 3.4).

The spellings are those of protocols-openai-shaped 4. Where several stand in one request the first in the order of
``_READERS`` counts, for each of switch, budget and level apart: chat templates win over API fields (vLLM, SGLang).
Visibility (``include_reasoning``, ``reasoning_format``, ``exclude``) is no effort, and the prompt is read only where no
field says anything (``transforms/effort_in_prose.py``).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from schemas.reading import Asked
from schemas.vocabulary import Effort, ThinkingSwitch
from transforms.effort import to_effort, to_switch
from transforms.effort_in_prose import said_in_prompt

_LARGEST = 2**63 - 1


def spelled(value: object) -> str | None:
    """A JSON scalar as it was spelled: ``true`` for True, ``0.5`` for 0.5; null for null, empty text and containers."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else None


class Wish(NamedTuple):
    """What one place of a request asks for."""

    switch: ThinkingSwitch | None = None
    budget: int | None = None
    effort: Effort | None = None
    raw: str | None = None


_NOTHING = Wish()


def read_level(value: object) -> Wish:
    """What stands in a level's place: a level, a switch (Fireworks takes booleans), or a value to keep as spelled.

    A number stays as spelled, also where one host takes it for a budget (Fireworks) or a fraction (SGLang).
    """
    raw = spelled(value)
    if raw is None:
        return _NOTHING
    effort = to_effort(raw)
    return Wish(None if effort else to_switch(value), None, effort, raw)


def read_budget(value: object) -> Wish:
    """What stands in a budget's place: tokens; 0 switches off, −1 is adaptive and no budget; else kept as spelled."""
    tokens = _whole_number(value)
    if tokens is None or not -1 <= tokens <= _LARGEST:
        return Wish(raw=spelled(value))
    if tokens == -1:
        return Wish(ThinkingSwitch.ADAPTIVE)
    return Wish(None if tokens else ThinkingSwitch.OFF, tokens)


def _whole_number(value: object) -> int | None:
    if isinstance(value, int):
        return None if isinstance(value, bool) else value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and len(value) < 20 and value.isascii() and value.removeprefix("-").isdigit():
        return int(value)
    return None


def read_switch(value: object) -> Wish:
    """What stands in a switch's place: the switch, a level (Ollama's ``think``), or a value to keep as spelled."""
    if isinstance(value, str) and to_effort(value):
        return read_level(value)
    switch = to_switch(value)
    return Wish(switch) if switch else Wish(raw=spelled(value))


def merged(wishes: list[Wish]) -> Wish:
    """One wish of several, the first to say something counting; a level beats a value that is none."""
    if len(wishes) == 1:
        return wishes[0]
    switch = budget = effort = raw = None
    for wish in wishes:
        switch = switch or wish.switch
        budget = wish.budget if budget is None else budget
        if effort is None and wish.effort is not None:
            effort, raw = wish.effort, wish.raw
        raw = raw or wish.raw
    return Wish(switch, budget, effort, raw)


def _reasoning(value: object) -> Wish:
    return _object(value, _IN_REASONING) if isinstance(value, dict) else read_switch(value)


def _thinking(value: object) -> Wish:
    return _object(value, _IN_THINKING) if isinstance(value, dict) else read_switch(value)


def _reversed_switch(value: object) -> Wish:
    return Wish(to_switch(not value)) if isinstance(value, bool) else _NOTHING


def _low_effort(value: object) -> Wish:
    return Wish(effort=Effort.LOW, raw="low_effort") if value is True else _NOTHING


def _prompt_mode(value: object) -> Wish:
    return Wish(ThinkingSwitch.ON) if value == "reasoning" else _NOTHING


def _object(value: object, readers: Mapping[str, Callable[[object], Wish]]) -> Wish:
    if not isinstance(value, dict):
        return _NOTHING
    return merged([read(value[name]) for name, read in readers.items() if name in value])


_Readers = dict[str, Callable[[object], Wish]]
_IN_REASONING: _Readers = {  # OpenAI and xAI Responses, OpenRouter, Together (`enabled`), SGLang (the second of two)
    "effort": read_level,
    "reasoning_effort": read_level,
    "max_tokens": read_budget,
    "enabled": read_switch,
    "enable": read_switch,
}
_IN_THINKING: _Readers = {
    "type": read_switch,
    "effort": read_level,
    "budget_tokens": read_budget,
}
_IN_TEMPLATE: _Readers = {
    "reasoning_effort": read_level,
    "low_effort": _low_effort,
    "enable_thinking": read_switch,
    "thinking": read_switch,
    "thinking_mode": read_switch,
    "reasoning_budget": read_budget,
    "thinking_budget": read_budget,
}
_IN_GOOGLE: _Readers = {
    "thinking_level": read_level,
    "thinkingLevel": read_level,
    "thinking_budget": read_budget,
    "thinkingBudget": read_budget,
}
_READERS: _Readers = {
    "chat_template_kwargs": lambda value: _object(value, _IN_TEMPLATE),
    "chat_template_args": lambda value: _object(value, _IN_TEMPLATE),
    "reasoning_effort": read_level,
    "reasoning": _reasoning,
    "output_config": lambda value: _object(value, {"effort": read_level}),
    "thinking": _thinking,
    "enable_thinking": read_switch,
    "think": read_switch,
    "thinking_budget": read_budget,
    "thinking_token_budget": read_budget,
    "thinking_budget_tokens": read_budget,
    "nvext": lambda value: _object(value, {"max_thinking_tokens": read_budget}),
    "google": lambda value: _object(value, {"thinking_config": lambda config: _object(config, _IN_GOOGLE)}),
    "disable_reasoning": _reversed_switch,
    "prompt_mode": _prompt_mode,
}
_LIMITS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
_DEEPEST_EXTRA_BODY = 3


def asked_openai_shaped(request: Mapping[str, Any]) -> Asked:
    """Read what a Chat Completions or Responses request asked for; any JSON object is read, and none raises.

    DashScope's native form is read too. The user is ``user``, else ``safety_identifier``.
    """
    layers = list(_layers(request)) if "extra_body" in request or "parameters" in request else [request]
    stream = request.get("stream")
    asked = Asked(
        model=_text(request, "model"),
        stream=stream if isinstance(stream, bool) else None,
        max_output_tokens=_limit(layers),
        service_tier=_text(request, "service_tier"),
        user_id=_text(request, "user") or _text(request, "safety_identifier"),
        reasoning_format=next((word for layer in layers if (word := _text(layer, "reasoning_format"))), None),
    )
    updates = _updates(request)
    if updates or len(layers) > 1 or not _READERS.keys().isdisjoint(request):
        wishes = [read(layer[name]) for name, read in _READERS.items() for layer in layers if name in layer]
        asked.thinking, asked.budget, asked.effort, asked.effort_raw = merged([*updates, *wishes])
    if _says_nothing(asked) and (said := said_in_prompt(asked.model, request)):
        asked.thinking, _, asked.effort, _ = read_level(said.meaning)
        asked.effort_raw = said.words
    return asked


def _says_nothing(asked: Asked) -> bool:
    return asked.thinking is None and asked.budget is None and asked.effort_raw is None


def _layers(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The request and what is a part of it elsewhere: ``extra_body`` (also nested in itself), ``parameters``."""
    layer: object = request
    for _ in range(_DEEPEST_EXTRA_BODY):
        if isinstance(layer, dict):
            yield layer
            layer = layer.get("extra_body")
    parameters = request.get("parameters")
    if isinstance(parameters, dict):
        yield parameters


def _updates(request: Mapping[str, Any]) -> list[Wish]:
    """The last ``configuration_update`` that names an effort: it is in force, not the field at the top.

    OpenAI has it as an input item, OpenRouter as a key of a message (protocols-openai-shaped 1.4).
    """
    items, messages = request.get("input"), request.get("messages")
    updates: list[object] = []
    if isinstance(items, list):
        updates += [i for i in items if isinstance(i, dict) and i.get("type") == "configuration_update"]
    if isinstance(messages, list):
        updates += [m["configuration_update"] for m in messages if isinstance(m, dict) and "configuration_update" in m]
    wishes = [wish for update in updates if (wish := _object(update, {"reasoning": _reasoning})).raw is not None]
    return wishes[-1:]


def _limit(layers: list[Mapping[str, Any]]) -> int | None:
    for layer in layers:
        for name in _LIMITS:
            limit = layer.get(name)
            if isinstance(limit, int) and not isinstance(limit, bool) and 0 < limit <= _LARGEST:
                return limit
    return None


def _text(request: Mapping[str, Any], name: str) -> str | None:
    value = request.get(name)
    return value if isinstance(value, str) and value else None
