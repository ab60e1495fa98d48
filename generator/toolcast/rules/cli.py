"""Rules of the family `cli`: keywords, flags and usage lines of the generated commands.

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
def cli_decision(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    asked = where.toolset.targets["cli"].get("decisions")
    if asked == "required" and "cli" not in tool.fields:
        help_ = "add `cli: {keyword: ...}`, or `cli: {keyword: null, reason: ...}`"
        yield problem_at(tool, (), f"`{tool.name}` has no CLI decision", help_)
    elif tool.cli is not None and tool.cli.keyword is None and not tool.cli.reason:
        message = f"`{tool.name}` is not in the CLI, and no reason is given"
        help_ = "add `reason:` beside `keyword: null`"
        yield problem_at(tool, ("cli", "keyword"), message, help_)


@rule("cli/flag-conflict", on="toolset", severity=Severity.ERROR, target="cli")
def cli_flag(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    flags: dict[str, set[str]] = {}
    for tool in toolset.list_target_tools("cli"):
        decision = tool.cli
        if decision is not None and decision.keyword is not None and not tool.actions:
            keyword, _, flag = decision.keyword.partition(" ")
            if flag:
                flags.setdefault(keyword, set()).add(flag)
    for command in (
        list_cli_commands(toolset, toolset.list_target_tools("cli")) if flags else ()
    ):
        placed = {place.parameter for place in command.positionals}
        for name in command.tool.properties:
            option = option_name(name)
            if name not in placed and option in flags.get(command.keyword, ()):
                message = f"`{option}` selects a tool and is an option of `{command.tool.name}`"
                help_ = f"choose another flag, or put `{name}` into `usage`"
                yield problem_at(command.tool, ("cli", "keyword"), message, help_)


@rule("cli/keyword-conflict", on="toolset", severity=Severity.ERROR, target="cli")
def cli_keyword(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    by_keyword: dict[str, list[CliCommand]] = {}
    for command in list_cli_commands(toolset, toolset.list_target_tools("cli")):
        decision = command.tool.cli
        has_flag = decision is not None and " " in (decision.keyword or "")
        place: Path = ("cli", "keyword")
        if command.action is not None and has_flag:
            message = "a tool with `actions` has no flag"
            yield problem_at(command.tool, place, message, "remove the flag")
        earlier = by_keyword.setdefault(command.keyword, [])
        problem = next(filter(None, (_clash(command, one) for one in earlier)), None)
        if problem is not None:
            yield problem_at(command.tool, place, *problem)
        earlier.append(command)


def _clash(command: CliCommand, other: CliCommand) -> tuple[str, str] | None:
    name, keyword = other.tool.name, command.keyword
    if other.tool is command.tool:
        return None
    if command.action is not None or other.action is not None:
        return (
            f"`{keyword}` is the keyword of `{name}` too, and one of them has actions",
            "choose another keyword",
        )
    if command.flag == other.flag:
        whole = f"{keyword} {command.flag}" if command.flag else keyword
        return f"`{whole}` is the keyword of `{name}` too", "choose another keyword"
    # Fewer words for one of them are fine; the same word must be read in the same way.
    for one, two in zip(command.positionals, other.positionals, strict=False):
        if one.rest != two.rest:
            return (
                f"`{keyword}` reads `<{one.parameter}>` in another way for `{name}`",
                "give both the same `usage`, or one of them another keyword",
            )
    return None


@rule("cli/invalid-usage", on="tool", severity=Severity.ERROR, target="cli")
def cli_usage(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    if tool.cli is not None and tool.cli.keyword is not None and tool.cli.usage:
        for message, help_ in _problems_of_cli_usage(tool, tool.cli.usage):
            yield problem_at(tool, ("cli", "usage"), message, help_)


def _problems_of_cli_usage(tool: ToolSpec, usage: str) -> Iterator[tuple[str, str]]:
    if tool.actions is not None:
        yield "a tool with `actions` has no usage: each action is a subcommand", "remove it"
        return
    places = parse_usage(usage)
    seen: set[str] = set()
    suggestions = Suggestions(tool.properties)
    for index, place in enumerate(places):
        name = place.parameter
        if name not in tool.properties:
            yield f"`{name}` is not a parameter", suggestions.near(name)
        if name in seen:
            yield f"`{name}` stands twice", "name each parameter once"
        seen.add(name)
        if place.rest and index < len(places) - 1:
            yield f"`<{name}...>` takes all remaining words", "put it last"
        if not place.optional and any(earlier.optional for earlier in places[:index]):
            yield (
                f"`<{name}>` follows an optional word, so nobody can tell which is meant",
                "put optional words last",
            )


@rule("cli/invalid-usage", on="toolset", severity=Severity.WARNING)
def program(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    program = toolset.targets.get("cli", {}).get("program")
    if not isinstance(program, str) or workspace.commands is None:
        return
    # What has a path or further words is started in another way than by its name alone.
    if any(character in program for character in " /"):
        return
    runs = ".".join(filter(None, (workspace.package, toolset.name))) + ".cli:main"
    found = workspace.commands.get(program)
    if found == runs:
        return
    message = (
        f"`{program}` is no console command of pyproject.toml"
        if found is None
        else f"`{program}` of pyproject.toml does not run this toolset's commands"
    )
    help_ = f'write `{program} = "{runs}"` in its `[project.scripts]`'
    yield problem_at(toolset, ("targets", "cli", "program"), message, help_)
