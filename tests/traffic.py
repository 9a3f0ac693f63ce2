"""Records of traffic, one at a time."""

import json
from typing import Any


def exchange(number: int, **more: Any) -> bytes:
    """One call in the plain exchange form, as a line."""
    response = {
        "id": f"chatcmpl-{number:024d}",
        "object": "chat.completion",
        "model": "m",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": f"answer {number}"}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": number, "total_tokens": 10 + number},
    }
    record = {"timestamp": "2026-11-03T10:00:00Z", "request": {"model": "m", "messages": []}, "response": response}
    return json.dumps(record | more).encode() + b"\n"
