"""What a shell is told to complete, by Click's own protocol."""

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
Make = Callable[..., Any]


@pytest.fixture
def project(make_project: Make) -> Iterator[Any]:
    made = make_project({"delegate": TOOL, "delete": TOOL, "watch": TOOL})
    with contextlib.chdir(made.root):
        yield made


def completed(*words: str) -> list[str]:
    """What the last of the words is completed to."""
    completion = BashComplete(main, {}, "toolcast", "_TOOLCAST_COMPLETE")
    return [one.value for one in completion.get_completions([*words[:-1]], words[-1])]


def test_commands(project: Any) -> None:
    assert completed("di") == ["diff"]
    assert {"rename", "remove"} <= set(completed("re"))
    assert completed("--ver") == ["--version"]


def test_options_and_their_values(project: Any) -> None:
    assert completed("diff", "--fo") == ["--format"]
    assert completed("diff", "--format", "s") == ["sarif"]
    assert completed("schema", "d") == ["definitions", "diff"]


@pytest.mark.parametrize("command", ["rename", "remove"])
def test_tools(project: Any, command: str) -> None:
    assert completed(command, "del") == ["delegate", "delete"]


def test_toolsets(project: Any) -> None:
    assert completed("new", "--toolset", "t") == ["toy"]
    assert completed("tokens", "--toolset", "t") == ["toy"]
    assert completed("select", "--toolset", "t") == ["toy"]


def test_rules_of_findings_and_of_changes(project: Any) -> None:
    assert "tool/removed" in completed("explain", "tool/")
    assert "schema/required-unknown" in completed("explain", "schema/req")


def test_specs_with_errors_and_odd_names_are_no_reason_to_fail(project: Any) -> None:
    project.write("specs/toy/toolset.yaml", "[")
    (project.root / "specs" / "toy" / "de\nx.yaml").write_text("{")
    assert completed("rename", "de") == ["delegate", "delete"]
    assert completed("new", "--toolset", "") == []
    for text in ("toolsets: 1\n", "toolsets: [/etc, ../x, nowhere, 1]\n", "{"):
        project.write("toolcast.yaml", text)
        assert completed("rename", "de") == []


def test_no_name_is_code_for_the_shell(project: Any) -> None:
    """A shell puts what is chosen into the command line, where it is run."""
    for name in (
        "del$(touch x)",
        "del`x`",
        "del;x",
        "del x",
        "del'x",
        "-del",
        "del\\x",
    ):
        (project.root / "specs" / "toy" / f"{name}.yaml").write_text("{")
    assert completed("rename", "de") == ["delegate", "delete"]
    assert completed("rename", "-d") == []
    project.edit("specs/toy/toolset.yaml", "name: toy", "name: 'to$(x)'")
    assert completed("new", "--toolset", "") == []


def test_outside_of_a_project(tmp_path: Path) -> None:
    with contextlib.chdir(tmp_path):
        assert completed("rename", "de") == []
        assert completed("di") == ["diff"]


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_function(tmp_path: Path, shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from toolcast.commands.main import main; main()"],
        cwd=tmp_path,
        env={**os.environ, "_TOOLCAST_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert f"_TOOLCAST_COMPLETE={shell}_complete" in done.stdout


LOADED = """
import sys
from click.shell_completion import BashComplete
from toolcast.commands.command_group import main
completion = BashComplete(main, {}, "toolcast", "_TOOLCAST_COMPLETE")
assert completion.get_completions(["rename"], "") != []
heavy = {"jsonschema_rs", "toolcast.pipeline", "toolcast.model.loading", "jinja2", "black"}
print(sorted(heavy & set(sys.modules)))
"""


def test_names_are_found_without_loading_specs(project: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_clients_and_kinds(make_project: Make) -> None:
    made = make_project(
        {"watch": TOOL},
        toolset="targets: {registry: {}}\nclients: {agent: {}, other: {}}\n",
    )
    with contextlib.chdir(made.root):
        assert completed("tokens", "--client", "a") == ["agent"]
        assert completed("tokens", "--toolset", "") == ["toy"]
        assert completed("tokens", "--kind", "an") == [
            "anthropic",
            "anthropic-tool-search",
        ]
