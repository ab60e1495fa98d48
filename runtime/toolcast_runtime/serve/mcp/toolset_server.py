"""What one MCP server serves: its name, its tools, who gets which."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ...core.registry.registry import Registry, UnknownToolError

if TYPE_CHECKING:
    from types import ModuleType

    from ...core.calls.tool_calls import ToolCalls
    from ...core.definitions.tool import Tool
    from ...core.toolset_settings import LinkLimits
    from ...rooms.resources.definitions_of_mcp import McpPrompt, McpResource
    from ...rooms.skills.skills import Skill, Skills
    from ..http.settings import AdminRoute, HttpSettings

_Offer = TypeVar("_Offer", "McpResource", "McpPrompt")


class ServerPart(Protocol):
    """What one target adds to the toolset's server over HTTP."""

    @property
    def admin_routes(self) -> Sequence[AdminRoute]:
        """Paths for administrators."""

    @property
    def started(self) -> Sequence[Callable[[], Awaitable[None]]]:
        """What runs beside the requests once the server answers."""

    def guard(self, tool_name: str, headers: Mapping[str, str]) -> str | None:
        """Why a call over HTTP is refused; None when it is not.

        It is asked for each call of a client, and for those that a handler makes through
        the registry meanwhile, in the same context: in its own task or thread, or in one
        that it starts with a copy of its context.

        Args:
            tool_name: the called tool's present name.
            headers: the request's, by their names in lower case.
        """


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
        state_key_variable: the environment variable with the key that seals what a client
            keeps while a person is asked; None for a key of each process alone.
        mcp_resources: the package whose `.json` files are the resources' definitions; None
            when there are none.
        mcp_prompts: the same for MCP prompts.
        skills: the Agent Skills; None when there are none.
        links: how long and how much content behind links is kept; None keeps none.
        heartbeat: reports that a call still runs, where its caller asked for progress and
            its handler reports none.
        parts: what other targets of the toolset add.
    """

    registry: Registry
    _: KW_ONLY
    name: str
    title: str | None = None
    version: str = "0.0.0"
    instructions: str | None = None
    client: str | None = None
    http: HttpSettings | None = None
    external: bool = False
    state_key_variable: str | None = None
    mcp_resources: ModuleType | None = None
    mcp_prompts: ModuleType | None = None
    skills: Skills | None = None
    links: LinkLimits | None = None
    heartbeat: bool = True
    parts: tuple[ServerPart, ...] = ()

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.registry.names_in("mcp"))

    def has(self, name: str) -> bool:
        """Whether a local tool of this present name is served, for anybody."""
        return name in self._names

    def tools(self, client: str | None) -> list[Tool]:
        """The local tools that a client gets, in their order.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        return self.registry.tools(client, target="mcp")

    def names(self, client: str | None) -> tuple[str, ...]:
        """The names of `tools`; raises as it does."""
        return self.registry.names(client, target="mcp")

    def list_tools(self, client: str | None) -> list[Mapping[str, Any]]:
        """The client's `tools/list`, without the tools of external servers."""
        return [tool.definition for tool in self.tools(client)]

    @property
    def toolsets(self) -> tuple[ToolsetServer, ...]:
        """What is served, a toolset each: this one."""
        return (self,)

    @property
    def has_offers(self) -> bool:
        """Whether there are resources or MCP prompts, for anybody."""
        return self.mcp_resources is not None or self.mcp_prompts is not None

    @cached_property
    def offer_handlers(self) -> tuple[Tool, ...]:
        """The handlers of resources and MCP prompts, as tools; raises as `all_resources`."""
        handlers = [
            *(one.handler for one in self.all_resources),
            *(one.handler for one in self.all_prompts),
        ]
        return tuple(handler for handler in handlers if handler is not None)

    def calls_of(self, handler: Tool | None) -> ToolCalls:
        """What runs the handler of a resource or an MCP prompt."""
        return self.registry.calls

    def asks(self, client: str | None) -> bool:
        """Whether a client has to count on questions to its person; raises as `tools`.

        A toolset whose handlers ask says so by the key's variable.
        """
        return self.state_key_variable is not None or any(
            tool.confirm is not None for tool in self.tools(client)
        )

    def resources(self, client: str | None) -> list[McpResource]:
        """The resources and templates that a client may read.

        In a toolset with clients those of none are nobody's.

        Raises:
            DefinitionError: the definitions are not what was generated.
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have what cannot be found out.
        """
        return [one for one in self.all_resources if self._is_for(client, one.clients)]

    def prompts(self, client: str | None) -> list[McpPrompt]:
        """The MCP prompts that a client may get; raises as `resources`."""
        return [one for one in self.all_prompts if self._is_for(client, one.clients)]

    @property
    def has_skills(self) -> bool:
        """Whether there are Agent Skills, for anybody."""
        return self.skills is not None

    def skills_of(self, client: str | None) -> list[Skill]:
        """The Agent Skills that a client may have; raises as `tools`."""
        return [] if self.skills is None else self.skills.of(client, target="mcp")

    @cached_property
    def all_resources(self) -> tuple[McpResource, ...]:
        """The resources, whoever may read them; raises DefinitionError as `resources`."""
        from ...rooms.resources.definitions_of_mcp import read_resources

        return self._usable(read_resources(self.mcp_resources))

    @cached_property
    def all_prompts(self) -> tuple[McpPrompt, ...]:
        """The MCP prompts, whoever may get them; raises as `all_resources`."""
        from ...rooms.resources.definitions_of_mcp import read_prompts

        return self._usable(read_prompts(self.mcp_prompts))

    def _usable(self, offers: tuple[_Offer, ...]) -> tuple[_Offer, ...]:
        """The same.

        Raises:
            DefinitionError: the handler of one uses what the lifespan does not give.
        """
        from ...core.definitions.definitions import refuse_unknown_resources

        handlers = [one.handler for one in offers if one.handler is not None]
        known = self.registry.lifespan_resources
        refuse_unknown_resources(self.registry.package, handlers, known)
        return offers

    def _is_for(self, client: str | None, clients: tuple[str, ...]) -> bool:
        self.registry.access().client(client)
        return not self.registry.has_clients or client in clients

    async def offered(self, client: str | None) -> list[Tool]:
        """The tools that a client is offered, the local before the external.

        Raises: as `tools`.
        """
        return [*self.tools(client), *await self.external_tools(client)]

    async def external_tools(self, client: str | None) -> list[Tool]:
        """The external servers' tools that a client is offered."""
        return await self.registry.remote_tools(client) if self.external else []

    async def find(self, name: str, client: str | None) -> Tool | None:
        """A tool that a client is offered, by its present or a former name; or None."""
        # Every call comes here: it may cost one look-up, not one for each tool.
        present = self.registry.resolve(name)
        try:
            if self.has(present):
                return self.registry.get_tool(present, client)
            if self.external and not self.registry.is_local(present):
                return await self.registry.find_tool(present, client)
        except UnknownToolError:
            return None
        return None

    def import_handlers(
        self, begin: Callable[[str], object] = str
    ) -> dict[str, BaseException]:
        """Imports the handlers of tools, resources and prompts; see `AtStart`."""
        handlers = self.offer_handlers
        return self.registry.at_start().import_handlers(handlers, begin)

    def refusal(self, tool_name: str, headers: Mapping[str, str]) -> str | None:
        """Why one of the parts refuses a call over HTTP; None when none does."""
        reasons = (part.guard(tool_name, headers) for part in self.parts)
        return next((reason for reason in reasons if reason is not None), None)
