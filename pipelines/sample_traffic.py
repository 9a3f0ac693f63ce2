"""Synthetic traffic in the true wire shapes: for ``thinkledger demo``, the tests and the benchmark.

Deterministic: the same arguments give the same bytes. The texts are nonsense; the bodies follow the shapes that each
provider documents (whole bodies and captured streams, tags, cut-off calls, errors, usage on top and inside).
"""

import gzip
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import orjson

START = datetime(2026, 10, 1, tzinfo=UTC)
DAYS = 61
_DELTA_CHARS = 24
_CHARS_PER_TOKEN = 4
_POOL_CHARS = 1 << 20

_PROSE = (
    "the ledger counts each call once and the trace says why a budget of tokens was spent on first thoughts then the "
    "model checks its plan against the request drops a branch that fails and keeps the shortest proof it can defend "
    "so that an answer holds numbers names dates and a reason, äöü ◆ — ok"
)


class Model(NamedTuple):
    """One model as the sample's teams use it: who serves it, in which shape, and how it shows its thinking."""

    name: str
    protocol: str
    url: str
    team: str
    efforts: tuple[str | None, ...]
    shows: str
    """How thinking shows: summary, blocks, parts, field, tags, details or hidden."""
    weight: int


MODELS = (
    Model("gpt-5.5", "openai_responses", "https://api.openai.com/v1/responses", "search",
          (None, "low", "medium", "high"), "summary", 6),
    Model("gpt-6-astra", "openai_responses", "https://api.openai.com/v1/responses", "agents",
          ("none", "high", "max"), "hidden", 3),
    Model("claude-opus-4-6", "anthropic_messages", "https://api.anthropic.com/v1/messages", "agents",
          (None, "medium", "max"), "blocks", 6),
    Model("gemini-3.1-pro", "gemini_generate_content",
          "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.1-pro:{method}", "support",
          (None, "low", "high"), "parts", 4),
    Model("deepseek-v4", "openai_chat", "https://api.deepseek.com/chat/completions", "support",
          (None, "high"), "field", 4),
    Model("deepseek-r1", "openai_chat", "http://inference.internal:8000/v1/chat/completions", "research",
          (None,), "tags", 4),
    Model("grok-4.3", "openai_chat", "https://api.x.ai/v1/chat/completions", "research",
          ("low", "high"), "on_top", 2),
    Model("anthropic/claude-opus-4.8", "openai_chat", "https://openrouter.ai/api/v1/chat/completions", "search",
          ("medium",), "details", 2),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Spec:
    """One call before it is written in its protocol's shape."""

    number: int
    model: Model
    at: datetime
    effort: str | None
    thinking: str
    answer: str
    prompt: str
    stream: bool
    cut: bool
    tool: bool
    rng_id: str

    @property
    def created(self) -> int:
        """Seconds since 1970."""
        return int(self.at.timestamp())

    @property
    def prompt_tokens(self) -> int:
        """All input tokens."""
        return len(self.prompt) // _CHARS_PER_TOKEN

    @property
    def reasoning_tokens(self) -> int:
        """Twice what the visible text would be: what is shown is a summary."""
        return len(self.thinking) // _CHARS_PER_TOKEN * 2

    @property
    def answer_tokens(self) -> int:
        """Nothing where the call was cut off while it thought."""
        return 0 if self.cut else len(self.answer) // _CHARS_PER_TOKEN


class _Drawer:
    """Draws calls from a seeded generator; texts are slices of one pool, so that gigabytes cost little."""

    def __init__(self, seed: int, text_scale: float) -> None:
        self._rng = random.Random(seed)  # noqa: S311 - a sample, not a secret
        self._scale = text_scale
        vocabulary = _PROSE.split()
        words: list[str] = []
        length = 0
        while length < _POOL_CHARS:
            word = self._rng.choice(vocabulary)
            words.append(word)
            length += len(word) + 1
        self._pool = " ".join(words)

    def text(self, mean_chars: int) -> str:
        length = max(8, int(self._rng.expovariate(1 / (mean_chars * self._scale))))
        begin = self._rng.randrange(len(self._pool) - min(length, _POOL_CHARS // 2))
        return self._pool[begin : begin + length].strip() or "ok"

    def spec(self, number: int, at: datetime) -> Spec:
        rng = self._rng
        [model] = rng.choices(MODELS, [model.weight for model in MODELS])
        return Spec(
            number=number,
            model=model,
            at=at,
            effort=rng.choice(model.efforts),
            thinking=self.text(2400),
            answer=self.text(1200),
            prompt=self.text(4000),
            stream=rng.random() < 0.3,
            cut=rng.random() < 0.04,
            tool=rng.random() < 0.1,
            rng_id=f"{rng.getrandbits(128):032x}",
        )


def calls(
    count: int, *, seed: int = 7, start: datetime = START, days: int = DAYS, text_scale: float = 1.0
) -> Iterator[bytes]:
    """Lines in the plain exchange form, in the order of their times. ``text_scale`` stretches all texts."""
    drawer = _Drawer(seed, text_scale)
    step = timedelta(days=days) / max(count, 1)
    for number in range(count):
        spec = drawer.spec(number, start + step * number)
        yield orjson.dumps(_exchange(spec), option=orjson.OPT_APPEND_NEWLINE)


def _exchange(spec: Spec) -> dict[str, Any]:
    request, whole, to_events = _WRITERS[spec.model.protocol](spec)
    failed = spec.number % 97 == 96
    method = "streamGenerateContent?alt=sse" if spec.stream else "generateContent"
    response: Any = _ERRORS[spec.model.protocol] if failed else whole
    if spec.stream and not failed:
        response = to_events(spec, whole)
    return {
        "timestamp": spec.at.isoformat().replace("+00:00", "Z"),
        "status": 429 if failed else 200,
        "latency_ms": 400 + spec.reasoning_tokens * 9,
        "url": spec.model.url.format(method=method),
        "user_id": f"u{spec.number % 37}",
        "team": spec.model.team,
        "api_key_id": f"{spec.model.team}-{spec.number % 3}",
        "session_id": f"s{spec.number // 5}",
        "tags": {"service": "chat" if spec.number % 2 else "batch-jobs"},
        "request": request,
        "response": response,
    }


def _sse(events: list[dict[str, Any]], *, named: bool = False, done: bool = False) -> str:
    lines = [
        (f"event: {event['type']}\n" if named else "") + f"data: {orjson.dumps(event).decode()}\n\n" for event in events
    ]
    return "".join(lines) + ("data: [DONE]\n\n" if done else "")


def _deltas(text: str) -> list[str]:
    return [text[at : at + _DELTA_CHARS] for at in range(0, len(text), _DELTA_CHARS)]


# --- OpenAI Responses


def _responses(spec: Spec) -> tuple[Any, Any, Callable[..., str]]:
    applied = {"none": "low", None: "medium"}.get(spec.effort, spec.effort)
    request: dict[str, Any] = {"model": spec.model.name, "input": spec.prompt, "stream": spec.stream}
    if spec.effort:
        request["reasoning"] = {"effort": spec.effort, "summary": "auto"}
    shown = [{"type": "summary_text", "text": spec.thinking}] if spec.model.shows == "summary" else []
    output: list[dict[str, Any]] = [
        {"id": f"rs_{spec.rng_id}", "type": "reasoning", "summary": shown, "encrypted_content": "gAAAA" + spec.rng_id}
    ]
    if not spec.cut:
        text = {"type": "output_text", "text": spec.answer, "annotations": []}
        output.append({"id": f"msg_{spec.rng_id}", "type": "message", "role": "assistant", "status": "completed",
                       "content": [text]})  # fmt: skip
    body = {
        "id": f"resp_{spec.rng_id}",
        "object": "response",
        "created_at": spec.created,
        "status": "incomplete" if spec.cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if spec.cut else None,
        "model": spec.model.name,
        "output": output,
        "reasoning": {"effort": applied, "summary": "detailed"},
        "service_tier": "default",
        "usage": {
            "input_tokens": spec.prompt_tokens,
            "input_tokens_details": {"cached_tokens": spec.prompt_tokens // 2},
            "output_tokens": spec.answer_tokens + spec.reasoning_tokens,
            "output_tokens_details": {"reasoning_tokens": spec.reasoning_tokens},
            "total_tokens": spec.prompt_tokens + spec.answer_tokens + spec.reasoning_tokens,
        },
    }
    return request, body, _responses_stream


def _responses_stream(spec: Spec, body: dict[str, Any]) -> str:
    started = {**body, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": started}]
    if spec.model.shows == "summary":
        events += [
            {"type": "response.reasoning_summary_text.delta", "item_id": f"rs_{spec.rng_id}", "output_index": 0,
             "summary_index": 0, "delta": delta}
            for delta in _deltas(spec.thinking)
        ]  # fmt: skip
    if not spec.cut:
        events += [
            {"type": "response.output_text.delta", "item_id": f"msg_{spec.rng_id}", "output_index": 1,
             "content_index": 0, "delta": delta}
            for delta in _deltas(spec.answer)
        ]  # fmt: skip
    events.append({"type": "response.incomplete" if spec.cut else "response.completed", "response": body})
    return _sse(events, named=True)


# --- Anthropic Messages


def _messages(spec: Spec) -> tuple[Any, Any, Callable[..., str]]:
    request: dict[str, Any] = {
        "model": spec.model.name,
        "max_tokens": 64000,
        "stream": spec.stream,
        "thinking": {"type": "adaptive"},
        "messages": [{"role": "user", "content": spec.prompt}],
    }
    if spec.effort:
        request["output_config"] = {"effort": spec.effort}
    content: list[dict[str, Any]] = [{"type": "thinking", "thinking": spec.thinking, "signature": spec.rng_id}]
    if not spec.cut:
        content.append({"type": "text", "text": spec.answer})
    if spec.tool and not spec.cut:
        content.append({"type": "tool_use", "id": f"toolu_{spec.number}", "name": "look_up", "input": {"q": "x"}})
    body = {
        "id": f"msg_01{spec.rng_id[:22]}",
        "type": "message",
        "role": "assistant",
        "model": spec.model.name,
        "content": content,
        "stop_reason": "max_tokens" if spec.cut else "tool_use" if spec.tool else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": spec.prompt_tokens // 4,
            "cache_creation_input_tokens": spec.prompt_tokens // 4,
            "cache_read_input_tokens": spec.prompt_tokens // 2,
            "output_tokens": spec.answer_tokens + spec.reasoning_tokens,
            "output_tokens_details": {"thinking_tokens": spec.reasoning_tokens},
            "service_tier": "standard",
        },
    }
    return request, body, _messages_stream


def _messages_stream(_: Spec, body: dict[str, Any]) -> str:
    usage = body["usage"]
    started = {**body, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    del started["usage"]["output_tokens_details"]
    events: list[dict[str, Any]] = [{"type": "message_start", "message": started}, {"type": "ping"}]
    for index, block in enumerate(body["content"]):
        key = {"thinking": "thinking", "text": "text", "tool_use": "input"}[block["type"]]
        empty = {**block, key: {} if key == "input" else ""}
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        if key == "input":
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        else:
            deltas = [{"type": f"{key}_delta", key: delta} for delta in _deltas(block[key])]
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    ended = {"output_tokens": usage["output_tokens"], "output_tokens_details": usage["output_tokens_details"]}
    events.append({"type": "message_delta", "delta": {"stop_reason": body["stop_reason"]}, "usage": ended})
    events.append({"type": "message_stop"})
    return _sse(events, named=True)


# --- Gemini generateContent


def _gemini(spec: Spec) -> tuple[Any, Any, Callable[..., str]]:
    config: dict[str, Any] = {"includeThoughts": True}
    if spec.effort:
        config["thinkingLevel"] = spec.effort.upper()
    request = {
        "contents": [{"role": "user", "parts": [{"text": spec.prompt}]}],
        "generationConfig": {"thinkingConfig": config},
    }
    parts: list[dict[str, Any]] = [{"text": spec.thinking, "thought": True}]
    if not spec.cut:
        parts.append({"text": spec.answer})
    usage = {
        "promptTokenCount": spec.prompt_tokens,
        "candidatesTokenCount": spec.answer_tokens,
        "thoughtsTokenCount": spec.reasoning_tokens,
        "totalTokenCount": spec.prompt_tokens + spec.answer_tokens + spec.reasoning_tokens,
    }
    finish = "MAX_TOKENS" if spec.cut else "STOP"
    return request, _gemini_body(spec, parts, usage, finish), _gemini_stream


def _gemini_body(spec: Spec, parts: list[Any], usage: dict[str, int], finish: str | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    response_id = f"{spec.rng_id[:20]}Qx"
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": spec.model.name,
        "responseId": response_id,
    }


def _gemini_stream(spec: Spec, body: dict[str, Any]) -> str:
    [candidate] = body["candidates"]
    usage = body["usageMetadata"]
    pieces = [{**part, "text": delta} for part in candidate["content"]["parts"] for delta in _deltas(part["text"])]
    last = len(pieces) - 1
    return _sse(
        [
            _gemini_body(spec, [piece], usage, candidate["finishReason"] if number == last else None)
            for number, piece in enumerate(pieces)
        ]
    )


# --- OpenAI Chat Completions and the hosts that share its shape


def _chat(spec: Spec) -> tuple[Any, Any, Callable[..., str]]:
    request: dict[str, Any] = {
        "model": spec.model.name,
        "messages": [{"role": "user", "content": spec.prompt}],
        "stream": spec.stream,
    }
    if spec.effort and spec.model.shows == "details":
        request["reasoning"] = {"effort": spec.effort}
    elif spec.effort:
        request["reasoning_effort"] = spec.effort
    message: dict[str, Any] = {"role": "assistant", **_chat_texts(spec)}
    tool = spec.tool and not spec.cut
    if tool:
        function = {"name": "look_up", "arguments": "{}"}
        message["tool_calls"] = [{"index": 0, "id": f"call_{spec.number}", "type": "function", "function": function}]
    finish = "length" if spec.cut else "tool_calls" if tool else "stop"
    return request, {
        "id": f"gen-{spec.created}-{spec.rng_id[:20]}" if spec.model.shows == "details" else f"chatcmpl-{spec.rng_id}",
        "object": "chat.completion",
        "created": spec.created,
        "model": spec.model.name,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _chat_usage(spec),
    }, _chat_stream  # fmt: skip


def _chat_texts(spec: Spec) -> dict[str, Any]:
    answer = None if spec.cut else spec.answer
    if spec.model.shows == "tags":
        # The three ways in which R1's weights write a trace: whole, without its opening tag, and never closed.
        opening = "" if spec.number % 3 == 1 and not spec.cut else "<think>\n"
        return {"content": opening + spec.thinking + ("" if spec.cut else f"\n</think>\n\n{spec.answer}")}
    if spec.model.shows == "field":
        return {"content": answer, "reasoning_content": spec.thinking}
    if spec.model.shows == "details":
        detail = {"type": "reasoning.text", "text": spec.thinking, "format": "anthropic-claude-v1", "index": 0}
        return {"content": answer, "reasoning": spec.thinking, "reasoning_details": [detail]}
    return {"content": answer}


def _chat_usage(spec: Spec) -> dict[str, Any]:
    on_top = spec.model.shows == "on_top"
    counted = spec.answer_tokens if on_top else spec.answer_tokens + spec.reasoning_tokens
    usage: dict[str, Any] = {
        "prompt_tokens": spec.prompt_tokens,
        "completion_tokens": counted,
        "total_tokens": spec.prompt_tokens + spec.answer_tokens + spec.reasoning_tokens,
    }
    if spec.model.shows != "tags":
        usage["completion_tokens_details"] = {"reasoning_tokens": spec.reasoning_tokens}
    if spec.model.shows == "details":
        usage["cost"] = round(spec.prompt_tokens * 5e-6 + counted * 25e-6, 9)
    return usage


def _chat_stream(_: Spec, body: dict[str, Any]) -> str:
    head = {"id": body["id"], "object": "chat.completion.chunk", "created": body["created"], "model": body["model"]}
    [choice] = body["choices"]
    message = choice["message"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for name in ("reasoning_content", "reasoning"):
        deltas += [{name: delta} for delta in _deltas(message.get(name) or "")]
    deltas += [{"content": delta} for delta in _deltas(message["content"] or "")]
    if "tool_calls" in message:
        deltas.append({"tool_calls": message["tool_calls"]})
    chunks: list[dict[str, Any]] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    chunks.append({**head, "choices": [], "usage": body["usage"]})
    return _sse(chunks, done=True)


_WRITERS: dict[str, Callable[[Spec], tuple[Any, Any, Callable[..., str]]]] = {
    "openai_responses": _responses,
    "anthropic_messages": _messages,
    "gemini_generate_content": _gemini,
    "openai_chat": _chat,
}
_OPENAI_ERROR = {"error": {"message": "Rate limit reached", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}
_ERRORS: dict[str, dict[str, Any]] = {
    "openai_responses": _OPENAI_ERROR,
    "openai_chat": _OPENAI_ERROR,
    "anthropic_messages": {"type": "error", "error": {"type": "rate_limit_error", "message": "Rate limit reached"}},
    "gemini_generate_content": {"error": {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED"}},
}

BROKEN_LINES = (
    b'{"timestamp": "2026-11-30T23:59:58Z", "request": {"model": "gpt-5.5", "inp\n',
    b'{"timestamp": "2026-11-30T23:59:59Z", "response": {"predictions": [0.1, 0.2]}}\n',
    b"upstream connect error or disconnect/reset before headers\n",
)
"""What real logs hold too: a line cut by a full disk, a body of another service, a line that is no record at all."""


def write_sample(folder: Path, count: int) -> list[Path]:
    """Write the demo's logs: two months of a gateway, one day of them twice, a batch's output, broken lines."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = list(calls(count))
    half = count * 31 // DAYS
    october, november = folder / "gateway-2026-10.jsonl", folder / "gateway-2026-11.jsonl.gz"
    october.write_bytes(b"".join(lines[:half]))
    logged_twice = lines[half - count // DAYS : half]
    with gzip.GzipFile(november, "wb", mtime=0) as file:
        file.write(b"".join([*logged_twice, *lines[half:], *BROKEN_LINES]))
    batch = folder / "batch-output.jsonl"
    batch.write_bytes(b"".join(_batch_lines(count // 20)))
    return [october, november, batch]


def _batch_lines(count: int) -> Iterator[bytes]:
    """The output file of an OpenAI batch: no request beside the body, one expired line."""
    drawer = _Drawer(11, 1.0)
    [model] = [model for model in MODELS if model.name == "gpt-5.5"]
    for number in range(count):
        at = START + timedelta(days=DAYS / 2, minutes=number)
        spec = drawer.spec(number, at)
        spec = replace(spec, model=model, effort=None, stream=False, cut=False, tool=False)
        _, body, _ = _responses(spec)
        response = {"status_code": 200, "request_id": f"req_{number}", "body": body}
        line = {"id": f"batch_req_{number}", "custom_id": f"row-{number}", "response": response, "error": None}
        yield orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
    expired = {"code": "batch_expired", "message": "This request could not be executed before the batch expired."}
    line = {"id": "batch_req_x", "custom_id": "row-x", "response": None, "error": expired}
    yield orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
