"""What a generated module says of a toolset in Letta, ready to be planned and applied."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolcast_runtime.registry.registry import Registry

from .guard import circular_guard

if TYPE_CHECKING:
    from toolcast_runtime.http.admin import AdminRoute

    from ..plan.desired_state import DesiredState

__all__ = ["LettaToolset"]


@dataclass(frozen=True)
class LettaToolset:
    """A toolset's desired, as its generated module has them.

    Attributes:
        toolset: the toolset's name.
        registry: its tools.
        attached: the tools that its agents get.
        exit_tools: those whose calls end the turn.
        approval_tools: those whose calls a person approves.
        changing_tools: those that change data.
        forbidden_tools: tools that must not be attached, with the reason.
        former_names: the present name of each former one.
        server: the MCP server's entry: `name`, `url`, `url_env`, `token_env`, `client`.
        agents: `name`, `id`, `id_env`, `type`, `expects`, `ends_turn`, `forbids` of each.
        backend: `v1` or `code`.
        not_served: tools of the registry that the MCP server leaves out.
        on_start: whether the server attaches what is missing when it starts.
    """

    toolset: str
    registry: Registry
    attached: tuple[str, ...]
    exit_tools: tuple[str, ...]
    approval_tools: tuple[str, ...]
    changing_tools: tuple[str, ...]
    forbidden_tools: Mapping[str, str]
    former_names: Mapping[str, str]
    server: Mapping[str, str | None]
    agents: Sequence[Mapping[str, Any]]
    backend: str = "v1"
    not_served: tuple[str, ...] = ()
    on_start: bool = False

    @property
    def admin_routes(self) -> Sequence[AdminRoute]:
        """The path that brings Letta up to date."""
        from .sync import sync_route

        return [sync_route(self)]

    @property
    def started(self) -> Sequence[Callable[[], Awaitable[None]]]:
        """What the server does once it answers."""
        from .sync import at_start

        return [at_start(self)] if self.on_start else []

    def guard(self, tool_name: str, headers: Mapping[str, str]) -> str | None:
        """Why a call is refused; None when it is not."""
        return circular_guard(self)(tool_name, headers)

    def desired_state(
        self, environment: Mapping[str, str], *, server_url: str | None = None
    ) -> DesiredState:
        """The same with what the environment says.

        Raises:
            MissingSetting: the environment lacks something.
        """
        from ..plan.desired_state import desired_state

        client = self.server.get("client")
        definitions: dict[str, Mapping[str, Any]] = {}
        for name in self.registry.names(client):
            if name in self.not_served:
                continue
            tool = self.registry.get_tool(name, client)
            definitions[name] = {
                "description": tool.definition.get("description"),
                "parameters": tool.definition.get("inputSchema", {}),
                "examples": tool.examples,
            }
        data = {
            "toolset": self.toolset,
            "server": self.server,
            "agents": self.agents,
            "attached": self.attached,
            "exit_tools": self.exit_tools,
            "approval_tools": self.approval_tools,
            "changing_tools": self.changing_tools,
            "forbidden_tools": self.forbidden_tools,
            "former_names": self.former_names,
        }
        return desired_state(data, definitions, environment, server_url=server_url)
