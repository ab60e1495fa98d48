"""`prompt/skill-description`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.skill_texts import LONGEST_DESCRIPTION, front_matter_of, skill_owners
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "skills" not in toolset.targets:
        return
    for owner in skill_owners(toolset):
        text = front_matter_of(owner)["description"]
        problem = ""
        if len(text) > LONGEST_DESCRIPTION:
            problem = (
                f"has {len(text):,} characters; {LONGEST_DESCRIPTION:,} are allowed"
            )
        elif "<" in text or ">" in text:
            problem = "has `<` or `>`, which a validator refuses"
        if problem:
            field = "summary"
            if isinstance(owner, Toolset):
                field = "title" if owner.instructions is None else "instructions"
            yield RULE.at(
                owner,
                (field,),
                f"the skill's description, made of the `{field}`, {problem}",
                "say in `skill.description` what the skill does and when to use it",
            )


RULE = Rule(
    id="prompt/skill-description",
    severity=Severity.ERROR,
    purpose="Checks that each skill's description is one that validators take.",
    why=(
        "Agents leave out a skill whose SKILL.md is not valid, and say so nowhere. Without"
        " `skill.description` it is made of texts that were written for something else."
    ),
    bad="""\
summary: Store a <b>note</b>.
skill: {}
# toolset.yaml
targets: {registry: {}, prompts: {}, skills: {}}
""",
    good="""\
summary: Store a <b>note</b>.
skill: {description: Stores notes. Use it when something has to last.}
# toolset.yaml
targets: {registry: {}, prompts: {}, skills: {}}
""",
    check=check,
)
