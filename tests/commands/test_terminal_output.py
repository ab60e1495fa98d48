"""Help texts, errors and empty states in 80 columns and without colors."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from tests.git_command import run_git
from tests.program import toolcast
from toolcast.commands.command_group import main

ROOT = Path(__file__).parents[2]
PROJECT = "error: no toolcast.yaml here or above\n  help: run `toolcast init` to create a project\n"


@pytest.fixture(autouse=True)
def _set_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


def list_commands(
    command: click.Command, arguments: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield a command and its subcommands, recursively, after their arguments."""
    yield arguments, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from list_commands(subcommand, (*arguments, name))


def test_toolcast_help_fits_in_80_columns_and_describes_every_option() -> None:
    """Commands of extensions are included; a repeatable option accepts several values."""
    with contextlib.chdir(ROOT):
        commands = list(list_commands(main))
    for arguments, command in commands:
        for option in command.params:
            help_ = getattr(option, "help", None) or ""
            assert "repeated" not in help_ or getattr(option, "multiple", False), option
        done = toolcast(ROOT, *arguments, "--help")
        assert done.returncode == 0
        assert done.stdout.startswith(f"Usage: toolcast {' '.join(arguments)}".rstrip())
        assert max(map(len, done.stdout.split("\n"))) <= 80, arguments
        assert "\x1b" not in done.stdout
        # An option's name is not broken at its dashes.
        assert not re.search(r"--\S*-$", done.stdout, re.MULTILINE), arguments
        text = done.stdout.partition("Options:\n")[2].partition("\n\n")[0]
        options = text.split("\n")
        for line, following in zip(options, [*options[1:], ""], strict=True):
            if line.startswith("  -"):
                assert "  " in line.strip() or following.startswith("     "), line


def test_toolcast_help_lists_every_command_in_usage_order(tmp_path: Path) -> None:
    text = toolcast(tmp_path, "--help").stdout
    commands = [line.split()[0] for line in text.split("\n") if line.startswith("  ")]
    with contextlib.chdir(tmp_path):
        assert {*main.list_commands(click.Context(main))} <= {*commands}
    order = [commands.index(name) for name in ("init", "generate", "rename")]
    assert order == sorted(order)


@pytest.mark.parametrize(
    "command",
    [
        "generate",
        "generate --watch",
        "check",
        "diff",
        "new ping",
        "select",
        "select hello",
        "tokens",
        "catalog --output x.html",
        "rename a b",
        "remove a",
        "schema --write",
    ],
)
def test_every_command_outside_a_project_suggests_toolcast_init(
    tmp_path: Path, command: str
) -> None:
    done = toolcast(tmp_path, *command.split())
    assert (done.returncode, done.stdout, done.stderr) == (2, "", PROJECT)


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("generat", "Error: No such command 'generat'. Did you mean `generate`?"),
        (
            "letta plan",
            "Commands of extensions are available only in projects that list the extension.",
        ),
        ("generate --forse", "Did you mean one of: '--force'"),
        ("explain prompt/tood", "help: did you mean `prompt/todo`?"),
        ("explain qqqqqqq", "help: run `toolcast explain` to list all rules"),
        (
            "schema",
            "error: expected either KIND or --write\n  help: pass one of tool, toolset, definitions,",
        ),
        ("schema tols", "Invalid value for '[KIND]': 'tols' is not one of 'tool',"),
        ("rename a", "Error: Missing argument 'NEW'."),
        ("import tools.json", "Error: Missing option '--toolset'"),
    ],
)
def test_toolcast_suggests_a_correction_for_misspelled_commands_and_arguments(
    tmp_path: Path, command: str, error: str
) -> None:
    done = toolcast(tmp_path, *command.split())
    assert done.returncode == 2
    assert error in done.stderr


@pytest.mark.parametrize(
    ("command", "number_range"),
    [
        ("diff --timeout 0", "x>0"),
        ("verify server --timeout 0", "x>0"),
        ("dev --port -1", "0<=x<=65535"),
        ("select --top 0", "x>=1"),
        ("select --margin 1.1", "0<=x<=1"),
        ("select --coverage 1.1", "0<=x<=1"),
    ],
)
def test_option_with_a_number_outside_its_range_exits_with_2_and_the_range(
    tmp_path: Path, command: str, number_range: str
) -> None:
    done = toolcast(tmp_path, *command.split())
    assert done.returncode == 2
    assert f" is not in the range {number_range}.\n" in done.stderr


def test_toolcast_diff_outside_git_or_without_commit_suggests_the_against_option(
    make_project: Callable[..., Any],
) -> None:
    root = make_project({}).root
    helps = "\n  help: pass a commit, a branch or a folder to `--against`\n"
    no_git = f"error: the project is not in a git repository{helps}"
    assert toolcast(root, "diff").stderr == no_git
    arguments = "catalog", "--output", "x.html", "--against", "main"
    assert toolcast(root, *arguments).stderr == no_git
    run_git(root, "init", "-q")
    no_commit = f"error: the repository has no commit yet{helps}"
    assert toolcast(root, "diff").stderr == no_commit


@pytest.mark.parametrize(
    ("command", "expected_output"),
    [
        ("generate", "0 tools in 1 toolset -> "),
        ("select", "no selection cases\n"),
        ("select hello", "there are no tools to choose from\n"),
        ("tokens", "every tool"),
        ("catalog --output page.html", "0 tools -> page.html ("),
    ],
)
def test_generate_select_tokens_and_catalog_without_tools_exit_with_0_and_a_message(
    make_project: Callable[..., Any], command: str, expected_output: str
) -> None:
    done = toolcast(make_project({}).root, *command.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert expected_output in done.stdout


def test_toolcast_explain_lists_rules_and_changes_in_80_columns(tmp_path: Path) -> None:
    text = toolcast(tmp_path, "explain").stdout
    assert max(map(len, text.split("\n"))) <= 80
    assert "prompt/todo " in text
    assert "tool/removed " in text
