"""The files of a toolset's skills.

Source: https://agentskills.io/specification
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from ...encoders.code import Code
from ...encoders.markdown import block, inline
from ...encoders.python import literal
from ...encoders.yaml_text import front_matter
from ...facts.prompt_docs import usage_lines
from ...facts.skill_texts import (
    SkillSection,
    front_matter_of,
    guidance_of,
    has_own_skill,
    has_skill,
    lines_of_when,
    openclaw_of,
    sections_of_skill,
    skill_owners,
)
from ...model.model import Toolset, ToolSpec
from ...rendering.output_shape import MarkdownShape, PythonShape
from ..target import Context, Target, header, markdown_header

__all__ = ["TARGET"]


class ToldView(NamedTuple):
    """What the docs say of one tool, below its name."""

    name: Code
    lines: Sequence[Code]


class SectionView(NamedTuple):
    """One section of the toolset's SKILL.md."""

    heading: Code
    has_intro: bool
    intro: Code
    bullets: Sequence[Code]
    told: Sequence[ToldView]
    has_footer: bool
    footer: Code


class SkillView(NamedTuple):
    """The toolset's SKILL.md."""

    front_matter: Code
    title: Code
    has_guidance: bool
    guidance: Code
    sections: Sequence[SectionView]
    shape: MarkdownShape


class ReferenceView(NamedTuple):
    """The file of one tool."""

    header: Code
    name: Code
    lines: Sequence[Code]
    shape: MarkdownShape


class ToolSkillView(NamedTuple):
    """The SKILL.md of one tool."""

    front_matter: Code
    name: Code
    summary: Code
    has_lines: bool
    lines: Sequence[Code]
    shape: MarkdownShape


class ModuleView(NamedTuple):
    """The module that hands the skills out."""

    header: Code
    has_skill: bool
    front_matter: Code
    title: Code
    guidance: Code
    shape: PythonShape = PythonShape(
        (
            "docstring",
            "from __future__",
            "from toolcast_runtime.skills",
            "from ..prompts",
            "SKILLS =",
        ),
        frozenset(["Skills"]),
    )


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`skills/`: a folder a skill, and the module that hands them out."""
    files: dict[str, bytes] = {}
    for owner in skill_owners(toolset):
        front = front_matter_of(owner)
        files |= _skill(toolset, owner, f"skills/{front['name']}", front, context)
        if read := openclaw_of(owner):
            front["metadata"] = {**front.get("metadata", {}), "openclaw": read}
            files |= _skill(toolset, owner, f"openclaw/{front['name']}", front, context)
    module = ModuleView(
        header=header(f"{toolset.folder}/toolset.yaml"),
        has_skill=has_own_skill(toolset),
        front_matter=literal(front_matter_of(toolset), "    front_matter=", ","),
        title=literal(str(inline(toolset.title)), "    title=", ","),
        guidance=literal(str(guidance_of(toolset)), "    guidance=", ","),
    )
    return {
        **files,
        "skills/__init__.py": context.render("skills/skills.py.jinja", module),
    }


def _skill(
    toolset: Toolset,
    owner: Toolset | ToolSpec,
    folder: str,
    front: Mapping[str, Any],
    context: Context,
) -> dict[str, bytes]:
    """The files of one skill."""
    if isinstance(owner, ToolSpec):
        view: NamedTuple = _tool_view(toolset, owner, front)
        template = "skills/tool_skill.md.jinja"
        return {f"{folder}/SKILL.md": context.render(template, view)}
    sections = list(sections_of_skill(owner))
    view = _toolset_view(owner, sections, front)
    template = "skills/toolset_skill.md.jinja"
    files = {f"{folder}/SKILL.md": context.render(template, view)}
    for _, tools in sections:
        for told in tools:
            if told.rest:
                reference = ReferenceView(
                    header=markdown_header(toolset),
                    name=inline(told.tool.name),
                    lines=told.rest,
                    shape=MarkdownShape((f"# {inline(told.tool.name)}",)),
                )
                files[f"{folder}/{told.reference}"] = context.render(
                    "skills/reference.md.jinja", reference
                )
    return files


def _toolset_view(
    toolset: Toolset, sections: Sequence[SkillSection], front: Mapping[str, Any]
) -> SkillView:
    title, guidance = inline(toolset.title), guidance_of(toolset)
    views = [_section(section) for section in sections]
    return SkillView(
        front_matter=front_matter(front, header(f"{toolset.folder}/")),
        title=title,
        has_guidance=bool(guidance),
        guidance=guidance,
        sections=views,
        shape=MarkdownShape((f"# {title}", *_headings(views)), tuple(front)),
    )


def _headings(sections: Sequence[SectionView]) -> Iterator[str]:
    for section in sections:
        yield f"## {section.heading}"
        yield from (f"### {tool.name}" for tool in section.told)


def _section(part: SkillSection) -> SectionView:
    section = part.section
    return SectionView(
        heading=inline(section.heading),
        has_intro=bool(section.intro),
        intro=block(section.intro),
        bullets=[told.bullet for told in part.tools],
        told=[
            ToldView(inline(told.tool.name), told.when)
            for told in part.tools
            if told.when
        ],
        has_footer=bool(section.footer),
        footer=block(section.footer),
    )


def _tool_view(
    toolset: Toolset, tool: ToolSpec, front: Mapping[str, Any]
) -> ToolSkillView:
    name, lines = inline(tool.name), usage_lines(tool)
    source = f"{toolset.folder}/{tool.name}.yaml"
    return ToolSkillView(
        front_matter=front_matter(front, header(source)),
        name=name,
        summary=inline(tool.summary),
        has_lines=bool(lines),
        lines=lines,
        shape=MarkdownShape((f"# {name}",), tuple(front)),
    )


def _definition_part(toolset: Toolset, tool: ToolSpec) -> Mapping[str, Any] | None:
    """The front matter of a tool's own skill, and what of its usage says when to choose it."""
    said: dict[str, Any] = {}
    if has_skill(toolset, tool):
        said["own"] = front_matter_of(tool)
    lines = lines_of_when(tool)
    if lines != len(list(takewhile(bool, usage_lines(tool)))):
        said["when_lines"] = lines
    return said or None


TARGET = Target(
    name="skills",
    reads_toolset=frozenset(["skill", "instructions"]),
    needs=("prompts",),
    purpose="Agent Skills: a SKILL.md for the toolset or a tool, on disk and over MCP.",
    generate=generate,
    reads=frozenset(
        "name summary when_to_use guidance section order actions clients skill".split()
    ),
    options={"per": "Whether the toolset has a skill, or each tool has one instead."},
    definition_part=_definition_part,
)
