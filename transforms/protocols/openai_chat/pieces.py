"""What a message's chunks bring in pieces, put together: texts, lists of parts, details and blocks, steps."""

from itertools import chain, groupby, pairwise
from typing import Any

from schemas.exchange import JsonObject

_FILLER = "Thinking... "
"""xAI repeats this in place of thinking text (reference 2.8)."""
_CUMULATIVE_FROM = 4
"""So many texts, each the one before and more, are no accident."""


def joined(parts: list[Any]) -> Any:
    """One text of pieces, or one list of parts where some are lists; the first value that is neither, as it is."""
    if parts[0] == _FILLER:
        parts = [part for part in parts if part != _FILLER] or [_FILLER]
    try:
        return "".join(parts)
    except TypeError:
        odd = next((part for part in parts if not isinstance(part, str | list)), None)
        return _merged_parts(parts) if odd is None else odd


def _merged_parts(fragments: list[Any]) -> list[Any]:
    """Content that is a list while thinking and text after it (Mistral, Databricks): one list of parts."""
    parts: list[Any] = []
    for kind, group in groupby(fragments, key=type):
        if kind is str:
            parts.append({"type": "text", "text": "".join(group)})
            continue
        for part in chain.from_iterable(group):
            last = parts[-1] if parts else None
            if not (isinstance(part, dict) and isinstance(last, dict) and _append_part(last, part)):
                parts.append(_copied(part))
    for part in parts:
        for key in ("thinking", "summary"):
            if isinstance(part, dict) and isinstance(part.get(key), list):
                part[key] = merged_items(part[key])
    return parts


def _copied(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return {key: list(value) if isinstance(value, list) else value for key, value in part.items()}


_PART_TEXT = {"text": "text", "thinking": "thinking", "reasoning": "summary"}


def _append_part(last: JsonObject, part: JsonObject) -> bool:
    """Append a part's text to the one before; false where it is no more of the same."""
    key = _PART_TEXT.get(str(part.get("type")))
    if key is None or last.get("type") != part["type"]:
        return False
    before, more = last.get(key), part.get(key)
    if isinstance(before, list) and isinstance(more, list):
        before.extend(more)
    elif isinstance(before, str) and isinstance(more, str):
        last[key] = before + more
    else:
        return False
    return True


def merged_items(items: list[Any]) -> list[Any]:
    """Details or blocks in pieces: neighbours of one type and index are one; what is encrypted stays apart."""
    merged: list[Any] = []
    texts: list[str] = []
    key: object = None
    for item in items:
        if item.__class__ is not dict:
            _close_item(merged, texts)
            merged.append(item)
            texts, key = [], None
            continue
        text = item.get("text") or item.get("summary") or item.get("thinking")
        last_key, key = key, (item.get("type"), item.get("index"))
        if key != last_key or "data" in item or _has_ended(merged[-1]):
            _close_item(merged, texts)
            merged.append(dict(item))
            texts = [text] if isinstance(text, str) else []
            continue
        if isinstance(text, str):
            texts.append(text)
        if len(item) != len(merged[-1]) or not text:  # pieces in the middle differ in their text only
            merged[-1].update({name: value for name, value in item.items() if value and value is not text})
    _close_item(merged, texts)
    return merged


def once_each(steps: list[Any]) -> list[Any]:
    """Perplexity's steps come whole; the event that ends the thinking may repeat them all."""
    return [step for place, step in enumerate(steps) if step not in steps[:place]]


_DETAIL_TEXTS = ("text", "summary", "thinking")


def _has_ended(detail: JsonObject) -> bool:
    """Encrypted data stands alone; in a list without indexes a signature ends a block."""
    return "data" in detail or ("signature" in detail and bool(detail["signature"]) and detail.get("index") is None)


def _close_item(merged: list[Any], texts: list[str]) -> None:
    if len(texts) > 1:
        key = next((key for key in _DETAIL_TEXTS if key in merged[-1]), _DETAIL_TEXTS[0])
        merged[-1][key] = texts[-1] if _cumulative(texts) else "".join(texts)


def _cumulative(texts: list[str]) -> bool:
    """Whether each text repeats the one before and goes on: MiniMax's older streams (reference 2.12)."""
    if len(texts) < _CUMULATIVE_FROM:
        return False
    pairs = pairwise(texts)
    return all(one and len(one) < len(other) and other.startswith(one) for one, other in pairs)
