"""What a Converse request asks for, or a request of Nova's own InvokeModel (reference, section 5, table of point 5).

Every vendor's own spelling travels in ``additionalModelRequestFields``; the first of the table that says something
counts, for each of switch, budget and level apart.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from schemas.reading import Asked
from transforms.asked import Wish, merged, read_budget, read_level
from transforms.effort import to_switch

_OURS = frozenset(
    {
        "inferenceConfig", "additionalModelRequestFields", "additionalModelResponseFieldPaths", "toolConfig",
        "guardrailConfig", "requestMetadata", "performanceConfig", "promptVariables", "outputConfig",
    }
)  # fmt: skip
_LARGEST_LIMIT = 2**53


def claims_request(request: Mapping[str, Any]) -> bool:
    messages = request.get("messages")
    if not isinstance(messages, list) or "model" in request:
        return False
    return not _OURS.isdisjoint(request) or "modelId" in request or request.get("schemaVersion") == "messages-v1"


def asked(request: dict[str, Any]) -> Asked:
    wish = merged([wish for layer in _layers(request) for wish in _wishes(layer)])
    tier, metadata = request.get("serviceTier"), request.get("requestMetadata")
    return Asked(
        model=_text(request.get("modelId")),
        thinking=wish.switch,
        budget=wish.budget,
        effort=wish.effort,
        effort_raw=wish.raw,
        max_output_tokens=_limit(request.get("inferenceConfig")),
        service_tier=_text(tier.get("type")) if isinstance(tier, dict) else None,
        tags=_tags(metadata) if isinstance(metadata, dict) else None,
    )


def _layers(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The request and what is a part of it elsewhere; Nova's pages place its config in each of them."""
    extra = request.get("additionalModelRequestFields")
    for layer in (request, extra):
        if isinstance(layer, dict):
            yield layer
            config = layer.get("inferenceConfig")
            if isinstance(config, dict):
                yield config


def _wishes(layer: Mapping[str, Any]) -> list[Wish]:
    if _READERS.keys().isdisjoint(layer):
        return []
    return [read(layer[name]) for name, read in _READERS.items() if name in layer]


def _switch(value: object) -> Wish:
    return Wish(to_switch(value))


def _reasoning_config(value: object) -> Wish:
    """An object of Claude 3.7's early examples, or a level in its place (Qwen)."""
    return _object(value, _IN_THINKING) if isinstance(value, dict) else read_level(value)


def _object(value: object, readers: Mapping[str, Callable[[object], Wish]]) -> Wish:
    if not isinstance(value, dict):
        return Wish()
    return merged([read(value[name]) for name, read in readers.items() if name in value])


_Readers = dict[str, Callable[[object], Wish]]
_IN_THINKING: _Readers = {"type": _switch, "budget_tokens": read_budget}
_IN_NOVA: _Readers = {"type": _switch, "maxReasoningEffort": read_level}
_READERS: _Readers = {
    "outputConfig": lambda value: _object(value, {"effort": read_level}),  # Converse's own, for Claude
    "output_config": lambda value: _object(value, {"effort": read_level}),  # Claude
    "thinking": lambda value: _object(value, _IN_THINKING),  # Claude
    "reasoning_config": _reasoning_config,
    "reasoningConfig": lambda value: _object(value, _IN_NOVA),  # Nova 2
    "reasoning_effort": read_level,  # gpt-oss, DeepSeek, GLM
    "reasoning": lambda value: _object(value, {"effort": read_level}),  # GPT, Grok
}


def _limit(config: object) -> int | None:
    if not isinstance(config, dict):
        return None
    limit = config.get("maxTokens", config.get("max_new_tokens"))
    return limit if type(limit) is int and 0 < limit <= _LARGEST_LIMIT else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _tags(metadata: Mapping[str, Any]) -> dict[str, str] | None:
    return {name: value for name, value in metadata.items() if isinstance(value, str)} or None
