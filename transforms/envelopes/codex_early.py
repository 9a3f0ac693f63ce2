"""Codex CLI rollouts from before September 2025: a head line, and the items of requests and responses bare behind it.

Lines    Items that a model gave, up to the next one of a request, are a call.
Tokens   Not recorded, nor are the model, the settings and the effort.
Times    The head's alone: calls have the time at which their session began, and their places tell them apart.
Source   Reference on envelopes, 3.22, and Codex' history of the format.
"""

from collections.abc import Sequence

from schemas.exchange import Exchange, JsonObject
from schemas.vocabulary import Fate
from transforms.not_calls import NoCall
from transforms.transcript import Results, tags_of, text_in, time_in

NAME = "codex_early"

_HEAD = f"{NAME}: the session's head"
_STATE = f"{NAME}: a state line"
_INPUT = f"{NAME}: an item of a request"
_HEAD_KEYS = frozenset({"id", "timestamp", "instructions"})
_MORE_HEAD_KEYS = frozenset({"git", "cwd", "originator", "cli_version"})
_BY_MODEL = ("reasoning", "function_call", "local_shell_call", "custom_tool_call", "web_search_call")


def recognises(head: Sequence[JsonObject]) -> bool:
    """By a head or a state line with an item beside it: neither is rare by itself."""
    return any(_is_head(line) or _is_state(line) for line in head) and any(_is_item(line) for line in head)


def _is_head(line: JsonObject) -> bool:
    return _HEAD_KEYS <= line.keys() <= _HEAD_KEYS | _MORE_HEAD_KEYS


def _is_state(line: JsonObject) -> bool:
    return line.get("record_type") == "state"


def _is_item(line: JsonObject) -> bool:
    return line.get("type") in _BY_MODEL or (line.get("type") == "message" and "role" in line)


def fold(lines: Sequence[JsonObject]) -> Results:
    head: JsonObject = {}
    begun = 0
    results: Results = []
    output: list[JsonObject] | None = None
    for place, line in enumerate(lines):
        if _is_head(line):
            head, begun, output = line, place, None
            results.append([NoCall(_HEAD)])
        elif _is_state(line):
            results.append([NoCall(_STATE)])
        elif not _is_by_model(line):
            output = None
            results.append([NoCall(_INPUT)])
        elif output is not None:
            output.append(line)
            results.append([Fate.PART])
        else:
            output = [line]
            results.append([_exchange(head, output, place - begun)])
    return results


def _is_by_model(line: JsonObject) -> bool:
    kind = line.get("type")
    return kind in _BY_MODEL or (kind == "message" and line.get("role") == "assistant")


def _exchange(head: JsonObject, output: list[JsonObject], place: int) -> Exchange:
    session = text_in(head, "id")
    return Exchange(
        NAME,
        response={"object": "response", "output": output},
        called_at=time_in(head, "timestamp"),
        provider="openai",
        streamed=True,  # Codex asks for nothing else
        response_id=f"{session}/{place}" if session else None,
        session_id=session,
        tags=tags_of(head, {"cwd": "cwd"}),
    )
