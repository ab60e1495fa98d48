"""A toolset's command line: its commands, one for each keyword, flag and action, and its texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..encoders.code import Code
from ..encoders.markdown import encode_block, encode_inline
from ..encoders.plain_text import encode_shell_word, encode_typed_word
from ..encoders.python import option_name
from ..model.model import Action, Toolset, ToolSpec
from ..model.toolset_parts import omit_none

_PLACE = re.compile(r"(?P<open>\[?)<(?P<name>[^<>\[\]\s]+?)(?P<rest>\.\.\.)?>\]?")


class CliPositional(NamedTuple):
    """A parameter given by place."""

    parameter: str
    optional: bool
    rest: bool


class CliCommand(NamedTuple):
    """One command.

    Attributes:
        tool: the tool.
        keyword: its subcommand.
        flag: the flag that selects the tool within the subcommand.
        positionals: the parameters given by place.
        action: the action, a subcommand of its own below the keyword.
    """

    tool: ToolSpec
    keyword: str
    flag: str | None
    positionals: tuple[CliPositional, ...]
    action: Action | None

    # The two texts are made when somebody asks: what only tells commands apart needs no
    # schema and no summary.

    @property
    def line(self) -> str:
        """What a person types after the program's name."""
        if self.action is not None:
            least = _needed(self.tool, _least(self.tool, self.action))
            return " ".join([self.keyword, encode_typed_word(self.action.name), *least])
        decision = self.tool.cli
        if decision is None:
            return self.words
        placed = {positional.parameter for positional in self.positionals}
        needed = [name for name in self.tool.required if name not in placed]
        words = [decision.keyword, decision.usage, *_needed(self.tool, needed)]
        return " ".join(word for word in words if word)

    @property
    def selectors(self) -> tuple[str, ...]:
        """The words that select the command."""
        action = self.action.name if self.action else None
        return tuple(w for w in (self.keyword, self.flag, action) if w is not None)

    @property
    def words(self) -> str:
        """What selects the command, on one line."""
        return " ".join(self.selectors)


def parse_usage(usage: str) -> tuple[CliPositional, ...]:
    """The positionals of a well-formed usage line."""
    return tuple(
        CliPositional(m["name"], bool(m["open"]), bool(m["rest"]))
        for m in _PLACE.finditer(usage)
    )


def list_cli_commands(
    toolset: Toolset, tools: Sequence[ToolSpec]
) -> Iterator[CliCommand]:
    """The commands of the tools that have a keyword, in order."""
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


def _least(tool: ToolSpec, action: Action) -> list[str]:
    """The parameters with which a call is complete: of `requires_any` the first."""
    names = {*tool.required, *action.requires}
    if action.requires_any and not names & {*action.requires_any}:
        names.add(action.requires_any[0])
    named = [*action.requires, *action.requires_any, *tool.required]
    taken = {tool.actions.parameter} if tool.actions else set()
    return [name for name in dict.fromkeys(named) if name in names - taken]


def _needed(tool: ToolSpec, names: Sequence[str]) -> list[str]:
    return [f"{option_name(name)} <{' '.join(name.split())}>" for name in names]


class CliBlockTexts(NamedTuple):
    """What the CLI block says beside the commands, finished Markdown."""

    program: Code
    heading: Code
    intro: Code
    closing: Sequence[Code]


def render_cli_texts(toolset: Toolset, package: str) -> CliBlockTexts:
    """What the CLI block says beside the commands.

    Args:
        package: the one that the toolset's outputs are.
    """
    options = toolset.targets.get("cli", {})
    return CliBlockTexts(
        encode_inline(get_cli_program(toolset, package)),
        encode_inline(options.get("heading", "")),
        encode_block(options.get("intro", "")),
        [encode_block(line) for line in options.get("closing", ())],
    )


def get_cli_program(toolset: Toolset, package: str) -> str:
    """What starts the program, in help and prompts."""
    default = f"python -m {package}.cli"
    return str(toolset.targets.get("cli", {}).get("program", default))


def build_cli_definition(toolset: Toolset, tool: ToolSpec) -> dict[str, Any] | None:
    """Return the `cli` of a tool's definition: its commands, and their lines in the CLI block."""
    if tool.cli is None:
        return None
    if tool.cli.keyword is None:
        return {"command": None, "reason": tool.cli.reason}
    commands = list(list_cli_commands(toolset, [tool]))
    usage = [
        omit_none(
            parameter=place.parameter,
            optional=place.optional or None,
            rest=place.rest or None,
        )
        for command in commands
        for place in command.positionals
    ]
    return omit_none(
        command=commands[0].keyword,
        flag=commands[0].flag,
        usage=usage or None,
        comment=tool.cli.comment or None,
        lines=[_line(command) for command in commands],
    )


def _line(command: CliCommand) -> dict[str, str]:
    """One command of the CLI block; without a comment of its own it has the summary."""
    action, decision = command.action, command.tool.cli
    has_own = bool(action and action.summary) or bool(decision and decision.comment)
    text = str(render_command_comment(command))
    is_summary = text.split() == command.tool.summary.split()
    own = {"comment": text} if has_own or not is_summary else {}
    # As a shell reads them: an action may be called anything.
    words = " ".join(map(encode_shell_word, command.selectors))
    return {"words": words, "line": command.line, **own}


def render_command_comment(command: CliCommand) -> Code:
    """What the CLI block says about a command."""
    tool = command.tool
    about = command.action.summary if command.action else None
    own_comment = tool.cli.comment if tool.cli else None
    return encode_inline(" ".join((about or own_comment or tool.summary).split()))
