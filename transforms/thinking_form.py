"""Whether the thinking that a provider shows is all that the model thought, by the model's family."""

from functools import lru_cache

from schemas.vocabulary import ThinkingForm

_SUMMARISED = ("claude", "gemini", "gpt", "o1", "o3", "o4", "codex")
"""Families whose visible thinking is a summary (reference protocols-native 2.6 and 8, protocols-openai-shaped 1)."""
_IN_FULL = ("claude-3", "claude-2", "claude-instant", "gpt-oss")


@lru_cache(maxsize=1024)
def shown_form(model: str | None) -> ThinkingForm | None:
    """FULL or SUMMARY; null where no model is named."""
    if not model:
        return None
    name = model.lower()
    summarised = any(family in name for family in _SUMMARISED) and not any(family in name for family in _IN_FULL)
    return ThinkingForm.SUMMARY if summarised else ThinkingForm.FULL
