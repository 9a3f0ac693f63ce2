"""What somebody would write by hand for exactly this sample: the yardstick, not a normaliser.

It loads each line with orjson, picks the thinking, the answer and three counts by the one path that the sample uses,
and writes them as zstd Parquet. No envelope or protocol is recognised, no tag or total is weighed, nothing is
deduplicated, partitioned or accounted for.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

_SCHEMA = pa.schema(
    [
        ("timestamp", pa.string()),
        ("model", pa.string()),
        ("thinking", pa.large_string()),
        ("answer", pa.large_string()),
        ("input_tokens", pa.int64()),
        ("output_tokens", pa.int64()),
        ("reasoning_tokens", pa.int64()),
    ]
)
_ROWS = 2000
Row = tuple[str | None, str | None, int | None, int | None, int | None]


def load_only(path: Path) -> int:
    """``orjson.loads`` alone over the lines; gives how many there were."""
    with path.open("rb") as file:
        return sum(1 for line in file if orjson.loads(line))


def plain_loop(path: Path, out: Path) -> int:
    """The hand-written loop over a file of the sample; gives the number of rows written."""
    written = 0
    with pq.ParquetWriter(out, _SCHEMA, compression="zstd") as writer, path.open("rb") as file:
        rows: list[tuple[Any, ...]] = []
        for line in file:
            record = orjson.loads(line)
            model = record["request"].get("model")
            rows.append((record["timestamp"], model, *_read(record["response"])))
            if len(rows) == _ROWS:
                writer.write_batch(_to_batch(rows))
                written += len(rows)
                rows = []
        writer.write_batch(_to_batch(rows))
    return written + len(rows)


def _to_batch(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) or [()] * len(_SCHEMA)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)], schema=_SCHEMA
    )


def _read(response: Any) -> Row:
    if isinstance(response, str):
        return _read_stream(response)
    for key, read in _READERS.items():
        if key in response:
            return read(response)
    return None, None, None, None, None


def _events(text: str) -> Iterator[Any]:
    for line in text.split("\n"):
        if line.startswith("data: ") and line != "data: [DONE]":
            yield orjson.loads(line[6:])


def _read_stream(text: str) -> Row:
    thinking: list[str] = []
    answer: list[str] = []
    ending: dict[str, Any] = {}
    for event in _events(text):
        for thought, said in _deltas(event):
            thinking.append(thought or "")
            answer.append(said or "")
        if event.get("usageMetadata") or event.get("usage") or event.get("response"):
            ending = event.get("response") or event
    *_, prompt, output, reasoning = _read({"content": [], **ending} if "delta" in ending else ending)
    return "".join(thinking), "".join(answer), prompt, output, reasoning


def _deltas(event: Any) -> list[tuple[str | None, str | None]]:
    if "candidates" in event:
        parts = event["candidates"][0]["content"]["parts"]
        return [(part["text"], None) if part.get("thought") else (None, part["text"]) for part in parts]
    if "choices" in event:
        deltas = [choice["delta"] for choice in event["choices"]]
        return [(d.get("reasoning_content") or d.get("reasoning"), d.get("content")) for d in deltas]
    delta = event.get("delta")
    if isinstance(delta, str):
        return [(delta, None) if "reasoning" in event["type"] else (None, delta)]
    return [(delta.get("thinking"), delta.get("text"))] if delta else []


def _responses(body: Any) -> Row:
    thinking = "".join(part["text"] for item in body["output"] for part in item.get("summary", ()))
    answer = "".join(part["text"] for item in body["output"] for part in item.get("content", ()))
    usage = body["usage"]
    details = usage["output_tokens_details"]
    return thinking, answer, usage["input_tokens"], usage["output_tokens"], details["reasoning_tokens"]


def _chat(body: Any) -> Row:
    usage = body["usage"]
    message = body["choices"][0]["message"] if body["choices"] and "message" in body["choices"][0] else {}
    content = message.get("content") or ""
    thinking = message.get("reasoning_content") or message.get("reasoning") or ""
    if not thinking and "</think>" in content:
        thinking, _, content = content.partition("</think>")
    reasoning = usage.get("completion_tokens_details", {}).get("reasoning_tokens")
    return thinking, content, usage["prompt_tokens"], usage["completion_tokens"], reasoning


def _messages(body: Any) -> Row:
    thinking = "".join(block.get("thinking", "") for block in body["content"])
    answer = "".join(block.get("text", "") for block in body["content"])
    usage = body["usage"]
    reasoning = usage["output_tokens_details"]["thinking_tokens"]
    return thinking, answer, usage.get("input_tokens"), usage["output_tokens"], reasoning


def _gemini(body: Any) -> Row:
    parts = body["candidates"][0]["content"]["parts"]
    thinking = "".join(part["text"] for part in parts if part.get("thought"))
    answer = "".join(part["text"] for part in parts if not part.get("thought"))
    usage = body["usageMetadata"]
    return (
        thinking,
        answer,
        usage["promptTokenCount"],
        usage["candidatesTokenCount"] + usage["thoughtsTokenCount"],
        usage["thoughtsTokenCount"],
    )


_READERS: dict[str, Callable[[Any], Row]] = {
    "output": _responses,
    "choices": _chat,
    "content": _messages,
    "candidates": _gemini,
}
