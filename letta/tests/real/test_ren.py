"""The complete toolset ren on a real Letta server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from generated.ren.registry import REGISTRY
from letta.tests.scripted_model import ScriptedModel, scripted_model
from tests.mcp.servers import http_server
from tests.ports import reserve_port

pytestmark = pytest.mark.letta

TOKEN = "s3cret-token-of-the-mcp-server"
ADMIN = "s3cret-token-of-the-administrator"
BUILT_INS = {
    "letta_v1_agent": {"conversation_search", "memory_insert", "memory_replace"},
    "memgpt_v2_agent": {"conversation_search", "memory_insert", "memory_replace"},
}
EXPECTED = {"archival_memory_search", "send_message"}


@dataclass
class Ren:
    """Ren's agent on a real server, her MCP server, and the `letta` command."""

    letta: httpx.Client
    model: ScriptedModel
    project: Any
    kind: str
    agent_id: str
    mcp_url: str = ""
    env: dict[str, str] = field(default_factory=dict)

    def toolcast(self, *args: str, code: int = 0) -> str:
        """Return a command's output after checking that it contains no token."""
        process = self.project.toolcast(
            "letta", *args, "--toolset", "ren", env=self.env
        )
        assert process.returncode == code, process.stdout + process.stderr
        assert TOKEN not in process.stdout + process.stderr
        text: str = process.stdout
        return text

    def agent(self) -> Any:
        """Return the agent from Letta."""
        path = f"/v1/agents/{self.agent_id}?include=agent.tools"
        return self.letta.get(path).raise_for_status().json()

    def names(self) -> set[str]:
        return {tool["name"] for tool in self.agent()["tools"]}

    def set_script(self, *script: dict[str, Any]) -> None:
        """Set the model's steps in the next turn, before its final message."""
        steps: list[dict[str, Any]] = []
        for step in script:
            arguments = {"thinking": "-", **step.get("arguments", {})}
            if self.kind == "letta_v1_agent":
                arguments.pop("thinking")
            steps.append({**step, "arguments": arguments})
        last: dict[str, Any] = {"text": "Done."}
        if self.kind != "letta_v1_agent":
            final_arguments = {"thinking": "-", "message": "Done."}
            last = {"tool": "send_message", "arguments": final_arguments}
        self.model.script = [*steps, last]

    def run_turn(self, *script: dict[str, Any]) -> Any:
        """Run a turn in which the model takes these steps."""
        self.set_script(*script)
        path = f"/v1/agents/{self.agent_id}/messages"
        body = {"messages": [{"role": "user", "content": "Go."}]}
        return self.letta.post(path, json=body).raise_for_status().json()

    def list_tool_results(self, run_turn: Any) -> list[tuple[str, str, str]]:
        """Return name, status and text of each tool result in a turn."""
        return [
            (message["name"], message["status"], message["tool_return"])
            for message in run_turn["messages"]
            if message["message_type"] == "tool_return_message"
        ]


@pytest.fixture(params=["letta_v1_agent", "memgpt_v2_agent"])
def ren(
    request: pytest.FixtureRequest, clean_letta: str, project_copy: Any, tmp_path: Path
) -> Iterator[Ren]:
    kind: str = request.param
    project_copy.edit(
        "specs/ren/toolset.yaml", "type: memgpt_v2_agent", f"type: {kind}"
    )
    project_copy.generate()
    close = {"Connection": "close"}
    with (
        scripted_model() as model,
        reserve_port() as port,
        httpx.Client(base_url=clean_letta, timeout=120, headers=close) as letta,
    ):
        body = {
            "name": "ren",
            "agent_type": kind,
            "llm_config": model.llm_config,
            "memory_blocks": [
                {"label": "persona", "value": "I am Ren."},
                {"label": "ren_tools", "value": "What I know of my tools."},
                {"label": "memory_landscape", "value": ""},
            ],
        }
        agent = letta.post("/v1/agents/", json=body).raise_for_status().json()
        env = {
            "REN_DATA": str(tmp_path / "data"),
            "REN_AGENT_ID": agent["id"],
            "REN_TOKEN_REN": TOKEN,
            "REN_MCP_TOKEN": TOKEN,
            "REN_ADMIN_TOKEN": ADMIN,
            "LETTA_BASE_URL": clean_letta,
            "TOOLCAST_LETTA_STATE": str(tmp_path / "state"),
        }
        # The server registers itself in Letta and therefore needs its own URL.
        url = f"http://127.0.0.1:{port}/mcp/"
        env["REN_MCP_URL"] = f"{url}ren/"
        root = project_copy.root
        with http_server(root, "generated.ren", "--port", str(port), env=env):
            yield Ren(letta, model, project_copy, kind, agent["id"], url, env)


def test_example_toolset_is_applied_called_verified_and_rolled_back_on_real_letta(
    ren: Ren, tmp_path: Path
) -> None:
    before = ren.names()
    assert BUILT_INS[ren.kind] <= before
    plan = str(tmp_path / "plan.json")
    assert "0 to change, 0 to remove" in ren.toolcast("plan", "--out", plan)
    assert ren.names() == before, "a plan changes nothing"
    assert "tools+rules synced" in ren.toolcast("apply", plan)

    canonical = set(json.loads(_list_attached_names(ren)))
    assert canonical == set(REGISTRY.names("ren"))
    assert ren.names() == before | canonical | EXPECTED
    rules = {(rule["tool_name"], rule["type"]) for rule in ren.agent()["tool_rules"]}
    going_on = {name for name, kind in rules if kind == "continue_loop"}
    if ren.kind == "memgpt_v2_agent":
        assert ("send_message", "exit_loop") in rules
        assert going_on == (ren.names() - {"send_message"})
    assert not {name for name, kind in rules if kind == "exit_loop"} & canonical

    # The memory blocks are written after the apply.
    assert "Nothing to apply" in ren.toolcast("plan")
    blocks = str(tmp_path / "blocks.json")
    shown = ren.toolcast("blocks", "--out", blocks)
    assert "+- create_notecard: Write a notecard." in shown
    assert "the block `ren_tools` of ren differs from the specs" in ren.toolcast(
        "verify", "--no-calls", code=1
    )
    assert "ren: `ren_tools` written" in ren.toolcast("blocks", "--write", blocks)
    verified = json.loads(ren.toolcast("verify", "--format", "json"))
    assert verified["all_match"] is True
    assert verified["agents"][0]["attached"] == len(before | canonical | EXPECTED)
    assert verified["agents"][0]["baseline"] == len(before)
    ran = {call["tool"] for call in verified["calls"] if call["passed"]}
    assert {"list_skills", "list_notecards", "check_system_health"} <= ran

    ren.set_script({"tool": "list_skills"})
    driven = ("--tool", "list_skills", "--turn", "list_skills", "--format", "json")
    calls = json.loads(ren.toolcast("verify", *driven))["calls"]
    assert {call["kind"]: call["passed"] for call in calls if call["passed"]} == {
        "run": True,
        "turn": True,
    }

    card = {"text": "Ask Ted whether the export may drop archived projects."}
    turn = ren.run_turn(
        {"tool": "create_notecard", "arguments": card},
        {"tool": "read_core_memory", "arguments": {"block_label": "persona"}},
    )
    assert turn["usage"]["step_count"] == 3
    (made, status, text), (_, read_status, block) = ren.list_tool_results(turn)
    assert (made, status, read_status) == ("create_notecard", "success", "success")
    assert json.loads(text)["text"] == card["text"]
    assert json.loads(block)["value"] == "I am Ren."
    assert canonical <= set(ren.model.list_offered_tools())
    run = f"/v1/agents/{ren.agent_id}/tools/list_notecards/run"
    cards = ren.letta.post(run, json={"args": {}}).json()["func_return"]
    assert [item["text"] for item in json.loads(cards)["notecards"]] == [card["text"]]

    assert "No changes" in ren.toolcast("plan"), "a turn leaves tools and rules alone"
    assert "~ block ren_tools" in ren.toolcast("rollback", "--dry-run")
    ren.toolcast("rollback")
    assert ren.names() == before
    block = f"/v1/agents/{ren.agent_id}/core-memory/blocks/ren_tools"
    assert ren.letta.get(block).json()["value"] == "What I know of my tools."


def test_letta_sync_route_applies_the_plan_only_with_the_admin_token(ren: Ren) -> None:
    """Handle `POST /api/admin/sync-mcp-tools`, a route of generated MCP servers."""
    before = ren.names()
    path = ren.mcp_url.replace("/mcp/", "/api/admin/sync-mcp-tools")
    assert httpx.post(path).status_code == 401
    headers = {"Authorization": f"Bearer {ADMIN}"}

    def call_sync(**body: Any) -> Any:
        answer = httpx.post(path, json=body, headers=headers, timeout=60)
        assert answer.status_code == 200, answer.text
        assert TOKEN not in answer.text
        return answer.json()

    assert len(call_sync(dry_run=True)["changes"]) > 18
    assert ren.names() == before
    done = call_sync()
    assert (done["tools"], done["changed"], done["missed"]) == (
        len(ren.names()),
        True,
        [],
    )
    assert "Nothing to apply" in ren.toolcast("plan")
    assert call_sync()["changed"] is False


def test_real_letta_turn_refuses_a_tool_call_that_messages_the_same_agent(
    ren: Ren,
) -> None:
    """The forbidden tool was attached manually."""
    ren.toolcast("apply", "--yes")
    url = {"mcp_server_type": "streamable_http", "server_url": ren.mcp_url}
    entry = {"server_name": "by_hand", "config": url}
    # An unreachable URL prevents that Letta captures the other tools of the server.
    ren.letta.post(
        "/v1/mcp-servers/",
        json={**entry, "config": {**url, "server_url": "http://127.0.0.1:9/mcp"}},
    ).raise_for_status()
    server = next(
        item
        for item in ren.letta.get("/v1/mcp-servers/").json()
        if item["server_name"] == "by_hand"
    )
    path = f"/v1/mcp-servers/{server['id']}"
    ren.letta.patch(path, json={"config": url}).raise_for_status()
    added = ren.letta.post("/v1/tools/mcp/servers/by_hand/send_to_ren")
    tool_id = added.raise_for_status().json()["id"]
    attach = f"/v1/agents/{ren.agent_id}/tools/attach/{tool_id}"
    ren.letta.patch(attach).raise_for_status()
    rules = [*ren.agent()["tool_rules"]]
    rules.append({"tool_name": "send_to_ren", "type": "continue_loop"})
    ren.letta.patch(
        f"/v1/agents/{ren.agent_id}", json={"tool_rules": rules}
    ).raise_for_status()

    turn = ren.run_turn({"tool": "send_to_ren", "arguments": {"message": "Hello."}})
    [(name, status, text)] = ren.list_tool_results(turn)
    assert (name, status) == ("send_to_ren", "error")
    assert "would wait for itself" in text
    assert turn["usage"]["step_count"] == 2, "and the turn goes on"
    assert len(ren.model.requests) == 2, "no turn within the turn"

    assert "send_to_ren" in ren.toolcast("verify", "--no-calls", code=1)
    assert "- send_to_ren" in ren.toolcast("plan")
    ren.toolcast("apply", "--yes")
    assert "send_to_ren" not in ren.names()


def _list_attached_names(ren: Ren) -> str:
    code = (
        "import json; from generated.ren.registry import REGISTRY;"
        "parts = {tool.name: tool.parts['letta'] for tool in REGISTRY.local_tools};"
        "print(json.dumps(sorted(n for n, part in parts.items() if part['attached'])))"
    )
    done = ren.project.run("-c", code)
    assert done.returncode == 0, done.stderr
    text: str = done.stdout
    return text
