"""The target `skills`: the files of Agent Skills.

Source: https://agentskills.io/specification
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from toolcast_runtime.skills import MAIN_FILE

from ..analysis.prompt_docs import group_tools_by_section, render_usage_lines
from ..analysis.skill_texts import (
    build_front_matter,
    build_skill_files,
    count_when_to_use_lines,
    get_openclaw_settings,
    has_skill,
    has_toolset_skill,
    list_skill_owners,
    render_guidance,
)
from ..encoders.markdown import encode_block, encode_inline
from ..encoders.python import encode_literal, join_identifiers
from ..encoders.yaml_block import add_signature
from ..model.model import Section, Toolset, ToolSpec
from ..rendering.output_shape import MarkdownShape, PythonShape, View
from .target import Context, Target, encode_header, format_signature

_SHAPE = PythonShape(
    (
        "docstring",
        "from __future__",
        "from toolcast_runtime.skills",
        "from ..prompts",
        "SKILLS =",
    ),
    frozenset(["SectionTexts", "Skills"]),
)


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """Return the files of Agent Skills and the module `skills/__init__.py`, by path.

    A skill with OpenClaw settings is also written to `openclaw/`.
    """
    files: dict[str, bytes] = {}
    for owner in list_skill_owners(toolset):
        front = build_front_matter(owner)
        name = front["name"]
        files |= _render_skill(toolset, owner, f"skills/{name}", front, context)
        # OpenClaw reads its settings from `metadata.openclaw`, so its files differ.
        if openclaw := get_openclaw_settings(owner):
            front["metadata"] = {**front.get("metadata", {}), "openclaw": openclaw}
            files |= _render_skill(toolset, owner, f"openclaw/{name}", front, context)
    has_skill = has_toolset_skill(toolset)
    sections = []
    if has_skill:
        sections = [
            _build_section_view(section)
            for section, _ in group_tools_by_section(toolset)
        ]
    module = View(
        _SHAPE,
        header=encode_header(f"{toolset.folder}/toolset.yaml"),
        imported_names=join_identifiers(
            [*(["SectionTexts"] if sections else []), "Skills"]
        ),
        has_skill=has_skill,
        sections=sections,
        front_matter=encode_literal(
            build_front_matter(toolset), "    front_matter=", ","
        ),
        title=encode_literal(str(encode_inline(toolset.heading)), "    title=", ","),
        guidance=encode_literal(str(render_guidance(toolset)), "    guidance=", ","),
    )
    return {
        **files,
        "skills/__init__.py": context.render("skills/skills.py.jinja", module),
    }


def _build_section_view(section: Section) -> View:
    indent = " " * 12
    return View(
        name=encode_literal(section.name, " " * 8, ": SectionTexts("),
        heading=encode_literal(
            str(encode_inline(section.heading)), f"{indent}heading=", ","
        ),
        intro=encode_literal(str(encode_block(section.intro)), f"{indent}intro=", ","),
        footer=encode_literal(
            str(encode_block(section.footer)), f"{indent}footer=", ","
        ),
    )


def _render_skill(
    toolset: Toolset,
    owner: Toolset | ToolSpec,
    folder: str,
    front: Mapping[str, Any],
    context: Context,
) -> dict[str, bytes]:
    """Return the files of the skill of a toolset or a tool."""
    is_tool = isinstance(owner, ToolSpec)
    source = owner.source.file if is_tool else f"{toolset.folder}/"
    signature = f"Generated {format_signature(source)}"
    files = {}
    for path, file in build_skill_files(owner, front).items():
        shape = MarkdownShape(file.headings, tuple(front) if path == MAIN_FILE else ())
        full_path = f"{folder}/{path}"
        text = add_signature(file, signature)
        files[full_path] = context.write(full_path, text, shape)
    return files


def _build_definition_part(
    toolset: Toolset, tool: ToolSpec
) -> Mapping[str, Any] | None:
    """Return the target's part of a tool's JSON definition, or None if it has none.

    `own` is the front matter of the tool's own skill. `when_lines` is the number of lines that
    describe when to use the tool, if it differs from the first paragraph of the usage text.
    """
    parts: dict[str, Any] = {}
    if has_skill(toolset, tool):
        parts["own"] = build_front_matter(tool)
    lines = count_when_to_use_lines(tool)
    if lines != len(list(takewhile(bool, render_usage_lines(tool)))):
        parts["when_lines"] = lines
    return parts or None


TARGET = Target(
    name="skills",
    needs=("prompts",),
    purpose="Agent Skills for the toolset or each tool, as files and over MCP.",
    generate=generate,
    definition_part=_build_definition_part,
)
