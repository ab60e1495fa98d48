"""Letta Code reads the settings that `--backend code` writes and calls the tools."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from generated.ren.registry import REGISTRY
from letta.tests.code.letta_code import LettaCode
from letta.tests.real import install
from letta.tests.scripted_model import scripted_model
from tests.mcp.servers import http_server

ROOT = Path(__file__).parents[3]
TOKEN = "s3cret-token-of-the-mcp-server"


@pytest.fixture
def code(tmp_path: Path) -> LettaCode:
    if not os.environ.get("TOOLCAST_TEST_LETTA") or not install.is_installed():
        pytest.skip("make test-letta-real runs the tests against a real Letta Code")
    return LettaCode(tmp_path)


@pytest.mark.letta
def test_real_letta_code_lists_and_calls_the_mcp_tools_after_letta_apply(
    code: LettaCode, project_copy: Any
) -> None:
    """Apply the example toolset `ren` to the settings of an installed Letta Code."""
    with scripted_model() as model:
        agent = code.new_agent(model)
    before = json.loads(code.settings.read_text())
    data = {"REN_DATA": str(code.home / "data")}
    with http_server(ROOT, "generated.ren", env=data) as server:
        env = {
            "HOME": str(code.home),
            "LETTA_BASE_URL": "",
            "REN_AGENT_ID": agent,
            "REN_MCP_URL": f"{server.url}/ren",
            "REN_MCP_TOKEN": TOKEN,
            **data,
        }

        def letta(*args: str) -> str:
            process = project_copy.toolcast("letta", *args, "--toolset", "ren", env=env)
            assert process.returncode == 0, process.stdout + process.stderr
            text: str = process.stdout
            return text

        letta("plan", "--backend", "code", "--out", str(code.home / "plan"))
        letta("apply", "--backend", "code", str(code.home / "plan"))
        number = len(REGISTRY.names("ren"))
        assert f"attached_count: {number}  ren\nall_match: true\n" in letta(
            "verify", "--backend", "code", "--tool", "list_skills"
        )
        listed = code.run_json("mcp", "list", "--agent", agent)
        assert [entry["name"] for entry in listed] == ["ren"]
        tools = code.run_json("mcp", "tools", "--agent", agent)
        assert "mcp__ren__list_notecards" in {tool["name"] for tool in tools}
        assert len(tools) == number
        note = ("mcp", "call", "mcp__ren__create_notecard", "--agent", agent)
        created = code.run_json(*note, "--args", '{"text": "Ask Ted."}')
        assert json.loads(created["content"][0]["text"])["text"] == "Ask Ted."
        # Letta Code writes the file here; it keeps all other settings.
        code.run("backend", "local")
        after = json.loads(code.settings.read_text())
        assert [s["name"] for s in after["agents"][0].pop("mcpServers")] == ["ren"]
        assert after == before
        assert "No changes" in letta("plan", "--backend", "code")
