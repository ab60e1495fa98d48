"""The backend for Letta Code: read its settings file and write entries.

Letta Code has no registry and no rules: an agent has every tool that its servers offer.
So nothing is attached, and a tool that must not reach an agent must not be offered.
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
    """Backend that plans and writes MCP server entries in Letta Code's settings file.

    Attributes:
        path: the file.
        environment: contains the folder of local agents.
        base_url: where the agents live; None for the location in the file, else the
            device or the cloud.
        timeout: the number of seconds to wait for a response of the MCP server.
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
        """Always empty: plans can be applied."""
        return ""

    def read(self, desired: DesiredState) -> CurrentState:
        """Read the agents of the file, and the tools that the MCP server offers.

        An unreachable MCP server is no error: the result's `unreachable` states the
        reason.

        Raises:
            SettingsError: the file cannot be read, or has an unexpected structure.
        """
        settings = Settings.read(self.path)
        offered: dict[str, OfferedTool] = {}
        unreachable = ""
        # The MCP server is queried once, as the first agent would: all agents use its
        # endpoint.
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
            {agent.name: self._read_agent(settings, agent) for agent in desired.agents},
        )

    def _read_agent(self, settings: Settings, agent: DesiredAgent) -> AgentState:
        homes = settings.list_homes(agent.id)
        has_base_url = self.base_url is not None
        # The file lists this agent once, so its location needs no option.
        if not has_base_url and len(homes) == 1:
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
            is_ambiguous=not has_base_url and len(homes) > 1,
        )

    def lock(self) -> AbstractContextManager[None]:
        """Return a context manager without effect.

        `Settings.write` has its own lock, and compares the file with the version that
        was read.
        """
        return nullcontext()

    def record_unchanged(self, plan: Plan, desired: DesiredState) -> None:
        """Do nothing: an apply cannot stop halfway, and the file records no losses."""

    def execute(
        self, plan: Plan, desired: DesiredState, current: CurrentState, report: Report
    ) -> ApplyResult:
        """Write the entry of each agent; the file is replaced in one step.

        The replaced entries are saved to a backup first.

        Raises:
            SettingsError: another program changed the file, or it cannot be written.
            StateError: the backup cannot be written.
        """
        before = after = Settings.read(self.path)
        backups = []
        agents = {agent.name: agent for agent in desired.agents}
        for agent in plan.agents:
            servers = before.list_servers(agent.id, agent.home)
            if servers != list(current.agents[agent.name].servers):
                raise SettingsError(f"another program changed {self.path}")
            entry = build_desired_entry(servers, desired, agents[agent.name])
            after = after.set_server(agent.id, agent.home, entry)
            written = find_entry(
                after.list_servers(agent.id, agent.home), entry["name"]
            )
            backups.append(
                EntryBackup(
                    agent.name,
                    agent.id,
                    agent.home,
                    entry["name"],
                    find_entry(servers, entry["name"]),
                    compute_digest(written),
                )
            )
        # The backup is written first, so that each replaced entry can be restored.
        copy = save_backup(self.path, plan.toolset, backups, Seal(self.environment))
        report(f"backup saved: {copy}")
        after.write(before)
        report(f"{self.path}: written")
        # A running Letta Code can write its own settings at any time.
        if Settings.read(self.path) != Settings(after.path, after.text, True):
            raise SettingsError(f"{self.path} was changed while it was written")
        return build_apply_result(plan, changed=True, baseline=str(copy))

    def count_tools(
        self, desired: DesiredState, current: CurrentState
    ) -> Iterator[AgentCount]:
        """Yield the tools that each agent gets: all that the MCP server offers.

        There is no baseline to compare with.
        """
        for agent in desired.agents:
            yield AgentCount(
                agent.name, tuple(sorted(current.offered)), len(desired.canonical)
            )

    def run_checks(
        self, desired: DesiredState, current: CurrentState, calls: CallOptions
    ) -> Iterator[CheckResult]:
        """List and call tools with each agent's entry in the file.

        An agent without an entry of the toolset's server has no results.

        Raises:
            MissingSettingError: a check in a turn is requested.
        """
        if calls.turn is not None:
            raise MissingSettingError(
                "--turn is not supported for Letta Code: start a turn in Letta Code itself"
            )
        for agent in desired.agents:
            for server in current.agents[agent.name].servers:
                if server.get("name") == desired.server_name:
                    yield from run_agent_checks(
                        server, desired, agent.name, calls, self.timeout
                    )
                    break
