"""What a URL says of a call: the model in its path, and whether the method behind it streams."""

import re
from functools import lru_cache
from urllib.parse import unquote, urlsplit

_MODEL_IN_PATH = re.compile(
    r"""
      /publishers/[^/]+/models/(?P<vertex>[^/:]+)
    | /models/(?P<google>[^/:]+):
    | /tunedModels/(?P<tuned>[^/:]+):
    | /model/(?P<bedrock>[^/]+)/(?:invoke|converse)
    | /deployments/(?P<azure>[^/]+)/
    """,
    re.VERBOSE,
)
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
    """The model that the path names (Google, Vertex, Bedrock, Azure deployments), else null."""
    match = _MODEL_IN_PATH.search(urlsplit(url).path)
    return unquote(next(name for name in match.groupdict().values() if name)) if match else None


@lru_cache(maxsize=4096)
def streams(url: str) -> bool | None:
    """Whether the method that the URL names streams; null where the URL does not decide it."""
    path = urlsplit(url).path
    if _STREAMING.search(path):
        return True
    return False if _WHOLE.search(path) else None
