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
        field, text = "summary", made_description(owner)
        if isinstance(owner, Toolset):
            field = "instructions" if owner.instructions else "title"
        made = f"the skill's description, made of the `{field}`, has"
        if field == "title":
            message = "neither `skill.description` nor `instructions` say what the skill is for"
        elif len(text) > LONGEST_DESCRIPTION:
            message = (
                f"{made} {len(text):,} characters; {LONGEST_DESCRIPTION:,} are kept"
            )
        elif "<" in text or ">" in text:
            message = f"{made} `<` or `>`, which validators refuse; others stand there instead"
        else:
            continue
        help_ = "say in `skill.description` what the skill does and when to use it"
        yield RULE.at(owner, (field,), message, help_)


RULE = Rule(
    id="prompt/skill-description",
    severity=Severity.WARNING,
    purpose="Checks that a spec says enough for its skill's description.",
    why=(
        "An agent knows of a skill by its description alone until it takes it up. Without"
        " `skill.description` it is made of texts that were written for something else: how"
        " the `instructions` begin, or what the tools do, one after the other. Agents leave"
        " out a skill that validators refuse, so what is too long is cut, and angle brackets"
        " are replaced."
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
instructions: Keeps notes. Use it when something has to last.
targets: {registry: {}, prompts: {}, skills: {}}
""",
    check=check,
)
