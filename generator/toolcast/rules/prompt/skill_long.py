"""`prompt/skill-long`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.skill_texts import body_of, sections_of_skill, skill_owners
from ...facts.token_count import estimated_tokens
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]

# Source: https://agentskills.io/specification, Progressive disclosure.
_LINES = 500
_TOKENS = 5_000
# Source: SEP-2640, Limits; SKILL.md is one of them.
_FILES = 512


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "skills" not in toolset.targets:
        return
    for owner in skill_owners(toolset):
        lines = list(body_of(owner))
        tokens = estimated_tokens("\n".join(lines))
        path, help_ = ("guidance",), "move what is not needed at each call elsewhere"
        if isinstance(owner, Toolset):
            path = ("skill",) if owner.skill else ("name",)
            help_ = "leave tools out by `exclusions`, or say `targets: {skills: {per: tool}}`"
            files = 1 + sum(
                bool(t.rest) for s in sections_of_skill(owner) for t in s.tools
            )
            if files > _FILES:
                message = f"the skill has {files:,} files; agents take {_FILES}"
                yield RULE.at(owner, path, message, help_)
        elif owner.guidance is None:
            path = ("name",)
        if len(lines) >= _LINES or tokens >= _TOKENS:
            yield RULE.at(
                owner,
                path,
                f"SKILL.md has {len(lines):,} lines, about {tokens:,} tokens; it should have"
                f" fewer than {_LINES} and {_TOKENS:,}",
                help_,
            )


RULE = Rule(
    id="prompt/skill-long",
    severity=Severity.WARNING,
    purpose="Checks that a skill is not longer than the standard says.",
    why=(
        "An agent reads the whole SKILL.md when it takes the skill up, and keeps it from then"
        " on. What is read on demand stands in `references/`, and agents may refuse a skill"
        " of more files than they have to take."
    ),
    bad="",
    good="""\
guidance: Write a note as one sentence that stands alone.
# toolset.yaml
targets: {registry: {}, prompts: {}, skills: {}}
""",
    check=check,
)
