"""The generated commands of the real toolsets, run in a shell."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Shell = Callable[..., "subprocess.CompletedProcess[str]"]


def test_generated_cli_keywords_map_each_tool_name_to_its_command_or_none() -> None:
    """`KEYWORDS` is a constant of the generated module."""
    from generated.molecule.cli import KEYWORDS
    from generated.molecule.registry import REGISTRY

    assert list(KEYWORDS) == [tool.name for tool in REGISTRY.local_tools]
    assert KEYWORDS["list_peers"] == "peers"
    assert KEYWORDS["delegate_task_async"] == "delegate --async"
    # The tool's definition has the reason.
    assert KEYWORDS["inbox_pop"] is None


def test_generated_cli_memory_search_returns_a_created_memory(shell: Shell) -> None:
    options = ["--memory", "Ana lives in Lisbon.", "--keywords", "Ana"]
    created = shell("kirishima", "memory", "create", *options, "--keywords", "trip")
    assert (created.returncode, created.stderr) == (0, "")
    assert json.loads(created.stdout)["memories"][0]["keywords"] == ["Ana", "trip"]

    found = shell("kirishima", "memory", "search", "--keywords", "trip")
    [memory] = json.loads(found.stdout)["memories"]
    assert memory["memory"] == "Ana lives in Lisbon."


def test_generated_cli_writes_a_tool_error_to_stderr(shell: Shell) -> None:
    failed = shell("kirishima", "memory", "get", "--memory-id", "7")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr.startswith("error: ")
    assert "7" in failed.stderr


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["memory", "create"], "`memory` is required for action `create`"),
        (["memory", "list", "--limit", "ten"], "`limit` must be an integer"),
        (["memory", "list", "--category", "Cats"], "`category` must be one of"),
        (["memory", "get", "--keywords", "x"], "No such option '--keywords'"),
        (["memory", "burn"], "No such command 'burn'"),
        (["memory", "get", "7"], "unexpected extra argument"),
        (["memory", "get", "--arguments", '{"action": "delete"}'], "is `get` in this"),
        (["--client", "nobody", "memory", "list"], "no client `nobody`"),
        (["--client", "external", "stickynotes", "list"], "No such command"),
        (["smarthome"], "`user_request` is required"),
        (["smarthome", "switch", "--all", "off"], "put `--` before arguments"),
    ],
)
def test_generated_cli_usage_error_exits_with_2_and_names_the_invalid_argument(
    shell: Shell, arguments: list[str], error: str
) -> None:
    refused = shell("kirishima", *arguments)
    assert refused.returncode == 2
    assert refused.stderr.startswith("Usage: python -m generated.kirishima.cli ")
    assert error in refused.stderr
    assert refused.stdout == ""


def test_generated_cli_rejects_an_argument_with_invalid_utf_8(shell: Shell) -> None:
    refused = shell("kirishima", "memory", "create", "--memory", b"\xff\xfe")
    assert refused.returncode == 2
    assert "not valid UTF-8" in refused.stderr


def test_generated_cli_prints_parsable_json_to_an_ascii_stream(shell: Shell) -> None:
    arguments = ["memory", "create", "--memory", "naïve 🦊"]
    created = shell("kirishima", *arguments, PYTHONIOENCODING="ascii")
    assert created.returncode == 0, created.stderr
    assert json.loads(created.stdout)["memories"][0]["memory"] == "naïve 🦊"


def test_generated_cli_help_shows_enums_defaults_and_examples(shell: Shell) -> None:
    shown = shell("kirishima", "memory", "search", "--help").stdout
    text = " ".join(shown.split())
    assert "[default: 10]" in text
    assert "[one of: Health, Career," in text
    assert "[repeatable]" in text
    assert "memory search --keywords Lisbon" in text
    assert all(len(line) <= 80 for line in shown.split("Examples:")[0].split("\n"))
    create = shell("kirishima", "memory", "create", "--help").stdout
    assert "[required]" in create
    assert "--limit" not in create, "an option that the action does not take"
    group = shell("kirishima", "memory", "--help").stdout
    order = ["search", "create", "update", "delete", "list", "get"]
    rows = group.split("Commands:\n")[1].strip().split("\n")
    assert [row.split()[0] for row in rows] == order


@pytest.mark.parametrize("toolset", ["kirishima", "molecule"])
def test_prompt_text_on_cli_has_only_lines_that_the_generated_cli_accepts(
    shell: Shell, toolset: str
) -> None:
    """Click parses each line with its placeholders as arguments."""
    from click.testing import CliRunner

    block = (ROOT / "generated" / toolset / "prompts" / "cli.md").read_text()
    main = __import__(f"generated.{toolset}.cli", fromlist=["main"]).main
    program = f"  python -m generated.{toolset}.cli "
    rows = block.split("\n")
    # A long command has its comment on the next line, which is skipped.
    lines = [r for r in rows if r.startswith("  ") and r.strip()[0] != "#"]
    assert lines
    for line in lines:
        assert line.startswith(program)
        call = line.removeprefix(program).partition(" # ")[0]
        command = [w.strip("[]") for w in shlex.split(call.replace("...>", ">"))]
        shown = CliRunner().invoke(main, [*command, "--help"])
        assert shown.exit_code == 0, f"{line}: {shown.output}"
