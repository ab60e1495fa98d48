"""What a generated module says of a toolset in Letta, and what it adds to the MCP server."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from toolcast_runtime.registry import Registry, Tool

from ..settings import LettaAgent, LettaServer, LettaSettings
from .guard import refusal

if TYPE_CHECKING:
    from toolcast_runtime.http import AdminRoute

    from ..plan.desired_state import DesiredState, ToolFacts


@dataclass(frozen=True)
class LettaToolset:
    """A toolset in Letta; a `toolcast_runtime.mcp.ServerPart`.

    Attributes:
        registry: its tools, whose definitions say under `letta` who gets them.
        name: the toolset's name.
        server: the entry of its MCP server.
        agents: its agents.
        backend: `v1` or `code`.
        on_start: whether the server attaches what is missing when it starts.
        on_start_patience: for how many seconds it goes on trying while Letta is away.
    """

    registry: Registry
    name: str
    server: LettaServer
    agents: tuple[LettaAgent, ...] = ()
    backend: str = "v1"
    on_start: bool = False
    on_start_patience: float = 120.0

    @property
    def admin_routes(self) -> Sequence[AdminRoute]:
        """The path that brings Letta up to date."""
        from .sync import sync_route

        return [sync_route(self)]

    @property
    def started(self) -> Sequence[Callable[[], Awaitable[None]]]:
        """What the server does once it answers."""
        from .sync import at_start

        return [at_start(self, self.on_start_patience)] if self.on_start else []

    def guard(
        self,
        tool_name: str,
        headers: Mapping[str, str],
        environment: Mapping[str, str] = os.environ,
    ) -> str | None:
        """Why a call is refused; None when it is not.

        Tools that call the agent loop are refused to the toolset's own agents, and to
        every agent while an id of theirs is not known.
        """
        if tool_name not in self._circular:
            return None
        return refusal(tool_name, headers, self.agents, environment)

    @cached_property
    def _circular(self) -> frozenset[str]:
        """The tools that call the agent's own loop."""
        tools = self.registry.local_tools
        return frozenset(
            t.name for t in tools if t.parts.get("letta", {}).get("calls_agent_loop")
        )

    def desired_state(
        self, environment: Mapping[str, str], *, server_url: str | None = None
    ) -> DesiredState:
        """What the toolset wants, with what the environment says.

        Raises:
            MissingSetting: the environment lacks something.
        """
        from ..plan.desired_state import desired_state

        registry = self.registry
        offered = set(registry.names(self.server.client, target="mcp"))
        tools = [_facts(tool, tool.name in offered) for tool in registry.local_tools]
        settings = LettaSettings(self.server, self.agents, self.backend, self.on_start)
        return desired_state(
            self.name, settings, tools, environment, server_url=server_url
        )


def _facts(tool: Tool, is_offered: bool) -> ToolFacts:
    from ..plan.desired_state import ToolFacts

    return ToolFacts(
        tool.name,
        tool.parts.get("letta", {}),
        is_offered,
        tool.definition.get("description"),
        tool.parameters,
        tuple(tool.examples),
        tool.former_names,
    )
