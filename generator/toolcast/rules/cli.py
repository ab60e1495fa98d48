"""Rules of the family `cli`: keywords, flags and usage of generated commands.

`cli.md` explains each rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.cli_commands import CliCommand, list_cli_commands, parse_usage
from ..encoders.python import option_name
from ..findings import Severity
from ..model.model import Toolset, ToolSpec, Workspace
from ..parsing.tree import Path
from ..suggestions import Suggestions
from .rule import Problem, problem_at, rule
from .subjects import Scope


@rule("cli/missing-decision", on="tool", severity=Severity.ERROR, target="cli")
def check_decision(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a tool without a `cli` entry that the target requires.

    Also report a tool whose `keyword` is null without a `reason`.
    """
    decisions = scope.toolset.targets["cli"].get("decisions")
    if decisions == "required" and "cli" not in tool.fields:
        message = f"`{tool.name}` has no `cli` entry, which the target requires"
        help_ = "add `cli: {keyword: ...}`, or `cli: {keyword: null, reason: ...}`"
        yield problem_at(tool, (), message, help_)
    elif tool.cli is not None and tool.cli.keyword is None and not tool.cli.reason:
        message = f"`{tool.name}` is not in the CLI, but has no `reason`"
        help_ = "add `reason:` next to `keyword: null`"
        yield problem_at(tool, ("cli", "keyword"), message, help_)


@rule("cli/flag-conflict", on="toolset", severity=Severity.ERROR, target="cli")
def check_flags(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report flags such as `--all` in a keyword that are also the option of a parameter.

    Several tools can have the same keyword with different flags, such as `list` and
    `list --all`. The flag then selects a tool, so that it cannot also be an option.
    """
    flags: dict[str, set[str]] = {}
    for tool in toolset.list_target_tools("cli"):
        decision = tool.cli
        if decision is not None and decision.keyword is not None and not tool.actions:
            keyword, _, flag = decision.keyword.partition(" ")
            if flag:
                flags.setdefault(keyword, set()).add(flag)
    if not flags:
        return
    for command in list_cli_commands(toolset, toolset.list_target_tools("cli")):
        positionals = {positional.parameter for positional in command.positionals}
        for name in command.tool.properties:
            option = option_name(name)
            if name not in positionals and option in flags.get(command.keyword, ()):
                message = (
                    f"`{option}` selects a tool, and is also an option of"
                    f" `{command.tool.name}`"
                )
                help_ = f"choose another flag, or add `{name}` to `usage`"
                yield problem_at(command.tool, ("cli", "keyword"), message, help_)


@rule("cli/keyword-conflict", on="toolset", severity=Severity.ERROR, target="cli")
def check_keywords(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report commands with the same keyword that cannot be distinguished.

    Commands with the same keyword must differ in their flag, parse arguments at the same
    position equally, and have no actions.
    """
    commands: dict[str, list[CliCommand]] = {}
    for command in list_cli_commands(toolset, toolset.list_target_tools("cli")):
        decision = command.tool.cli
        has_flag = decision is not None and " " in (decision.keyword or "")
        path: Path = ("cli", "keyword")
        if command.action is not None and has_flag:
            message = "a tool with `actions` cannot have a flag"
            yield problem_at(command.tool, path, message, "remove the flag")
        earlier_commands = commands.setdefault(command.keyword, [])
        for earlier in earlier_commands:
            problem = _compare_commands(command, earlier)
            if problem is not None:
                yield problem_at(command.tool, path, *problem)
                break
        earlier_commands.append(command)


def _compare_commands(command: CliCommand, other: CliCommand) -> tuple[str, str] | None:
    """Return a message and a help if two commands with the same keyword conflict."""
    name, keyword = other.tool.name, command.keyword
    if other.tool is command.tool:
        return None
    if command.action is not None or other.action is not None:
        return (
            f"`{keyword}` is also the keyword of `{name}`, and one of the tools has actions",
            "choose another keyword",
        )
    if command.flag == other.flag:
        text = f"{keyword} {command.flag}" if command.flag else keyword
        return f"`{text}` is also the keyword of `{name}`", "choose another keyword"
    # Arguments at the same position must be parsed equally. One of the commands may have fewer
    # arguments, so `strict` is false.
    for first, second in zip(command.positionals, other.positionals, strict=False):
        if first.rest != second.rest:
            return (
                f"`{keyword}` parses `<{first.parameter}>` differently for `{name}`",
                "set the same `usage` for both, or choose another keyword for one of them",
            )
    return None


@rule("cli/invalid-usage", on="tool", severity=Severity.ERROR, target="cli")
def check_usage(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a `usage` that cannot be parsed unambiguously."""
    if tool.cli is not None and tool.cli.keyword is not None and tool.cli.usage:
        for message, help_ in _check_usage(tool, tool.cli.usage):
            yield problem_at(tool, ("cli", "usage"), message, help_)


def _check_usage(tool: ToolSpec, usage: str) -> Iterator[tuple[str, str]]:
    if tool.actions is not None:
        message = (
            "a tool with `actions` cannot have `usage`: each action is a subcommand"
        )
        yield message, "remove `usage`"
        return
    arguments = parse_usage(usage)
    seen: set[str] = set()
    suggestions = Suggestions(tool.properties)
    for index, argument in enumerate(arguments):
        name = argument.parameter
        if name not in tool.properties:
            help_ = suggestions.near(name) or "use the name of a parameter"
            yield f"`{name}` is not a parameter", help_
        if name in seen:
            yield f"`usage` contains `{name}` twice", "remove one of the two"
        seen.add(name)
        if argument.rest and index < len(arguments) - 1:
            yield f"`<{name}...>` accepts all remaining arguments", "move it to the end"
        has_optional = any(earlier.optional for earlier in arguments[:index])
        if has_optional and not argument.optional:
            yield (
                f"`<{name}>` follows an optional argument, so the two are ambiguous",
                "move optional arguments to the end",
            )


@rule("cli/invalid-usage", on="toolset", severity=Severity.WARNING)
def check_program(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report a `program` that is not the console script of the toolset's commands.

    Nothing is reported for a path or a command with arguments, or if pyproject.toml is
    missing.
    """
    program = toolset.targets.get("cli", {}).get("program")
    if not isinstance(program, str) or workspace.commands is None:
        return
    # Only a plain name must be a console script of pyproject.toml.
    if any(character in program for character in " /"):
        return
    package = ".".join(filter(None, (workspace.package, toolset.name)))
    entry_point = f"{package}.cli:main"
    actual = workspace.commands.get(program)
    if actual == entry_point:
        return
    message = f"`{program}` of pyproject.toml does not run this toolset's commands"
    if actual is None:
        message = f"`{program}` is not a console script of pyproject.toml"
    help_ = f'write `{program} = "{entry_point}"` in its `[project.scripts]`'
    yield problem_at(toolset, ("targets", "cli", "program"), message, help_)
