"""A toolset, its MCP server and an agent with other tools on a fake Letta server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from letta.tests.fake_letta import FakeLetta, PlantedServer, World
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

MCP = "http://mcp.test/mcp"
TOKEN = "s3cret-token-of-the-mcp-server"
TOOLS = {
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
    "delete_note": """
        summary: Delete a note.
        parameters:
          type: object
          properties: {number: {type: integer, description: The note.}}
          required: [number]
        annotations: {destructiveHint: true}
        handler: handlers.toy:work
        letta: {attached: true, requires_approval: true}
        examples: [{title: The first, arguments: {number: 1}}]
        """,
    "end_day": """
        summary: End the day.
        parameters: {type: object}
        handler: handlers.toy:work
        letta: {attached: true, ends_turn: true}
        """,
    "wake_agent": """
        summary: Ask the agent something.
        parameters: {type: object}
        handler: handlers.toy:work
        letta: {attached: false, calls_agent_loop: true}
        """,
    "list_plain": """
        summary: List everything.
        parameters: {type: object}
        handler: handlers.toy:work
        letta: {attached: false, reason: Too long for an agent.}
        """,
}
TOOLSET = """
targets: {mcp: {}, registry: {}, letta: {}}
letta:
  server: {name: toy, url: "http://mcp.test/mcp", token_env: TOY_MCP_TOKEN}
  agents:
    keeper:
      id_env: TOY_AGENT_ID
      type: memgpt_v2_agent
      expects: [send_message]
      ends_turn: [send_message]
      forbids: [{name: run_code, reason: It keeps notes.}]
"""
HANDLERS = "def work(arguments: dict):\n    return arguments\n"


def list_blocker_codes(plan: Plan) -> list[str]:
    """Return the code of each blocker of a plan."""
    return [blocker.code for blocker in plan.blockers]


def load_toolset(root: Path) -> Any:
    """Load the project's toolset, only once per content of its specs."""
    files = sorted(root.glob("specs/toy/*.yaml"))
    return _load_toolset(root, tuple((file.name, file.read_bytes()) for file in files))


@lru_cache(maxsize=4)
def _load_toolset(root: Path, specs: tuple[tuple[str, bytes], ...]) -> Any:
    loaded = load_workspace(str(root))
    assert loaded.workspace is not None, loaded.findings
    return loaded.workspace.toolsets[0]


@dataclass
class Toy:
    """A project and a fake Letta server.

    Attributes:
        project: the project, with specs to edit.
        fake: the fake Letta server.
        mcp: the deployed MCP server.
        agent_id: the agent's id.
        messages: the progress messages of applied plans.
    """

    project: Any
    fake: FakeLetta
    mcp: PlantedServer
    agent_id: str
    state: Path
    environment: dict[str, str] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    _apis: dict[float, LettaApi] = field(default_factory=dict)

    @property
    def world(self) -> World:
        return self.fake.world

    @property
    def toolset(self) -> Any:
        return load_toolset(self.project.root)

    def deploy(self) -> None:
        """Offer the tools of the specs on the MCP server."""
        self.mcp.tools.clear()
        self.mcp.offer(*(build_mcp_definition(tool) for tool in self.toolset.tools))

    def desired(self) -> DesiredState:
        toolset = self.toolset
        environment = {"TOY_AGENT_ID": self.agent_id, **self.environment}
        return build_desired_state_from_specs(toolset, environment)

    def api(self, timeout: float = 5.0) -> LettaApi:
        if timeout not in self._apis:
            key = self.world.password
            self._apis[timeout] = LettaApi(self.fake.url, key, timeout=timeout)
        return self._apis[timeout]

    def backend(self, timeout: float = 5.0, state: Path | None = None) -> ServerBackend:
        return ServerBackend(self.api(timeout), Baselines(state or self.state))

    def plan(
        self, overrides: Overrides | None = None, desired: DesiredState | None = None
    ) -> Plan:
        desired, backend = desired or self.desired(), self.backend()
        return build_plan(backend.location, desired, backend.read(desired), overrides)

    def apply(self, plan: Plan | None = None, timeout: float = 5.0) -> ApplyResult:
        plan = plan or self.plan()
        backend = self.backend(timeout)
        return apply_plan(plan, backend, self.desired(), self.messages.append)

    def assert_plan_is_refused(self, *expected: str, **more: Any) -> None:
        """Check a plan's blockers and that applying it sends no request."""
        plan = self.plan(**more)
        assert list_blocker_codes(plan) == list(expected)
        self.fake.faults.seen.clear()
        with pytest.raises(PlanRefusedError):
            self.apply(plan)
        assert self.fake.faults.seen == []

    def verify(self, **calls: Any) -> Verification:
        return verify(self.backend(), self.desired(), CallOptions(**calls))

    def roll_back(self, *restore: str) -> RollbackResult:
        baselines = Baselines(self.state)
        baseline = baselines.get_latest("toy", self.fake.url)
        api, desired = self.api(), self.desired()
        return roll_back(api, desired, baseline, baselines, restore=restore)

    def rename(self, old: str, new: str, *, declared: bool = True) -> None:
        """Rename a tool's spec and deploy it."""
        folder = self.project.root / "specs/toy"
        text = (folder / f"{old}.yaml").read_text()
        text = text.replace(f"name: {old}", f"name: {new}")
        if declared:
            text += f"renamed_from: [{old}]\n"
        (folder / f"{new}.yaml").write_text(text)
        (folder / f"{old}.yaml").unlink()
        self.deploy()

    def remove(self, name: str) -> None:
        """Remove a tool's spec and deploy the others."""
        (self.project.root / f"specs/toy/{name}.yaml").unlink()
        self.deploy()

    @property
    def agent(self) -> Any:
        """The agent's row in the fake server's database."""
        return self.world.agents[self.agent_id]

    def names(self) -> list[str]:
        """Return the sorted names of the agent's tools."""
        return sorted(tool.name for tool in self.world.list_attached_tools(self.agent))

    def rules(self) -> set[tuple[str, str]]:
        """Return the tool name and type of each rule of the agent."""
        return {(rule["tool_name"], rule["type"]) for rule in self.agent.tool_rules}

    def entry(self) -> Any:
        """Return the MCP server's entry."""
        return self.world.find_entry("toy")


@pytest.fixture
def make_toy(
    make_project: Callable[..., Any], tmp_path: Path
) -> Iterator[Callable[..., Toy]]:
    """Yield a function that starts a fake server with an agent and makes a project."""
    running: list[FakeLetta] = []

    def make(
        tools: dict[str, str] | None = None,
        toolset: str = TOOLSET,
        agent_type: str = "memgpt_v2_agent",
    ) -> Toy:
        at = f"project{len(running)}"
        project = make_project(
            TOOLS if tools is None else tools, toolset=toolset, handlers=HANDLERS, at=at
        )
        fake = FakeLetta()
        fake.__enter__()
        running.append(fake)
        mcp = PlantedServer(token=TOKEN)
        fake.world.servers[MCP] = mcp
        fake.world.add_custom_tool("their_tool")
        agent = fake.world.create_agent(
            {
                "name": "keeper",
                "agent_type": agent_type,
                "tools": ["their_tool", "archival_memory_search"],
            }
        )
        agent.tool_rules.append(
            {
                "tool_name": "their_tool",
                "type": "max_count_per_step",
                "max_count_limit": 2,
            }
        )
        toy = Toy(project, fake, mcp, agent.id, tmp_path / f"state{len(running)}")
        toy.environment["TOY_MCP_TOKEN"] = TOKEN
        toy.deploy()
        return toy

    yield make
    for fake in running:
        fake.__exit__(None, None, None)


@pytest.fixture
def toy(make_toy: Callable[..., Toy]) -> Toy:
    """Return the toolset on a fake server, before a plan is applied."""
    return make_toy()
