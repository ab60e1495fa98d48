"""A toolset's registry as commands of a shell, each from its words to the tool's answer.

Needs `click`. Words become values by the schema of their parameter; whether they are right
is for the registry's validation alone, as everywhere.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

try:
    import click
except ImportError as error:
    raise ImportError(
        f"{__package__} needs click: pip install 'toolcast-runtime[cli]'"
    ) from error

from ..core.access import UnknownClientError
from ..core.definitions.tool import Tool, format_deprecation
from ..core.registry import Registry
from ..core.safe_folder import open_for_append
from .arguments import (
    Parameter,
    json_object,
    likely,
    parameters_of,
    problems_with,
    spelling,
    typed_words,
)
from .terminal import OUTPUT, ask_at_terminal, closing, output_option, print_answer


def command_line(
    registry: Registry,
    *,
    title: str,
    program: str | None = None,
    client: str | None = None,
) -> click.Group:
    """The group of a toolset's commands; each is built when it is asked for.

    Commands of tools that the client may not have are not there.

    Args:
        registry: the toolset's.
        title: the toolset's title, for the help.
        program: its name in the help; None for the name that it was started by.
        client: whom the commands act as. In a toolset with clients the option `--client`
            names another one.
    """
    return _Keywords(registry, client, name=program, help=title)


def keywords(registry: Registry) -> Mapping[str, str | None]:
    """What selects each tool on the command line, `peers` or `delegate --async`, by its name.

    None stands for a tool without a command: its definition has the reason.
    """
    found = {tool.name: tool.cli or {} for tool in registry.local_tools}
    return {
        name: " ".join(filter(None, (cli.get("command"), cli.get("flag")))) or None
        for name, cli in found.items()
    }


class _OrderedGroup(click.Group):
    """Lists its commands in their declared order, with their whole summaries."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None:
                rows.append((name, command.short_help or command.help or ""))
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


class _Keywords(_OrderedGroup):
    def __init__(
        self,
        registry: Registry,
        client: str | None,
        **settings: Any,
    ) -> None:
        super().__init__(context_settings={"max_content_width": 100}, **settings)
        self.params += [_log_option(), output_option()]
        self._registry = registry
        self._commands = [c for tool in registry.local_tools for c in commands_of(tool)]
        self._client = client
        if registry.has_clients:
            option = click.Option(
                ["--client"],
                default=client,
                metavar="NAME",
                # Before --help, which lists the commands of the client.
                is_eager=True,
                help="Act as this client.",
            )
            option.show_default = client is not None
            self.params.append(option)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(dict.fromkeys(c.keyword for c in self._offered(ctx)))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return self._command(ctx, cmd_name, ())

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        command = self._command(ctx, args[0], args[1:])
        if command is not None:
            return args[0], command, args[1:]
        meant = None if args[0].startswith("-") else self._nearest(ctx, args[0])
        if meant is not None:
            said = f"No such command {args[0]!r}. Did you mean {meant!r}?"
            raise click.UsageError(said, ctx)
        return super().resolve_command(ctx, args)

    def _nearest(self, ctx: click.Context, word: str) -> str | None:
        """The keyword that a word was probably meant for: like it, or the tool's name."""
        offered = list(self._offered(ctx))
        keywords = {command.keyword: command.keyword for command in offered}
        for command in offered:
            for name in (command.tool.name, *command.tool.former_names):
                keywords.setdefault(name, command.keyword)
        near = likely(word, keywords)
        return None if near is None else keywords[near]

    def _offered(self, ctx: click.Context) -> Iterator[Command]:
        client = self._client_of(ctx)
        try:
            names = frozenset(self._registry.names(client))
        except UnknownClientError as error:
            if client is None:
                raise click.UsageError("name the client: --client NAME", ctx) from None
            raise click.BadParameter(str(error), ctx, param_hint="--client") from None
        yield from (one for one in self._commands if one.tool.name in names)

    def _client_of(self, ctx: click.Context) -> str | None:
        client: str | None = ctx.params.get("client", self._client)
        return client

    def _command(
        self, ctx: click.Context, keyword: str, words: Sequence[str]
    ) -> click.Command | None:
        """The command of a keyword; its flags choose among several."""
        commands = [one for one in self._offered(ctx) if one.keyword == keyword]
        if not commands:
            return None
        caller = self._registry, self._client_of(ctx)
        actions = [one for one in commands if one.action is not None]
        if actions:
            group = _OrderedGroup(name=keyword, help=actions[0].tool.summary)
            for one in actions:
                group.add_command(one.build(*caller))
            return group
        own = words[: words.index("--")] if "--" in words else words
        flagged = [one for one in commands if one.flag is not None]
        chosen = [one for one in flagged if one.flag in own]
        plain = [one for one in commands if one.flag is None]
        return [*chosen, *plain, *commands][0].build(*caller, flagged)


class _LogHint(logging.Handler):
    """Hides details from the shell, whose reader is a caller, often an agent."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo("`--log FILE` before the command records the details", err=True)


def _log_option() -> click.Option:
    return click.Option(
        ["--log"],
        type=click.Path(dir_okay=False, writable=True),
        metavar="FILE",
        help="Append what goes wrong inside a tool to this file.",
        expose_value=False,
        callback=_log_to,
    )


def _log_to(ctx: click.Context, param: click.Parameter, file: str | None) -> None:
    logger = logging.getLogger("toolcast")
    for handler in [h for h in logger.handlers if isinstance(h, _LogHint)]:
        logger.removeHandler(handler)
    if file is None:
        logger.addHandler(_LogHint(logging.ERROR))
        return
    try:
        logger.addHandler(logging.StreamHandler(open_for_append(file)))
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise click.BadParameter(f"{file}: {why}", ctx, param) from None


@dataclass(frozen=True, slots=True)
class Command:
    """One line of the command line.

    Attributes:
        tool: the tool that it calls.
        keyword: the subcommand.
        flag: the flag that selects this tool among those of the keyword; None for the one
            that is called without a flag.
        action: the action that it fixes, as a subcommand of the keyword; None without.
    """

    tool: Tool
    keyword: str
    flag: str | None = None
    action: str | None = None

    def build(
        self,
        registry: Registry,
        client: str | None,
        variants: Sequence[Command] = (),
    ) -> click.Command:
        """The command for click.

        Args:
            registry: makes the call.
            client: whom the command acts as.
            variants: the commands that a flag of its keyword selects.
        """
        flags = {one.flag: one.tool.summary for one in variants if one.flag is not None}
        parameters = [
            one
            for one in parameters_of(self.tool, self.action)
            if one.flag not in flags
        ]

        def run(**given: Any) -> None:
            on = [flag for flag in flags if given[_key(flag)]]
            if on != ([self.flag] if self.flag else []):
                raise click.UsageError(f"give exactly one of {', '.join(flags)}")
            self._run(registry, client, parameters, given)

        summary = self.tool.summary
        if self.action is not None:
            summary = self.tool.actions[self.action].summary or summary
        return _ToolCommand(
            name=self.keyword if self.action is None else self.action,
            callback=run,
            params=[
                *(
                    click.Option([flag, _key(flag)], is_flag=True, help=text)
                    for flag, text in flags.items()
                ),
                *(one.for_click() for one in parameters),
                self._json_option(parameters),
            ],
            help=f"{summary}\n\n{self._notice}".rstrip(),
            epilog=self._examples(parameters),
            short_help=summary,
            places=[one for one in parameters if one.flag is None],
            context_settings={"token_normalize_func": spelling(parameters, self.tool)},
        )

    @property
    def _fixed(self) -> Mapping[str, str]:
        """The argument that the action's subcommand gives itself."""
        if self.action is None or self.tool.action_parameter is None:
            return {}
        return {self.tool.action_parameter: self.action}

    @property
    def _notice(self) -> str:
        """That the tool is deprecated, or asks first, where it does."""
        deprecated = self.tool.deprecated
        told = [] if deprecated is None else [format_deprecation(deprecated)]
        if self.tool.confirm is not None:
            some = "" if self.tool.confirm.when is None else " some of"
            told.append(f"A person at the terminal is asked before{some} its calls.")
        return "\n\n".join(told)

    def _json_option(self, parameters: Sequence[Parameter]) -> click.Option:
        text = (
            "Arguments as one JSON object; the other words add to it. `-` reads JSON from"
            " standard input, `@FILE` from a file; so it is for each option of JSON."
        )
        if self.action is None:
            given = {one.name for one in parameters}
            properties = self.tool.parameters.get("properties", {})
            left = [name for name in properties if name not in given]
            text += f" The only way to give {', '.join(left)}." if left else ""
        return click.Option(["--arguments", "json_text"], metavar="JSON", help=text)

    def _examples(self, parameters: Sequence[Parameter]) -> str | None:
        """The tool's examples as a person types them, without those that fail."""
        typed = [one for one in (self.keyword, self.flag, self.action) if one]
        shown = []
        for example in self.tool.examples:
            arguments = dict(example["arguments"])
            fixed = {name: arguments.pop(name, None) for name in self._fixed}
            if "error" in example or fixed != self._fixed:
                continue
            title = f"  # {example['title']}\n" if "title" in example else ""
            words = [*typed, *typed_words(arguments, parameters)]
            shown.append(f"{title}  {' '.join(words)}")
        return "\n".join(shown) or None

    def _run(
        self,
        registry: Registry,
        client: str | None,
        parameters: Sequence[Parameter],
        given: Mapping[str, Any],
    ) -> None:
        with _said_of("--arguments"):
            arguments = json_object(given["json_text"])
        for name, value in self._fixed.items():
            if arguments.setdefault(name, value) != value:
                raise click.UsageError(f"`{name}` is `{value}` in this command")
        for one in parameters:
            words = given[one.key]
            if words is not None and words != ():
                with _said_of(one.shown):
                    arguments[one.name] = one.value(words)
        tool = self.tool.name
        problems = problems_with(
            arguments, lambda all_: registry.check_arguments(tool, all_, client)
        )
        if problems:
            raise click.UsageError("; ".join(problems))
        with closing(registry) if self.tool.uses else nullcontext():
            answer = registry.call_tool_sync(
                tool, arguments, client, ask=ask_at_terminal
            )
        print_answer(answer, click.get_current_context().meta.get(OUTPUT))


def commands_of(tool: Tool) -> Iterator[Command]:
    """The commands of a tool: one, or one for each of its actions; none without a keyword."""
    decision = tool.cli
    if decision is None or decision["command"] is None or not tool.is_in("cli"):
        return
    keyword = decision["command"]
    if not tool.actions:
        yield Command(tool, keyword, decision.get("flag"))
    for action in tool.actions:
        yield Command(tool, keyword, action=action)


def _key(flag: str) -> str:
    return "flag_" + flag.strip("-").replace("-", "_")


@contextmanager
def _said_of(what: str) -> Iterator[None]:
    """Tells which word of the command is not what it has to be."""
    try:
        yield
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=what) from None


class _ToolCommand(click.Command):
    """A command whose words may need to be kept apart from its options.

    Args:
        places: the parameters that are given by place.
        settings: those of click.
    """

    def __init__(self, *, places: Sequence[Parameter], **settings: Any) -> None:
        super().__init__(**settings)
        self._places = places

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        if any(one.help for one in self._places):
            with formatter.section("Arguments"):
                formatter.write_dl([(one.shown, one.help) for one in self._places])
        super().format_options(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if self._places:
                hint = "put `--` before words that begin with a dash"
                raise click.UsageError(f"{error.message} ({hint})", ctx) from None
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples as they are: a wrapped command could not be pasted."""
        if self.epilog:
            formatter.write(f"\nExamples:\n{self.epilog}\n")
