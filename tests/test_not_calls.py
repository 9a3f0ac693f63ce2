"""Bodies that are no generation, and bodies that only look like one of them."""

from typing import Any

import orjson
import pytest

from schemas.envelope import built_in
from schemas.exchange import RawRecord, RecordBatch
from transforms.normalise import normalise
from transforms.not_calls import rule_of
from transforms.protocols import PROTOCOLS
from transforms.unwrap import Unwrapper

Json = dict[str, Any]
RUN = {"id": "run_1", "object": "thread.run", "usage": None, "model": "gpt-4"}

NO_CALLS: list[tuple[Json, str]] = [
    ({"id": "batch_1", "object": "batch", "usage": {"input_tokens": 0}, "status": "validating"}, "a batch job"),
    ({"id": "msgbatch_1", "type": "message_batch", "processing_status": "in_progress"}, "a batch job"),
    ({"batch_id": "batch_1", "state": {"num_requests": 0}, "name": "nightly"}, "a batch job"),
    ({"name": "batches/1", "metadata": {"state": "BATCH_STATE_PENDING"}}, "a batch job"),
    ({"id": "file-1", "object": "file", "purpose": "batch"}, "a file"),
    ({"file": {"name": "files/1", "uri": "https://x/files/1"}}, "a file"),
    ({"id": "file-1", "object": "file", "deleted": True}, "a deletion"),
    ({"object": "list", "data": [{"object": "embedding", "embedding": [0.1]}], "usage": {}}, "embeddings"),
    ({"embeddings": [[0.1]], "model": "nomic-embed-text"}, "embeddings"),
    ({"embedding": [0.1], "inputTextTokenCount": 3}, "embeddings"),
    ({"object": "list", "data": [{"id": "gpt-4", "object": "model"}]}, "models"),
    ({"object": "list", "data": []}, "an empty list"),
    ({"totalTokens": 12, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 12}]}, "a count of tokens"),
    ({"input_tokens": 12}, "a count of tokens"),
    ({"object": "response.input_tokens", "input_tokens": 12}, "a count of tokens"),
    ({"name": "cachedContents/1", "model": "m", "usageMetadata": {"totalTokenCount": 9}}, "cached content"),
    ({"id": "modr-1", "results": [{"flagged": False}], "model": "omni-moderation-latest"}, "a moderation"),
    ({"results": [{"index": 0, "relevance_score": 0.9}]}, "a ranking"),
    ({"created": 1, "data": [{"b64_json": "iVBORw0"}]}, "images"),
    ({"model": "qwen3:8b", "response": "", "done": True, "done_reason": "load"}, "a model loaded"),
    ({**RUN, "status": "queued"}, "a run that has not ended"),
    ({"object": "list", "data": [{"object": "thread.message", "content": []}]}, "an assistant, a thread"),
    ({"type": "session.created", "event_id": "e", "session": {}}, "a session in which nothing"),
    ({"setupComplete": {}}, "a session in which nothing"),
]


@pytest.mark.parametrize(("body", "what"), NO_CALLS)
def test_a_rule_names_what_it_is_and_no_protocol_claims_it(body: Json, what: str) -> None:
    rule = rule_of(body)
    assert rule is not None
    assert rule.startswith(f"no generation: {what}")
    assert [protocol.NAME for protocol in PROTOCOLS if protocol.claims(body)] == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": "a transcription"},
        {"input_tokens": 12, "output_tokens": 3},
        {"totalTokens": 12, "candidates": []},
        {"name": "batches/1", "candidates": []},
        {"object": "list", "data": [{"object": "chat.completion", "choices": []}]},
        {"object": "something new"},
        {"models": [], "output": "text"},
        {"data": [{"url": "https://x"}]},
        {"deleted": "no"},
        {"object": "list", "data": "none"},
    ],
)
def test_what_may_be_a_generation_has_no_rule(body: Json) -> None:
    assert rule_of(body) is None


def test_skipped_bodies_are_counted_under_their_rule() -> None:
    lines = [orjson.dumps({"request": {}, "response": body}) for body, _ in NO_CALLS]
    records = [RawRecord(place, line) for place, line in enumerate(lines)]
    tally = normalise(RecordBatch("x", records), Unwrapper(built_in())).tally
    assert sum(tally.skipped.values()) == tally.records == len(NO_CALLS)
