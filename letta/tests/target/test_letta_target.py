"""Output of the target: definitions, the module, and the runbook with valid commands."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from letta.tests.toy import HANDLERS, TOOLS, TOOLSET

ROOT = Path(__file__).parents[3]


@pytest.fixture
def generated_project(make_project: Callable[..., Any]) -> Any:
    project = make_project(TOOLS, toolset=TOOLSET, handlers=HANDLERS)
    project.generate()
    return project


def test_generated_tool_definitions_contain_letta_attachment_and_reason(
    generated_project: Any,
) -> None:
    folder = generated_project.root / "generated/toy/tools"
    parts = {
        file.stem: json.loads(file.read_text()).get("letta")
        for file in sorted(folder.glob("*.json"))
    }
    assert parts == {
        "delete_note": {
            "attached": True,
            "requires_approval": True,
            "changes_data": True,
        },
        "end_day": {"attached": True, "ends_turn": True},
        "list_plain": {"attached": False, "reason": "Too long for an agent."},
        "search_notes": {"attached": True},
        "wake_agent": {
            "attached": False,
            "reason": "It calls the agent's own loop.",
            "calls_agent_loop": True,
        },
    }


def test_client_that_allows_letta_attached_lists_only_attached_tools(
    make_project: Callable[..., Any],
) -> None:
    """Resolve `letta:attached` in the client's `allow` list."""
    toolset = TOOLSET.replace("url: ", "client: agent, url: ")
    clients = 'clients: {agent: {allow: ["letta:attached"]}}\n'
    project = make_project(TOOLS, toolset=toolset + clients, handlers=HANDLERS)
    project.edit("specs/toy/toolset.yaml", "mcp: {}", "mcp: {client: agent}")
    project.generate()
    program = (
        "from generated.toy.registry import REGISTRY; print(*REGISTRY.names('agent'))"
    )
    assert project.run("-c", program).stdout.split() == [
        "delete_note",
        "end_day",
        "search_notes",
    ]


def test_generated_letta_module_imports_no_library_and_names_no_tool(
    generated_project: Any,
) -> None:
    program = (
        "import sys\n"
        "from generated.toy import letta\n"
        "assert not {'letta_client', 'httpx', 'pydantic', 'toolcast', 'click', 'jinja2'}"
        " & set(sys.modules)\n"
    )
    ran = generated_project.run("-c", program)
    assert ran.returncode == 0, ran.stderr
    folder = generated_project.root / "generated/toy"
    for file in ("letta.py", "runbook.md"):
        text = (folder / file).read_text()
        assert not [name for name in TOOLS if name in text], file


def test_generated_letta_module_and_specs_have_the_same_desired_state(
    generated_project: Any,
) -> None:
    program = (
        "from generated.toy.letta import LETTA\n"
        "from toolcast_letta.plan.planning import compute_desired_digest\n"
        "print(compute_desired_digest(LETTA.desired_state({'TOY_AGENT_ID': 'agent-1',"
        " 'TOY_MCP_TOKEN': 't'})))"
    )
    ran = generated_project.run("-c", program)
    assert ran.returncode == 0, ran.stderr
    from toolcast.model.loading import load_workspace
    from toolcast_letta.plan.planning import compute_desired_digest
    from toolcast_letta.specs import build_desired_state_from_specs

    workspace = load_workspace(str(generated_project.root)).workspace
    assert workspace is not None
    environment = {"TOY_AGENT_ID": "agent-1", "TOY_MCP_TOKEN": "t"}
    desired = build_desired_state_from_specs(workspace.toolsets[0], environment)
    assert ran.stdout.strip() == compute_desired_digest(desired)
    assert "token='t'" not in repr(desired)


def test_generated_letta_module_passes_black_and_strict_mypy(
    generated_project: Any, mypy_cache: str
) -> None:
    for args in (
        ["black", "--check", "--quiet", "--target-version", "py311", "generated"],
        ["mypy", "--strict", "--explicit-package-bases", "generated/toy/letta.py"],
    ):
        ran = subprocess.run(
            [sys.executable, "-m", *args],
            cwd=generated_project.root,
            env={**os.environ, "MYPY_CACHE_DIR": mypy_cache},
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


def print_runbook(project: Any, *args: str) -> str:
    """Return the command's output."""
    ran = project.toolcast("letta", "runbook", *args)
    assert ran.returncode == 0, ran.stderr
    text: str = ran.stdout
    return text


def test_every_command_in_generated_letta_runbooks_is_valid(
    generated_project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolcast.commands.command_group import main

    monkeypatch.chdir(generated_project.root)
    makefiles = [
        (ROOT / "Makefile").read_text(),
        (ROOT / "templates/init/Makefile.jinja").read_text(),
    ]
    pages = [print_runbook(generated_project, name) for name in TOOLS]
    pages.append((generated_project.root / "generated/toy/runbook.md").read_text())
    seen = set()
    for text in pages:
        assert not re.findall(r"^toolcast .*$", text, re.M), "it is not on the PATH"
        lines = re.findall(r"^(?:\.venv/bin/)?((?:toolcast|make) .*)$", text, re.M)
        lines += re.findall(r"`(make [a-z]+)`", text)
        assert lines, text
        for line in lines:
            program, *args = shlex.split(line)
            if program == "make":
                for makefile in makefiles:
                    assert f"\n{args[0]}:" in makefile, line
                continue
            command: click.Command = main
            context = click.Context(main)
            while isinstance(command, click.Group):
                found = command.get_command(context, args[0])
                assert found is not None, line
                command, args = found, args[1:]
            command.make_context(command.name, list(args))
            seen.add(command.name)
    assert seen == {"plan", "apply", "verify", "rollback", "runbook"}


def test_letta_runbook_skips_step_1_for_a_new_installation_and_git_ignores_its_files(
    tmp_path: Path,
) -> None:
    page = (ROOT / "generated/ren/runbook.md").read_text()
    first_step = page.partition("\n1. ")[2].partition("\n```sh\n")[0]
    skipped = "Skip this step before the first installation"
    assert skipped in " ".join(first_step.split())
    files = sorted(set(re.findall(r" --(?:out|write) (\S+)", page)))
    assert files == ["letta.blocks.json", "letta.plan.json"]
    template = (ROOT / "templates/init/gitignore.jinja").read_text()
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    for patterns in (template.partition("\n")[2], (ROOT / ".gitignore").read_text()):
        (repository / ".gitignore").write_text(patterns)
        command = ["git", "-C", str(repository), "check-ignore", *files]
        ran = subprocess.run(command, capture_output=True, text=True)
        assert ran.stdout.split() == files


def test_letta_runbook_tool_page_describes_approval_turn_end_and_exclusion(
    generated_project: Any,
) -> None:
    page = print_runbook(generated_project, "delete_note")
    assert "* A user must approve each call.\n" in page
    assert "pool" not in page.lower()
    called = "toolcast letta verify --toolset toy --tool delete_note --call-changing\n"
    assert called in page
    assert "--turn" not in page
    assert "approve the call in Letta: no command can do this" in page
    assert "* Ends the agent's turn.\n" in print_runbook(generated_project, "end_day")
    page = print_runbook(generated_project, "wake_agent")
    assert "* Not attached to an agent: It calls the agent's own loop.\n" in page
    assert "would deadlock the agent's turn" in page
    listed = print_runbook(generated_project).splitlines()
    assert "end_day: attached" in listed
    assert "list_plain: not attached: Too long for an agent." in listed
    unknown = generated_project.toolcast("letta", "runbook", "end_dya")
    assert unknown.returncode == 2
    assert "did you mean `end_day`?" in unknown.stderr


def test_server_sync_raises_an_error_for_a_toolset_with_backend_code(
    make_project: Callable[..., Any],
) -> None:
    """Synchronize only with a Letta server, not with Letta Code's settings."""
    toolset = TOOLSET.replace("letta:\n  server", "letta:\n  backend: code\n  server")
    project = make_project(TOOLS, toolset=toolset, handlers=HANDLERS, at="code")
    project.generate()
    program = (
        "from generated.toy.letta import LETTA\n"
        "from toolcast_letta.plan.desired_state import MissingSettingError\n"
        "from toolcast_letta.server_part.sync import sync\n"
        "try:\n"
        "    sync(LETTA, {'LETTA_BASE_URL': 'http://letta.test'})\n"
        "except MissingSettingError as error:\n"
        "    print(error)\n"
    )
    ran = project.run("-c", program)
    assert "has `backend: code`: use `toolcast letta`" in ran.stdout, ran.stderr
