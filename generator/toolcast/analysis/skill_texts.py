"""Texts of the skills that a toolset generates.

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
"""Length of a skill's description; longer descriptions are cut off."""

_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
# Validators of skills reject `<` and `>` in descriptions; quotation marks replace them.
_BRACKETS = str.maketrans("<>", "\u2039\u203a")
# Matches the start of a heading, a list item, a table, a quotation, HTML or code.
_NOT_PLAIN = re.compile(
    r"^\s*(?:[-*+]\s|\d+[.)]\s|[-=]{2,}\s*$|[#|><]|```|~~~)", re.MULTILINE
)
_COPIED_FIELDS = ("license", "compatibility", "metadata")


def has_toolset_skill(toolset: Toolset) -> bool:
    """Return whether the toolset has one skill for its tools (the default).

    With `per: tool` in the target `skills`, each tool has a skill instead.
    """
    return bool(toolset.targets.get("skills", {}).get("per") != "tool")


def has_skill(toolset: Toolset, tool: ToolSpec) -> bool:
    """Return whether a tool has a skill of its own.

    It has one if its spec has `skill`, or if the toolset has no skill; never if it is
    excluded from the target `prompts` or `skills`.
    """
    is_excluded = any(
        exclusion.tool == tool.name and exclusion.target in ("prompts", "skills")
        for exclusion in toolset.exclusions
    )
    is_requested = tool.skill is not None or not has_toolset_skill(toolset)
    return is_requested and not is_excluded


def build_front_matter(owner: Toolset | ToolSpec) -> dict[str, Any]:
    """Return the front matter of a skill's SKILL.md, without keys that the spec omits."""
    skill: Mapping[str, Any] = owner.skill or {}
    default_name = "-".join(_WORD_BOUNDARY.split(owner.name)).strip("-").lower()
    front_matter = {
        "name": skill.get("name") or default_name,
        "description": skill.get("description")
        or _sanitize_description(build_description(owner)),
    }
    return front_matter | {key: skill[key] for key in _COPIED_FIELDS if skill.get(key)}


def get_name_path(owner: Toolset | ToolSpec) -> tuple[str, ...]:
    """Return the path of the spec's field that the skill's name comes from."""
    return ("skill", "name") if "name" in (owner.skill or {}) else ("name",)


def get_openclaw_settings(owner: Toolset | ToolSpec) -> Mapping[str, Any]:
    """Return a skill's settings for OpenClaw; an empty mapping if it has none."""
    settings: Mapping[str, Any] = (owner.skill or {}).get("openclaw", {})
    return settings


def build_description(owner: Toolset | ToolSpec) -> str:
    """Return the default of a skill's description, before `<` and `>` are replaced.

    For a tool: its summary and `when_to_use`. For a toolset: the first paragraphs of its
    instructions; without instructions, the summaries of its tools, or only its title if it
    has clients.
    """
    if isinstance(owner, ToolSpec):
        return " ".join(f"{owner.summary} {owner.when_to_use or ''}".split())
    if introduction := _extract_introduction(owner.instructions or ""):
        return introduction
    if owner.clients:
        # All clients share the description, and some may not have all of the tools.
        return f"How to use the tools of {owner.title}."
    tools = [tool for _, tools in _group_skill_tools(owner) for tool in tools]
    # A final period is removed, but not an ellipsis.
    summaries = [re.sub(r"(?<!\.)\.$", "", tool.summary) for tool in tools]
    sentence = f"{owner.title}: {'; '.join(summaries)}"
    return sentence if sentence.endswith(".") else f"{sentence}."


def _extract_introduction(instructions: str) -> str:
    """Return the first plain paragraphs, up to the length of a description.

    Lists, headings and other markup before the first plain paragraph are skipped; later, they
    end the introduction. Without a plain paragraph all instructions are returned.
    """
    introduction = ""
    for paragraph in re.split(r"\n\s*\n", instructions.strip()):
        is_plain = not _NOT_PLAIN.search(paragraph)
        words = paragraph.split()
        text = " ".join([introduction, *words] if introduction else words)
        if introduction and (not is_plain or len(text) > MAX_DESCRIPTION_CHARACTERS):
            break
        if is_plain:
            introduction = text
    return introduction or " ".join(instructions.split())


def _sanitize_description(text: str) -> str:
    """Return a description that validators of skills accept.

    Angle brackets are replaced, and a text of more than 1,024 characters is cut off
    between words.
    """
    text = text.translate(_BRACKETS)
    if len(text) <= MAX_DESCRIPTION_CHARACTERS:
        return text
    # Cut off between two words, with three characters for the ellipsis.
    return text[: MAX_DESCRIPTION_CHARACTERS - 3].rpartition(" ")[0].rstrip() + "..."


def render_guidance(toolset: Toolset) -> Code:
    """Return the Markdown about how to use the tools together.

    The default is the toolset's instructions; it is empty if the description equals them.
    """
    instructions = toolset.instructions or ""
    if build_front_matter(toolset)["description"] == " ".join(instructions.split()):
        instructions = ""
    return encode_block(dedent(toolset.skill.get("guidance", instructions).strip("\n")))


def list_shared_texts(toolset: Toolset) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts of the toolset's skill that all clients share: spec path and text."""
    for field in ("description", "guidance"):
        if text := toolset.skill.get(field):
            yield ("skill", field), text
    # `instructions` is the default of the description and of the guidance.
    if {"description", "guidance"} - toolset.skill.keys() and toolset.instructions:
        yield ("instructions",), toolset.instructions


def build_skill_files(
    owner: Toolset | ToolSpec, front_matter: Mapping[str, Any]
) -> Mapping[str, SkillFile]:
    """Return the files of a skill by their paths below the skill's folder.

    The skill of a toolset covers all its tools by section, that of a tool only the
    tool.
    """
    if isinstance(owner, ToolSpec):
        return build_tool_skill(front_matter, _build_skill_tool(owner))
    sections = [
        SkillSection(
            section.name,
            encode_inline(section.heading),
            encode_block(section.intro),
            encode_block(section.footer),
            [_build_skill_tool(tool) for tool in tools],
        )
        for section, tools in _group_skill_tools(owner)
    ]
    return build_toolset_skill(
        front_matter, encode_inline(owner.heading), render_guidance(owner), sections
    )


def _group_skill_tools(toolset: Toolset) -> Iterator[tuple[Section, list[ToolSpec]]]:
    """Yield the nonempty sections of the toolset's skill with their tools."""
    excluded = toolset.list_excluded_tools("skills")
    for section, tools in group_tools_by_section(toolset):
        included = [tool for tool in tools if tool.name not in excluded]
        if included:
            yield section, included


def list_skill_owners(toolset: Toolset) -> list[Toolset | ToolSpec]:
    """Return the toolset, if it has a skill, and the tools with skills of their own."""
    owners: list[Toolset | ToolSpec] = []
    if has_toolset_skill(toolset) and any(True for _ in _group_skill_tools(toolset)):
        owners.append(toolset)
    return [*owners, *(tool for tool in toolset.tools if has_skill(toolset, tool))]


def count_when_to_use_lines(tool: ToolSpec) -> int:
    """Return the number of lines that `when_to_use` has in the tool's usage text."""
    text = encode_block(tool.when_to_use or "")
    return text.count("\n") + 1 if text else 0


def _build_skill_tool(tool: ToolSpec) -> SkillTool:
    return SkillTool(
        encode_inline(tool.name),
        encode_inline(tool.summary),
        render_usage_lines(tool),
        count_when_to_use_lines(tool),
        tool.deprecated is not None,
    )
