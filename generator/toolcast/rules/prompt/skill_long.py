"""`prompt/skill-long`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.skills.skill_files import LONGEST, MAIN, MOST_LINES, is_long

from ...facts.skill_texts import front_matter_of, skill_files, skill_owners
from ...findings import Finding, Severity
from ...model.model import Toolset, ToolSpec, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "skills" not in toolset.targets:
        return
    for owner in skill_owners(toolset):
        text = skill_files(owner, front_matter_of(owner))[MAIN].text
        if is_long(text):
            lines, size = text.count("\n"), len(text.encode("utf-8"))
            yield RULE.at(
                owner,
                _longest(owner),
                f"SKILL.md has {lines:,} lines and {size:,} bytes; it should have at most"
                f" {MOST_LINES} and {LONGEST:,}, about 5,000 tokens",
                "move what is not needed at each call elsewhere",
            )


def _longest(owner: Toolset | ToolSpec) -> tuple[str, ...]:
    """What a person would shorten."""
    if isinstance(owner, ToolSpec):
        return ("name",) if owner.guidance is None else ("guidance",)
    if "guidance" in owner.skill:
        return ("skill", "guidance")
    return ("name",) if owner.instructions is None else ("instructions",)


RULE = Rule(
    id="prompt/skill-long",
    severity=Severity.WARNING,
    purpose="Checks that a skill is not longer than the standard says.",
    why=(
        "An agent reads the whole SKILL.md when it takes the skill up, and keeps it from then"
        " on. What is read on demand stands in `references/`: what a tool needs beyond when to"
        " choose it, and the tools of each section where they would be too many."
    ),
    bad="",
    good="""\
guidance: Write a note as one sentence that stands alone.
# toolset.yaml
instructions: Keeps notes.
targets: {registry: {}, prompts: {}, skills: {}}
""",
    check=check,
)
