"""SWE-agent trajectories: one object with the steps of a run and the conversation as it stood at its end.

Lines    Each step of ``trajectory`` whose response has a text or a tool call is a call; its tool calls and thinking
         blocks stand in the assistant's turn of ``history`` with the same text. Demonstrations are no calls.
Tokens   ``model_stats`` sums up a run: no call has counts of its own.
Effort   Requested: ``completion_kwargs`` of the model in ``replay_config``, where a file has one; so is the model.
Times    None are kept, nor are ids: what came before tells equal answers apart.
Replays  A run of the models ``replay``, ``human`` and the like called nobody.
Source   Seen in recorded trajectories of the versions 0.7 to 1.1.
"""

from collections.abc import Sequence
from typing import Any

from schemas.exchange import Exchange, JsonObject
from transforms.attributes import parsed
from transforms.not_calls import NoCall
from transforms.transcript import Result, Results, Said, chat_body, list_in, object_in, text_in

NAME = "swe_agent"

_NO_MODELS = frozenset({"replay", "human", "human_thought", "instant_empty_submit", "instant_empty_submit_test"})
_NO_MODEL = f"{NAME}: a run that called no model"
_NO_CALL = f"{NAME}: a run without a call"


def recognises(head: Sequence[JsonObject]) -> bool:
    return any(_is_run(line) for line in head)


def _is_run(line: JsonObject) -> bool:
    return isinstance(line.get("trajectory"), list) and isinstance(line.get("history"), list) and "info" in line


def fold(lines: Sequence[JsonObject]) -> Results:
    return [_calls(line) for line in lines]


def _calls(run: JsonObject) -> list[Result]:
    model = _model_of(run)
    if text_in(model, "name") in _NO_MODELS:
        return [NoCall(_NO_MODEL)]
    turns = [turn for turn in list_in(run, "history") if _is_answer(turn)]
    said = Said()
    calls: list[Result] = []
    for step in list_in(run, "trajectory"):
        if not isinstance(step, dict):
            continue
        text = text_in(step, "response") or ""
        turn = _taken(turns, text)
        if text or list_in(turn, "tool_calls"):
            calls.append(_exchange(model, text, turn, said.mark()))
        said.add(text, text_in(step, "observation"))
    return calls or [NoCall(_NO_CALL)]


def _model_of(run: JsonObject) -> JsonObject:
    config = parsed(run.get("replay_config"))
    return object_in(object_in(config, "agent"), "model") if isinstance(config, dict) else {}


def _is_answer(turn: Any) -> bool:
    return isinstance(turn, dict) and turn.get("role") == "assistant" and not turn.get("is_demo")


def _taken(turns: list[JsonObject], text: str) -> JsonObject:
    """Take the next turn with this text off the list, with those before it; empty where there is none."""
    for place, turn in enumerate(turns):
        if turn.get("content") == text:
            del turns[: place + 1]
            return turn
    return {}


def _exchange(model: JsonObject, text: str, turn: JsonObject, mark: str) -> Exchange:
    message = {name: turn[name] for name in ("tool_calls", "thinking_blocks") if turn.get(name)}
    name = text_in(model, "name")
    return Exchange(
        NAME,
        request={**object_in(model, "completion_kwargs"), "model": name, "after": mark},
        response=chat_body(name, {"content": text, **message}),
    )
