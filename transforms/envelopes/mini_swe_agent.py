"""mini-swe-agent trajectories: one object with all messages, in the first versions the bare list of them.

Lines    Messages of the role ``assistant`` are calls. ``extra.response`` is the API's own response, where it is kept;
         a message that is a Responses body stands for itself.
Tokens   The response's own. ``extra.cost`` is reckoned by the client, and is not read.
Effort   Requested: ``model_kwargs`` of the model's settings.
Times    Where neither the response nor the message has one: none. What came before tells equal answers apart.
Source   Its code of the versions 1 and 2, and a recorded list.
"""

from collections.abc import Iterator, Sequence

from schemas.exchange import Exchange, JsonObject
from transforms.not_calls import NoCall
from transforms.transcript import Result, Results, Said, chat_body, list_in, object_in, text_in, time_in

NAME = "mini_swe_agent"

_FENCE = "```mswea_"
"""How its prompts ask for commands; a bare list of messages shows by this alone whose it is."""
_FORMAT = "mini-swe-agent"
_NO_CALL = f"{NAME}: a run without a call"
_OTHER = f"{NAME}: a message that no model wrote"


def recognises(head: Sequence[JsonObject]) -> bool:
    return any(_is_run(line) or _has_fence(line) for line in head)


def _is_run(line: JsonObject) -> bool:
    kind, info = line.get("trajectory_format"), object_in(line, "info")
    named = (isinstance(kind, str) and kind.startswith(_FORMAT)) or "mini_version" in info
    return isinstance(line.get("messages"), list) and (named or {"exit_status", "model_stats"} <= info.keys())


def _has_fence(line: JsonObject) -> bool:
    return line.get("role") == "assistant" and _FENCE in (text_in(line, "content") or "")


def fold(lines: Sequence[JsonObject]) -> Results:
    return [
        _run(line) if isinstance(line.get("messages"), list) else [_read(line, {}, said)] for line, said in _told(lines)
    ]


def _told(lines: Sequence[JsonObject]) -> Iterator[tuple[JsonObject, Said]]:
    """Lines with what their own conversation held before them; each begins with the system's message."""
    said = Said()
    for line in lines:
        said = Said() if line.get("role") == "system" else said
        yield line, said


def _run(run: JsonObject) -> list[Result]:
    model = object_in(object_in(object_in(run, "info"), "config"), "model")
    said = Said()
    messages = [message for message in list_in(run, "messages") if isinstance(message, dict)]
    calls: list[Result] = [one for message in messages if isinstance(one := _read(message, model, said), Exchange)]
    return calls or [NoCall(_NO_CALL)]


def _read(message: JsonObject, model: JsonObject, said: Said) -> NoCall | Exchange:
    mark = said.mark()
    said.add(text_in(message, "content"))
    is_body = message.get("object") == "response"
    if message.get("role") != "assistant" and not is_body:
        return NoCall(_OTHER)
    extra, name = object_in(message, "extra"), text_in(model, "model_name")
    body = object_in(extra, "response") or _body_of(message, name, is_body=is_body)
    has_time = "created" in body or "created_at" in body
    return Exchange(
        NAME,
        request={**object_in(model, "model_kwargs"), "model": name, "after": mark},
        response=body,
        called_at=None if has_time else time_in(extra, "timestamp"),
    )


def _body_of(message: JsonObject, model: str | None, *, is_body: bool) -> JsonObject:
    own = {key: value for key, value in message.items() if key != "extra"}
    return own if is_body else chat_body(model, own)
