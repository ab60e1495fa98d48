"""One command of a toolset's command line, from its words to the tool's answer.

Needs `click`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import click

from ...core.definitions.tool import Tool, deprecation_line
from ...core.registry.registry import Registry
from .answers import OUTPUT, print_answer
from .closing import closing
from .help_text import ToolCommand, examples_of, takes_list
from .plain_schemas import properties_of
from .terminal import ask_at_terminal
from .values import (
    ParameterOption,
    described,
    json_value,
    list_value,
    options_of,
    to_value,
)


@dataclass(frozen=True, slots=True)
class Positional:
    """A parameter that is given by place.

    Attributes:
        parameter: its name.
        optional: it may be left out.
        rest: it takes the remaining words: joined with spaces, or each as an item where
            the parameter is a list.
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


def commands_of(tool: Tool) -> Iterator[Command]:
    """The commands of a tool: one, or one for each of its actions; none without a keyword."""
    decision = tool.cli
    if decision is None or decision["command"] is None or not tool.is_in("cli"):
        return
    keyword = decision["command"]
    if tool.actions:
        for action in tool.actions:
            yield Command(tool.name, keyword, action=action)
        return
    properties = properties_of(tool)
    usage = decision.get("usage", ())
    places = tuple(
        Positional(
            place["parameter"],
            place.get("optional", False),
            # What comes last takes further words where it is a list, as its option would.
            place.get("rest", False)
            or (place is usage[-1] and takes_list(properties.get(place["parameter"]))),
        )
        for place in usage
    )
    yield Command(tool.name, keyword, decision.get("flag"), places)


class BoundCommand:
    """A command with its tool, for one client."""

    def __init__(
        self, command: Command, registry: Registry, client: str | None
    ) -> None:
        self.command = command
        self.tool: Tool = registry.get_tool(command.tool, client)
        self._registry = registry
        self._client = client

    def build(self, name: str, variants: Sequence[BoundCommand]) -> click.Command:
        """The command for click; `variants` are those that a flag of its keyword selects."""
        flags = {v.command.flag: v.tool.summary for v in variants if v.command.flag}
        options = [o for o in self._options() if o.flag not in flags]
        parameters: list[click.Parameter] = [
            click.Option([flag, _flag_name(flag)], is_flag=True, help=summary)
            for flag, summary in flags.items()
        ]
        parameters += [
            _argument(positional, index)
            for index, positional in enumerate(self.command.positionals)
        ]
        parameters += [option.click_option() for option in options]
        parameters.append(self._json_option(options))

        def run(**given: Any) -> None:
            on = [flag for flag in flags if given[_flag_name(flag)]]
            if on != ([self.command.flag] if self.command.flag else []):
                choices = ", ".join(flags)
                raise click.UsageError(f"give exactly one of {choices}")
            self._run(options, given)

        typed = " ".join(
            word
            for word in (self.command.keyword, self.command.flag, self.command.action)
            if word
        )
        places = [(p.parameter, p.rest) for p in self.command.positionals]
        summary = self._action_summary or self.tool.summary
        return ToolCommand(
            name=name,
            callback=run,
            params=parameters,
            help=f"{summary}\n\n{self._notice}".rstrip(),
            epilog=examples_of(self.tool, typed, self._fixed, places, options),
            short_help=summary,
            places=list(self._described_places()),
            context_settings={"token_normalize_func": self._spelling(options)},
        )

    def _described_places(self) -> Iterator[tuple[str, str]]:
        """The word and the help of each parameter that is given by place."""
        properties = properties_of(self.tool)
        for place in self.command.positionals:
            schema = properties.get(place.parameter)
            text = described(schema, not place.optional, by_place=True)
            yield place.parameter.upper(), text

    @property
    def _notice(self) -> str:
        """That the tool is deprecated, or asks first, where it does."""
        deprecated = self.tool.deprecated
        told = [] if deprecated is None else [deprecation_line(deprecated)]
        if self.tool.confirm is not None:
            some = "" if self.tool.confirm.when is None else " some of"
            told.append(f"A person at the terminal is asked before{some} its calls.")
        return "\n\n".join(told)

    @property
    def _fixed(self) -> dict[str, Any]:
        """The argument that the action's subcommand gives itself."""
        if self.command.action is None or self.tool.action_parameter is None:
            return {}
        return {self.tool.action_parameter: self.command.action}

    @property
    def _action_summary(self) -> str:
        if self.command.action is None:
            return ""
        return self.tool.actions[self.command.action].summary

    def _options(self) -> Iterator[ParameterOption]:
        required = frozenset(self.tool.parameters.get("required", ()))
        shown: set[str] | None = None
        if self.command.action is not None:
            action = self.tool.actions[self.command.action]
            required |= frozenset(action.requires)
            if action.accepts is not None:
                shown = {*action.requires, *action.requires_any, *action.accepts}
        placed = {positional.parameter for positional in self.command.positionals}
        for option in options_of(self.tool, required):
            if option.parameter in placed or option.parameter in self._fixed:
                continue
            if shown is None or option.parameter in shown:
                yield option

    def _spelling(self, options: Sequence[ParameterOption]) -> Callable[[str], str]:
        """The option's own name for each spelling of it, both without dashes before it."""
        taken = {option.flag[2:] for option in options}
        properties = self.tool.parameters.get("properties", {})
        names = {
            f"{denied}{alias}": f"{denied}{option.flag[2:]}"
            for option in options
            for alias in option.aliases
            # What is another parameter's name is never understood as this one.
            if alias == option.parameter or alias not in {*taken, *properties}
            for denied in ("", "no-")
        }
        return lambda name: names.get(name, name)

    def _json_option(self, options: Sequence[ParameterOption]) -> click.Option:
        text = (
            "Arguments as one JSON object; the other words add to it. `-` reads JSON from"
            " standard input, `@FILE` from a file; so it is for each option of JSON."
        )
        given = {option.parameter for option in options} | set(self._fixed)
        given |= {positional.parameter for positional in self.command.positionals}
        if self.command.action is None:
            properties = self.tool.parameters.get("properties", {})
            left = [name for name in properties if name not in given]
            text += f" The only way to give {', '.join(left)}." if left else ""
        return click.Option(["--arguments", "json_text"], metavar="JSON", help=text)

    def _run(
        self, options: Sequence[ParameterOption], given: Mapping[str, Any]
    ) -> None:
        arguments = _json_arguments(given["json_text"])
        for name, value in self._fixed.items():
            if arguments.setdefault(name, value) != value:
                raise click.UsageError(f"`{name}` is `{value}` in this command")
        properties = properties_of(self.tool)
        for index, positional in enumerate(self.command.positionals):
            words = given[f"positional_{index}"]
            if words is None or words == ():
                continue
            schema = properties.get(positional.parameter)
            with _said_of(positional.parameter.upper()):
                if positional.rest and takes_list(schema):
                    arguments[positional.parameter] = list_value(schema, words)
                else:
                    text = " ".join(words) if positional.rest else words
                    arguments[positional.parameter] = to_value(schema, text)
        for option in options:
            value = given[option.name]
            if value is not None and value != ():
                with _said_of(option.flag):
                    arguments[option.parameter] = option.value(value)
        _refuse_broken_text(arguments)
        problems = self._registry.problems_with_arguments(
            self.tool.name, arguments, self._client
        )
        if problems:
            raise click.UsageError("; ".join(problems))
        with closing(self._registry) if self.tool.uses else nullcontext():
            answer = self._registry.call_tool_sync(
                self.tool.name, arguments, self._client, ask=ask_at_terminal
            )
        print_answer(answer, click.get_current_context().meta.get(OUTPUT))


def _refuse_broken_text(arguments: Mapping[str, Any]) -> None:
    try:
        json.dumps(arguments, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise click.UsageError("the words are not valid UTF-8") from None


@contextmanager
def _said_of(what: str) -> Iterator[None]:
    """Tells which word of the command is not what it has to be."""
    try:
        yield
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=what) from None


def _flag_name(flag: str) -> str:
    return "flag_" + flag.strip("-").replace("-", "_")


def _argument(positional: Positional, index: int) -> click.Argument:
    """The place of a parameter; whether it may be left out is for the validation."""
    shown = positional.parameter.upper() + ("..." if positional.rest else "")
    return click.Argument(
        [f"positional_{index}"],
        nargs=-1 if positional.rest else 1,
        required=False,
        metavar=f"[{shown}]" if positional.optional else shown,
    )


def _json_arguments(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    with _said_of("--arguments"):
        value = json_value(text)
    if not isinstance(value, dict):
        raise click.BadParameter("not a JSON object", param_hint="--arguments")
    return value
