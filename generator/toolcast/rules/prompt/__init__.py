"""What the rules of the family `prompt` share: findings of phrases, and their caveat."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...detectors.phrase import Phrase, first_phrase, may_have
from ...facts.texts import (
    ModelText,
    all_texts,
    joined_texts,
    prose_of_mcp_spec,
    prose_of_toolset,
)
from ...findings import Finding
from ...model.model import Toolset, ToolSpec
from ..rule import Rule

__all__ = ["CAVEAT", "phrases_in", "phrases_in_toolset", "shown"]

CAVEAT = (
    " The word list is a heuristic: it helps reviewers to look, and does not stop an"
    " attacker who knows it."
)


def shown(text: str) -> str:
    """A short excerpt on one line, in backticks."""
    line = re.sub(r"\s+", " ", text).strip()
    return f"`{line if len(line) <= 60 else line[:57] + '...'}`"


def phrases_in(
    rule: Rule,
    toolset: Toolset,
    phrases: Sequence[Phrase],
    help: str,
    texts: Callable[[ToolSpec], Iterable[ModelText]] = all_texts,
) -> Iterator[Finding]:
    """A finding for each text of a tool with one of the phrases, at the first of them."""
    for tool in toolset.tools:
        if not may_have(joined_texts(tool), phrases):
            continue
        for found in texts(tool):
            message = _message(found.text, phrases)
            if message:
                yield rule.at(tool, found.path, message, help, at_key=found.is_key)


def phrases_in_toolset(
    rule: Rule, toolset: Toolset, phrases: Sequence[Phrase], help: str
) -> Iterator[Finding]:
    """The same for resources, MCP prompts, and what the toolset itself says."""
    for spec in toolset.mcp_specs:
        for path, text in prose_of_mcp_spec(spec):
            message = _message(text, phrases)
            if message:
                yield rule.at(spec, path, message, help)
    for path, text in prose_of_toolset(toolset):
        message = _message(text, phrases)
        if message:
            yield rule.at(toolset, path, message, help)


def _message(text: str, phrases: Sequence[Phrase]) -> str:
    hit = first_phrase(text, phrases)
    return f"the text {hit[0].what}: {shown(hit[1])}" if hit else ""
