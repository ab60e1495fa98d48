"""Sections of the prompt docs, and the usage texts of tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolcast_runtime.core.definitions.tool import format_deprecation, module_name

from ..encoders.code import Code, join_lines
from ..encoders.markdown import (
    encode_block,
    encode_code_span,
    encode_inline,
    interpolate,
    join_values,
)
from ..model.model import Action, Actions, Section, Toolset, ToolSpec

OTHER_SECTION = "tools"
"""Section of tools whose spec names no declared section."""


def render_usage_lines(tool: ToolSpec) -> Sequence[Code]:
    """Return the lines of a tool's usage text; none if its spec declares no usage.

    The text covers when to choose the tool, how to use it, its actions, the size and fields
    of its results, and its deprecation. Separate lines keep the diffs of definitions small.
    """
    parts = [encode_block(text) for text in (tool.when_to_use, tool.guidance) if text]
    if tool.actions:
        parts.append(_render_actions(tool.actions))
    parts += _render_result_limits(tool)
    if tool.deprecated is not None:
        parts.append(encode_block(format_deprecation(tool.deprecated)))
    nonempty = [part for part in parts if part]
    return interpolate("\n\n").join(nonempty).split("\n") if nonempty else []


def _render_actions(actions: Actions) -> Code:
    """Return a list with the required parameters of each action."""
    lines = [
        interpolate("What {} can be:", encode_code_span(actions.parameter)),
        interpolate(""),
    ]
    return join_lines([*lines, *(_render_action(action) for action in actions.values)])


def _render_action(action: Action) -> Code:
    line = interpolate("- {}", encode_code_span(action.name))
    if action.summary:
        line = interpolate("{}: {}", line, encode_inline(action.summary))
    requirements = [encode_code_span(name) for name in action.requires]
    if action.requires_any:
        alternatives = join_values(map(encode_code_span, action.requires_any))
        requirements.append(interpolate("one of {}", alternatives))
    if requirements:
        line = interpolate(
            "{} Requires {}.", line, interpolate(" and ").join(requirements)
        )
    return line


def _render_result_limits(tool: ToolSpec) -> Iterator[Code]:
    """Yield the sentences of a usage text about the size and selection of results.

    One sentence for each limit of the result, and one for the parameter that selects
    properties, if the tool has one.
    """
    for unit, maximum in (tool.result.budget or {}).items():
        # `next` is the argument for the next call, not a limit.
        if unit != "next":
            size = encode_inline(f"{maximum:,} {unit}")
            yield interpolate(
                "A result has at most {}; a note reports omitted items.", size
            )
    if tool.picks is not None:
        parameter = encode_code_span(tool.picks["parameter"])
        allowed = join_values(map(encode_code_span, tool.picks["allowed"]))
        line = interpolate("{} selects properties: {}.", parameter, allowed)
        if "default" in tool.picks:
            default = join_values(map(encode_code_span, tool.picks["default"]))
            line = interpolate(
                "{} Default: {}.", line, default or encode_inline("none")
            )
        yield line


def list_used_sections(toolset: Toolset, target: str) -> list[Section]:
    """Return the declared sections that contain tools of a target, in declared order."""
    used = {tool.section for tool in toolset.list_target_tools(target)}
    return [section for section in toolset.sections if section.name in used]


def list_block_names(toolset: Toolset) -> list[str]:
    """Return the names of the prompt blocks, which are their file names without `.md`.

    The order is that of the prompt: preamble, sections, CLI. Empty without the target
    `prompts`.
    """
    if "prompts" not in toolset.targets:
        return []
    names = [section.name for section, _ in group_tools_by_section(toolset)]
    cli = ["cli"] if "cli" in toolset.targets else []
    return ["preamble", *(f"section_{module_name(name)}" for name in names), *cli]


def group_tools_by_section(
    toolset: Toolset,
) -> Iterator[tuple[Section, list[ToolSpec]]]:
    """Yield each section that has tools in the prompt docs, with these tools.

    Declared sections come first, in their order, then the tools without a declared section.
    """
    declared = {section.name for section in toolset.sections}
    sections = list(toolset.sections)
    # A declared section with the name of the default section replaces it.
    if OTHER_SECTION not in declared:
        sections.append(Section(OTHER_SECTION, toolset.heading, "Tools"))
    tools_by_section: dict[str, list[ToolSpec]] = {}
    for tool in toolset.list_target_tools("prompts"):
        name = tool.section if tool.section in declared else None
        tools_by_section.setdefault(name or OTHER_SECTION, []).append(tool)
    for section in sections:
        if section.name in tools_by_section:
            yield section, tools_by_section[section.name]
