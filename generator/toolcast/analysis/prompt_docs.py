"""The prompt docs of a toolset: what they say of each tool, block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from toolcast_runtime.core.definitions.tool import deprecation_line, module_name
from toolcast_runtime.rooms.prompts import command_rows

from ..encoders.code import Code, lines
from ..encoders.markdown import block, inline, listed, phrase, span
from ..model.model import Action, Actions, Section, Toolset, ToolSpec
from ..model.toolset_parts import Client
from .cli_commands import CliCommand, cli_commands, cli_texts

OTHER_SECTION = "tools"
"""The section of tools that name none."""


def tool_line(tool: ToolSpec) -> Code:
    """The tool's bullet."""
    return phrase("- **{}**: {}", inline(tool.name), inline(tool.summary))


def usage_lines(tool: ToolSpec) -> Sequence[Code]:
    """When to choose the tool, how to use it, what it sends of results, whether it goes.

    Line by line, so that a changed one is one changed line; none when nothing is said.
    """
    parts = [block(text) for text in (tool.when_to_use, tool.guidance) if text]
    if tool.actions:
        parts.append(_actions(tool.actions))
    parts += _result(tool)
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


def _result(tool: ToolSpec) -> Iterator[Code]:
    """How much of a result is sent, and what picks of it."""
    for unit, most in (tool.result.budget or {}).items():
        if unit != "next":
            size = inline(f"{most:,} {unit}")
            yield phrase("An answer has at most {}; it says what is left out.", size)
    if tool.picks is not None:
        allowed = listed(map(span, tool.picks["allowed"]))
        row = phrase("{} picks of {}.", span(tool.picks["parameter"]), allowed)
        if "default" in tool.picks:
            default = listed(map(span, tool.picks["default"])) or inline("none")
            row = phrase("{} Without it: {}.", row, default)
        yield row


def comment_of(command: CliCommand) -> Code:
    """What the CLI block says about a command."""
    tool = command.tool
    about = command.action.summary if command.action else None
    own_comment = tool.cli.comment if tool.cli else None
    return inline(" ".join((about or own_comment or tool.summary).split()))


def listed_sections(toolset: Toolset, target: str) -> list[Section]:
    """The declared sections that tools of a target are in, in declared order."""
    used = {tool.section for tool in toolset.tools_in(target)}
    return [section for section in toolset.sections if section.name in used]


def sections_of(toolset: Toolset) -> Iterator[tuple[Section, list[ToolSpec]]]:
    """The sections that have tools, in declared order; last, tools without a section."""
    known = {section.name for section in toolset.sections}
    rest = Section(OTHER_SECTION, toolset.heading, "Tools")
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


CLI_BLOCK = "cli"
"""The name of the block of commands, for agents without MCP."""


def prompt_blocks(
    toolset: Toolset, client: Client | None, package: str
) -> Iterator[tuple[str, str]]:
    """Each block with tools of a client: the name of its file without `.md`, and its text.

    None is a caller who has every tool. The texts are those of the generated `prompts/*.md`
    without their first line.

    Args:
        package: the dotted name under which Python imports the output folder.
    """
    if "prompts" not in toolset.targets:
        return
    sections = [
        (section, members)
        for section, tools in sections_of(toolset)
        if (members := _offered(toolset, client, tools))
    ]
    yield "preamble", _text(_preamble(toolset, sections))
    for section, tools in sections:
        name = f"section_{module_name(section.name)}"
        yield name, _text(_section(section, tools))
    if "cli" in toolset.targets:
        yield CLI_BLOCK, _text(_cli(toolset, client, package))


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _offered(
    toolset: Toolset, client: Client | None, tools: Sequence[ToolSpec]
) -> list[ToolSpec]:
    return [t for t in tools if client is None or toolset.is_offered(t, client)]


def _preamble(
    toolset: Toolset, sections: Sequence[tuple[Section, list[ToolSpec]]]
) -> Iterator[str]:
    yield f"## {inline(toolset.preamble_heading)}"
    if toolset.preamble_intro:
        yield from ("", str(block(toolset.preamble_intro)))
    for section, tools in sections:
        yield from ("", f"**{inline(section.label)}**", *map(tool_line, tools))


def _section(section: Section, tools: Sequence[ToolSpec]) -> Iterator[str]:
    yield from (f"## {inline(section.heading)}", "")
    if section.intro:
        yield from (str(block(section.intro)), "")
    yield from map(tool_line, tools)
    for tool in tools:
        usage: Sequence[Code] = usage_lines(tool)
        if usage:
            yield from ("", f"### {inline(tool.name)}", *usage)
    if section.footer:
        yield from ("", str(block(section.footer)))


def _cli(toolset: Toolset, client: Client | None, package: str) -> Iterator[str]:
    texts = cli_texts(toolset, ".".join(filter(None, (package, toolset.name))))
    if texts.heading:
        yield from (f"## {texts.heading}", "")
    if texts.intro:
        yield str(texts.intro)
    name = toolset.targets["cli"].get("client")
    who = toolset.client(name) if client is None and name is not None else client
    tools = _offered(toolset, who, toolset.tools_in("cli"))
    for command in cli_commands(toolset, tools):
        line, comment = command.line, str(comment_of(command))
        yield from command_rows(str(texts.program), line, comment)
    if texts.closing:
        yield from ("", *map(str, texts.closing))
