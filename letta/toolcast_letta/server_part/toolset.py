"""What a generated module says of a toolset in Letta, and what it adds to the MCP server."""

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
    """A toolset in Letta; a `toolcast_runtime.mcp.ServerPart`.

    Attributes:
        registry: its tools, whose definitions say under `letta` who gets them.
    """

    registry: Registry

    @property
    def admin_routes(self) -> Sequence[AdminRoute]:
        """The path that brings Letta up to date."""
        from .sync import sync_route

        return [sync_route(self)]

    @property
    def background_tasks(self) -> Sequence[Callable[[], Awaitable[None]]]:
        """What the server does once it answers."""
        from .sync import at_start

        return [at_start(self, self.on_start_patience)] if self.on_start else []

    def guard(
        self,
        tool_name: str,
        headers: Mapping[str, str],
        environment: Mapping[str, str] = os.environ,
    ) -> str | None:
        """Why a circular call is refused; None for any other call.

        An agent, in its turn, calls a tool that starts a turn of it: the outer turn waits
        for the tool and the tool for the inner one; what is said in the inner turn is lost,
        or both wait for ever. Letta names the agent in a header of each call. It is refused
        to the toolset's own agents, and to every agent while an id of theirs is not known.

        Args:
            tool_name: the tool.
            headers: of the request, by their names in lower case.
            environment: holds ids that are not known otherwise.
        """
        caller = headers.get(_AGENT_HEADER, "")
        if not caller or tool_name not in self._circular:
            return None
        ids = [
            agent.id or environment.get(agent.id_env or "", "").strip()
            for agent in self.agents
        ]
        if caller not in ids and all(ids):
            return None
        return (
            f"{tool_name} was not run: it sends a message into the agent's loop, and the"
            " agent calls it in a turn, which would wait for itself. End the turn first."
        )

    @cached_property
    def _circular(self) -> frozenset[str]:
        """The tools that call the agent's own loop."""
        tools = self.registry.local_tools
        return frozenset(
            t.name for t in tools if t.parts.get("letta", {}).get("calls_agent_loop")
        )

    def definition_members(
        self, spec: Mapping[str, Any], exclusions: Mapping[str, str]
    ) -> Mapping[str, Any]:
        """Return the `letta` of a tool's definition."""
        from ..definition_part import definition_part

        return {"letta": definition_part(spec, exclusions.get("letta"))}

    def desired_state(
        self, environment: Mapping[str, str], *, server_url: str | None = None
    ) -> DesiredState:
        """What the toolset wants, with what the environment says.

        Raises:
            MissingSettingError: the environment lacks something.
        """
        from ..plan.desired_state import DesiredTool, desired_state

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
        return desired_state(self, tools, environment, server_url=server_url)
