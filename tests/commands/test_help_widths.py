"""Help is read in a terminal of 80 columns, and no option is torn at a hyphen."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
from click.testing import CliRunner

from toolcast.commands.command_group import main

WIDTH = 80


def commands(
    command: click.Command, words: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    """The words of a command and of every one below it."""
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner, (*words, name))


def too_wide(program: click.Command) -> Iterator[tuple[tuple[str, ...], str]]:
    """The lines of a program's help that a terminal tears, with the words of the command."""
    for words in commands(program):
        shown = CliRunner().invoke(program, [*words, "--help"], terminal_width=WIDTH)
        for line in shown.output.splitlines():
            if len(line) > WIDTH or re.search(r"--\S*-$", line):
                yield words, line


def test_help_fits_the_terminal() -> None:
    assert list(too_wide(main)) == []
