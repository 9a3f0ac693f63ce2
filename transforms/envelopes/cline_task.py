"""Tasks of Cline's earlier versions and of its forks (Roo Code): what the task's window showed, as one array.

Lines    ``api_req_started`` opens a call and holds its counts; the texts, the reasoning and the tools that were shown
         up to the next one are its answer. The conversation as it was sent stands in a file beside it
         (``api_conversation_history.json``) without any counts: its turns are these same calls, and are skipped.
Tokens   ``tokensIn`` leaves cache reads and writes out; these are 0 where the API does not count them, and then null.
Cost     Mostly reckoned by the client, and nothing tells when it is not: not read.
Effort   Not recorded, nor is the model in most versions.
Source   Reference on envelopes, 3.24, and Cline's code.
"""

from collections.abc import Sequence

from schemas.exchange import Exchange, JsonObject
from schemas.vocabulary import Fate
from transforms.attributes import parsed
from transforms.not_calls import NoCall
from transforms.transcript import (
    Results,
    chat_body,
    count_in,
    function_call,
    list_in,
    object_in,
    text_in,
    time_in,
    with_cache,
)

NAME = "cline_task"

_BESIDE = f"{NAME}: a turn of the conversation, whose calls stand in ui_messages.json"
_OTHER = f"{NAME}: a message that no model wrote"
_SENT = "<environment_details>"
"""What only Cline and its forks put into each of a user's turns."""
_STARTED = "api_req_started"
_CANCELLED = "user_cancelled"
_PLACES = {
    "text": "content",
    "completion_result": "content",
    "reasoning": "reasoning_content",
    **dict.fromkeys(
        ("tool", "command", "browser_action_launch", "use_mcp_server", "followup", "plan_mode_respond"), "tool_calls"
    ),
}
"""Where in an answer a message that was shown belongs."""


def recognises(head: Sequence[JsonObject]) -> bool:
    return any(_is_shown(line) or _is_sent(line) for line in head)


def _is_shown(line: JsonObject) -> bool:
    return line.get("type") in ("say", "ask") and "ts" in line and ("say" in line or "ask" in line)


def _is_sent(line: JsonObject) -> bool:
    if line.get("role") != "user":
        return False
    blocks = [block for block in list_in(line, "content") if isinstance(block, dict)]
    return any(_SENT in (text_in(block, "text") or "") for block in blocks)


def fold(lines: Sequence[JsonObject]) -> Results:
    results: Results = []
    message: JsonObject | None = None
    for line in lines:
        if line.get("say") == _STARTED:
            body = _body(line)
            message = body["choices"][0]["message"]  # what was shown is added as it comes
            results.append([_exchange(line, body)])
        elif message is not None and _is_answer(line):
            _add(message, line)
            results.append([Fate.PART])
        else:
            results.append([NoCall(_BESIDE if "role" in line else _OTHER)])
    return results


def _is_answer(line: JsonObject) -> bool:
    return text_in(line, "say", "ask") in _PLACES


def _add(message: JsonObject, line: JsonObject) -> None:
    shown = text_in(line, "say", "ask") or ""
    place = _PLACES[shown]
    if place == "tool_calls":
        message[place].append(function_call(None, shown))
    else:
        message[place] = "\n\n".join(text for text in (message[place], text_in(line, "text")) if text)


def _counted(line: JsonObject) -> JsonObject:
    stored = parsed(line.get("text"))
    return stored if isinstance(stored, dict) else {}


def _body(line: JsonObject) -> JsonObject:
    counted, empty = _counted(line), {"content": "", "reasoning_content": "", "tool_calls": []}
    finish = "aborted" if text_in(counted, "cancelReason") == _CANCELLED else None
    return chat_body(text_in(object_in(line, "modelInfo"), "modelId"), empty, finish=finish, usage=_usage(counted))


def _exchange(line: JsonObject, body: JsonObject) -> Exchange:
    ended = text_in(_counted(line), "cancelReason")
    return Exchange(
        NAME,
        response=body,
        called_at=time_in(line, "ts"),
        provider=text_in(object_in(line, "modelInfo"), "providerId"),
        streamed=True,  # Cline asks for nothing else
        error_type=None if ended == _CANCELLED else ended,
        error_message=text_in(_counted(line), "streamingFailedMessage"),
    )


def _usage(counted: JsonObject) -> JsonObject | None:
    """The API's counts; the request's own text, which stands beside them, is left out."""
    fresh, output = count_in(counted, "tokensIn"), count_in(counted, "tokensOut")
    read_back, written = count_in(counted, "cacheReads") or None, count_in(counted, "cacheWrites") or None
    if fresh is None and output is None:
        return None
    return {
        "prompt_tokens": with_cache(fresh, read_back, written),
        "completion_tokens": output,
        "prompt_tokens_details": {"cached_tokens": read_back, "cache_write_tokens": written},
    }
