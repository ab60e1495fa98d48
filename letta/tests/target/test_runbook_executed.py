"""Commands of the runbooks, executed in order in a clean shell."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from letta.tests.fake_letta import FakeLetta
from letta.tests.forked_toolcast import forked_toolcast
from letta.tests.scripted_model import ScriptedModel, scripted_model
from tests.ports import reserve_port

ROOT = Path(__file__).parents[3]
TOOLS = {
    "list_notes": """
        summary: List the notes.
        parameters: {type: object}
        annotations: {readOnlyHint: true}
        handler: handlers.toy:work
        letta: {attached: true}
        examples: [{title: All, arguments: {}}]
        """,
    "search_notes": """
        summary: Search the notes.
        parameters:
          type: object
          properties: {query: {type: string, description: What to look for.}}
          required: [query]
        annotations: {readOnlyHint: true}
        handler: handlers.toy:work
        letta: {attached: true}
        examples: [{title: One word, arguments: {query: tea}}]
        """,
    "add_note": """
        summary: Add a note.
        parameters:
          type: object
          properties: {text: {type: string, description: The note.}}
          required: [text]
        annotations: {readOnlyHint: false}
        handler: handlers.toy:work
        letta: {attached: true}
        examples: [{title: A reminder, arguments: {text: Buy tea.}}]
        """,
}
TOOLSET = """
targets: {mcp: {}, registry: {}, letta: {}}
letta:
  server: {name: toy, url_env: TOY_MCP_URL}
  agents:
    keeper:
      id_env: TOY_AGENT_ID
      type: memgpt_v2_agent
      expects: [send_message]
      ends_turn: [send_message]
      blocks: [{label: my_tools, content: tools}]
"""
HANDLERS = "def work(arguments: dict):\n    return arguments\n"


@dataclass
class DeployedProject:
    """A project with its Makefile and a Letta server with an agent."""

    project: Any
    model: ScriptedModel
    environment: dict[str, str]

    def shell(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run a printed line in a shell with a minimal environment."""
        return subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=self.project.root,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=200,
        )

    def run_line(self, line: str) -> str:
        """Return the output of a line that must succeed."""
        done = self.shell(line)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    @contextmanager
    def run_server(self, line: str) -> Iterator[None]:
        """Run the server of a printed line until the end of the block."""
        process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {line}"],
            cwd=self.project.root,
            env=self.environment,
            stderr=subprocess.DEVNULL,
        )
        port = self.environment["PORT"]
        try:
            for _ in range(600):
                try:
                    httpx.get(f"http://127.0.0.1:{port}/health", timeout=5)
                    break
                except httpx.HTTPError:
                    time.sleep(0.05)
            yield
        finally:
            process.terminate()
            process.wait(timeout=30)

    def wait_until_attached(self, tool: str) -> None:
        """Wait until the started server has attached a tool and completed the apply."""
        url, agent = (
            self.environment["LETTA_BASE_URL"],
            self.environment["TOY_AGENT_ID"],
        )
        for _ in range(600):
            there = httpx.get(f"{url}/v1/agents/{agent}", timeout=60).json()
            files = self.project.root.glob("state/toy-*.json")
            done = [item for item in files if '"complete": true' in item.read_text()]
            if done and tool in {item["name"] for item in there["tools"]}:
                return
            time.sleep(0.05)
        raise AssertionError(f"{tool} is not attached")

    def spec(self, name: str) -> Path:
        path: Path = self.project.root / f"specs/toy/{name}.yaml"
        return path

    def script(self, tool: str, **arguments: Any) -> None:
        """Set the steps of the agent's model in the next turn."""
        final_arguments = {"thinking": "-", "message": "Done."}
        self.model.script = [
            {"tool": tool, "arguments": {"thinking": "-", **arguments}},
            {"tool": "send_message", "arguments": final_arguments},
        ]


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.letta)])
def shop(
    request: pytest.FixtureRequest, make_project: Callable[..., Any], tmp_path: Path
) -> Iterator[DeployedProject]:
    project = make_project(TOOLS, toolset=TOOLSET, handlers=HANDLERS)
    makefile = (ROOT / "templates/init/Makefile.jinja").read_text().partition("\n")[2]
    project.write("Makefile", makefile)
    project.write("pyproject.toml", "")
    installed = project.root / ".venv"
    (installed / "bin").mkdir(parents=True)
    python = installed / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (installed / ".installed").touch()
    with (
        forked_toolcast(installed / "bin" / "toolcast"),
        scripted_model() as model,
        reserve_port() as port,
    ):
        if request.param == "real":
            url = request.getfixturevalue("clean_letta")
            yield _shop(project, model, url, port, tmp_path / "home")
            return
        with FakeLetta() as fake:
            yield _shop(project, model, fake.url, port, tmp_path / "home")


def _shop(
    project: Any, model: ScriptedModel, url: str, port: int, home: Path
) -> DeployedProject:
    agent = {
        "name": "keeper",
        "agent_type": "memgpt_v2_agent",
        "llm_config": model.llm_config,
        "memory_blocks": [{"label": "my_tools", "value": "Mine."}],
    }
    made = httpx.post(f"{url}/v1/agents/", json=agent, timeout=60).raise_for_status()
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "PORT": str(port),
        "LETTA_BASE_URL": url,
        "TOY_AGENT_ID": made.json()["id"],
        "TOY_MCP_URL": f"http://127.0.0.1:{port}/mcp",
    }
    return DeployedProject(project, model, environment)


def list_commands(page: str) -> list[str]:
    """Return the lines of all command blocks, in order."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S)
    return [line for block in blocks for line in block.splitlines()]


def find_deployment(commands: list[str]) -> str:
    [line] = [item for item in commands if "mcp_server" in item]
    return line


@pytest.mark.parametrize("attaches_at_start", [False, True], ids=["plan", "start"])
def test_letta_runbook_commands_deploy_apply_verify_and_roll_back_a_toolset(
    shop: DeployedProject, *, attaches_at_start: bool
) -> None:
    if attaches_at_start:
        on_start = "letta:\n  on_start: true\n"
        shop.project.edit("specs/toy/toolset.yaml", "letta:\n", on_start)
        # The server and the commands share a state folder, as the page requires.
        shop.environment["TOOLCAST_LETTA_STATE"] = str(shop.project.root / "state")
    shop.run_line("make generate")
    page = (shop.project.root / "generated/toy/runbook.md").read_text()
    assert ("`TOOLCAST_LETTA_STATE`" in page) == attaches_at_start
    first, *rest = list_commands(page)
    deploy = find_deployment(rest)
    assert " letta verify " in first
    done = shop.shell(first)
    assert done.returncode == 1, "the server is not deployed yet"
    assert "all_match: false" in done.stdout
    with shop.run_server(deploy):
        if attaches_at_start:
            shop.wait_until_attached("list_notes")
        # The blocks have their own section on the page; verify needs them written.
        show = next(line for line in rest if " blocks " in line and "--out" in line)
        write = next(line for line in rest if " blocks " in line and "--write" in line)
        shown = ""
        for line in rest:
            if line == deploy:
                continue
            if line == first:
                shop.run_line(show)
                shop.run_line(write)
            shown += shop.run_line(line)
    assert "all_match: true" in shown
    # The memory blocks are written after the apply.
    assert ("Nothing to apply" in shown) == attaches_at_start
    assert "- tool list_notes" in shown
    assert "Nothing was changed. The baseline is from" in shown
    assert "restored 1 of 1 agents to" in shown


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("search_notes", {"query": "tea"}), ("add_note", {"text": "Buy tea."})],
    ids=["reading", "changing"],
)
def test_letta_runbook_tool_page_commands_add_and_verify_the_tool(
    shop: DeployedProject, tool: str, arguments: dict[str, Any]
) -> None:
    page = shop.run_line(f".venv/bin/toolcast letta runbook {tool}")
    commands = list_commands(page)
    deploy = find_deployment(commands)
    text = shop.spec(tool).read_text()
    shop.spec(tool).unlink()
    shop.run_line("make generate")
    with shop.run_server(deploy):
        shop.run_line(".venv/bin/toolcast letta apply --yes")
        shop.run_line(".venv/bin/toolcast letta blocks --out first.json")
        shop.run_line(".venv/bin/toolcast letta blocks --write first.json")
        assert "all_match: true" in shop.run_line(commands[0])

    shop.spec(tool).write_text(text)
    outputs: list[str] = []
    behind = commands.index(deploy)
    for line in commands[1:behind]:
        shop.run_line(line)
    with shop.run_server(deploy):
        for line in commands[behind + 1 :]:
            shop.script(tool, **arguments)
            outputs.append(shop.run_line(line))
    run, turn = outputs[-2:]
    assert f"run {tool} by keeper: ok (1 example)" in run
    assert f"turn {tool} by keeper: ok (2 steps)" in turn
    assert tool in run.partition("canonical tools:")[2]
    assert any(f"+- {tool}: " in item for item in outputs)
