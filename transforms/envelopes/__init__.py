"""The registry of readers of agent transcripts: one line each. Exactly one may recognise a file; there is no order."""

from collections.abc import Collection, Sequence
from typing import Any

from transforms.envelopes import (
    adk,
    claude_code,
    cline,
    cline_task,
    codex,
    codex_early,
    deepseek_harness,
    gemini_cli,
    gptme,
    mini_swe_agent,
    opencode,
    pi,
    posit_assistant,
    qwen_code,
    qwenpaw,
    swe_agent,
    vscode_copilot,
)
from transforms.transcript import TranscriptReader

READERS: tuple[TranscriptReader, ...] = (
    adk,
    claude_code,
    cline,
    cline_task,
    codex,
    codex_early,
    deepseek_harness,
    gemini_cli,
    gptme,
    mini_swe_agent,
    opencode,
    pi,
    posit_assistant,
    qwen_code,
    qwenpaw,
    swe_agent,
    vscode_copilot,
)
NAMES = tuple(reader.NAME for reader in READERS)
HEAD_LINES = 20
"""Lines of a file that are looked at to tell what it is."""


def reader_of(head: Sequence[Any], names: Collection[str] = NAMES) -> TranscriptReader | None:
    """The reader among ``names`` that recognises a file by its first lines; null where none does, or several do."""
    lines = [line for line in head[:HEAD_LINES] if isinstance(line, dict)]
    found = [reader for reader in READERS if reader.recognises(lines)] if lines else []
    return found[0] if len(found) == 1 and found[0].NAME in names else None


def named(name: str) -> TranscriptReader:
    """The reader of this name."""
    return next(reader for reader in READERS if name == reader.NAME)
