"""The words with which providers say why a response ended, for frameworks that pass them on as they were."""

from schemas.vocabulary import FinishReason

_WORDS: dict[str, FinishReason] = {
    word: reason
    for reason, words in {
        FinishReason.STOP: "stop end_turn stop_sequence eos eos_token end complete completed finish_reason_stop",
        FinishReason.LENGTH: (
            "length max_tokens max_output_tokens max_completion_tokens model_context_window_exceeded "
            "model_length finish_reason_max_tokens"
        ),
        FinishReason.TOOL_CALLS: "tool_calls tool_call tool_use function_call",
        FinishReason.CONTENT_FILTER: (
            "content_filter content_filtered guardrail_intervened safety recitation blocklist prohibited_content spii "
            "image_safety sensitive"
        ),
        FinishReason.REFUSAL: "refusal",
        FinishReason.ERROR: "error failed network_error",
        FinishReason.ABORTED: "aborted abort cancelled canceled interrupted",
    }.items()
    for word in words.split()
}


def to_finish(word: str | None) -> FinishReason | None:
    """Read a word in any case, also with dashes (``tool-calls``); one that is not known is ``other``."""
    if not word:
        return None
    return _WORDS.get(word.lower().replace("-", "_"), FinishReason.OTHER)
