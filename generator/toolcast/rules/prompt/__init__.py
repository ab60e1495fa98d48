"""What the rules of the family `prompt` share: findings at a text, and their caveat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...detectors.phrase import Phrase, first_phrase
from ...facts.model_texts import SurfaceText, SurfaceTexts
from ...facts.spec_texts import prose_of_toolset
from ...findings import Finding
from ...model.model import Toolset, ToolSpec
from ..rule import Rule, at_tool, at_toolset

__all__ = ["CAVEAT", "at_text", "phrases_in", "phrases_in_toolset", "shown"]

CAVEAT = (
    " The word list is a heuristic: it helps reviewers to look, and does not stop an"
    " attacker who knows it."
)


def at_text(
    rule: Rule, tool: ToolSpec, found: SurfaceText, message: str, help: str
) -> Finding:
    """A finding at one string of a tool's spec."""
    return at_tool(rule, tool, found.path, message, help, at_key=found.is_key)


def shown(text: str) -> str:
    """A short excerpt on one line, in backticks."""
    line = re.sub(r"\s+", " ", text).strip()
    return f"`{line if len(line) <= 60 else line[:57] + '...'}`"


def phrases_in(
    rule: Rule,
    tool: ToolSpec,
    texts: SurfaceTexts,
    phrases: Sequence[Phrase],
    help: str,
    *,
    passing: str = "",
) -> Iterator[Finding]:
    """A finding for each text with one of the phrases, at the first of them.

    `passing` names a field whose texts are passed over.
    """
    if first_phrase(texts.joined, phrases, texts.clues) is None:
        return
    for found in texts.each:
        if found.path[0] == passing:
            continue
        message = _message(found.text, phrases)
        if message:
            yield at_text(rule, tool, found, message, help)


def phrases_in_toolset(
    rule: Rule, toolset: Toolset, phrases: Sequence[Phrase], help: str
) -> Iterator[Finding]:
    """The same for what the toolset itself says: instructions, sections, CLI block."""
    for path, text in prose_of_toolset(toolset):
        message = _message(text, phrases)
        if message:
            yield at_toolset(rule, toolset, path, message, help)


def _message(text: str, phrases: Sequence[Phrase]) -> str:
    hit = first_phrase(text, phrases)
    if hit is None:
        return ""
    phrase, match = hit
    return f"the text {phrase.what}: {shown(match.group())}"
