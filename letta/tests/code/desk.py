"""A project, its MCP server, and a home folder with Letta Code's settings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from letta.tests.changing_mcp import ChangingMcp, changing_mcp
from letta.tests.toy import HANDLERS, TOKEN
from letta.tests.toy import TOOLS as TOY_TOOLS
from toolcast.analysis.mcp_definitions import build_mcp_definition
from toolcast.model.loading import load_workspace
from toolcast_letta.commands.letta import command

AGENT = "agent-local-7"
TOOLS = {
    name: TOY_TOOLS[name] for name in ("search_notes", "delete_note", "wake_agent")
}
TOOLSET = """
targets: {mcp: {client: agent}, registry: {}, letta: {}}
clients:
  agent: {title: The agent, allow: [search_notes, delete_note]}
  others: {title: Others, allow: "*"}
letta:
  backend: code
  server:
    {name: toy, url_env: TOY_MCP_URL, token_env: TOY_MCP_TOKEN, client: agent}
  agents: {keeper: {id_env: TOY_AGENT_ID}}
"""
OTHERS: dict[str, Any] = {
    "lastAgent": None,
    "zoom": 1.5,
    "agents": [
        {"agentId": AGENT, "baseUrl": "http://another"},
        {
            "agentId": AGENT,
            "baseUrl": "local:/srv/agents",
            "memfs": True,
            "mcpServers": [{"name": "mine", "command": "serve", "env": {"A": "b"}}],
            "unknown": [1, {"x": None}],
        },
    ],
}
LOCAL = ("--base-url", "local:/srv/agents")


@dataclass
class Desk:
    """A project, its deployed MCP server, and a home folder with settings."""

    project: Any
    mcp: ChangingMcp
    home: Path

    @property
    def settings(self) -> Path:
        return self.home / ".letta" / "settings.json"

    def write(self, value: Any) -> None:
        self.settings.parent.mkdir(exist_ok=True)
        self.settings.write_text(json.dumps(value, indent=2))

    def read(self) -> Any:
        return json.loads(self.settings.read_text())

    def letta(self, *args: str, **env: str) -> Any:
        """Run the command and check that its output contains no token."""
        environment = {
            "HOME": str(self.home),
            "TOY_MCP_URL": self.mcp.url,
            "TOY_MCP_TOKEN": TOKEN,
            "TOY_AGENT_ID": AGENT,
            "LETTA_BASE_URL": "",
            **env,
        }
        arguments = [*args, "--project", str(self.project.root)]
        result = CliRunner().invoke(command, arguments, env=environment)
        assert TOKEN not in result.stdout + result.stderr
        assert isinstance(result.exception, SystemExit | None), result.exception
        return result

    def deploy(self) -> None:
        """Offer the tools that the specs allow to the client `agent`."""
        loaded = load_workspace(str(self.project.root))
        assert loaded.workspace is not None, loaded.findings
        tools = loaded.workspace.toolsets[0].tools
        self.mcp.tools = [
            build_mcp_definition(tool) for tool in tools if tool.name != "wake_agent"
        ]


@pytest.fixture
def desk(make_project: Any, tmp_path: Path) -> Iterator[Desk]:
    """Deploy a project with its MCP server and Letta Code's settings."""
    project = make_project(TOOLS, toolset=TOOLSET, handlers=HANDLERS)
    with changing_mcp() as mcp:
        desk = Desk(project, mcp, tmp_path)
        desk.deploy()
        desk.write(OTHERS)
        yield desk
