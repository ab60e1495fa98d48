"""`prompt/skill-description`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.skill_texts import LONGEST_DESCRIPTION, made_description, skill_owners
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "skills" not in toolset.targets:
        return
    for owner in skill_owners(toolset):
        if (owner.skill or {}).get("description"):
            continue
        text, problem = made_description(owner), ""
        if len(text) > LONGEST_DESCRIPTION:
            problem = f"has {len(text):,} characters; {LONGEST_DESCRIPTION:,} are kept"
        elif "<" in text or ">" in text:
            problem = (
                "has `<` or `>`, which validators refuse; others stand there instead"
            )
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
    severity=Severity.WARNING,
    purpose="Checks that a skill's description can be made of what the spec says.",
    why=(
        "Without `skill.description` it is made of texts that were written for something else."
        " Agents leave out a skill that validators refuse, so what is too long is cut, and angle"
        " brackets are replaced."
    ),
    bad="""\
summary: Store a <b>note</b>.
skill: {}
# toolset.yaml
targets: {registry: {}, prompts: {}, skills: {}}
""",
    good="""\
when_to_use: When something has to last.
summary: Store a <b>note</b>.
skill: {description: Stores notes. Use it when something has to last.}
# toolset.yaml
targets: {registry: {}, prompts: {}, skills: {}}
""",
    check=check,
)
