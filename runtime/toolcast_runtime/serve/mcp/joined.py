"""Several toolsets on one server: each tool is looked up and called by its own registry.

Their names are unique, so that a call has one owner. Who may have what is decided by the owner's
access alone; a client that a toolset does not have gets nothing of it.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...core.access.clients import Access
from ...core.calls.work import sync
from ...core.definitions.definitions import DefinitionError
from ...core.registry.registry import Registry, UnknownToolError
from .server import McpServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Self

    from ...core.calls.tool_calls import ToolCalls
    from ...core.context import Keep, ReportProgress, ToolResponse
    from ...core.definitions.provider import ToolProvider
    from ...core.definitions.tool import Tool
    from ...core.question import AskPerson
    from ...rooms.resources.definitions_of_mcp import McpPrompt, McpResource
    from ...rooms.skills.skills import Skill
    from .toolset_server import ToolsetServer


class _JoinedAccess(Access):
    """Who may have which tool, by what each toolset decides of its own."""

    __slots__ = ("_owners", "_registries")

    def __init__(
        self, registries: Sequence[Registry], owners: Mapping[str, Registry]
    ) -> None:
        clients = {
            name: client
            for registry in registries
            for name, client in (registry.declared_access.clients or {}).items()
        }
        super().__init__(clients or None)
        self._registries = registries
        self._owners = owners

    def may_have(self, client: str | None, tool: str) -> bool:
        """As `Access`; a name that is nobody's own may be an external server's tool."""
        self.client(client)
        owner = self._owners.get(tool)
        asked = self._registries if owner is None else (owner,)
        return any(
            one.access().may_have(client, tool) for one in asked if _has(one, client)
        )


class JoinedRegistry(Registry):
    """The tools of several toolsets.

    Args:
        package: the generated package of the endpoint, by its name.
        servers: the toolsets' own servers, in the declared order.

    Attributes:
        servers: these.

    Raises:
        DefinitionError: two have a tool of one name, or only some have clients.
    """

    def __init__(self, package: str, servers: Sequence[ToolsetServer]) -> None:
        self.package = package
        self.servers = tuple(servers)
        registries = [server.registry for server in servers]
        self._registries = registries
        self._owners: dict[str, Registry] = {}
        for registry in registries:
            former = {n for t in registry.local_tools for n in t.former_names}
            for name in ({tool.name for tool in registry.local_tools}) | former:
                if self._owners.setdefault(name, registry) is not registry:
                    other = self._owners[name].package
                    raise DefinitionError(
                        f"{package}: {other} and {registry.package} both have a tool"
                        f" `{name}`"
                    )
        if len({registry.has_clients for registry in registries}) > 1:
            raise DefinitionError(f"{package}: some of its toolsets have no clients")
        for server in servers:
            server.registry.reserve_names(self._owners)
        self._tools = {t.name: t for one in registries for t in one.local_tools}
        self._former_names = {
            name: tool.name
            for tool in self._tools.values()
            for name in tool.former_names
        }
        self.declared_access = _JoinedAccess(registries, self._owners)
        self._access = self.declared_access
        self._override = None
        self._providers = ()
        self._router = None
        self._resources = None
        self.lifespan_resources = ()
        self.asserts_formats = True
        self._opened: list[AsyncExitStack] = []

    @property
    def has_ledger(self) -> bool:
        """Whether there is a place for the records of every toolset."""
        return all(registry.has_ledger for registry in self._registries)

    def owner(self, name: str) -> Registry | None:
        """Whose local tool a present or former name is; None for nobody's."""
        return self._owners.get(name)

    async def remote_tools(
        self, client: str | None = None, *, is_always: bool = False
    ) -> list[Tool]:
        """See `Registry`; of the toolsets whose own servers show them."""
        listed: dict[str, Tool] = {}
        self.access().client(client)
        for registry in self._with_external(client):
            for tool in await registry.remote_tools(client, is_always=is_always):
                if tool.name not in self._tools:
                    listed.setdefault(tool.name, tool)
        return list(listed.values())

    def problems_with_arguments(
        self, name: str, arguments: Mapping[str, Any], client: str | None = None
    ) -> list[str]:
        """See `Registry`."""
        tool = self.get_tool(name, client)
        return self._owners[tool.name].problems_with_arguments(name, arguments, client)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        client: str | None = None,
        *,
        report_progress: ReportProgress | None = None,
        ask: AskPerson | None = None,
        keep: Keep | None = None,
    ) -> ToolResponse:
        """See `Registry`: the call is the owner's, with its ledger, lifespan and questions."""
        from ...core.context import ToolResponse

        owner = self.owner(name)
        if owner is None:
            owner = await self._external_owner(name, client)
        if owner is None or not _has(owner, client):
            return ToolResponse(error=f"unknown tool `{name}`")
        return await owner.call_tool(
            name,
            arguments,
            client,
            report_progress=report_progress,
            ask=ask,
            keep=keep,
        )

    call_tool_sync: Any = sync(call_tool)

    async def __aenter__(self) -> Self:
        """Starts the lifespan of each toolset; raises as `Registry` does."""
        async with AsyncExitStack() as stack:
            for registry in self._registries:
                await stack.enter_async_context(registry)
            self._opened.append(stack.pop_all())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened.pop().aclose()

    def leave_lifespan_out(self) -> None:
        """See `Registry`."""
        for registry in self._registries:
            registry.leave_lifespan_out()

    async def close(self) -> None:
        """See `Registry`."""
        for registry in self._registries:
            await registry.close()

    @property
    def calls(self) -> ToolCalls:
        """There are none but the owners'.

        Raises:
            LookupError: always.
        """
        raise LookupError(f"{self.package}: each toolset runs its own calls")

    async def _found(
        self, name: str, client: str | None
    ) -> tuple[Tool, ToolProvider | None]:
        present = self.resolve(name)
        if self.access().may_have(client, present):
            if present in self._tools:
                return self._tools[present], None
            owner = await self._external_owner(name, client)
            if owner is not None:
                return await owner.find_tool(name, client), None
        raise UnknownToolError(f"unknown tool `{name}`")

    async def _all_of(self, names: frozenset[str]) -> list[Tool]:
        return [tool for name, tool in self._tools.items() if name in names]

    async def _external_owner(self, name: str, client: str | None) -> Registry | None:
        for registry in self._with_external(client):
            try:
                await registry.find_tool(name, client)
            except LookupError:
                continue
            return registry
        return None

    def _with_external(self, client: str | None) -> Iterable[Registry]:
        return (
            server.registry
            for server in self.servers
            if server.external and _has(server.registry, client)
        )


@dataclass(frozen=True)
class JoinedServer(McpServer):
    """The server of an endpoint that several toolsets share; its registry is a joined one.

    Raises:
        DefinitionError: two toolsets answer at one path for administrators.
    """

    def __post_init__(self) -> None:
        parts = tuple(part for one in self.toolsets for part in one.parts)
        paths = [route.path for part in parts for route in part.admin_routes]
        for path in paths:
            if paths.count(path) > 1:
                package = self.registry.package
                raise DefinitionError(f"{package}: two toolsets answer at {path}")
        object.__setattr__(self, "parts", parts)

    @property
    def toolsets(self) -> tuple[ToolsetServer, ...]:
        """The toolsets' own servers."""
        joined = self.registry
        return joined.servers if isinstance(joined, JoinedRegistry) else ()

    @property
    def has_offers(self) -> bool:
        """Whether there are resources or MCP prompts, for anybody."""
        return any(one.has_offers for one in self.toolsets)

    def calls_of(self, handler: Tool | None) -> ToolCalls:
        """What runs the handler of a resource or prompt: its own toolset's calls."""
        for one in self.toolsets:
            if handler is None or handler in one.offer_handlers:
                return one.registry.calls
        raise LookupError("the handler is of none of the toolsets")

    @cached_property
    def all_resources(self) -> tuple[McpResource, ...]:
        """The resources of all toolsets.

        Raises:
            DefinitionError: two have one URI.
        """
        found = tuple(one for server in self.toolsets for one in server.all_resources)
        keys = [
            str(one.definition.get("uri", one.definition.get("uriTemplate")))
            for one in found
        ]
        self._refuse_twice("resource", keys)
        return found

    @cached_property
    def all_prompts(self) -> tuple[McpPrompt, ...]:
        """The MCP prompts of all toolsets.

        Raises:
            DefinitionError: two have one name.
        """
        found = tuple(one for server in self.toolsets for one in server.all_prompts)
        self._refuse_twice("prompt", [one.name for one in found])
        return found

    @property
    def has_skills(self) -> bool:
        """Whether a toolset has Agent Skills, for anybody."""
        return any(one.has_skills for one in self.toolsets)

    def skills_of(self, client: str | None) -> list[Skill]:
        """The skills of all toolsets that have the client; raises as `all_prompts`."""
        self.registry.access().client(client)
        has = [one for one in self.toolsets if _has(one.registry, client)]
        found = [skill for one in has for skill in one.skills_of(client)]
        self._refuse_twice("skill", [skill.name for skill in found])
        return found

    def _refuse_twice(self, what: str, keys: Sequence[str]) -> None:
        for key in keys:
            if keys.count(key) > 1:
                package = self.registry.package
                raise DefinitionError(f"{package}: two toolsets have a {what} `{key}`")

    def import_handlers(
        self, begin: Callable[[str], object] = str
    ) -> dict[str, BaseException]:
        """Imports the handlers of all toolsets."""
        failed: dict[str, BaseException] = {}
        for one in self.toolsets:
            failed |= one.import_handlers(begin)
        return failed

    def refusal(self, tool_name: str, headers: Mapping[str, str]) -> str | None:
        """Why a part of the tool's own toolset refuses a call; None when none does."""
        for one in self.toolsets:
            if one.registry.is_local(tool_name):
                return one.refusal(tool_name, headers)
        return None


def _has(registry: Registry, client: str | None) -> bool:
    return client in registry.clients if registry.has_clients else client is None
