"""Commands of a toolset's command line, and the texts of its CLI block.

A tool has one command for its keyword, or one for each of its actions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..encoders.code import Code
from ..encoders.markdown import encode_block, encode_inline
from ..encoders.plain_text import encode_shell_argument, encode_typed_argument
from ..encoders.python import option_name
from ..model.model import Action, Toolset, ToolSpec
from ..model.toolset_parts import omit_none

# Matches `<name>`, the optional `[<name>]`, and `<name...>` for all remaining values.
_POSITIONAL = re.compile(r"(?P<open>\[?)<(?P<name>[^<>\[\]\s]+?)(?P<rest>\.\.\.)?>\]?")


class CliPositional(NamedTuple):
    """Positional argument of a command.

    Attributes:
        parameter: the tool's parameter that receives the argument.
        optional: whether the argument can be omitted.
        rest: whether the argument collects all remaining values.
    """

    parameter: str
    optional: bool
    rest: bool


class CliCommand(NamedTuple):
    """Command that calls a tool.

    Attributes:
        tool: the called tool.
        keyword: the subcommand.
        flag: the flag that selects the tool if several tools share the subcommand.
        positionals: the positional arguments.
        action: the tool's action, which is a subcommand below the keyword.
    """

    tool: ToolSpec
    keyword: str
    flag: str | None
    positionals: tuple[CliPositional, ...]
    action: Action | None

    # These texts are properties, not fields: a comparison of commands does not need them.

    @property
    def line(self) -> str:
        """Usage line without the program: the subcommand and its required arguments."""
        if self.action is not None:
            required = _format_options(
                self.tool, _list_required_parameters(self.tool, self.action)
            )
            return " ".join(
                [self.keyword, encode_typed_argument(self.action.name), *required]
            )
        decision = self.tool.cli
        if decision is None:
            return self.selector
        positional_names = {positional.parameter for positional in self.positionals}
        names = [name for name in self.tool.required if name not in positional_names]
        parts = [decision.keyword, decision.usage, *_format_options(self.tool, names)]
        return " ".join(part for part in parts if part)

    @property
    def selectors(self) -> tuple[str, ...]:
        """Arguments that select the command: keyword, flag and action, if set."""
        action = self.action.name if self.action else None
        arguments = (self.keyword, self.flag, action)
        return tuple(argument for argument in arguments if argument is not None)

    @property
    def selector(self) -> str:
        """Arguments that select the command, separated by spaces."""
        return " ".join(self.selectors)


def parse_usage(usage: str) -> tuple[CliPositional, ...]:
    """Return the positional arguments of a valid `usage` field."""
    return tuple(
        CliPositional(match["name"], bool(match["open"]), bool(match["rest"]))
        for match in _POSITIONAL.finditer(usage)
    )


def list_cli_commands(
    toolset: Toolset, tools: Sequence[ToolSpec]
) -> Iterator[CliCommand]:
    """Yield the commands of the tools that have a keyword, in the order of the tools.

    A tool with actions has one command for each action, without positional arguments.
    """
    for tool in tools:
        if tool.cli is None or tool.cli.keyword is None:
            continue
        keyword, _, flag = tool.cli.keyword.partition(" ")
        if tool.actions:
            for action in tool.actions.values:
                yield CliCommand(tool, keyword, None, (), action)
            continue
        positionals = parse_usage(tool.cli.usage or "")
        yield CliCommand(tool, keyword, flag or None, positionals, None)


def _list_required_parameters(tool: ToolSpec, action: Action) -> list[str]:
    """Return the parameters that an action needs; of `requires_any` only the first."""
    required = {*tool.required, *action.requires}
    if action.requires_any and not required & {*action.requires_any}:
        required.add(action.requires_any[0])
    if tool.actions:
        # The subcommand sets the parameter that selects the action.
        required.discard(tool.actions.parameter)
    ordered = [*action.requires, *action.requires_any, *tool.required]
    return [name for name in dict.fromkeys(ordered) if name in required]


def _format_options(tool: ToolSpec, names: Sequence[str]) -> list[str]:
    return [f"{option_name(name)} <{' '.join(name.split())}>" for name in names]


class CliBlockTexts(NamedTuple):
    """Texts of the CLI block (the list of commands in prompt docs), as Markdown.

    The commands themselves are not included.
    """

    program: Code
    heading: Code
    intro: Code
    closing: Sequence[Code]


def render_cli_texts(toolset: Toolset, package: str) -> CliBlockTexts:
    """Return the texts of the CLI block other than the commands.

    Args:
        toolset: the toolset of the block.
        package: the dotted name of the toolset's generated package.
    """
    options = toolset.targets.get("cli", {})
    return CliBlockTexts(
        encode_inline(get_cli_program(toolset, package)),
        encode_inline(options.get("heading", "")),
        encode_block(options.get("intro", "")),
        [encode_block(line) for line in options.get("closing", ())],
    )


def get_cli_program(toolset: Toolset, package: str) -> str:
    """Return the command that starts the CLI, as help and prompts print it."""
    default = f"python -m {package}.cli"
    return str(toolset.targets.get("cli", {}).get("program", default))


def build_cli_definition(toolset: Toolset, tool: ToolSpec) -> dict[str, Any] | None:
    """Return the `cli` of a tool's definition: its commands and their lines.

    None if the spec has no `cli`. A tool that `cli` excludes from the command line has the
    command None and the reason.
    """
    if tool.cli is None:
        return None
    if tool.cli.keyword is None:
        return {"command": None, "reason": tool.cli.reason}
    commands = list(list_cli_commands(toolset, [tool]))
    usage = [
        omit_none(
            parameter=positional.parameter,
            optional=positional.optional or None,
            rest=positional.rest or None,
        )
        for command in commands
        for positional in command.positionals
    ]
    return omit_none(
        command=commands[0].keyword,
        flag=commands[0].flag,
        usage=usage or None,
        comment=tool.cli.comment or None,
        lines=[_build_line(command) for command in commands],
    )


def _build_line(command: CliCommand) -> dict[str, str]:
    """Return the entry of a command in the CLI block.

    A comment that only repeats the tool's summary is omitted: the runtime uses the summary.
    """
    action, decision = command.action, command.tool.cli
    has_comment = bool(action and action.summary) or bool(decision and decision.comment)
    text = str(render_command_comment(command))
    is_summary = text.split() == command.tool.summary.split()
    comment = {"comment": text} if has_comment or not is_summary else {}
    # Quoted for a shell: the name of an action can contain any character.
    words = " ".join(map(encode_shell_argument, command.selectors))
    return {"words": words, "line": command.line, **comment}


def render_command_comment(command: CliCommand) -> Code:
    """Return the comment of a command in the CLI block, as Markdown.

    It is the action's summary, else the `comment` of the tool's `cli`, else its summary.
    """
    tool = command.tool
    action_summary = command.action.summary if command.action else None
    comment = tool.cli.comment if tool.cli else None
    return encode_inline(" ".join((action_summary or comment or tool.summary).split()))
