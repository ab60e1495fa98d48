"""A toolset with an MCP server and an agent, on a fake or a real Letta server.

All requests to Letta use HTTP, so that tests run on both servers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import pytest

from letta.tests.changing_mcp import ChangingMcp
from letta.tests.toy import TOKEN, list_blocker_codes, load_toolset
from toolcast.analysis.mcp_definitions import build_mcp_definition
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

__all__ = ["OURS", "THEIRS", "Stage", "list_actions", "start_stage"]

THEIRS = {
    "archival_memory_search",
    "conversation_search",
    "memory_insert",
    "memory_replace",
    "send_message",
    "their_tool",
}
"""The agent's tools before a plan is applied."""
OURS = {"search_notes", "delete_note", "end_day"}
"""The tools that applying the plan attaches."""
MODEL = {
    "model": "none",
    "model_endpoint_type": "openai",
    "model_endpoint": "http://127.0.0.1:9/v1",
    "context_window": 32000,
}


@dataclass
class Stage:
    """A project and a Letta server.

    Attributes:
        project: the project, with specs to edit.
        letta: an HTTP client of the Letta server.
        mcp: the deployed MCP server.
        agent_id: the agent's id.
        state: the folder of the baselines.
        messages: the progress messages of applied plans.
    """

    project: Any
    letta: httpx.Client
    mcp: ChangingMcp
    agent_id: str
    state: Path
    messages: list[str] = field(default_factory=list)

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Return the body of Letta's answer; raise if the request fails."""
        answer = self.letta.request(method, path, json=body).raise_for_status()
        return answer.json() if answer.content else None

    @cached_property
    def api(self) -> LettaApi:
        return LettaApi(str(self.letta.base_url), timeout=60.0)

    @property
    def baselines(self) -> Baselines:
        return Baselines(self.state)

    @property
    def toolset(self) -> Any:
        return load_toolset(self.project.root)

    def deploy(self) -> None:
        """Offer the tools of the specs on the MCP server."""
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
        plan_to_apply = plan or self.plan(desired)
        return apply_plan(plan_to_apply, self.backend, desired, self.messages.append)

    def assert_plan_is_refused(self, *expected: str, **overrides: Any) -> str:
        """Check a plan's blockers and that applying it changes nothing.

        Returns:
            The blockers' messages.
        """
        plan = self.plan(**overrides)
        assert list_blocker_codes(plan) == list(expected)
        before = (self.names(), self.rules(), self.request("GET", "/v1/tools/count"))
        with pytest.raises(PlanRefusedError):
            self.apply(plan)
        after = (self.names(), self.rules(), self.request("GET", "/v1/tools/count"))
        assert after == before
        return "\n".join(blocker.message for blocker in plan.blockers)

    def verify(self, **calls: Any) -> Verification:
        return verify(self.backend, self.desired(), CallOptions(**calls))

    def roll_back(self, *restore: str) -> RollbackResult:
        api = self.api
        baseline = self.baselines.get_latest("toy", api.base_url)
        desired = self.desired()
        return roll_back(api, desired, baseline, self.baselines, restore=restore)

    def agent(self, agent_id: str = "") -> Any:
        return self.request("GET", f"/v1/agents/{agent_id or self.agent_id}")

    def names(self, agent_id: str = "") -> set[str]:
        return {tool["name"] for tool in self.agent(agent_id)["tools"]}

    def rules(self) -> set[tuple[str, str]]:
        return {
            (rule["tool_name"], rule["type"]) for rule in self.agent()["tool_rules"]
        }

    def patch(self, **fields: Any) -> None:
        """Change the agent outside of Toolcast."""
        self.request("PATCH", f"/v1/agents/{self.agent_id}", fields)

    def find_tool(self, name: str) -> Any:
        """Return the registry's tool with a name, or None."""
        found = self.request("GET", f"/v1/tools/?names={name}")
        return found[0] if found else None

    def create_server_entry(
        self, name: str, *tools: Mapping[str, Any], url: str
    ) -> str:
        """Register another MCP server and return its entry's id."""
        config = {"mcp_server_type": "streamable_http", "server_url": url}
        body = {"server_name": name, "config": config}
        entry_id: str = self.request("POST", "/v1/mcp-servers/", body)["id"]
        return entry_id

    def create_another_agent(self, *tools: str, **fields: Any) -> str:
        """Create an agent that has only these tools and return its id."""
        body = {
            "name": "another",
            "include_base_tools": False,
            "tools": list(tools),
            "llm_config": MODEL,
            **fields,
        }
        agent_id: str = self.request("POST", "/v1/agents/", body)["id"]
        return agent_id


def list_actions(plan: Plan, layer: str) -> list[str]:
    """Return the action and name of each change of a layer, sorted."""
    actions = [
        f"{change.action} {change.name}"
        for change in plan.changes
        if change.layer == layer
    ]
    return sorted(actions)


@contextmanager
def start_stage(
    base_url: str, project: Any, state: Path, mcp: ChangingMcp
) -> Iterator[Stage]:
    """Set up a project's toolset and an agent that has tools; apply nothing."""
    close = {"Connection": "close"}
    with httpx.Client(base_url=base_url, timeout=60, headers=close) as letta:
        stage = Stage(project, letta, mcp, "", state)
        schema = {"name": "their_tool", "parameters": {"type": "object"}}
        code = "def their_tool():\n    return 1\n"
        body = {"source_code": code, "json_schema": {**schema, "description": "It."}}
        stage.request("POST", "/v1/tools/", body)
        agent = {
            "name": "keeper",
            "agent_type": "memgpt_v2_agent",
            "tools": ["their_tool", "archival_memory_search"],
            "llm_config": MODEL,
        }
        stage.agent_id = stage.request("POST", "/v1/agents/", agent)["id"]
        stage.deploy()
        yield stage
