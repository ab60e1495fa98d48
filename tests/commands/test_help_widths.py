"""Help is read in a terminal of 80 columns, and no option is torn at a hyphen."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from toolcast.commands.entry import main
from toolcast_letta.commands.letta import command as letta

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


@pytest.mark.parametrize("program", [main, letta], ids=["toolcast", "letta"])
def test_help_fits_the_terminal(program: click.Command) -> None:
    wrong = [
        (words, line)
        for words in commands(program)
        for line in CliRunner()
        .invoke(program, [*words, "--help"], terminal_width=WIDTH)
        .output.splitlines()
        if len(line) > WIDTH or re.search(r"--\S*-$", line)
    ]
    assert not wrong
