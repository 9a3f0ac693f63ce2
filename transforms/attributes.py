"""Span attributes of OpenTelemetry, as OTLP's typed list or as a plain object, to a flat object of plain values."""

from collections.abc import Iterable, Mapping
from typing import Any

from transforms.json_text import parse


def flat(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """OTLP's list of ``{"key", "value": {"stringValue": …}}`` as one object."""
    return {event["key"]: plain(event.get("value")) for event in events if isinstance(event.get("key"), str)}


def plain(value: object) -> Any:
    """An OTLP value without its type; what is no OTLP value stays as it is. Whole numbers are texts in OTLP's JSON."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    [(kind, inner)] = value.items()
    if kind == "arrayValue" and isinstance(inner, dict):
        values = inner.get("values")
        return [plain(item) for item in values] if isinstance(values, list) else []
    if kind == "kvlistValue" and isinstance(inner, dict):
        values = inner.get("values")
        return flat(item for item in values if isinstance(item, dict)) if isinstance(values, list) else {}
    if kind == "intValue" and isinstance(inner, str):
        return int(inner) if inner.removeprefix("-").isdigit() else None
    return inner if kind in ("stringValue", "boolValue", "doubleValue", "intValue", "bytesValue") else value


def parsed(value: object) -> Any:
    """What a text holds as JSON, else the value as it is: instrumentations store structures either way."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return parse(value.encode())
        except ValueError:  # no JSON, or text that is no Unicode
            return value
    return value
