"""What the skills of a toolset say.

Source: https://agentskills.io/specification
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from toolcast_runtime.tools.module_names import module_name

from ..encoders.code import Code
from ..encoders.markdown import block, phrase, reference
from ..model.model import Section, Toolset, ToolSpec
from .prompt_docs import sections_of, tool_line, usage_lines

__all__ = [
    "LONGEST_DESCRIPTION",
    "LONGEST_NAME",
    "SkillSection",
    "ToldTool",
    "body_of",
    "front_matter_of",
    "guidance_of",
    "has_own_skill",
    "has_skill",
    "lines_of_when",
    "made_description",
    "openclaw_of",
    "sections_of_skill",
    "skill_owners",
]

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024

_SPLIT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_BRACKETS = str.maketrans("<>", "\u2039\u203a")
_KEPT = ("license", "compatibility", "metadata")


class ToldTool(NamedTuple):
    """What a skill says of a tool.

    Attributes:
        tool: the tool.
        bullet: its line.
        when: when to choose it; empty where nothing is said of that.
        reference: the path of the file with the rest.
        rest: what stands there; empty where there is no such file.
    """

    tool: ToolSpec
    bullet: Code
    when: Sequence[Code]
    reference: str
    rest: Sequence[Code]


class SkillSection(NamedTuple):
    """A section of the prompt docs with those of its tools that the skill tells of."""

    section: Section
    tools: Sequence[ToldTool]


def has_own_skill(toolset: Toolset) -> bool:
    """Whether the toolset has a skill, and not each of its tools instead."""
    return bool(toolset.targets.get("skills", {}).get("per") != "tool")


def has_skill(toolset: Toolset, tool: ToolSpec) -> bool:
    """Whether a tool has a skill of its own."""
    left_out = {"prompts", "skills"}
    return (tool.skill is not None or not has_own_skill(toolset)) and not any(
        each.tool == tool.name and each.target in left_out
        for each in toolset.exclusions
    )


def front_matter_of(owner: Toolset | ToolSpec) -> dict[str, Any]:
    """What a skill's SKILL.md begins with; a key of the spec that is not set is absent."""
    said: Mapping[str, Any] = owner.skill or {}
    front = {
        "name": said.get("name")
        or "-".join(_SPLIT.split(owner.name)).strip("-").lower(),
        "description": said.get("description") or _as_allowed(made_description(owner)),
    }
    return front | {key: said[key] for key in _KEPT if said.get(key)}


def openclaw_of(owner: Toolset | ToolSpec) -> Mapping[str, Any]:
    """What OpenClaw reads of a skill; empty for a skill without."""
    found: Mapping[str, Any] = (owner.skill or {}).get("openclaw", {})
    return found


def made_description(owner: Toolset | ToolSpec) -> str:
    """What a skill's description is made of where the spec gives none."""
    if isinstance(owner, Toolset):
        said = owner.instructions or ""
    else:
        said = f"{owner.summary} {owner.when_to_use or ''}"
    return " ".join(said.split()) or f"How to use {owner.title or owner.name}."


def _as_allowed(text: str) -> str:
    """A text as validators take it: without angle brackets, and not too long."""
    text = text.translate(_BRACKETS)
    if len(text) <= LONGEST_DESCRIPTION:
        return text
    return text[: LONGEST_DESCRIPTION - 3].rpartition(" ")[0].rstrip() + "..."


def guidance_of(toolset: Toolset) -> Code:
    """How the tools are used together; empty where nothing is said of it."""
    return block(toolset.skill.get("guidance", toolset.instructions or ""))


def sections_of_skill(toolset: Toolset) -> Iterator[SkillSection]:
    """The sections of the toolset's skill."""
    excluded = toolset.excluded("skills")
    for section, tools in sections_of(toolset):
        told = [_told(tool) for tool in tools if tool.name not in excluded]
        if told:
            yield SkillSection(section, told)


def body_of(owner: Toolset | ToolSpec) -> Iterator[str]:
    """The lines of a skill's SKILL.md below its front matter."""
    if isinstance(owner, ToolSpec):
        yield from ("", f"# {owner.name}", "", owner.summary)
        if usage := usage_lines(owner):
            yield from ("", *usage)
        return
    yield from ("", f"# {owner.title}")
    if guidance := guidance_of(owner):
        yield from ("", *guidance.split("\n"))
    for section, tools in sections_of_skill(owner):
        yield from ("", f"## {section.heading}")
        if section.intro:
            yield from ("", *block(section.intro).split("\n"))
        yield from ("", *(told.bullet for told in tools))
        for told in tools:
            if told.when:
                yield from ("", f"### {told.tool.name}", *told.when)
        if section.footer:
            yield from ("", *block(section.footer).split("\n"))


def skill_owners(toolset: Toolset) -> list[Toolset | ToolSpec]:
    """What has a skill: the toolset, tools, or both."""
    whole: list[Toolset | ToolSpec] = []
    if has_own_skill(toolset) and any(True for _ in sections_of_skill(toolset)):
        whole.append(toolset)
    return [*whole, *(tool for tool in toolset.tools if has_skill(toolset, tool))]


def lines_of_when(tool: ToolSpec) -> int:
    """How many lines of a tool's usage say when to choose it."""
    said = block(tool.when_to_use or "")
    return said.count("\n") + 1 if said else 0


def _told(tool: ToolSpec) -> ToldTool:
    usage = usage_lines(tool)
    when = usage[: lines_of_when(tool)]
    rest = usage[len(when) + bool(when) :]
    path = f"references/{module_name(tool.name)}.md"
    bullet = tool_line(tool)
    if rest:
        bullet = phrase("{} ({})", bullet, reference("more", path))
    return ToldTool(tool, bullet, when, path, rest)
