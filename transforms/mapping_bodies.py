"""Bodies that a mapping names, compiled: from a record to the object or the stream that its request or response is."""

import base64
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from schemas.envelope import Body
from schemas.exchange import JsonObject, Stream
from transforms.attributes import parsed, plain
from transforms.mapping_conditions import condition
from transforms.mapping_paths import Get, Holds, Parents, getter
from transforms.streams import UndecodableError, decode


class Found(NamedTuple):
    """A decoded body, and whether it names texts that the record does not hold."""

    body: JsonObject | Stream | None
    lacks_texts: bool = False


FindBody = Callable[[JsonObject, Parents], Found]
"""Raises ``UndecodableError`` where what is there is no body."""

_NO_BODY: tuple[object, ...] = (None, "", {}, [])
_NAMES_BEGIN = ("attachment://", "tc://")
"""How Inspect names a text that stands elsewhere in its log, today and in its first versions."""


def compile_body(body: Body) -> FindBody:
    """Compile where a body is and what is done with it."""
    getters = [getter(path) for path in body.path]
    is_base64 = condition(body.base64_if) if body.base64_if else None
    is_plain = _plain_text(body)
    if len(getters) == 1 and not body.beside and is_base64 is None and is_plain is None and not body.attachments:
        get = getters[0]
        return lambda record, parents: Found(_decoded(plain(get(record, parents)), may_be_text=False))
    beside = [(key, getter(path)) for key, path in body.beside.items()]
    attachments = getter(body.attachments) if body.attachments else None

    def find(record: JsonObject, parents: Parents) -> Found:
        stored = next((value for get in getters if (value := get(record, parents)) not in _NO_BODY), None)
        if is_base64 and isinstance(stored, str) and is_base64(record, parents):
            stored = _from_base64(stored)
        may_be_text = is_plain is not None and is_plain(record, parents)
        decoded = _with_keys(_decoded(plain(stored), may_be_text=may_be_text), beside, record, parents)
        return Found(decoded) if attachments is None else _with_texts(decoded, attachments(record, parents))

    return find


def _plain_text(body: Body) -> Holds | None:
    if body.plain_text:
        return lambda _record, _parents: True
    return condition(body.plain_text_if) if body.plain_text_if else None


def _decoded(stored: object, *, may_be_text: bool) -> JsonObject | Stream | None:
    """Tracing tools keep the mere text of an answer, too."""
    if isinstance(stored, dict) and stored.get("type") == "encrypted" and "iv" in stored:
        raise UndecodableError("encrypted", str(stored.get("key")))  # Cloudflare
    try:
        return decode(stored)
    except UndecodableError:
        if not may_be_text or not isinstance(stored, str):
            raise
        return {"role": "assistant", "content": stored}


def _with_keys(
    decoded: JsonObject | Stream | None, beside: list[tuple[str, Get]], record: JsonObject, parents: Parents
) -> JsonObject | Stream | None:
    if not beside or isinstance(decoded, Stream):
        return decoded
    added = {key: parsed(value) for key, get in beside if (value := get(record, parents)) is not None}
    return {**added, **(decoded or {})} or None


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise UndecodableError("no base64", text) from None


# Texts that stand elsewhere


def _with_texts(decoded: JsonObject | Stream | None, stored: Any) -> Found:
    texts = _Texts(stored if isinstance(stored, dict) else {})
    body = (
        Stream(texts.put_into(decoded.events), decoded.cut) if isinstance(decoded, Stream) else texts.put_into(decoded)
    )
    return Found(body, texts.missing)


class _Texts:
    """Texts by their names, and whether one was asked for that is not there."""

    def __init__(self, texts: Mapping[str, Any]) -> None:
        self._texts = texts
        self.missing = False

    def put_into(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value) if value.startswith(_NAMES_BEGIN) else value
        if isinstance(value, list):
            return [self.put_into(item) for item in value]
        if isinstance(value, dict):
            return {key: self.put_into(inner) for key, inner in value.items()}
        return value

    def _text(self, name: str) -> str | None:
        text = self._texts.get(name.partition("://")[2])
        self.missing = self.missing or not isinstance(text, str)
        return text if isinstance(text, str) else None
