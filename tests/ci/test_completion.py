"""Shell completion: candidates for commands, options and project names."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import BashComplete

from toolcast.commands.command_group import main

TOOL = "summary: Do nothing.\nparameters: {type: object}\n"
MakeProject = Callable[..., Any]


@pytest.fixture
def project(make_project: MakeProject) -> Iterator[Any]:
    """Enter a project with the tools delegate, delete and watch."""
    project = make_project({"delegate": TOOL, "delete": TOOL, "watch": TOOL})
    with contextlib.chdir(project.root):
        yield project


def complete(*arguments: str) -> list[str]:
    """Return the completions of the last argument."""
    completion = BashComplete(main, {}, "toolcast", "_TOOLCAST_COMPLETE")
    items = completion.get_completions([*arguments[:-1]], arguments[-1])
    return [item.value for item in items]


def test_shell_completion_completes_toolcast_commands_and_global_options(
    project: Any,
) -> None:
    assert complete("di") == ["diff"]
    assert {"rename", "remove"} <= set(complete("re"))
    assert complete("--ver") == ["--version"]


def test_shell_completion_completes_options_and_their_values(project: Any) -> None:
    assert complete("diff", "--fo") == ["--format"]
    assert complete("diff", "--format", "s") == ["sarif"]
    assert complete("schema", "d") == ["definitions", "diff"]


@pytest.mark.parametrize("command", ["rename", "remove"])
def test_rename_and_remove_shell_completion_has_the_projects_tool_names(
    project: Any, command: str
) -> None:
    assert complete(command, "del") == ["delegate", "delete"]


def test_toolset_option_shell_completion_has_toolset_names(project: Any) -> None:
    assert complete("new", "--toolset", "t") == ["toy"]
    assert complete("tokens", "--toolset", "t") == ["toy"]
    assert complete("select", "--toolset", "t") == ["toy"]


def test_toolcast_explain_shell_completion_has_rule_and_change_ids(
    project: Any,
) -> None:
    assert "tool/removed" in complete("explain", "tool/")
    assert "schema/required-unknown" in complete("explain", "schema/req")


def test_shell_completion_does_not_fail_on_invalid_yaml_files(project: Any) -> None:
    project.write("specs/toy/toolset.yaml", "[")
    (project.root / "specs" / "toy" / "de\nx.yaml").write_text("{")
    assert complete("rename", "de") == ["delegate", "delete"]
    assert complete("new", "--toolset", "") == []
    for text in ("toolsets: 1\n", "toolsets: [/etc, ../x, nowhere, 1]\n", "{"):
        project.write("toolcast.yaml", text)
        assert complete("rename", "de") == []


def test_shell_completion_omits_tool_names_with_shell_metacharacters(
    project: Any,
) -> None:
    """The shell inserts a completion into the command line, where it could be executed."""
    names = ("del$(touch x)", "del`x`", "del;x", "del x", "del'x", "-del", "del\\x")
    for name in names:
        (project.root / "specs" / "toy" / f"{name}.yaml").write_text("{")
    assert complete("rename", "de") == ["delegate", "delete"]
    assert complete("rename", "-d") == []
    project.edit("specs/toy/toolset.yaml", "name: toy", "name: 'to$(x)'")
    assert complete("new", "--toolset", "") == []


def test_shell_completion_outside_a_project_has_commands_but_no_tool_names(
    tmp_path: Path,
) -> None:
    with contextlib.chdir(tmp_path):
        assert complete("rename", "de") == []
        assert complete("di") == ["diff"]


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_is_printed_for_bash_zsh_and_fish(
    tmp_path: Path, shell: str
) -> None:
    result = subprocess.run(
        [sys.executable, "-c", "from toolcast.commands.main import main; main()"],
        cwd=tmp_path,
        env={**os.environ, "_TOOLCAST_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert f"_TOOLCAST_COMPLETE={shell}_complete" in result.stdout


PRINT_HEAVY_IMPORTS = """
import sys
from click.shell_completion import BashComplete
from toolcast.commands.command_group import main
completion = BashComplete(main, {}, "toolcast", "_TOOLCAST_COMPLETE")
assert completion.get_completions(["rename"], "") != []
heavy = {"jsonschema_rs", "toolcast.pipeline", "toolcast.model.loading", "jinja2", "black"}
print(sorted(heavy & set(sys.modules)))
"""


def test_tool_name_shell_completion_imports_no_heavy_modules(project: Any) -> None:
    result = subprocess.run(
        [sys.executable, "-c", PRINT_HEAVY_IMPORTS], capture_output=True, text=True
    )
    assert result.stdout.strip() == "[]", result.stderr


def test_toolcast_tokens_shell_completion_has_clients_toolsets_and_kinds(
    make_project: MakeProject,
) -> None:
    project = make_project(
        {"watch": TOOL},
        toolset="targets: {registry: {}}\nclients: {agent: {}, other: {}}\n",
    )
    with contextlib.chdir(project.root):
        assert complete("tokens", "--client", "a") == ["agent"]
        assert complete("tokens", "--toolset", "") == ["toy"]
        assert complete("tokens", "--kind", "an") == [
            "anthropic",
            "anthropic-tool-search",
        ]
