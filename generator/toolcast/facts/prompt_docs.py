"""What the prompt docs and the CLI block say of a tool, as finished Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolcast_runtime.tools.deprecation import deprecation_line

from ..encoders.code import Code, lines
from ..encoders.markdown import block, inline, listed, phrase, span
from ..model.model import Action, Actions, Section, Toolset, ToolSpec
from .cli_commands import CliCommand

__all__ = [
    "OTHER_SECTION",
    "comment_of",
    "listed_sections",
    "sections_of",
    "tool_line",
    "usage_lines",
]

OTHER_SECTION = "tools"
"""The section of tools that name none."""


def tool_line(tool: ToolSpec) -> Code:
    """The tool's bullet."""
    return phrase("- **{}**: {}", inline(tool.name), inline(tool.summary))


def usage_lines(tool: ToolSpec) -> Sequence[Code]:
    """When to choose the tool, how to use it, what its actions require, whether it goes.

    Line by line, so that a changed one is one changed line; none when nothing is said.
    """
    parts = [block(text) for text in (tool.when_to_use, tool.guidance) if text]
    if tool.actions:
        parts.append(_actions(tool.actions))
    if tool.deprecated is not None:
        parts.append(block(deprecation_line(tool.deprecated)))
    given = [part for part in parts if part]
    return phrase("\n\n").join(given).split("\n") if given else []


def _actions(actions: Actions) -> Code:
    """What each action requires, one bullet each."""
    rows = [phrase("What {} can be:", span(actions.parameter)), phrase("")]
    return lines([*rows, *(_action(action) for action in actions.values)])


def _action(action: Action) -> Code:
    row = phrase("- {}", span(action.name))
    if action.summary:
        row = phrase("{}: {}", row, inline(action.summary))
    needs = [span(name) for name in action.requires]
    if action.requires_any:
        needs.append(phrase("one of {}", listed(map(span, action.requires_any))))
    if needs:
        row = phrase("{} Requires {}.", row, phrase(" and ").join(needs))
    return row


def comment_of(command: CliCommand) -> Code:
    """What the CLI block says about a command."""
    tool = command.tool
    about = command.action.summary if command.action else None
    told = tool.cli.comment if tool.cli else None
    return inline(" ".join((about or told or tool.summary).split()))


def listed_sections(toolset: Toolset, target: str) -> list[Section]:
    """The declared sections that tools of a target are in, in declared order."""
    used = {tool.section for tool in toolset.tools_in(target)}
    return [section for section in toolset.sections if section.name in used]


def sections_of(toolset: Toolset) -> Iterator[tuple[Section, list[ToolSpec]]]:
    """The sections that have tools, in declared order; last, tools without a section."""
    known = {section.name for section in toolset.sections}
    rest = Section(OTHER_SECTION, toolset.title, "Tools")
    others = [] if OTHER_SECTION in known else [rest]
    for section in [*toolset.sections, *others]:
        members = [
            tool
            for tool in toolset.tools_in("prompts")
            if (tool.section if tool.section in known else OTHER_SECTION)
            == section.name
        ]
        if members:
            yield section, members
