"""What one MCP server serves: its name, its tools, who gets which."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..http.admin import AdminRoute
    from ..http.settings import HttpSettings
    from ..tools.tool import Tool
    from .server_part import ServerPart

__all__ = ["ToolsetServer"]


@dataclass(frozen=True)
class ToolsetServer:
    """What one MCP server serves.

    Attributes:
        registry: looks tools up and calls them.
        name: serverInfo's name.
        title: serverInfo's title.
        version: serverInfo's version.
        instructions: how to use the server as a whole.
        client: the client that is served when none is asked for; None in a toolset
            without clients.
        http: where and how each client is served over HTTP.
        external: shows and calls the tools of external servers, too.
        parts: what other targets of the toolset add.
    """

    # Of either layout, until every module is of the present one.
    registry: Any
    _: KW_ONLY
    name: str
    title: str | None = None
    version: str = "0.0.0"
    instructions: str | None = None
    client: str | None = None
    http: HttpSettings | None = None
    external: bool = False
    parts: tuple[ServerPart, ...] = ()
    # The form that modules of the previous generation still use.
    tools: tuple[str, ...] | None = None
    admin_routes: tuple[AdminRoute, ...] = ()
    offers_sources: bool = False
    started: tuple[Callable[[], Awaitable[None]], ...] = ()
    guard: Callable[[str, Mapping[str, str]], str | None] | None = None

    def __post_init__(self) -> None:
        if self.offers_sources:
            object.__setattr__(self, "external", True)

    @cached_property
    def tool_names(self) -> tuple[str, ...]:
        """The toolset's own tools that MCP clients may be shown, in their order."""
        return self.registry.names_in("mcp") if self.tools is None else self.tools

    @cached_property
    def _tools(self) -> frozenset[str]:
        return frozenset(self.tool_names)

    def has(self, name: str) -> bool:
        """Whether a tool of this present name is served, for anybody."""
        return name in self._tools

    def names(self, client: str | None) -> tuple[str, ...]:
        """The toolset's own tools that a client gets, in their order.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        offered = frozenset(self.registry.names(client))
        return tuple(name for name in self.tool_names if name in offered)

    def list_tools(self, client: str | None) -> list[Mapping[str, Any]]:
        """The client's `tools/list`, without the tools of external servers."""
        show = self.registry.listed_tool
        return [show(name, client).definition for name in self.names(client)]

    async def offered(self, client: str | None) -> list[Tool]:
        """The tools that a client is offered, the toolset's own before the external.

        Raises: as `names`.
        """
        show = self.registry.listed_tool
        own = [show(name, client) for name in self.names(client)]
        return [*own, *await self.external_tools(client)]

    async def external_tools(self, client: str | None) -> list[Tool]:
        """The external servers' tools that a client is offered."""
        return await self.registry.source_tools(client) if self.external else []

    async def find(self, name: str, client: str | None) -> Tool | None:
        """A tool that a client is offered, by its present or a former name; or None."""
        present = self.registry.resolve(name)
        # Every call comes here: it may cost one look-up, not one for each tool.
        if self.has(present):
            try:
                return self.registry.listed_tool(present, client)  # type: ignore[no-any-return]
            except LookupError:
                return None
        if not self.external or self.registry.is_own(present):
            return None
        try:
            return await self.registry.find_tool(present, client)
        except LookupError:
            return None

    def refusal(self, tool_name: str, headers: Mapping[str, str]) -> str | None:
        """Why one of the parts refuses a call over HTTP; None when none does."""
        if self.guard is not None and (reason := self.guard(tool_name, headers)):
            return reason
        reasons = (part.guard(tool_name, headers) for part in self.parts)
        return next((reason for reason in reasons if reason is not None), None)
