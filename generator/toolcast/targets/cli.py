"""The command line of a toolset: keyword map, commands and the CLI block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..encoders.code import Code
from ..encoders.layout import Expression, Group, Text
from ..encoders.markdown import block, inline
from ..encoders.python import call, code_of, encode, keyword_argument, string, tuple_of
from ..facts.cli_commands import CliCommand, cli_commands
from ..model.model import Toolset, ToolSpec
from ..rendering.output_guard import MarkdownShape, PythonShape
from .target import Context, Target, header, package_of

__all__ = ["TARGET", "block_tools", "program_of"]


class CliView(NamedTuple):
    """The commands' module."""

    header: Code
    name: Code
    package: Code
    runtime_import: Code
    keywords: Code
    reasons: Code
    commands: Code
    command_line: Code
    shape: PythonShape


class BlockView(NamedTuple):
    """The CLI block."""

    has_heading: bool
    heading: Code
    has_intro: bool
    intro: Code
    lines: Sequence[Code]
    has_closing: bool
    closing: Sequence[Code]
    shape: MarkdownShape


def cast(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`cli.py` and `prompts/cli.md`."""
    return {**_module(toolset, context), **_block_file(toolset, context)}


def block_tools(toolset: Toolset, context: Context) -> Sequence[ToolSpec]:
    """What the CLI block shows: the tools that the command line's client may have."""
    if "cli" not in context.targets:
        return ()
    name = toolset.targets.get("cli", {}).get("client")
    client = toolset.client(name) if name is not None else None
    tools = toolset.tools_in("cli")
    if client is None:
        return tools
    return [tool for tool in tools if toolset.is_offered(tool, client)]


def _module(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    tools = toolset.tools_in("cli")
    commands = list(cli_commands(toolset, tools))
    decisions = {tool.name: tool.cli for tool in tools if tool.cli is not None}
    options = toolset.targets.get("cli", {})
    keywords = {name: decision.keyword for name, decision in decisions.items()}
    reasons = {
        name: decision.reason
        for name, decision in decisions.items()
        if decision.keyword is None
    }
    settings: list[Expression] = [
        Text("REGISTRY"),
        Text("COMMANDS"),
        keyword_argument("program", encode(toolset.name)),
        keyword_argument("title", encode(toolset.title)),
    ]
    if options.get("client") is not None:
        settings.append(keyword_argument("client", encode(options["client"])))
    has_positionals = any(command.positionals for command in commands)
    names = ["Command", "Positional"] if has_positionals else ["Command"]
    view = CliView(
        header(f"{toolset.folder}/toolset.yaml"),
        Code(toolset.name),
        Code(package_of(context.output, toolset)),
        Code(
            f"from toolcast_runtime.cli.command_line import {', '.join(names)}, command_line"
        ),
        code_of(encode(keywords), 0, "KEYWORDS: dict[str, str | None] = "),
        code_of(encode(reasons), 0, "NOT_A_COMMAND: dict[str, str] = "),
        _commands(commands),
        code_of(call("command_line", settings), 0, "main = "),
        _shape(has_commands=bool(commands)),
    )
    return {"cli.py": context.render("cli/cli.py.jinja", view)}


def _block_file(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    commands = list(cli_commands(toolset, block_tools(toolset, context)))
    view = _block(toolset, commands, program_of(toolset, context))
    return {"prompts/cli.md": context.render("cli/cli_block.md.jinja", view)}


def program_of(toolset: Toolset, context: Context) -> str:
    """What is typed before a command in the CLI block."""
    default = f"python -m {package_of(context.output, toolset)}.cli"
    return str(toolset.targets.get("cli", {}).get("program", default))


def _shape(*, has_commands: bool) -> PythonShape:
    return PythonShape(
        (
            *("docstring", "from __future__", "from toolcast_runtime.cli.command_line"),
            *("from .registry", "KEYWORDS:", "NOT_A_COMMAND:"),
            *("COMMANDS =" if has_commands else "COMMANDS:", "main =", "if __name__"),
        ),
        frozenset(["Command", "Positional", "command_line", "main"]),
    )


def _commands(commands: Sequence[CliCommand]) -> Code:
    elements = [_command(command) for command in commands]
    if not elements:
        return Code("COMMANDS: tuple[Command, ...] = ()")
    return code_of(tuple_of(elements), 0, "COMMANDS = ")


def _command(command: CliCommand) -> Group:
    arguments: list[Expression] = [
        Text(string(command.tool.name)),
        Text(string(command.keyword)),
    ]
    if command.flag is not None:
        arguments.append(keyword_argument("flag", encode(command.flag)))
    if command.positionals:
        places = []
        for positional in command.positionals:
            given: list[Expression] = [Text(string(positional.parameter))]
            if positional.optional:
                given.append(keyword_argument("optional", encode(True)))
            if positional.rest:
                given.append(keyword_argument("rest", encode(True)))
            places.append(call("Positional", given))
        arguments.append(keyword_argument("positionals", tuple_of(places)))
    if command.action is not None:
        arguments.append(keyword_argument("action", encode(command.action.name)))
    return call("Command", arguments)


def _block(toolset: Toolset, commands: Sequence[CliCommand], program: str) -> BlockView:
    options = toolset.targets.get("cli", {})
    typed = [f"{program} {command.line}" for command in commands]
    width = max((len(line) for line in typed), default=0)
    lines = [
        inline(f"{line.ljust(width)}   # {command.comment}")
        for line, command in zip(typed, commands, strict=True)
    ]
    heading, intro = options.get("heading", ""), options.get("intro", "")
    closing = [block(line) for line in options.get("closing", ())]
    return BlockView(
        bool(heading),
        inline(heading),
        bool(intro),
        block(intro),
        lines,
        bool(closing),
        closing,
        MarkdownShape((f"## {inline(heading)}",) if heading else ()),
    )


TARGET = Target(
    name="cli",
    purpose="Commands of a shell, their keyword map, and the CLI block of the prompt.",
    cast=cast,
    reads=frozenset(["name", "summary", "parameters", "cli", "actions", "examples"]),
    needs=("registry",),
    options={
        "program": "How the CLI block calls the program.",
        "client": "The client that the command acts as.",
        "heading": "Heading of the CLI block.",
        "intro": "One line below the heading.",
        "closing": "The lines that close the block.",
    },
)
