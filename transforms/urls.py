"""What a URL says of a call: the model in its path or its query, and whether the method behind it streams."""

import re
from functools import lru_cache
from urllib.parse import parse_qs, unquote, urlsplit

_MODEL_IN_PATH = re.compile(
    r"""
      /publishers/[^/]+/models/(?P<vertex>[^/:]+)
    | /models/(?P<google>[^/:]+):
    | /tunedModels/(?P<tuned>[^/:]+):
    | /model/(?P<bedrock>[^/]+)/(?:invoke|converse)
    | /deployments/(?P<azure>[^/]+)/
    | /models/(?P<replicate>[^/]+/[^/]+)/predictions$
    """,
    re.VERBOSE,
)
_MODEL_IN_QUERY = re.compile(r"/realtime$")  # OpenAI's and Azure's sockets, whose messages need not name it
_STREAMING = re.compile(
    r":streamGenerateContent|:streamRawPredict|/invoke-with-response-stream|/converse-stream|:serverStreamingPredict"
)
_WHOLE = re.compile(r":generateContent|:rawPredict|/invoke$|/converse$")

STREAMED_BY_URL = frozenset(
    {"bedrock_converse", "bedrock_invoke_agent", "bedrock_invoke_text", "gemini_generate_content"}
)
"""Protocols whose request bodies never say whether a stream is asked for."""


@lru_cache(maxsize=4096)
def model_in(url: str) -> str | None:
    """The model that a path names (Google, Vertex, Bedrock, Azure, Replicate), or a socket's query; else null."""
    parts = urlsplit(url)
    match = _MODEL_IN_PATH.search(parts.path)
    if match:
        return unquote(next(name for name in match.groupdict().values() if name))
    query = parse_qs(parts.query) if _MODEL_IN_QUERY.search(parts.path) else {}
    return next((query[name][0] for name in ("model", "deployment") if name in query), None)


@lru_cache(maxsize=4096)
def streams(url: str) -> bool | None:
    """Whether the method that the URL names streams; null where the URL does not decide it."""
    path = urlsplit(url).path
    if _STREAMING.search(path):
        return True
    return False if _WHOLE.search(path) else None
