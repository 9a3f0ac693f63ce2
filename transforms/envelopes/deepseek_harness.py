"""DeepSeek's agent harness (dsh): a log of events, with each response whole and once more as its chunks.

Lines    ``assistant/message`` events are calls; the chunks before them are parts of the same.
Tokens   ``inputTokens`` leaves cache reads out, ``outputTokens`` holds the reasoning: the body is that of Chat
         Completions, as the API gave it.
Effort   Not recorded.
Source   Seen in a recorded session (version 0).
"""

from collections.abc import Sequence

from schemas.exchange import Exchange, JsonObject
from schemas.vocabulary import Fate
from transforms.not_calls import NoCall
from transforms.transcript import Result, Results, count_in, list_in, object_in, text_in, time_in

NAME = "deepseek_harness"

_OTHER = f"{NAME}: an event beside the calls"
_UNFINISHED = f"{NAME}: chunks of a response that did not end"
_CHUNKS = frozenset({"assistant/chunk", "reasoning-chunks", "text-chunks", "tool-call-chunks"})


def recognises(head: Sequence[JsonObject]) -> bool:
    return any(line.get("type") == "session" and "delegationDepth" in line for line in head)


def fold(lines: Sequence[JsonObject]) -> Results:
    session_id = next((text_in(line, "id") for line in lines if line.get("type") == "session"), None)
    ends: dict[object, str] = {}
    results: Results = []
    chunks: list[int] = []
    for place, line in enumerate(lines):
        kind, data = line.get("type"), object_in(line, "data")
        if kind == "assistant/message":
            results.append([_call(line, data, session_id, ends.get(_step(data)))])
            for part in chunks:
                results[part] = [Fate.PART]
            chunks = []
            continue
        is_chunk = isinstance(kind, str) and kind in _CHUNKS
        if is_chunk:
            chunks.append(place)
            chunk = object_in(data, "chunk")
            if chunk.get("type") == "finish":
                ends[_step(data)] = text_in(object_in(chunk, "reason"), "kind") or ""
        results.append([NoCall(_UNFINISHED if is_chunk else _OTHER)])
    return results


def _step(data: JsonObject) -> tuple[int | None, int | None]:
    return count_in(data, "turn"), count_in(data, "step")


def _call(line: JsonObject, data: JsonObject, session_id: str | None, end: str | None) -> Result:
    message, usage = object_in(data, "message"), object_in(data, "usage")
    source = object_in(message, "source")
    body: JsonObject = {
        "object": "chat.completion",
        "model": text_in(source, "model"),
        "choices": [{"index": 0, "message": _message(message), "finish_reason": (end or "").replace("-", "_") or None}],
    }
    if usage:
        body["usage"] = _usage(usage)
    return Exchange(
        NAME,
        response=body,
        called_at=time_in(line, "time"),
        provider=(text_in(source, "provider") or "").removesuffix("-official") or None,
        response_id=text_in(message, "id"),
        session_id=session_id,
    )


def _message(message: JsonObject) -> JsonObject:
    blocks = [block for block in list_in(message, "content") if isinstance(block, dict)]

    def joined(kind: str) -> str:
        return "".join(text_in(block, "text") or "" for block in blocks if block.get("type") == kind)

    calls = [{"type": "function", "id": block.get("id"), "function": {"name": block.get("name")}}
             for block in blocks if block.get("type") == "tool-call"]  # fmt: skip
    return {
        "role": "assistant",
        "content": joined("text"),
        "reasoning_content": joined("reasoning"),
        "tool_calls": calls or None,
    }


def _usage(usage: JsonObject) -> JsonObject:
    fresh, read_back = count_in(usage, "inputTokens"), count_in(usage, "cacheReadTokens")
    return {
        **usage,
        "prompt_tokens": None if fresh is None else fresh + (read_back or 0),
        "completion_tokens": count_in(usage, "outputTokens"),
        "prompt_tokens_details": {"cached_tokens": read_back},
        "completion_tokens_details": {"reasoning_tokens": count_in(usage, "reasoningTokens")},
    }
