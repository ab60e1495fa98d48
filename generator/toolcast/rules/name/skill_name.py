"""`name/skill-name`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.tools.module_names import WINDOWS_DEVICES

from ...facts.skill_texts import LONGEST_NAME, front_matter_of, name_path, skill_owners
from ...findings import Finding, Severity
from ...model.model import Toolset, ToolSpec, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "skills" not in toolset.targets:
        return
    taken: dict[str, Toolset | ToolSpec] = {}
    for owner in skill_owners(toolset):
        name = front_matter_of(owner)["name"]
        path, help_ = name_path(owner), "say another one in `skill.name`"
        if not 0 < len(name) <= LONGEST_NAME:
            yield RULE.at(
                owner,
                path,
                f"the skill's name would have {len(name)} characters; one has 1 to"
                f" {LONGEST_NAME}",
                help_,
            )
        elif name in WINDOWS_DEVICES:
            message = f"Windows has no folder named `{name}`, as the skill's would be"
            yield RULE.at(owner, path, message, help_)
        elif name in taken:
            yield RULE.at(
                owner,
                path,
                f"the skill's name, `{name}`, is that of `{taken[name].name}`'s skill, too",
                help_,
            )
        else:
            taken[name] = owner


RULE = Rule(
    id="name/skill-name",
    severity=Severity.ERROR,
    purpose="Checks that each skill has a name that the standard allows, and of its own.",
    why=(
        "The name is the folder's, too, and stands in the skill's address: of two skills of"
        " one name one is lost. Names of tools become names of skills in lower case, with"
        " hyphens, so that two of them may give one."
    ),
    bad="""\
skill: {name: example}
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
