"""Shell commands for the tools of a registry, from the arguments to the printed result.

Arguments are converted by the schemas of their parameters; only the registry validates them.
Needs `click`.
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
    check_command_arguments,
    find_similar_name,
    format_command_arguments,
    list_parameters,
    make_option_normalizer,
    parse_json_object,
)
from .terminal import (
    OUTPUT,
    ask_at_terminal,
    closing_registry,
    output_option,
    print_answer,
    redirect_handler_output,
    report_output_errors,
)


def command_line(
    registry: Registry,
    *,
    title: str,
    program: str | None = None,
    client: str | None = None,
) -> click.Group:
    """Return a click group with a toolset's commands; each command is built on first use.

    The group lists only the commands of tools that the client may call.

    Args:
        registry: the toolset's registry.
        title: the toolset's title, for the help.
        program: the program's name in the help; None for the name that it was started by.
        client: the client that the commands act as. In a toolset with clients the option
            `--client` selects another one.
    """
    return _KeywordGroup(registry, client, name=program, help=title)


class _OrderedGroup(click.Group):
    """Command group that lists commands in declared order, with complete summaries."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        # Replace click's own implementation, which cuts long summaries.
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None:
                rows.append((name, command.short_help or command.help or ""))
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


class _KeywordGroup(_OrderedGroup):
    def __init__(
        self,
        registry: Registry,
        client: str | None,
        **settings: Any,
    ) -> None:
        super().__init__(context_settings={"max_content_width": 100}, **settings)
        self.params += [_log_option(), output_option()]
        self._registry = registry
        self._commands = [
            command for tool in registry.local_tools for command in build_commands(tool)
        ]
        self._client = client
        if registry.has_clients:
            option = click.Option(
                ["--client"],
                default=client,
                metavar="NAME",
                # Process `--client` before `--help`, which lists the commands of the client.
                is_eager=True,
                help="Act as this client.",
            )
            option.show_default = client is not None
            self.params.append(option)

    def main(self, *args: Any, **settings: Any) -> Any:
        with report_output_errors():
            return super().main(*args, **settings)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(
            dict.fromkeys(command.keyword for command in self._list_available(ctx))
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return self._find_command(ctx, cmd_name, ())

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        command = self._find_command(ctx, args[0], args[1:])
        if command is not None:
            return args[0], command, args[1:]
        # Leave unknown options to click, which reports them.
        if not args[0].startswith("-"):
            suggestion = self._suggest_keyword(ctx, args[0])
            if suggestion is not None:
                raise click.UsageError(
                    f"No such command {args[0]!r}. Did you mean {suggestion!r}?", ctx
                )
        return super().resolve_command(ctx, args)

    def _suggest_keyword(self, ctx: click.Context, word: str) -> str | None:
        """Return the keyword to suggest for an unknown command; None if none is similar.

        The word is compared with keywords, tool names and previous tool names.
        """
        available = list(self._list_available(ctx))
        keywords = {command.keyword: command.keyword for command in available}
        for command in available:
            for name in (command.tool.name, *command.tool.former_names):
                keywords.setdefault(name, command.keyword)
        similar_name = find_similar_name(word, keywords)
        return None if similar_name is None else keywords[similar_name]

    def _list_available(self, ctx: click.Context) -> Iterator[Command]:
        """Yield the commands of tools that the client may call.

        Raises:
            click.UsageError: a client is required, or does not exist.
        """
        client = self._get_client(ctx)
        try:
            names = frozenset(self._registry.names(client))
        except UnknownClientError as error:
            if client is None:
                raise click.UsageError(
                    "a client is required; help: use --client NAME", ctx
                ) from None
            raise click.BadParameter(str(error), ctx, param_hint="--client") from None
        for command in self._commands:
            if command.tool.name in names:
                yield command

    def _get_client(self, ctx: click.Context) -> str | None:
        client: str | None = ctx.params.get("client", self._client)
        return client

    def _find_command(
        self, ctx: click.Context, keyword: str, arguments: Sequence[str]
    ) -> click.Command | None:
        """Return the click command of a keyword; None if there is none.

        For a tool with actions this is a group. If several tools have the keyword, a flag in the
        arguments selects the tool.
        """
        commands = [
            command
            for command in self._list_available(ctx)
            if command.keyword == keyword
        ]
        if not commands:
            return None
        caller = self._registry, self._get_client(ctx)
        actions = [command for command in commands if command.action is not None]
        if actions:
            group = _OrderedGroup(name=keyword, help=actions[0].tool.summary)
            for command in actions:
                group.add_command(command.build(*caller))
            return group
        # Search for flags only before `--`, after which all arguments are positional.
        options = arguments
        if "--" in arguments:
            options = arguments[: arguments.index("--")]
        variants = [command for command in commands if command.flag is not None]
        selected = [command for command in variants if command.flag in options]
        without_flag = [command for command in commands if command.flag is None]
        # If all commands need a flag and none is in the arguments, build the first command,
        # which reports the error when it runs.
        return [*selected, *without_flag, *commands][0].build(*caller, variants)


class _LogHint(logging.Handler):
    """Log handler that prints a hint instead of the record, which may contain secrets.

    The output of a shell command is often read by an agent.
    """

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(
            "help: `--log FILE` before the command writes the details to a file",
            err=True,
        )


def _log_option() -> click.Option:
    return click.Option(
        ["--log"],
        type=click.Path(dir_okay=False, writable=True),
        metavar="FILE",
        help="Append the internal errors of tools to this file.",
        expose_value=False,
        callback=_set_log_file,
    )


def _set_log_file(ctx: click.Context, param: click.Parameter, file: str | None) -> None:
    logger = logging.getLogger("toolcast")
    hints = [handler for handler in logger.handlers if isinstance(handler, _LogHint)]
    # Remove the hint handlers of earlier commands in this process: the logger is global.
    for handler in hints:
        logger.removeHandler(handler)
    if file is None:
        logger.addHandler(_LogHint(logging.ERROR))
        return
    try:
        logger.addHandler(logging.StreamHandler(open_for_append(file)))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise click.BadParameter(f"{file}: {reason}", ctx, param) from None


@dataclass(frozen=True, slots=True)
class Command:
    """Command of the command line.

    Attributes:
        tool: the tool that it calls.
        keyword: the subcommand.
        flag: the flag that selects this tool among those with the same keyword; None for the
            tool without a flag.
        action: the action that it performs, as a subcommand of the keyword; None if the tool
            has no actions.
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
        """Build the click command.

        Args:
            registry: calls the tool.
            client: the client that the command acts as.
            variants: the commands with the same keyword that have a flag.
        """
        flags = {
            variant.flag: variant.tool.summary
            for variant in variants
            if variant.flag is not None
        }
        parameters = [
            parameter
            for parameter in list_parameters(self.tool, self.action)
            if parameter.flag not in flags
        ]

        def run(**values: Any) -> None:
            used_flags = [flag for flag in flags if values[_flag_key(flag)]]
            if used_flags != ([self.flag] if self.flag else []):
                raise click.UsageError(f"use exactly one of {', '.join(flags)}")
            self._run(registry, client, parameters, values)

        summary = self.tool.summary
        if self.action is not None:
            summary = self.tool.actions[self.action].summary or summary
        return _ToolCommand(
            name=self.keyword if self.action is None else self.action,
            callback=run,
            params=[
                *(
                    click.Option([flag, _flag_key(flag)], is_flag=True, help=text)
                    for flag, text in flags.items()
                ),
                *(parameter.to_click() for parameter in parameters),
                self._json_option(parameters),
            ],
            help=f"{summary}\n\n{self._notices}".rstrip(),
            epilog=self._format_examples(parameters),
            short_help=summary,
            positionals=[
                parameter for parameter in parameters if parameter.flag is None
            ],
            context_settings={
                "token_normalize_func": make_option_normalizer(parameters, self.tool)
            },
        )

    @property
    def _fixed_arguments(self) -> Mapping[str, str]:
        """Argument that selects the action, which the subcommand sets; empty without one."""
        if self.action is None or self.tool.action_parameter is None:
            return {}
        return {self.tool.action_parameter: self.action}

    @property
    def _notices(self) -> str:
        """Text in the help about deprecation and confirmation; "" if neither applies."""
        notices = []
        if self.tool.deprecated is not None:
            notices.append(format_deprecation(self.tool.deprecated))
        if self.tool.confirm is not None:
            is_always = self.tool.confirm.when is None
            subject = "Its calls ask" if is_always else "Some of its calls ask"
            notices.append(f"{subject} the user at the terminal for confirmation.")
        return "\n\n".join(notices)

    def _json_option(self, parameters: Sequence[Parameter]) -> click.Option:
        text = (
            "Arguments as one JSON object, combined with the other arguments. `-` reads"
            " JSON from standard input, `@FILE` from a file; so does each option that"
            " accepts JSON."
        )
        if self.action is None:
            with_parameter = {parameter.name for parameter in parameters}
            properties = self.tool.parameters.get("properties", {})
            others = [name for name in properties if name not in with_parameter]
            text += f" The only way to set {', '.join(others)}." if others else ""
        return click.Option(["--arguments", "json_text"], metavar="JSON", help=text)

    def _format_examples(self, parameters: Sequence[Parameter]) -> str | None:
        """Return the tool's examples as command lines, without those that fail."""
        command = [word for word in (self.keyword, self.flag, self.action) if word]
        rows = []
        for example in self.tool.examples:
            arguments = dict(example["arguments"])
            fixed = {name: arguments.pop(name, None) for name in self._fixed_arguments}
            if "error" in example or fixed != self._fixed_arguments:
                continue
            title = f"  # {example['title']}\n" if "title" in example else ""
            words = [*command, *format_command_arguments(arguments, parameters)]
            rows.append(f"{title}  {' '.join(words)}")
        return "\n".join(rows) or None

    def _run(
        self,
        registry: Registry,
        client: str | None,
        parameters: Sequence[Parameter],
        values: Mapping[str, Any],
    ) -> None:
        with _report_value_error("--arguments"):
            arguments = parse_json_object(values["json_text"])
        for name, value in self._fixed_arguments.items():
            if arguments.setdefault(name, value) != value:
                raise click.UsageError(f"`{name}` is `{value}` in this command")
        for parameter in parameters:
            value = values[parameter.key]
            # click passes None or () for an omitted option.
            if value is not None and value != ():
                with _report_value_error(parameter.label):
                    arguments[parameter.name] = parameter.parse(value)
        tool = self.tool.name
        problems = check_command_arguments(
            arguments,
            lambda arguments: registry.check_arguments(tool, arguments, client),
        )
        if problems:
            raise click.UsageError("; ".join(problems))
        # Close the registry only after a tool with dependencies, whose call starts the
        # lifespan.
        closing = closing_registry(registry) if self.tool.uses else nullcontext()
        with closing, redirect_handler_output():
            response = registry.call_tool_sync(
                tool, arguments, client, ask=ask_at_terminal
            )
        print_answer(response, click.get_current_context().meta.get(OUTPUT))


def build_commands(tool: Tool) -> Iterator[Command]:
    """Yield the commands of a tool: one, or one per action; none without a keyword."""
    decision = tool.cli
    if decision is None or decision["command"] is None or not tool.is_in("cli"):
        return
    keyword = decision["command"]
    if not tool.actions:
        yield Command(tool, keyword, decision.get("flag"))
    for action in tool.actions:
        yield Command(tool, keyword, action=action)


def _flag_key(flag: str) -> str:
    return "flag_" + flag.strip("-").replace("-", "_")


@contextmanager
def _report_value_error(parameter: str) -> Iterator[None]:
    """Convert a `ValueError` in the block to click's usage error for a parameter."""
    try:
        yield
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=parameter) from None


class _ToolCommand(click.Command):
    """Command of a tool, whose help has its positional arguments and examples.

    Args:
        positionals: the positional arguments.
        settings: click's settings.
    """

    def __init__(self, *, positionals: Sequence[Parameter], **settings: Any) -> None:
        super().__init__(**settings)
        self._positionals = positionals

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        if any(parameter.help for parameter in self._positionals):
            rows = [
                (parameter.label, parameter.help) for parameter in self._positionals
            ]
            with formatter.section("Arguments"):
                formatter.write_dl(rows)
        super().format_options(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if self._positionals:
                hint = "put `--` before arguments that begin with a dash"
                raise click.UsageError(f"{error.message} ({hint})", ctx) from None
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples without wrapping, so that they can be copied."""
        if self.epilog:
            formatter.write(f"\nExamples:\n{self.epilog}\n")
