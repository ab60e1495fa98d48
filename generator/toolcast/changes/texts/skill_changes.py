"""Changes of Agent Skills; what tools and sections say in them has changes of its own."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.model import Toolset, ToolSpec, Workspace
from ..change import Both, Change, Grade, Grades, files_of, raw
from ..family import Family, Rules
from ..field_rows import value
from .text_change import Owner, TextSides, text_changes

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING

RULES = Rules()
ADDED, REMOVED = RULES.pair(
    "skill/added",
    "A tool has a skill of its own: agents may take it up beside the toolset's.",
    Grades(prompt=_R),
    "skill/removed",
    "A tool has no skill of its own any more; what agents knew by it is gone.",
    Grades(prompt=_B, attachment=_R),
)
NAME = RULES.alone(
    "skill/name",
    "A skill has another name, and so another folder and address: who keeps or has approved"
    " it has the old one.",
    Grades(prompt=_R, attachment=_B),
)
HEAD = RULES.alone(
    "skill/front-matter",
    "A SKILL.md begins with another license, other needs, or others of the metadata that"
    " programs read.",
    Grades(attachment=_R),
)
PER = RULES.alone(
    "skill/per",
    "The toolset has a skill where each tool had one, or the other way round.",
    Grades(prompt=_R, attachment=_B),
)

_ROWS = (
    value("skill.name", "the skill's name", NAME),
    value("skill.license", "the skill's license", HEAD),
    value("skill.compatibility", "what the skill needs", HEAD),
    value("skill.metadata", "the skill's metadata", HEAD),
    value("skill.openclaw", "what OpenClaw reads of the skill", HEAD),
)


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of the texts of a toolset's skill."""
    owner = Owner(files_of(before, after), (before, after), (was, now))
    yield from _texts(before, after, owner)


def compare_tools(both: Both) -> Iterator[Change]:
    """The changes of a tool's own skill: whether it has one, and its description."""
    before, after = both.before.skill, both.after.skill
    if (before is None) != (after is None):
        rule, words = (ADDED, "has a") if before is None else (REMOVED, "has no")
        sides = [raw(side, "skill") for side in (both.before, both.after)]
        message = f"the tool {words} skill of its own"
        yield both.files.changed(rule, ("skill",), message, *sides)
    owner = Owner(
        both.files,
        (both.toolset_before, both.toolset_after),
        (both.workspace_before, both.workspace_after),
        (both.before, both.after),
    )
    yield from _texts(both.before, both.after, owner)


def _texts(
    before: Toolset | ToolSpec, after: Toolset | ToolSpec, owner: Owner
) -> Iterator[Change]:
    old, new = before.skill or {}, after.skill or {}
    for field in ("description", "guidance"):
        subject = f"the skill's {field}"
        sides = TextSides(("skill", field), subject, old.get(field), new.get(field))
        yield from text_changes(sides, owner)


FAMILY = Family(
    rules=RULES,
    tool_rows=_ROWS,
    toolset_rows=(
        *_ROWS,
        value("targets.skills.per", "what has skills", PER, default="toolset"),
    ),
    tool_fields=["skill.description"],
    toolset_fields=["skill.description", "skill.guidance"],
    compare_tools=compare_tools,
    compare_toolsets=compare_toolsets,
)
"""What stands in SKILL.md beside the texts of the prompt docs."""
