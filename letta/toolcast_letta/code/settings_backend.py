"""The settings file of Letta Code: what is there is read, and a plan is carried out.

Letta Code has no registry and no rules: every tool that a server of an agent offers is the
agent's. So there is nothing to attach; what must not reach an agent must not be offered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from ..digests import compute_digest
from ..plan.agent_servers import AGENT_HEADER, build_desired_entry
from ..plan.applying import build_apply_result
from ..plan.backend import AgentCount, ApplyResult, CallOptions, CheckResult, Report
from ..plan.current_state import AgentState, CurrentState, OfferedTool
from ..plan.desired_state import DesiredAgent, DesiredState, MissingSettingError
from ..plan.plan import Plan
from ..schemas.stored import build_stored_parameters, compute_tool_digest
from ..state.seal import Seal
from .entry_backups import EntryBackup, find_entry, save_backup
from .mcp_calls import McpServerError, list_offered_tools, run_agent_checks
from .settings_file import Settings, SettingsError, resolve_home


@dataclass(frozen=True)
class SettingsBackend:
    """The settings file of Letta Code.

    Attributes:
        path: the file.
        environment: says where the device's own agents are.
        base_url: where the agents live; None: as the file says, on the device, or in the
            cloud.
        timeout: seconds that the MCP server may take for one answer.
    """

    path: Path
    environment: Mapping[str, str]
    base_url: str | None = None
    timeout: float = 60.0

    @property
    def location(self) -> str:
        """The path of the file."""
        return str(self.path)

    @property
    def refusal(self) -> str:
        """Nothing speaks against changing it."""
        return ""

    def read(self, desired: DesiredState) -> CurrentState:
        """The agents of the file, and what the MCP server offers."""
        settings = Settings.read(self.path)
        offered: dict[str, OfferedTool] = {}
        unreachable = ""
        headers = {AGENT_HEADER: desired.agents[0].id} if desired.agents else {}
        if desired.token is not None:
            headers["Authorization"] = f"Bearer {desired.token}"
        try:
            for tool in list_offered_tools(desired.server_url, headers, self.timeout):
                parameters = build_stored_parameters(tool["inputSchema"])
                digest = compute_tool_digest(tool["description"], parameters)
                offered[tool["name"]] = OfferedTool(tool["name"], digest)
        except McpServerError as error:
            unreachable = str(error)
        return CurrentState(
            "code",
            "",
            None,
            offered,
            unreachable,
            {},
            {agent.name: self._agent(settings, agent) for agent in desired.agents},
        )

    def _agent(self, settings: Settings, agent: DesiredAgent) -> AgentState:
        homes = settings.list_homes(agent.id)
        is_named = self.base_url is not None
        if not is_named and len(homes) == 1:
            home = homes[0]
        else:
            home = resolve_home(agent.id, self.base_url, self.environment)
        return AgentState(
            agent.id,
            agent.name,
            "",
            {},
            (),
            servers=tuple(settings.list_servers(agent.id, home)),
            home=home,
            known_homes=tuple(homes),
            is_ambiguous=not is_named and len(homes) > 1,
        )

    def lock(self) -> AbstractContextManager[None]:
        """The write itself compares the file with what was read, in one step."""
        return nullcontext()

    def close_interrupted_run(self, desired: DesiredState) -> None:
        """There is nothing to close."""

    def execute(
        self, plan: Plan, desired: DesiredState, current: CurrentState, report: Report
    ) -> ApplyResult:
        """Sets the entry of each agent; the file is replaced in one step."""
        before = after = Settings.read(self.path)
        kept = []
        agents = {agent.name: agent for agent in desired.agents}
        for agent in plan.agents:
            there = before.list_servers(agent.id, agent.home)
            if there != list(current.agents[agent.name].servers):
                raise SettingsError(f"{self.path} has just been changed")
            entry = build_desired_entry(there, desired, agents[agent.name])
            after = after.set_server(agent.id, agent.home, entry)
            written = find_entry(
                after.list_servers(agent.id, agent.home), entry["name"]
            )
            kept.append(
                EntryBackup(
                    agent.name,
                    agent.id,
                    agent.home,
                    entry["name"],
                    find_entry(there, entry["name"]),
                    compute_digest(written),
                )
            )
        copy = save_backup(self.path, plan.toolset, kept, Seal(self.environment))
        report(f"what was there is kept: {copy}")
        after.write(before)
        report(f"{self.path}: written")
        if Settings.read(self.path) != Settings(after.path, after.text, True):
            raise SettingsError(f"{self.path} was written, and something else is there")
        return build_apply_result(plan, changed=True, baseline=str(copy))

    def count_tools(
        self, desired: DesiredState, current: CurrentState
    ) -> Iterator[AgentCount]:
        """The number of tools that each agent is offered."""
        for agent in desired.agents:
            yield AgentCount(
                agent.name, tuple(sorted(current.offered)), len(desired.canonical)
            )

    def run_checks(
        self, desired: DesiredState, current: CurrentState, calls: CallOptions
    ) -> Iterator[CheckResult]:
        """Lists and calls as each agent would, by what stands in the file."""
        if calls.turn is not None:
            raise MissingSettingError(
                "Letta Code has turns of its own: start it; --turn is for `v1`"
            )
        for agent in desired.agents:
            for server in current.agents[agent.name].servers:
                if server.get("name") == desired.server_name:
                    yield from run_agent_checks(
                        server, desired, agent.name, calls, self.timeout
                    )
                    break
