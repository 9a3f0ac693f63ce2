"""Who a call is: a 128-bit hash that is stable across files, envelopes, stream or whole, and versions of the rules.

Usage, finish, effort, provider and model never enter, so that a partial record and the finished one are one call; but
for logs that hold nothing else.
"""

import re
from hashlib import blake2b

from schemas.exchange import JsonObject
from schemas.reading import Piece
from schemas.vocabulary import PieceKind
from transforms.json_text import to_json

STRONG_IDS = re.compile(
    r"""
      msg_(bdrk_|vrtx_)?[A-Za-z0-9]{20,}     # Anthropic
    | resp_[A-Za-z0-9_-]{20,}                # OpenAI Responses, Realtime
    | run_[A-Za-z0-9]{24}                    # OpenAI Assistants
    | compl_[A-Za-z0-9]{20,}                 # Anthropic's legacy completions
    | v1_Ch[A-Za-z0-9_-]{40,}                # Gemini Interactions
    | [a-z0-9]{26}                           # Replicate
    | gen-[0-9]{10}-[A-Za-z0-9]{16,}         # OpenRouter
    | gen_[0-9A-Z]{26}                       # Vercel AI Gateway (ULID)
    | chatcmpl-[A-Za-z0-9-]{20,}             # OpenAI Chat, vLLM, Groq, …
    | (?=.*[A-Z])(?=.*[a-z])[A-Za-z0-9_-]{21,24}  # Gemini responseId, Mistral, Together: random base64
    | [0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}   # a UUID: DeepSeek, Perplexity, xAI, Cohere
    | [0-9a-f]{32}                           # a UUID without dashes: Mistral, Zhipu
    """,
    re.VERBOSE,
)
"""Long random forms that providers give; small servers' counters (``chatcmpl-123``) and redacted ids match none."""

_PLACEHOLDER = re.compile(r"REDACTED|redacted|x{6}|0{8}|12345", re.ASCII)


def is_strong(response_id: str) -> bool:
    """Tell whether a response id alone identifies its call: random, not positional, not redacted."""
    return (
        STRONG_IDS.fullmatch(response_id) is not None
        and any(c.isdigit() for c in response_id)
        and not _PLACEHOLDER.search(response_id)
    )


def call_id(
    response_id: str | None,
    request: JsonObject | None,
    called_at: int | None,
    pieces: list[Piece],
    *,
    from_cache: bool = False,
    beside: tuple[object, ...] = (),
) -> str:
    """The identity of a call, 32 hexadecimal digits.

    A strong response id is enough. Else the id, the request, the time and the output's text together are the identity;
    the text as the provider gave it, before any splitting or redaction. An answer from a gateway's cache repeats the id
    of the call that was paid for, so there the id is not enough. ``beside`` is what a log without bodies says of the
    call: two of one second would else be one.
    """
    if response_id is not None and not from_cache and is_strong(response_id):
        return blake2b(response_id.encode(), digest_size=16, person=b"strong").hexdigest()
    content = blake2b(digest_size=16, person=b"weak")
    content.update(f"{response_id}\0{called_at}\0".encode())
    content.update(to_json(request, sort_keys=True))
    if beside:
        content.update(to_json(list(beside)))
    for kinds in ((PieceKind.THINKING,), (PieceKind.ANSWER, PieceKind.COMMENTARY)):
        content.update(b"\0")
        content.update("".join(piece.text for piece in pieces if piece.kind in kinds).encode())
    return content.hexdigest()
