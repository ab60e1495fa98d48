"""Help texts of all commands: they fit in 80 columns, and option names are not broken."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
from click.testing import CliRunner

from toolcast.commands.command_group import main

WIDTH = 80


def list_commands(
    command: click.Command, arguments: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    """Yield the arguments of a command and of its subcommands, recursively."""
    yield arguments
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from list_commands(subcommand, (*arguments, name))


def find_broken_lines(program: click.Command) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield help lines that are too wide or end within an option."""
    for arguments in list_commands(program):
        shown = CliRunner().invoke(
            program, [*arguments, "--help"], terminal_width=WIDTH
        )
        for line in shown.output.splitlines():
            if len(line) > WIDTH or re.search(r"--\S*-$", line):
                yield arguments, line


def test_every_toolcast_command_help_fits_in_80_columns() -> None:
    assert list(find_broken_lines(main)) == []
