"""What the rules of the family `prompt` share: findings at a text, and their caveat."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ...detectors.cross_tool import CrossToolInstructions
from ...detectors.injection_patterns import MARKUP, OTHER_TOOLS, SECRECY, SECRETS
from ...detectors.phrase import Phrase, Prefilter, first_phrase
from ...facts.model_texts import ModelText, together
from ...facts.spec_texts import prose_of_toolset
from ...findings import Finding
from ...model.model import Toolset, ToolSpec, Workspace
from ..rule import Rule

__all__ = [
    "CAVEAT",
    "Suspects",
    "at_text",
    "phrases_in",
    "phrases_in_toolset",
    "shown",
    "suspects",
]

CAVEAT = (
    " The word list is a heuristic: it helps reviewers to look, and does not stop an"
    " attacker who knows it."
)


class Suspects(NamedTuple):
    """The tools of a toolset of which some text may be an attack on a model.

    Attributes:
        by_phrase: those that have a phrase of a list, by the list.
        by_script: those with letters beyond ASCII.
        by_name: those that may order the use of another tool.
        instructions: finds such orders.
    """

    by_phrase: Mapping[Sequence[Phrase], list[ToolSpec]]
    by_script: list[ToolSpec]
    by_name: list[ToolSpec]
    instructions: CrossToolInstructions


@lru_cache(maxsize=4)
def suspects(toolset: Toolset, workspace: Workspace) -> Suspects:
    """Searches all texts of each tool once, for every rule of the family."""
    names = {tool.name for other in workspace.toolsets for tool in other.tools}
    instructions = CrossToolInstructions(names)
    by_phrase: dict[Sequence[Phrase], list[ToolSpec]] = {
        phrases: [] for phrases in (MARKUP, OTHER_TOOLS, SECRECY, SECRETS)
    }
    found = Suspects(by_phrase, [], [], instructions)
    for tool in toolset.tools:
        text = together(tool)
        prefilter = Prefilter(text)
        for phrases, tools in by_phrase.items():
            if first_phrase(text, phrases, prefilter) is not None:
                tools.append(tool)
        if not text.isascii():
            found.by_script.append(tool)
        if next(instructions.finditer(text, tool.name, prefilter), None):
            found.by_name.append(tool)
    return found


def at_text(
    rule: Rule, tool: ToolSpec, found: ModelText, message: str, help: str
) -> Finding:
    """A finding at one string of a tool's spec."""
    return rule.at(tool, found.path, message, help, at_key=found.is_key)


def shown(text: str) -> str:
    """A short excerpt on one line, in backticks."""
    line = re.sub(r"\s+", " ", text).strip()
    return f"`{line if len(line) <= 60 else line[:57] + '...'}`"


def phrases_in(
    rule: Rule,
    tool: ToolSpec,
    texts: Iterable[ModelText],
    phrases: Sequence[Phrase],
    help: str,
) -> Iterator[Finding]:
    """A finding for each text with one of the phrases, at the first of them."""
    for found in texts:
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
            yield rule.at(toolset, path, message, help)


def _message(text: str, phrases: Sequence[Phrase]) -> str:
    hit = first_phrase(text, phrases)
    if hit is None:
        return ""
    phrase, wording = hit
    return f"the text {phrase.what}: {shown(wording)}"
