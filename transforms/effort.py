"""Effort: what a request asked for, in every spelling, and which effort ran (design 3.4).

The spellings are those of protocols-openai-shaped 4. Where several stand in one request the first in the order of
``_READERS`` counts, for each of switch, budget and level apart: chat templates win over API fields (vLLM, SGLang).
Visibility (``include_reasoning``, ``reasoning_format``, ``exclude``) and prompts are never read.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from schemas.model_profiles import ModelProfile, OffSwitch, profile_of
from schemas.reading import Asked
from schemas.vocabulary import Effort, EffortChange, EffortSource, ThinkingSwitch
from transforms.clock import to_date

_LEVELS: dict[str, Effort] = {
    **{level.value: level for level in Effort},
    "x-high": Effort.XHIGH,
    "x_high": Effort.XHIGH,
}
_LEVEL_PREFIXES = ("effort_", "reasoning_effort_", "thinking_level_")
"""Of protobuf's enums: xAI's gRPC writes ``EFFORT_MEDIUM``."""
_RANK: dict[Effort, int] = {level: rank for rank, level in enumerate(Effort)}
_SWITCHES: dict[str, ThinkingSwitch] = {
    "enabled": ThinkingSwitch.ON,
    "on": ThinkingSwitch.ON,
    "true": ThinkingSwitch.ON,
    "disabled": ThinkingSwitch.OFF,
    "off": ThinkingSwitch.OFF,
    "false": ThinkingSwitch.OFF,
    "adaptive": ThinkingSwitch.ADAPTIVE,
    "auto": ThinkingSwitch.ADAPTIVE,
}
_LARGEST = 2**63 - 1


def to_effort(raw: str | None) -> Effort | None:
    """Read a level in any case; null for ``default``, ``ultra``, numbers and booleans, which are no levels."""
    if raw is None:
        return None
    level = _LEVELS.get(raw)
    if level is not None:
        return level
    word = raw.strip().lower()
    for prefix in _LEVEL_PREFIXES:
        word = word.removeprefix(prefix)
    return _LEVELS.get(word)


def spelled(value: object) -> str | None:
    """A JSON scalar as it was spelled: ``true`` for True, ``0.5`` for 0.5; null for null, empty text and containers."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else None


def to_switch(value: object) -> ThinkingSwitch | None:
    """Read the coarse switch: a boolean or its word.

    Anthropic's ``between_tools`` is none of the three: it stops the thinking before an answer, not that between calls.
    """
    if isinstance(value, bool):
        return ThinkingSwitch.ON if value else ThinkingSwitch.OFF
    return _SWITCHES.get(value.strip().lower()) if isinstance(value, str) else None


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
    )
    updates = _updates(request)
    if updates or len(layers) > 1 or not _READERS.keys().isdisjoint(request):
        wishes = [read(layer[name]) for name, read in _READERS.items() for layer in layers if name in layer]
        asked.thinking, asked.budget, asked.effort, asked.effort_raw = merged([*updates, *wishes])
    return asked


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


class AppliedEffort(NamedTuple):
    """Which effort ran, who says so, and how it compares with what was asked for."""

    effort: Effort | None = None
    source: EffortSource | None = None
    change: EffortChange | None = None


_NO_EFFORT = AppliedEffort()


def applied(
    asked: Asked,
    *,
    reported: str | None,
    is_echo: bool,
    model: str | None,
    called_at: int | None,
    failed: bool,
    sent: bool = True,
) -> AppliedEffort:
    """Say which effort ran. Null is "not known here", never "the default" (design 3.4).

    ``reported`` is the response's own word, ``is_echo`` that its server is known merely to repeat the request;
    ``called_at`` is microseconds since 1970 UTC. ``sent`` is false where a gateway is known to have sent the model
    another request than the one that is stored.
    """
    level = to_effort(reported)
    nothing_said = not reported and asked.effort is None and asked.thinking is not ThinkingSwitch.OFF
    if failed or nothing_said or (reported and level is None):
        return _NO_EFFORT
    if level is not None and level is not asked.effort:
        return AppliedEffort(level, EffortSource.RESPONSE, _change(asked, level))
    profile = profile_of(model, None if called_at is None else to_date(called_at)) if model else None
    scale = profile.scale if profile is not None else None
    if scale == () or (level is None and not sent):
        return _NO_EFFORT
    if level is not None and not is_echo:
        return AppliedEffort(level, EffortSource.RESPONSE, EffortChange.SAME)
    if asked.effort is not None:
        # What is not on the known scale was sent, but cannot have run as such: no claim that it is the same.
        change = EffortChange.SAME if scale is None or asked.effort in scale else None
        source = EffortSource.REQUEST if level is None else EffortSource.RESPONSE_ECHO
        return AppliedEffort(asked.effort, source, change)
    return _switched_off(asked, profile)


def _switched_off(asked: Asked, profile: ModelProfile | None) -> AppliedEffort:
    """Thinking asked off, and no level: the lowest of the model's scale, or none where the switch ends thinking."""
    if profile is None or not profile.scale or profile.off_switch is OffSwitch.BY_HOST or _asks_a_value(asked):
        return _NO_EFFORT
    lowest = Effort.NONE if profile.off_switch is OffSwitch.ENDS_THINKING else profile.scale[0]
    source = EffortSource.REQUEST if lowest is Effort.NONE else EffortSource.MODEL_PROFILE
    return AppliedEffort(lowest, source, _change(asked, lowest))


def _change(asked: Asked, level: Effort) -> EffortChange | None:
    wanted = asked.effort
    if wanted is None and asked.thinking is ThinkingSwitch.OFF and not _asks_a_value(asked):
        wanted = Effort.NONE
    if wanted is None:
        return None
    if level is wanted:
        return EffortChange.SAME
    return EffortChange.RAISED if _RANK[level] > _RANK[wanted] else EffortChange.LOWERED


def _asks_a_value(asked: Asked) -> bool:
    """Whether an explicit value that is no level (``default``, a number) stands beside the switch, and so beats it."""
    return asked.effort_raw is not None and to_switch(asked.effort_raw) is not ThinkingSwitch.OFF
