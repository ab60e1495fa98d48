"""What the target casts: the module, and the runbook with commands that are real."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from tests.letta.toy import HANDLERS, TOOLS, TOOLSET

ROOT = Path(__file__).parents[2]


@pytest.fixture
def cast(make_project: Callable[..., Any]) -> Any:
    project = make_project(TOOLS, toolset=TOOLSET, handlers=HANDLERS)
    project.generate()
    return project


def test_the_module_says_who_is_attached_and_why_not(cast: Any) -> None:
    program = (
        "import json, sys\n"
        "from generated.toy import letta\n"
        "assert not {'letta_client', 'httpx', 'pydantic'} & set(sys.modules)\n"
        "print(json.dumps([letta.CANONICAL_TOOL_NAMES, letta.EXIT_TOOLS,"
        " letta.APPROVAL_TOOLS, letta.CHANGING_TOOLS, letta.NOT_ATTACHED,"
        " letta.NEVER_ATTACHED, letta.EXPECTED_TOOL_NAMES, letta.TOOL_RULES]))"
    )
    ran = cast.run("-c", program)
    assert ran.returncode == 0, ran.stderr
    import json

    names, exits, approvals, changing, plain, never, expected, rules = json.loads(
        ran.stdout
    )
    assert names == ["delete_note", "end_day", "search_notes"]
    assert (exits, approvals, changing) == (
        ["end_day"],
        ["delete_note"],
        ["delete_note"],
    )
    assert plain == {
        "list_plain": "Too long for an agent.",
        "wake_agent": "It calls the agent's own loop.",
    }
    assert never == {"wake_agent": "It calls the agent's own loop."}
    assert expected == {
        "keeper": ["delete_note", "end_day", "search_notes", "send_message"]
    }
    assert rules == {
        "keeper": [
            {"tool_name": "delete_note", "type": "continue_loop"},
            {"tool_name": "end_day", "type": "exit_loop"},
            {"tool_name": "search_notes", "type": "continue_loop"},
            {"tool_name": "send_message", "type": "exit_loop"},
            {"tool_name": "delete_note", "type": "requires_approval"},
        ]
    }


def test_the_module_wishes_what_the_command_derives(cast: Any) -> None:
    program = (
        "from generated.toy.letta import LETTA\n"
        "from toolcast_letta.plan.planning import desired_digest\n"
        "print(desired_digest(LETTA.desired({'TOY_AGENT_ID': 'agent-1',"
        " 'TOY_MCP_TOKEN': 't'})))"
    )
    ran = cast.run("-c", program)
    assert ran.returncode == 0, ran.stderr
    from toolcast.model.loading import load_workspace
    from toolcast_letta.config import letta_data, letta_definitions
    from toolcast_letta.plan.desired_state import desired_state
    from toolcast_letta.plan.planning import desired_digest

    workspace = load_workspace(str(cast.root)).workspace
    assert workspace is not None
    toolset = workspace.toolsets[0]
    environment = {"TOY_AGENT_ID": "agent-1", "TOY_MCP_TOKEN": "t"}
    desired = desired_state(
        letta_data(toolset), letta_definitions(toolset), environment
    )
    assert ran.stdout.strip() == desired_digest(desired)
    assert "token='t'" not in repr(desired)


def test_the_module_is_typed_and_laid_out(cast: Any) -> None:
    for words in (
        ["black", "--check", "--quiet", "--target-version", "py311", "generated"],
        ["mypy", "--strict", "--explicit-package-bases", "generated/toy/letta.py"],
    ):
        ran = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=cast.root,
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


def _pages(root: Path) -> list[Path]:
    return [root / "runbook.md", *sorted((root / "runbook").glob("*.md"))]


def test_every_command_of_the_runbook_is_real(cast: Any) -> None:
    from toolcast.commands.entry import main

    makefiles = [
        (ROOT / "Makefile").read_text(),
        (ROOT / "templates/init/Makefile.jinja").read_text(),
    ]
    pages = _pages(cast.root / "generated/toy")
    assert len(pages) == 1 + len(TOOLS)
    seen = set()
    for page in pages:
        text = page.read_text()
        lines = re.findall(r"^(?:toolcast|make) .*$", text, re.M)
        lines += re.findall(r"`(make [a-z]+)`", text)
        assert lines, page
        for line in lines:
            program, *words = shlex.split(line)
            if program == "make":
                for makefile in makefiles:
                    assert f"\n{words[0]}:" in makefile, line
                continue
            command: click.Command = main
            context = click.Context(main)
            while isinstance(command, click.Group):
                found = command.get_command(context, words[0])
                assert found is not None, line
                command, words = found, words[1:]
            command.make_context(command.name, list(words))
            seen.add(command.name)
    assert seen == {"plan", "apply", "verify", "rollback"}


def test_a_tools_page_says_what_is_special_of_it(cast: Any) -> None:
    folder = cast.root / "generated/toy/runbook"
    page = (folder / "delete_note.md").read_text()
    assert "* A person approves each call.\n" in page
    assert "toolcast letta verify --toolset toy --tool delete_note\n" in page
    assert "* Ends the agent's turn.\n" in (folder / "end_day.md").read_text()
    page = (folder / "wake_agent.md").read_text()
    assert "* Not attached to an agent: It calls the agent's own loop.\n" in page
    assert "would deadlock the agent's turn" in page


def test_a_server_leaves_letta_code_to_the_command(
    make_project: Callable[..., Any],
) -> None:
    toolset = TOOLSET.replace("letta:\n  server", "letta:\n  backend: code\n  server")
    project = make_project(TOOLS, toolset=toolset, handlers=HANDLERS, at="code")
    project.generate()
    program = (
        "from generated.toy.letta import LETTA\n"
        "from toolcast_letta.plan.desired_state import MissingSetting\n"
        "from toolcast_letta.server_part.sync import sync\n"
        "try:\n"
        "    sync(LETTA, {'LETTA_BASE_URL': 'http://letta.test'})\n"
        "except MissingSetting as error:\n"
        "    print(error)\n"
    )
    ran = project.run("-c", program)
    assert "says `backend: code`: use `toolcast letta`" in ran.stdout, ran.stderr
