"""A toolset's registry as commands of a shell.

Needs `click`. Words become values by the schema of their parameter; whether they are right
is for the registry's validation alone, as everywhere.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from .command_values import ParameterOption, options_of, to_value
from .registry import Registry
from .tool import Tool

__all__ = ["Command", "Positional", "command_line"]


@dataclass(frozen=True, slots=True)
class Positional:
    """A parameter that is given by place.

    Attributes:
        parameter: its name.
        optional: it may be left out.
        rest: it takes the remaining words, joined with spaces.
    """

    parameter: str
    optional: bool = False
    rest: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """One line of the command line.

    Attributes:
        tool: the tool that it calls.
        keyword: the subcommand.
        flag: the flag that selects this tool among those of the keyword; None for the one
            that is called without a flag.
        positionals: the parameters given by place, in order.
        action: the action that it fixes, as a subcommand of the keyword; None without.
    """

    tool: str
    keyword: str
    flag: str | None = None
    positionals: tuple[Positional, ...] = ()
    action: str | None = None


def command_line(
    registry: Registry,
    commands: Sequence[Command],
    *,
    program: str,
    title: str,
    client: str | None = None,
) -> click.Group:
    """The group of a toolset's commands; each is built when it is asked for."""
    return _Keywords(registry, commands, client, name=program, help=title)


class _Keywords(click.Group):
    def __init__(
        self,
        registry: Registry,
        commands: Sequence[Command],
        client: str | None,
        **settings: Any,
    ) -> None:
        super().__init__(context_settings={"max_content_width": 100}, **settings)
        self._registry = registry
        self._client = client
        self._by_keyword: dict[str, list[Command]] = {}
        for command in commands:
            self._by_keyword.setdefault(command.keyword, []).append(command)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._by_keyword)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        commands = self._by_keyword.get(cmd_name)
        if commands is None:
            return None
        tools = [self._registry.get_tool(c.tool, self._client) for c in commands]
        if commands[0].action is not None:
            return self._actions(cmd_name, commands, tools[0])
        return self._variants(cmd_name, commands, tools)

    def _actions(
        self, keyword: str, commands: Sequence[Command], tool: Tool
    ) -> click.Group:
        group = click.Group(name=keyword, help=tool.summary)
        for command in commands:
            action = tool.actions[command.action or ""]
            shown = None
            if action.accepts is not None:
                shown = {*action.requires, *action.requires_any, *action.accepts}
            options = [
                option
                for option in options_of(tool, required=frozenset(action.requires))
                if option.parameter != tool.action_parameter
                and (shown is None or option.parameter in shown)
            ]
            group.add_command(
                self._command(
                    command.action or "",
                    action.summary or tool.summary,
                    [(command, tool, options)],
                )
            )
        return group

    def _variants(
        self, keyword: str, commands: Sequence[Command], tools: Sequence[Tool]
    ) -> click.Command:
        variants = []
        for command, tool in zip(commands, tools, strict=True):
            placed = {positional.parameter for positional in command.positionals}
            options = [o for o in options_of(tool) if o.parameter not in placed]
            variants.append((command, tool, options))
        return self._command(keyword, tools[0].summary, variants)

    def _command(
        self,
        name: str,
        summary: str,
        variants: Sequence[tuple[Command, Tool, list[ParameterOption]]],
    ) -> click.Command:
        parameters: dict[str, click.Parameter] = {}
        for command, tool, options in variants:
            if command.flag is not None:
                parameters[command.flag] = click.Option(
                    [command.flag, _flag_name(command.flag)],
                    is_flag=True,
                    help=tool.summary,
                )
            for index, positional in enumerate(command.positionals):
                parameters.setdefault(f"<{index}>", _argument(positional, index))
            for option in options:
                parameters.setdefault(option.flag, option.click_option())
        parameters["--arguments"] = click.Option(
            ["--arguments", "arguments_json"],
            metavar="JSON",
            help="Arguments as one JSON object; the other options add to it.",
        )

        def run(**given: Any) -> None:
            chosen = [v for v in variants if _is_chosen(v[0], variants, given)]
            command, tool, options = chosen[0]
            self._run(command, tool, options, given)

        return click.Command(
            name=name,
            callback=run,
            params=list(parameters.values()),
            help=summary,
            epilog=_examples(variants),
            short_help=summary,
        )

    def _run(
        self,
        command: Command,
        tool: Tool,
        options: Sequence[ParameterOption],
        given: Mapping[str, Any],
    ) -> None:
        arguments = _json_arguments(given["arguments_json"])
        if command.action is not None and tool.action_parameter is not None:
            arguments[tool.action_parameter] = command.action
        properties = tool.parameters.get("properties", {})
        for index, positional in enumerate(command.positionals):
            words = given[f"positional_{index}"]
            if words is None or words == ():
                continue
            text = " ".join(words) if positional.rest else words
            schema = properties.get(positional.parameter)
            arguments[positional.parameter] = to_value(schema, text)
        for option in options:
            value = given[option.name]
            if value is not None and value != ():
                arguments[option.parameter] = option.value(value)
        problems = self._registry.problems_with_arguments(
            tool.name, arguments, self._client
        )
        if problems:
            raise click.UsageError("; ".join(problems))
        response = self._registry.call_tool_sync(tool.name, arguments, self._client)
        if response.error is not None:
            click.echo(f"error: {response.error}", err=True)
            sys.exit(1)
        if response.content is not None and response.result is None:
            click.echo(_pretty([dict(block) for block in response.content]))
        elif isinstance(response.result, str):
            click.echo(response.result)
        elif response.result is not None:
            click.echo(_pretty(response.result))


def _is_chosen(
    command: Command, variants: Sequence[Any], given: Mapping[str, Any]
) -> bool:
    if command.flag is not None:
        return bool(given[_flag_name(command.flag)])
    flags = [v[0].flag for v in variants if v[0].flag is not None]
    return not any(given[_flag_name(flag)] for flag in flags)


def _flag_name(flag: str) -> str:
    return "flag_" + flag.strip("-").replace("-", "_")


def _argument(positional: Positional, index: int) -> click.Argument:
    shown = positional.parameter.upper()
    if positional.rest:
        return click.Argument(
            [f"positional_{index}"],
            nargs=-1,
            required=not positional.optional,
            metavar=f"{shown}...",
        )
    return click.Argument(
        [f"positional_{index}"],
        required=not positional.optional,
        metavar=f"[{shown}]" if positional.optional else shown,
    )


def _json_arguments(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(
            f"not JSON: {error}", param_hint="--arguments"
        ) from None
    if not isinstance(value, dict):
        raise click.BadParameter("not a JSON object", param_hint="--arguments")
    return value


def _examples(variants: Sequence[tuple[Command, Tool, Any]]) -> str | None:
    shown = []
    for command, tool, _ in variants:
        for example in tool.examples:
            arguments = example["arguments"]
            if command.action in (None, arguments.get(tool.action_parameter)):
                text = json.dumps(arguments, ensure_ascii=False)
                shown.append(
                    f"\b\n{example.get('title', 'Example')}:\n  --arguments '{text}'"
                )
    return "\n\n".join(shown) or None


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
