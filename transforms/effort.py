"""Effort: its words, and which effort ran (design 3.4). What a request asked for is read by ``transforms/asked.py``."""

from typing import NamedTuple

from schemas.model_profiles import ModelProfile, OffSwitch, profile_of, prompt_words
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


def to_switch(value: object) -> ThinkingSwitch | None:
    """Read the coarse switch: a boolean or its word.

    Anthropic's ``between_tools`` is none of the three: it stops the thinking before an answer, not that between calls.
    """
    if isinstance(value, bool):
        return ThinkingSwitch.ON if value else ThinkingSwitch.OFF
    return _SWITCHES.get(value.strip().lower()) if isinstance(value, str) else None


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


def applied_by_fallback(ran: AppliedEffort, asked: Asked) -> AppliedEffort:
    """Compare what a fallback ran with what the model that declined was asked for.

    A level that the fallback is known not to have is not sent to it, and its default runs (protocols-native 2 (5)).
    """
    if ran.effort is None or ran.change is None:
        return _NO_EFFORT
    return ran._replace(change=_change(asked, ran.effort))


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
    raw = asked.effort_raw
    return raw is not None and to_switch(prompt_words().get(raw, raw)) is not ThinkingSwitch.OFF
