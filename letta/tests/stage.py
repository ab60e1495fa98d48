"""A toolset with its real MCP server and an agent, on a fake Letta or on a real one.

Everything goes over HTTP, so that a test does not see which of the two it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from letta.tests.changing_mcp import ChangingMcp, changing_mcp
from letta.tests.toy import TOKEN, codes
from toolcast.analysis.mcp_definitions import build_mcp_definition
from toolcast.model.loading import load_workspace
from toolcast_letta.plan.applying import apply_plan
from toolcast_letta.plan.backend import ApplyResult, CallOptions, PlanRefusedError
from toolcast_letta.plan.desired_state import DesiredState
from toolcast_letta.plan.plan import Overrides, Plan
from toolcast_letta.plan.planning import build_plan
from toolcast_letta.plan.verification import Verification, verify
from toolcast_letta.specs import build_desired_state_from_specs
from toolcast_letta.state.baseline import Baselines
from toolcast_letta.v1.api import LettaApi
from toolcast_letta.v1.rollback import RollbackResult, roll_back
from toolcast_letta.v1.server_backend import ServerBackend

__all__ = ["OURS", "THEIRS", "Stage", "actions", "stage_on"]

THEIRS = {
    "archival_memory_search",
    "conversation_search",
    "memory_insert",
    "memory_replace",
    "send_message",
    "their_tool",
}
"""What the agent has before anything is applied."""
OURS = {"search_notes", "delete_note", "end_day"}
"""What applying adds."""
MODEL = {
    "model": "none",
    "model_endpoint_type": "openai",
    "model_endpoint": "http://127.0.0.1:9/v1",
    "context_window": 32000,
}


@dataclass
class Stage:
    """One project against one Letta.

    Attributes:
        project: its folder, with specs to edit.
        letta: the server.
        mcp: the MCP server as it is deployed.
        agent_id: the agent.
        state: where baselines are.
    """

    project: Any
    letta: httpx.Client
    mcp: ChangingMcp
    agent_id: str
    state: Path
    said: list[str] = field(default_factory=list)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """What Letta answers; any failure is the test's."""
        answer = self.letta.request(method, path, json=body).raise_for_status()
        return answer.json() if answer.content else None

    @property
    def api(self) -> LettaApi:
        return LettaApi(str(self.letta.base_url), timeout=60.0)

    @property
    def baselines(self) -> Baselines:
        return Baselines(self.state)

    @property
    def toolset(self) -> Any:
        loaded = load_workspace(str(self.project.root))
        assert loaded.workspace is not None, loaded.findings
        return loaded.workspace.toolsets[0]

    def deploy(self) -> None:
        """The server offers what the specs say."""
        self.mcp.tools = [build_mcp_definition(tool) for tool in self.toolset.tools]

    def desired(self, token: str = TOKEN) -> DesiredState:
        return build_desired_state_from_specs(
            self.toolset,
            {"TOY_AGENT_ID": self.agent_id, "TOY_MCP_TOKEN": token},
            server_url=self.mcp.url,
        )

    @property
    def backend(self) -> ServerBackend:
        return ServerBackend(self.api, self.baselines)

    def plan(self, desired: DesiredState | None = None, **overrides: Any) -> Plan:
        desired, backend = desired or self.desired(), self.backend
        current = backend.read(desired)
        return build_plan(backend.location, desired, current, Overrides(**overrides))

    def apply(
        self, plan: Plan | None = None, desired: DesiredState | None = None
    ) -> ApplyResult:
        desired = desired or self.desired()
        made = plan or self.plan(desired)
        return apply_plan(made, self.backend, desired, self.said.append)

    def refused(self, *expected: str, **overrides: Any) -> str:
        """What a plan objects to, with these codes; applying it must change nothing."""
        plan = self.plan(**overrides)
        assert codes(plan) == list(expected)
        before = (self.names(), self.rules(), self.ask("GET", "/v1/tools/count"))
        with pytest.raises(PlanRefusedError):
            self.apply(plan)
        after = (self.names(), self.rules(), self.ask("GET", "/v1/tools/count"))
        assert after == before
        return "\n".join(one.message for one in plan.blockers)

    def verify(self, **calls: Any) -> Verification:
        return verify(self.backend, self.desired(), CallOptions(**calls))

    def roll_back(self, *restore: str) -> RollbackResult:
        api = self.api
        baseline = self.baselines.get_latest("toy", api.base_url)
        desired = self.desired()
        return roll_back(api, desired, baseline, self.baselines, restore=restore)

    def agent(self, agent_id: str = "") -> Any:
        return self.ask("GET", f"/v1/agents/{agent_id or self.agent_id}")

    def names(self, agent_id: str = "") -> set[str]:
        return {tool["name"] for tool in self.agent(agent_id)["tools"]}

    def rules(self) -> set[tuple[str, str]]:
        return {
            (rule["tool_name"], rule["type"]) for rule in self.agent()["tool_rules"]
        }

    def patch(self, **fields: Any) -> None:
        """Somebody changes the agent by hand."""
        self.ask("PATCH", f"/v1/agents/{self.agent_id}", fields)

    def registered(self, name: str) -> Any:
        """The registry's tool of a name; None without one."""
        found = self.ask("GET", f"/v1/tools/?names={name}")
        return found[0] if found else None

    def new_server(self, name: str, *tools: Mapping[str, Any], url: str) -> str:
        """Somebody else's MCP server; gives the entry's id."""
        config = {"mcp_server_type": "streamable_http", "server_url": url}
        body = {"server_name": name, "config": config}
        made: str = self.ask("POST", "/v1/mcp-servers/", body)["id"]
        return made

    def new_agent(self, *tools: str, **more: Any) -> str:
        """The id of another agent with these tools alone."""
        body = {
            "name": "another",
            "include_base_tools": False,
            "tools": list(tools),
            "llm_config": MODEL,
            **more,
        }
        made: str = self.ask("POST", "/v1/agents/", body)["id"]
        return made


def actions(plan: Plan, layer: str) -> list[str]:
    """`- name` of each change of a layer, sorted."""
    found = [f"{one.action} {one.name}" for one in plan.changes if one.layer == layer]
    return sorted(found)


@contextmanager
def stage_on(base_url: str, project: Any, state: Path) -> Iterator[Stage]:
    """Sets a project's toolset and an agent with tools of its own up; applies nothing."""
    close = {"Connection": "close"}
    with (
        changing_mcp() as mcp,
        httpx.Client(base_url=base_url, timeout=60, headers=close) as letta,
    ):
        stage = Stage(project, letta, mcp, "", state)
        schema = {"name": "their_tool", "parameters": {"type": "object"}}
        code = "def their_tool():\n    return 1\n"
        body = {"source_code": code, "json_schema": {**schema, "description": "It."}}
        stage.ask("POST", "/v1/tools/", body)
        agent = {
            "name": "keeper",
            "agent_type": "memgpt_v2_agent",
            "tools": ["their_tool", "archival_memory_search"],
            "llm_config": MODEL,
        }
        stage.agent_id = stage.ask("POST", "/v1/agents/", agent)["id"]
        stage.deploy()
        yield stage
