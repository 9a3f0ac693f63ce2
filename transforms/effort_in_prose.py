"""Effort in a prompt's own words, for the families that read them: ``Reasoning: high``, ``/no_think`` (design 3.4).

The lowest of all sources: asked only where no field of the request says anything, and looked for in two texts alone,
the system's and the last user's. The families and their words are data: ``prompt_switches`` of
``schemas/model_profiles.yaml``.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from schemas.model_profiles import PromptSwitch, prompt_switches_of

_LOOKED_AT = 2000
"""Characters of either end of a text: the words stand at its start or its end, and texts may be long."""
_CONTROL = "control"
"""Granite's own role (protocols-native 14 (5)): a first message of it is an instruction to the chat template."""
_TURNS_LOOKED_AT = 32
"""An agent's last user message stands behind its tool results; further back it is not looked for."""


class Said(NamedTuple):
    """Words of a prompt, and what they ask for: a level, ``on`` or ``off``."""

    words: str
    meaning: str


def said_in_prompt(model: str | None, request: Mapping[str, Any]) -> Said | None:
    """Find the words of a prompt that the model reads: the last ones of the last user's text, else of the system's.

    Chat requests (``messages``) and Responses (``instructions``, ``input``) are looked at, whatever their shape.
    """
    turns = request.get("messages") or request.get("input")
    if _first(turns, _CONTROL) == "thinking":
        return Said("thinking", "on")
    switches = prompt_switches_of(model) if model is not None else ()
    if not switches:
        return None
    of_users = [switch for switch in switches if switch.of_users]
    spoken = _last_said(_last_user_text(turns), of_users) if of_users else None
    return spoken or _last_said(_system_text(request, turns), switches)


def _system_text(request: Mapping[str, Any], turns: object) -> str:
    instructions = request.get("instructions")
    if isinstance(instructions, str) and instructions:
        return instructions
    return _first(turns, "system", "developer")


def _first(turns: object, *roles: str) -> str:
    """The text of the first message, where it is of one of the roles."""
    first = turns[0] if isinstance(turns, list) and turns else None
    return _text(first) if isinstance(first, dict) and first.get("role") in roles else ""


def _last_user_text(turns: object) -> str:
    if isinstance(turns, str):
        return turns
    if not isinstance(turns, list):
        return ""
    latest = islice(reversed(turns), _TURNS_LOOKED_AT)
    return next((_text(turn) for turn in latest if isinstance(turn, dict) and turn.get("role") == "user"), "")


def _text(turn: Mapping[str, Any]) -> str:
    content = turn.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") for part in content if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _last_said(text: str, switches: Sequence[PromptSwitch]) -> Said | None:
    if len(text) > 2 * _LOOKED_AT:
        text = f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    found = [
        (match.start(), Said(match[0], switch.words[match[0]]))
        for switch in switches
        if any(word in text for word in switch.words)
        for match in switch.pattern.finditer(text)
    ]
    return max(found)[1] if found else None
