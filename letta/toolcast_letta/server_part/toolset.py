"""A toolset in Letta, as a generated module declares it for its MCP server."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from toolcast_runtime import Registry

from ..settings import LettaSettings

if TYPE_CHECKING:
    from toolcast_runtime.http import AdminRoute

    from ..plan.desired_state import DesiredState

_AGENT_HEADER = "x-agent-id"


@dataclass(frozen=True)
class LettaToolset(LettaSettings):
    """A toolset in Letta; implements `toolcast_runtime.mcp.ServerPart`.

    Attributes:
        registry: the toolset's tools; the `letta` object of their definitions declares
            the attachment.
    """

    registry: Registry

    @property
    def admin_routes(self) -> Sequence[AdminRoute]:
        """The route that synchronizes Letta with the specs."""
        from .sync import build_sync_route

        return [build_sync_route(self)]

    @property
    def background_tasks(self) -> Sequence[Callable[[], Awaitable[None]]]:
        """The tasks that the server runs after its start; empty without `on_start`."""
        from .sync import build_startup_task

        if not self.on_start:
            return []
        return [build_startup_task(self, self.on_start_timeout_s)]

    def guard(
        self,
        tool_name: str,
        headers: Mapping[str, str],
        environment: Mapping[str, str] = os.environ,
    ) -> str | None:
        """Return the message that refuses a call which would deadlock; None otherwise.

        A tool that sends a message to an agent starts a turn of that agent. If the
        agent itself calls the tool in a turn, the outer turn waits for the tool and the
        tool for the inner turn: the message is lost, or both wait forever. Letta sends
        the calling agent's id in a header. The call is refused for the toolset's
        agents, and for every agent while an id of theirs is unknown.

        Args:
            tool_name: the called tool.
            headers: the request's headers, with names in lower case.
            environment: contains the agents' ids that are not in the settings.
        """
        caller = headers.get(_AGENT_HEADER, "")
        if not caller or tool_name not in self._loop_tools:
            return None
        ids = [
            agent.id or environment.get(agent.id_env or "", "").strip()
            for agent in self.agents
        ]
        # An agent without a known id could be the caller, so no caller is safe then.
        if caller not in ids and all(ids):
            return None
        return (
            f"{tool_name} was not run: it sends a message to the agent that calls it, and"
            " this turn would wait for itself. End the turn first."
        )

    @cached_property
    def _loop_tools(self) -> frozenset[str]:
        """The names of the tools that call the agent's own loop."""
        tools = self.registry.local_tools
        return frozenset(
            tool.name
            for tool in tools
            if tool.parts.get("letta", {}).get("calls_agent_loop")
        )

    def definition_members(
        self, spec: Mapping[str, Any], exclusions: Mapping[str, str]
    ) -> Mapping[str, Any]:
        """Return the member `letta` for a tool's definition, computed from its spec."""
        from ..definition_part import build_definition_part

        return {"letta": build_definition_part(spec, exclusions.get("letta"))}

    def desired_state(
        self, environment: Mapping[str, str], *, server_url: str | None = None
    ) -> DesiredState:
        """Build the desired state of the toolset.

        Raises:
            MissingSettingError: a required environment variable is not set.
        """
        from ..plan.desired_state import DesiredTool, build_desired_state

        offered = set(self.registry.names(self.server.client, target="mcp"))
        tools = (
            DesiredTool(
                tool.name,
                tool.definition.get("description") or "",
                tool.parameters,
                tool.parts.get("letta", {}),
                tool.name in offered,
                tuple(tool.examples),
                tool.former_names,
            )
            for tool in self.registry.local_tools
        )
        return build_desired_state(self, tools, environment, server_url=server_url)
