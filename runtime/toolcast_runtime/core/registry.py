"""The registry: lists, looks up and calls the tools of toolsets and their providers.

Functions that may query a provider are async. Each one has a `_sync` wrapper for callers without
an event loop.

A registry reads the definitions when it is created. Handlers, and the modules that only calls
need, are imported at the first call.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Literal

from . import optional
from .access import Access, Client
from .calls.worker_threads import make_sync, run_sync
from .toolset import CombinedAccess, ToolMatch, Toolset, index_tool_owners

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType
    from typing import Self

    from ..router.router import Router
    from .calls.tool_calls import ToolCalls
    from .context import ReportProgress, StoreContent, ToolResponse
    from .definitions.tool import Tool, ToolProvider
    from .override_file import OverrideFile
    from .question import AskUser
    from .toolset_settings import LedgerSettings, Lifespan


class UnknownToolError(LookupError):
    """Tool name that does not exist, or that the client may not use."""


class Registry:
    """The tools of one toolset, or of several (`combine`), and those of their providers.

    Args:
        tools_package: the package whose `.json` files are the tools' definitions.
        handlers: the package that must contain every handler; None if tools may have none.
        sections: the sections in their declared order, by which tools are sorted.
        clients: the access rules of each client; None if the toolset has no clients and its
            one caller may use every tool.
        override: the location of an administrator's changes, which are read when access is
            first checked.
        ledger: the ledger for calls of persistent tools; None if such calls are refused.
        providers: the sources of further tools. A local tool takes precedence over a
            provider's tool of the same name.
        router: selects tools for a message; None for the router that compares words.
        reserved_names: names that no tool of a provider may have.
        lifespan: opens and closes the dependencies of tools; None if they have none.
        formats: whether arguments of local tools must match the `format` of their schema
            (`assertion`), or formats are ignored (`annotation`).

    Attributes:
        package: the name of the generated package.
        toolsets: the toolsets whose tools the registry has.

    Raises:
        DefinitionError: the package differs from what was generated: a definition or its
            module is missing or invalid, a handler is outside of its package, or a tool uses
            an unknown dependency.
    """

    def __init__(
        self,
        tools_package: ModuleType,
        *,
        handlers: str | None = None,
        sections: Sequence[str] = (),
        clients: Mapping[str, Client] | None = None,
        override: OverrideFile | None = None,
        ledger: LedgerSettings | None = None,
        providers: Sequence[ToolProvider] = (),
        router: Router | None = None,
        reserved_names: Sequence[str] = (),
        lifespan: Lifespan | None = None,
        formats: Literal["assertion", "annotation"] = "assertion",
    ) -> None:
        toolset = Toolset(
            tools_package,
            handlers,
            sections,
            clients,
            override,
            ledger,
            providers,
            lifespan,
            formats,
        )
        self._router = router
        self._set_toolsets(toolset.package, (toolset,), (toolset,), reserved_names)

    @classmethod
    def combine(
        cls,
        package: str,
        registries: Sequence[Registry],
        *,
        external: Collection[Registry] = (),
    ) -> Self:
        """Return a registry with the tools of several toolsets.

        Each tool is looked up and called by its own toolset, whose access rules apply. A
        client that a toolset does not have gets none of its tools.

        Args:
            package: the name of the generated package that combines the toolsets.
            registries: the toolsets' own registries, in the declared order.
            external: the registries whose providers' tools are included.

        Raises:
            DefinitionError: two toolsets have a tool of the same name, or only some of them
                have clients.
        """
        # `__init__` loads a toolset from its package; these toolsets are loaded already.
        registry = cls.__new__(cls)
        registry._router = None
        toolsets = [toolset for part in registries for toolset in part.toolsets]
        remote_toolsets = [toolset for part in external for toolset in part.toolsets]
        registry._set_toolsets(package, toolsets, remote_toolsets)
        return registry

    def __deepcopy__(self, memo: object) -> Self:
        """Return the registry itself: copies of an agent share its connections and ledger."""
        return self

    def _set_toolsets(
        self,
        package: str,
        toolsets: Sequence[Toolset],
        remote_toolsets: Sequence[Toolset],
        reserved_names: Sequence[str] = (),
    ) -> None:
        self.package = package
        self.toolsets = tuple(toolsets)
        self._remote_toolsets = tuple(t for t in toolsets if t in remote_toolsets)
        self._owners = index_tool_owners(package, toolsets)
        self._tools: dict[str, Tool] = {}
        self._former_names: dict[str, str] = {}
        for toolset in toolsets:
            self._tools.update(toolset.tools)
            self._former_names.update(toolset.former_names)
        self._combined_access = None
        if len(self.toolsets) > 1:
            self._combined_access = CombinedAccess(toolsets, self._owners)
        self.reserve_names({*self._owners, *reserved_names})

    @property
    def has_clients(self) -> bool:
        """Whether callers must state which client they are."""
        return self.declared_access.clients is not None

    @property
    def has_ledger(self) -> bool:
        """Whether every toolset has a ledger."""
        return all(toolset.ledger is not None for toolset in self.toolsets)

    @property
    def clients(self) -> tuple[str, ...]:
        """The names of the clients, in the declared order."""
        return tuple(self.declared_access.clients or ())

    @property
    def local_tools(self) -> tuple[Tool, ...]:
        """All tools of the toolsets themselves, for any client, in the declared order."""
        return tuple(self._tools.values())

    @property
    def lifespan_dependencies(self) -> tuple[str, ...]:
        """The names of all dependencies that handlers may use."""
        lifespans = [t.lifespan for t in self.toolsets if t.lifespan is not None]
        return tuple(name for lifespan in lifespans for name in lifespan.dependencies)

    @property
    def asserts_formats(self) -> bool:
        """Whether arguments must match the formats in their schemas."""
        return all(toolset.asserts_formats for toolset in self.toolsets)

    @property
    def declared_access(self) -> Access:
        """The access rules, without an administrator's changes."""
        return self._combined_access or self.toolsets[0].declared_access

    def access(self) -> Access:
        """Return the access rules, with an administrator's changes.

        Raises:
            AccessError: the changes cannot be loaded, so no client may use any tool.
        """
        return self._combined_access or self.toolsets[0].access()

    def tools(
        self, client: str | None = None, *, target: str | None = None
    ) -> list[Tool]:
        """Return the local tools that a client may use, in the declared order.

        Args:
            client: the client's name; None in a toolset without clients.
            target: a target; tools that are excluded from it are omitted.

        Raises:
            UnknownClientError: the toolset has clients, but not this one.
            AccessError: the access rules cannot be loaded.
        """
        # Called only for its error: `get_client` raises for an unknown client.
        access = self.access()
        access.get_client(client)
        return [
            tool
            for name, tool in self._tools.items()
            if access.is_allowed(client, name)
            and (target is None or tool.is_in(target))
        ]

    def names(
        self, client: str | None = None, *, target: str | None = None
    ) -> tuple[str, ...]:
        """Return the names of the local tools that a client may use, in declared order.

        Arguments and errors are those of `tools`.
        """
        return tuple(tool.name for tool in self.tools(client, target=target))

    def list_names_in(self, target: str) -> tuple[str, ...]:
        """Return the names of the local tools in a target, for any client."""
        return tuple(name for name, tool in self._tools.items() if tool.is_in(target))

    def resolve(self, name: str) -> str:
        """Return the current name of a tool for its current or a previous name."""
        return name if name in self._tools else self._former_names.get(name, name)

    def is_local(self, name: str) -> bool:
        """Return whether a local tool has this current name, for any client."""
        return name in self._tools

    def get_tool(self, name: str, client: str | None = None) -> Tool:
        """Return a local tool by its current or a previous name.

        Raises:
            UnknownClientError: the toolset has clients, but not this one.
            UnknownToolError: the client has no such tool.
            AccessError: the access rules cannot be loaded.
        """
        current = self.resolve(name)
        if not self.access().is_allowed(client, current) or current not in self._tools:
            raise UnknownToolError(f"unknown tool `{name}`")
        return self._tools[current]

    async def find_tool(self, name: str, client: str | None = None) -> Tool:
        """Return a local or remote tool by name; raise the errors of `get_tool`."""
        return (await self.find(name, client)).tool

    async def find(self, name: str, client: str | None = None) -> ToolMatch:
        """Return a tool with its provider and toolset; raise the errors of `get_tool`."""
        current = self.resolve(name)
        access = self.access()
        owner = self._owners.get(current)
        if owner is None:
            access.get_client(client)
            # `find_remote_tool` checks access rules before it queries providers, so a denied
            # tool causes no I/O.
            for toolset in self._remote_toolsets:
                if toolset.has_client(client):
                    found = await toolset.find_remote_tool(current, client)
                    if found is not None:
                        return found
        elif access.is_allowed(client, current):
            return ToolMatch(self._tools[current], None, owner)
        raise UnknownToolError(f"unknown tool `{name}`")

    async def list_tools(self, client: str | None = None) -> list[Tool]:
        """Return a client's tools, the local ones first; raise the errors of `tools`."""
        return [*self.tools(client), *await self.list_remote_tools(client)]

    async def list_remote_tools(
        self, client: str | None = None, *, is_always: bool = False
    ) -> list[Tool]:
        """Return the providers' tools that a client may use; raise the errors of `tools`.

        With `is_always`, return only tools that are marked `always`, and do not query providers
        that have none.
        """
        self.access().get_client(client)
        tools: dict[str, Tool] = {}
        for toolset in self._remote_toolsets:
            if toolset.has_client(client):
                found = await toolset.list_remote_tools(client, is_always=is_always)
                for tool in found:
                    # Local tools, and tools of earlier toolsets, have precedence.
                    if tool.name not in self._tools:
                        tools.setdefault(tool.name, tool)
        return list(tools.values())

    async def get_mcp_tools(self, client: str | None = None) -> list[Mapping[str, Any]]:
        """Return a client's tools as in MCP's `tools/list`; raise the errors of `tools`."""
        return [tool.definition for tool in await self.list_tools(client)]

    async def get_openai_tools(self, client: str | None = None) -> list[dict[str, Any]]:
        """Return a client's tools for OpenAI's Chat Completions; raise the errors of `tools`."""
        return [tool.openai() for tool in await self.list_tools(client)]

    async def get_openai_tools_by_names(
        self, names: Iterable[str], client: str | None = None
    ) -> list[dict[str, Any]]:
        """Return tools in OpenAI's format, in the order of the names.

        Raises:
            UnknownToolError: the client has no tool of one of the names.
            Exception: the errors of `tools`.
        """
        return [(await self.find_tool(name, client)).openai() for name in names]

    async def get_always_tools(self, client: str | None = None) -> list[dict[str, Any]]:
        """Return a client's tools that are marked `always`, in OpenAI's format."""
        local = [tool for tool in self.tools(client) if tool.always]
        remote = await self.list_remote_tools(client, is_always=True)
        return [tool.openai() for tool in (*local, *remote)]

    async def get_routed_tools_catalog(
        self, client: str | None = None
    ) -> dict[str, str]:
        """Return the summaries of a client's tools that are not marked `always`, by name."""
        tools = await self.list_tools(client)
        return {tool.name: tool.summary for tool in tools if not tool.always}

    async def route_tools(
        self,
        message: str,
        catalog: Mapping[str, str] | None = None,
        client: str | None = None,
        *,
        history: Sequence[str] = (),
    ) -> list[str]:
        """Return the names of tools that fit a message; all names if the router is unsure.

        Only tools that are not marked `always` are selected.

        Args:
            message: the user's last message.
            catalog: a result of `get_routed_tools_catalog`: only tools in it are selected,
                and `client` is not needed. None for all routed tools of the client.
            client: the client's name; None in a toolset without clients.
            history: the earlier messages, the oldest first.

        Raises:
            UnknownClientError: without a catalog, the toolset has clients, but not this one.
            AccessError: without a catalog, the access rules cannot be loaded.
        """
        if catalog is None:
            tools = await self.list_tools(client)
        else:
            tools = []
            for toolset in self.toolsets:
                tools += await toolset.list_named_tools(frozenset(catalog))
        candidates = optional.router.select_candidates(tools, catalog)
        router = self._router or optional.router.Router()
        route = await router.route(message, candidates, history)
        return list(route.names)

    async def best_first(self, message: str, tools: Sequence[Tool]) -> list[str]:
        """Return the names of tools that fit a message, ordered by relevance.

        Tools marked `always` are omitted.
        """
        candidates = optional.router.select_candidates(tools, None)
        router = self._router or optional.router.Router()
        return await router.best_first(message, candidates)

    def check_arguments(
        self, name: str, arguments: Mapping[str, Any], client: str | None = None
    ) -> list[str]:
        """Return the problems with the arguments of a call; empty if they are valid.

        Raises:
            LookupError: the client has no such local tool.
        """
        tool = self.get_tool(name, client)
        calls = self._owners[tool.name].calls
        return calls.validators.check_arguments(tool, arguments)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        client: str | None = None,
        *,
        report_progress: ReportProgress | None = None,
        ask: AskUser | None = None,
        store_content: StoreContent | None = None,
    ) -> ToolResponse:
        """Call a tool; every failure is a response with an error.

        The handler gets exactly the arguments of the call, after their validation: no default
        is added and no value is converted.

        Args:
            name: the tool's current or a previous name.
            arguments: the arguments of the call.
            client: the client that calls; None in a toolset without clients.
            report_progress: sends the progress of the call to the caller.
            ask: asks the user a question, sync or async. Without it, calls that need the
                user's confirmation are refused. The answers must not come from a model.
            store_content: stores the content of links for the caller. Without it, the
                content is part of the response.
        """
        # Import on first call, so that a registry that only lists tools loads fewer modules.
        from .calls.tool_calls import call_tool

        found = self.find(name, client)
        return await call_tool(
            found, name, arguments, client, report_progress, ask, store_content
        )

    get_mcp_tools_sync = make_sync(get_mcp_tools)
    get_openai_tools_sync = make_sync(get_openai_tools)
    get_openai_tools_by_names_sync = make_sync(get_openai_tools_by_names)
    get_always_tools_sync = make_sync(get_always_tools)
    get_routed_tools_catalog_sync = make_sync(get_routed_tools_catalog)
    route_tools_sync = make_sync(route_tools)
    call_tool_sync = make_sync(call_tool)

    async def __aenter__(self) -> Self:
        """Start the lifespans in the current event loop, where the handlers then run.

        A registry may be entered several times; the last exit closes the lifespans.

        Raises:
            LifespanError: a lifespan cannot be started.
        """
        async with AsyncExitStack() as stack:
            for toolset in self.toolsets:
                await toolset.enter()
                stack.push_async_callback(toolset.leave)
            stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        async with AsyncExitStack() as stack:
            for toolset in self.toolsets:
                stack.push_async_callback(toolset.leave)

    def __enter__(self) -> Self:
        """Start the lifespans in the background loop; see `__aenter__` for the errors."""
        return run_sync(self.__aenter__())

    def __exit__(self, *_: object) -> None:
        run_sync(self.__aexit__())

    def get_single_toolset(self) -> Toolset:
        """Return the only toolset; LookupError if the registry combines several toolsets."""
        if len(self.toolsets) > 1:
            raise LookupError(f"{self.package}: each toolset runs its own calls")
        return self.toolsets[0]

    def reserve_names(self, names: Iterable[str]) -> None:
        """Reserve names, so that a provider omits its own tools with these names."""
        for toolset in self.toolsets:
            toolset.reserve_names(names)

    def disable_lifespan(self) -> None:
        """Never start the lifespans, for example so that listing tools needs no database."""
        for toolset in self.toolsets:
            toolset.is_lifespan_disabled = True

    async def close(self) -> None:
        """Close providers and lifespans after all calls are recorded.

        Later calls open them again; after an `async with` block, only another block does.
        """
        for toolset in self.toolsets:
            await toolset.close()

    def replace_dependencies(self, **dependencies: Any) -> AbstractContextManager[None]:
        """Replace dependencies in a `with` block, for tests, without starting the lifespan.

        Raises:
            LookupError: the toolset has no dependency of a name.
        """
        if not any(toolset.lifespan for toolset in self.toolsets):
            raise LookupError(f"{self.package} has no lifespan, and so no dependencies")
        return self.get_single_toolset().dependencies.override(dependencies)

    @property
    def calls(self) -> ToolCalls:
        """Calls of the registry's only toolset.

        Raises:
            LookupError: the registry combines several toolsets.
        """
        return self.get_single_toolset().calls
