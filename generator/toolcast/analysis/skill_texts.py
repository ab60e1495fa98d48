"""What the skills of a toolset say.

Source: https://agentskills.io/specification
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from textwrap import dedent
from typing import Any

from toolcast_runtime.skills import SkillFile, SkillSection, SkillTool

from ..encoders.code import Code
from ..encoders.markdown import encode_block, encode_inline
from ..encoders.yaml_block import (
    build_tool_skill,
    build_toolset_skill,
)
from ..model.model import Section, Toolset, ToolSpec
from .prompt_docs import group_tools_by_section, render_usage_lines

MAX_NAME_CHARACTERS = 64
"""Length of a skill's name."""
MAX_DESCRIPTION_CHARACTERS = 1024
"""Length of a skill's description; longer ones are cut."""

_SPLIT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_BRACKETS = str.maketrans("<>", "\u2039\u203a")
# A heading, a list, a table, a quotation, HTML or code.
_NOT_PLAIN = re.compile(
    r"^\s*(?:[-*+]\s|\d+[.)]\s|[-=]{2,}\s*$|[#|><]|```|~~~)", re.MULTILINE
)
_KEPT = ("license", "compatibility", "metadata")


def has_toolset_skill(toolset: Toolset) -> bool:
    """Whether the toolset has a skill, and not each of its tools instead."""
    return bool(toolset.targets.get("skills", {}).get("per") != "tool")


def has_skill(toolset: Toolset, tool: ToolSpec) -> bool:
    """Whether a tool has a skill of its own."""
    left_out = {"prompts", "skills"}
    return (tool.skill is not None or not has_toolset_skill(toolset)) and not any(
        each.tool == tool.name and each.target in left_out
        for each in toolset.exclusions
    )


def build_front_matter(owner: Toolset | ToolSpec) -> dict[str, Any]:
    """What a skill's SKILL.md begins with; a key of the spec that is not set is absent."""
    skill: Mapping[str, Any] = owner.skill or {}
    front = {
        "name": skill.get("name")
        or "-".join(_SPLIT.split(owner.name)).strip("-").lower(),
        "description": skill.get("description")
        or _as_allowed(build_description(owner)),
    }
    return front | {key: skill[key] for key in _KEPT if skill.get(key)}


def get_name_path(owner: Toolset | ToolSpec) -> tuple[str, ...]:
    """Where a spec says the skill's name."""
    return ("skill", "name") if "name" in (owner.skill or {}) else ("name",)


def get_openclaw_settings(owner: Toolset | ToolSpec) -> Mapping[str, Any]:
    """What OpenClaw reads of a skill; empty for a skill without."""
    found: Mapping[str, Any] = (owner.skill or {}).get("openclaw", {})
    return found


def build_description(owner: Toolset | ToolSpec) -> str:
    """What a skill's description is made of where the spec gives none."""
    if isinstance(owner, ToolSpec):
        return " ".join(f"{owner.summary} {owner.when_to_use or ''}".split())
    if opening := _opening(owner.instructions or ""):
        return opening
    if owner.clients:
        # It is the same for all, and not each may have each tool.
        return f"How to use the tools of {owner.title}."
    tools = [tool for section in _sections(owner) for tool in section[1]]
    # A summary may end with three dots, which stay.
    done = [re.sub(r"(?<!\.)\.$", "", tool.summary) for tool in tools]
    sentence = f"{owner.title}: {'; '.join(done)}"
    return sentence if sentence.endswith(".") else f"{sentence}."


def _opening(instructions: str) -> str:
    """The paragraphs that instructions begin with, up to a list, a heading or what is too much."""
    plain: list[str] = []
    for part in re.split(r"\n\s*\n", instructions.strip()):
        text = " ".join([*plain, *part.split()])
        if plain and (
            len(text) > MAX_DESCRIPTION_CHARACTERS or _NOT_PLAIN.search(part)
        ):
            break
        if not _NOT_PLAIN.search(part):
            plain = [text]
    return "".join(plain) or " ".join(instructions.split())


def _as_allowed(text: str) -> str:
    """A text as validators take it: without angle brackets, and not too long."""
    text = text.translate(_BRACKETS)
    if len(text) <= MAX_DESCRIPTION_CHARACTERS:
        return text
    return text[: MAX_DESCRIPTION_CHARACTERS - 3].rpartition(" ")[0].rstrip() + "..."


def render_guidance(toolset: Toolset) -> Code:
    """How the tools are used together; empty where nothing is said beyond the description."""
    instructions = toolset.instructions or ""
    if build_front_matter(toolset)["description"] == " ".join(instructions.split()):
        instructions = ""
    return encode_block(dedent(toolset.skill.get("guidance", instructions).strip("\n")))


def list_shared_texts(toolset: Toolset) -> Iterator[tuple[tuple[str, ...], str]]:
    """What the toolset's skill says to every client, with its place in the spec."""
    for field in ("description", "guidance"):
        if text := toolset.skill.get(field):
            yield ("skill", field), text
    if {"description", "guidance"} - toolset.skill.keys() and toolset.instructions:
        yield ("instructions",), toolset.instructions


def build_skill_files(
    owner: Toolset | ToolSpec, front: Mapping[str, Any]
) -> Mapping[str, SkillFile]:
    """The files of a skill by their paths, below a head of these values."""
    if isinstance(owner, ToolSpec):
        return build_tool_skill(front, _told(owner))
    sections = [
        SkillSection(
            section.name,
            encode_inline(section.heading),
            encode_block(section.intro),
            encode_block(section.footer),
            [_told(tool) for tool in tools],
        )
        for section, tools in _sections(owner)
    ]
    return build_toolset_skill(
        front, encode_inline(owner.heading), render_guidance(owner), sections
    )


def _sections(toolset: Toolset) -> Iterator[tuple[Section, list[ToolSpec]]]:
    """The sections of the toolset's skill."""
    excluded = toolset.list_excluded_tools("skills")
    for section, tools in group_tools_by_section(toolset):
        included = [tool for tool in tools if tool.name not in excluded]
        if included:
            yield section, included


def list_skill_owners(toolset: Toolset) -> list[Toolset | ToolSpec]:
    """What has a skill: the toolset, tools, or both."""
    whole: list[Toolset | ToolSpec] = []
    if has_toolset_skill(toolset) and any(True for _ in _sections(toolset)):
        whole.append(toolset)
    return [*whole, *(tool for tool in toolset.tools if has_skill(toolset, tool))]


def count_when_to_use_lines(tool: ToolSpec) -> int:
    """How many lines of a tool's usage say when to choose it."""
    text = encode_block(tool.when_to_use or "")
    return text.count("\n") + 1 if text else 0


def _told(tool: ToolSpec) -> SkillTool:
    return SkillTool(
        encode_inline(tool.name),
        encode_inline(tool.summary),
        render_usage_lines(tool),
        count_when_to_use_lines(tool),
        tool.deprecated is not None,
    )
