"""A toolset's registry as commands of a shell.

Needs `click`. Words become values by the schema of their parameter; whether they are right
is for the registry's validation alone, as everywhere.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

import click

from ...core.access import UnknownClientError
from ...core.folder import append_to
from ...core.registry import Registry
from .answers import output_option
from .command import Command, commands_of
from .words import likely


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
        logger.addHandler(logging.StreamHandler(append_to(file)))
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise click.BadParameter(f"{file}: {why}", ctx, param) from None
