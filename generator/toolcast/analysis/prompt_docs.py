"""The sections of the prompt docs, and the texts about each tool."""

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
"""The section of tools that name none."""


def render_usage_lines(tool: ToolSpec) -> Sequence[Code]:
    """When to choose the tool, how to use it, what it sends of results, whether it goes.

    Line by line, so that a changed one is one changed line; none when nothing is said.
    """
    parts = [encode_block(text) for text in (tool.when_to_use, tool.guidance) if text]
    if tool.actions:
        parts.append(_actions(tool.actions))
    parts += _result(tool)
    if tool.deprecated is not None:
        parts.append(encode_block(format_deprecation(tool.deprecated)))
    given = [part for part in parts if part]
    return interpolate("\n\n").join(given).split("\n") if given else []


def _actions(actions: Actions) -> Code:
    """What each action requires, one bullet each."""
    rows = [
        interpolate("What {} can be:", encode_code_span(actions.parameter)),
        interpolate(""),
    ]
    return join_lines([*rows, *(_action(action) for action in actions.values)])


def _action(action: Action) -> Code:
    row = interpolate("- {}", encode_code_span(action.name))
    if action.summary:
        row = interpolate("{}: {}", row, encode_inline(action.summary))
    needs = [encode_code_span(name) for name in action.requires]
    if action.requires_any:
        needs.append(
            interpolate(
                "one of {}", join_values(map(encode_code_span, action.requires_any))
            )
        )
    if needs:
        row = interpolate("{} Requires {}.", row, interpolate(" and ").join(needs))
    return row


def _result(tool: ToolSpec) -> Iterator[Code]:
    """How much of a result is sent, and what picks of it."""
    for unit, most in (tool.result.budget or {}).items():
        if unit != "next":
            size = encode_inline(f"{most:,} {unit}")
            yield interpolate(
                "An answer has at most {}; it says what is left out.", size
            )
    if tool.picks is not None:
        allowed = join_values(map(encode_code_span, tool.picks["allowed"]))
        row = interpolate(
            "{} picks of {}.", encode_code_span(tool.picks["parameter"]), allowed
        )
        if "default" in tool.picks:
            default = join_values(
                map(encode_code_span, tool.picks["default"])
            ) or encode_inline("none")
            row = interpolate("{} Without it: {}.", row, default)
        yield row


def list_used_sections(toolset: Toolset, target: str) -> list[Section]:
    """The declared sections that tools of a target are in, in declared order."""
    used = {tool.section for tool in toolset.list_target_tools(target)}
    return [section for section in toolset.sections if section.name in used]


def list_block_names(toolset: Toolset) -> list[str]:
    """Return the names of the prompt blocks: those of their files without `.md`."""
    if "prompts" not in toolset.targets:
        return []
    names = [section.name for section, _ in group_tools_by_section(toolset)]
    cli = ["cli"] if "cli" in toolset.targets else []
    return ["preamble", *(f"section_{module_name(name)}" for name in names), *cli]


def group_tools_by_section(
    toolset: Toolset,
) -> Iterator[tuple[Section, list[ToolSpec]]]:
    """The sections that have tools, in declared order; last, tools without a section."""
    known = {section.name for section in toolset.sections}
    rest = Section(OTHER_SECTION, toolset.heading, "Tools")
    others = [] if OTHER_SECTION in known else [rest]
    for section in [*toolset.sections, *others]:
        members = [
            tool
            for tool in toolset.list_target_tools("prompts")
            if (tool.section if tool.section in known else OTHER_SECTION)
            == section.name
        ]
        if members:
            yield section, members
