"""`name/skill-portability`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.skill_texts import front_matter_of, name_path, skill_owners
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]

# Source: https://platform.claude.com/docs/en/agents-and-tools/agent-skills/overview
_RESERVED = ("anthropic", "claude")
_HELP = "say another one in `skill.name`"


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "skills" not in toolset.targets:
        return
    taken: dict[str, str] = {}
    for other in workspace.toolsets:
        if other.name == toolset.name:
            break
        if "skills" in other.targets:
            for owner in skill_owners(other):
                taken.setdefault(front_matter_of(owner)["name"], other.name)
    for owner in skill_owners(toolset):
        name = front_matter_of(owner)["name"]
        for word in _RESERVED:
            if word in name:
                message = f"the skill's name, `{name}`, has `{word}` in it, which Claude's API refuses"
                yield RULE.at(owner, name_path(owner), message, _HELP)
        if name in taken:
            message = f"the toolset {taken[name]} has a skill named `{name}`, too"
            yield RULE.at(owner, name_path(owner), message, _HELP)


RULE = Rule(
    id="name/skill-portability",
    severity=Severity.WARNING,
    purpose="Checks that every agent takes a skill's name, beside those of other toolsets.",
    why=(
        "Agents know skills by their names: of two that have the same one, an agent takes one"
        " up and leaves the other out. Some words are reserved in some places."
    ),
    bad="""\
skill: {name: claude-notes}
# toolset.yaml
targets: {registry: {}, prompts: {}, skills: {}}
""",
    good="""\
when_to_use: When something has to last.
skill: {name: keep-notes}
# toolset.yaml
instructions: Keeps notes.
targets: {registry: {}, prompts: {}, skills: {}}
""",
    check=check,
)
