"""A toolset's tools: who sees which, look-up, and calls.

What may ask a provider awaits; each such function has a `_sync` wrapper for callers without an
event loop.

The definitions are read when a registry is made. Handlers, and what calls need, are imported at
the first call.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Literal

from . import optional
from .access import Access, Client
from .calls.worker_threads import run_sync, sync
from .toolset import AccessOfSeveral, Found, Toolset, owners

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType
    from typing import Self

    from ..router.router import Router
    from .calls.tool_calls import ToolCalls
    from .context import Keep, ReportProgress, ToolResponse
    from .definitions.tool import Tool, ToolProvider
    from .override_file import OverrideFile
    from .question import AskPerson
    from .toolset_settings import LedgerSettings, Lifespan


class UnknownToolError(LookupError):
    """No tool of that name is offered to that client."""


class Registry:
    """The tools of one toolset, or of several (`of_several`), and those of their providers.

    Args:
        tools_package: the package whose `.json` files are the tools' definitions.
        handlers: the package that every handler must be in; None when no tool may have
            one.
        sections: the sections in their declared order, which tools are listed by.
        clients: what each client may have; None when the toolset has no clients and its
            one caller may have every tool.
        override: where an administrator's changes are, read when access is first asked for.
        ledger: where calls of persistent tools are recorded; None refuses them.
        providers: where further tools come from; a local tool wins over one of the same
            name.
        router: chooses tools for a message; None to choose by words.
        reserved_names: names that no tool of a provider may have.
        lifespan: what opens and closes the resources that tools use; None when they use
            none.
        formats: whether arguments of its own tools have to be of their formats.

    Attributes:
        package: the generated package, by its name.
        toolsets: whose tools these are.

    Raises:
        DefinitionError: the package is not what was generated: a half of a tool is missing,
            a file is not ours, a handler is outside of its package, a tool uses what the
            lifespan does not give, or there is no tool.
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
        self._hold(toolset.package, (toolset,), (toolset,), reserved_names)

    @classmethod
    def of_several(
        cls,
        package: str,
        registries: Sequence[Registry],
        *,
        external: Collection[Registry] = (),
    ) -> Self:
        """The tools of several toolsets: each is looked up and called by its own.

        Who may have what is decided by the owner's access alone; a client that a toolset
        does not have gets nothing of it.

        Args:
            package: the generated package that has them together, by its name.
            registries: the toolsets' own registries, in the declared order.
            external: those of them whose providers' tools are there as well.

        Raises:
            DefinitionError: two have a tool of one name, or only some have clients.
        """
        made = cls.__new__(cls)
        made._router = None
        toolsets = [one for registry in registries for one in registry.toolsets]
        offering = [one for registry in external for one in registry.toolsets]
        made._hold(package, toolsets, offering)
        return made

    def _hold(
        self,
        package: str,
        toolsets: Sequence[Toolset],
        offering: Sequence[Toolset],
        reserved_names: Sequence[str] = (),
    ) -> None:
        self.package = package
        self.toolsets = tuple(toolsets)
        # Those whose providers' tools are there, too.
        self._offering = tuple(one for one in toolsets if one in offering)
        self._owners = owners(package, toolsets)
        self._tools = {n: tool for one in toolsets for n, tool in one.tools.items()}
        former = [one.former_names for one in toolsets]
        self._former_names = {n: name for each in former for n, name in each.items()}
        is_one = len(self.toolsets) == 1
        self._several = None if is_one else AccessOfSeveral(toolsets, self._owners)
        self.reserve_names({*self._owners, *reserved_names})

    @property
    def has_clients(self) -> bool:
        """Whether a caller has to say which client it is."""
        return self.declared_access.clients is not None

    @property
    def has_ledger(self) -> bool:
        """Whether there is a place for the records of every toolset."""
        return all(one.ledger is not None for one in self.toolsets)

    @property
    def clients(self) -> tuple[str, ...]:
        """The clients, in the declared order."""
        return tuple(self.declared_access.clients or ())

    @property
    def local_tools(self) -> tuple[Tool, ...]:
        """Every tool of the toolsets' own, whoever may see it, in the declared order."""
        return tuple(self._tools.values())

    @property
    def lifespan_resources(self) -> tuple[str, ...]:
        """The names of all that handlers may use."""
        spans = [one.lifespan for one in self.toolsets if one.lifespan is not None]
        return tuple(name for span in spans for name in span.resources)

    @property
    def asserts_formats(self) -> bool:
        """Whether arguments have to be of the formats that schemas name."""
        return all(one.asserts_formats for one in self.toolsets)

    @property
    def declared_access(self) -> Access:
        """Who may have which tool, without an administrator's changes."""
        return self._several or self.toolsets[0].declared_access

    def access(self) -> Access:
        """Who may have which tool, with an administrator's changes.

        Raises:
            AccessError: it cannot be found out, so nobody has any.
        """
        return self._several or self.toolsets[0].access()

    def tools(
        self, client: str | None = None, *, target: str | None = None
    ) -> list[Tool]:
        """The local tools that a client may have, in the declared order.

        Args:
            client: who asks.
            target: leaves out the tools that are declared not to be in this target.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        access = self.access()
        access.client(client)
        return [
            tool
            for name, tool in self._tools.items()
            if access.may_have(client, name) and (target is None or tool.is_in(target))
        ]

    def names(
        self, client: str | None = None, *, target: str | None = None
    ) -> tuple[str, ...]:
        """The names of `tools`, with the same arguments and errors."""
        return tuple(tool.name for tool in self.tools(client, target=target))

    def names_in(self, target: str) -> tuple[str, ...]:
        """The names of the local tools that are in a target, whoever may have them."""
        return tuple(name for name, tool in self._tools.items() if tool.is_in(target))

    def resolve(self, name: str) -> str:
        """The present name of a tool that may be asked for by a former one."""
        return name if name in self._tools else self._former_names.get(name, name)

    def is_local(self, name: str) -> bool:
        """Whether the toolset itself has a tool of this present name, for anybody."""
        return name in self._tools

    def get_tool(self, name: str, client: str | None = None) -> Tool:
        """A local tool, by its present or a former name.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            UnknownToolError: the client has no such tool.
            AccessError: who may have which tool cannot be found out.
        """
        present = self.resolve(name)
        if not self.access().may_have(client, present) or present not in self._tools:
            raise UnknownToolError(f"unknown tool `{name}`")
        return self._tools[present]

    async def find_tool(self, name: str, client: str | None = None) -> Tool:
        """A tool, local or a provider's, by its present or a former name; raises as `get_tool`."""
        return (await self.find(name, client)).tool

    async def find(self, name: str, client: str | None = None) -> Found:
        """The same with whose it is, to be called; raises as `find_tool`."""
        present = name if name in self._tools else self._former_names.get(name, name)
        access = self._several or self.toolsets[0].access()
        owner = self._owners.get(present)
        if owner is None:
            access.client(client)
            # What a client may not have costs no I/O: each asks its own access first.
            for one in self._offering:
                if one.has(client):
                    found = await one.find_remote(present, client)
                    if found is not None:
                        return found
        elif access.may_have(client, present):
            return Found(self._tools[present], None, owner)
        raise UnknownToolError(f"unknown tool `{name}`")

    async def list_tools(self, client: str | None = None) -> list[Tool]:
        """A client's tools: the local ones in their order, then the providers'; raises as `tools`."""
        return [*self.tools(client), *await self.remote_tools(client)]

    async def remote_tools(
        self, client: str | None = None, *, is_always: bool = False
    ) -> list[Tool]:
        """The providers' tools that a client may have, each name once; raises as `tools`.

        `is_always`: only those of every turn; a provider without any is not waited for.
        """
        self.access().client(client)
        listed: dict[str, Tool] = {}
        for one in self._offering:
            if one.has(client):
                for tool in await one.remote_tools(client, is_always=is_always):
                    if tool.name not in self._tools:
                        listed.setdefault(tool.name, tool)
        return list(listed.values())

    async def get_mcp_tools(self, client: str | None = None) -> list[Mapping[str, Any]]:
        """A client's tools as MCP's `tools/list` shows them; raises as `tools`."""
        return [tool.definition for tool in await self.list_tools(client)]

    async def get_openai_tools(self, client: str | None = None) -> list[dict[str, Any]]:
        """A client's tools in OpenAI's Chat Completions format; raises as `tools`."""
        return [tool.openai() for tool in await self.list_tools(client)]

    async def get_openai_tools_by_names(
        self, names: Iterable[str], client: str | None = None
    ) -> list[dict[str, Any]]:
        """The named tools in OpenAI's format, in the order of the names.

        Raises:
            UnknownToolError: the client has no tool of one of the names.
            Exception: as `tools`.
        """
        return [(await self.find_tool(name, client)).openai() for name in names]

    async def get_always_tools(self, client: str | None = None) -> list[dict[str, Any]]:
        """The client's tools that are offered in every turn, in OpenAI's format."""
        local = [tool for tool in self.tools(client) if tool.always]
        remote = await self.remote_tools(client, is_always=True)
        return [tool.openai() for tool in (*local, *remote)]

    async def get_routed_tools_catalog(
        self, client: str | None = None
    ) -> dict[str, str]:
        """Name and summary of the client's tools that are not offered in every turn."""
        listed = await self.list_tools(client)
        return {tool.name: tool.summary for tool in listed if not tool.always}

    async def route_tools(
        self,
        message: str,
        catalog: Mapping[str, str] | None = None,
        client: str | None = None,
        *,
        history: Sequence[str] = (),
    ) -> list[str]:
        """The names of the routed tools that fit a message; when in doubt, all of them.

        Args:
            message: what the user said last.
            catalog: what `get_routed_tools_catalog` gave: only its names are chosen from,
                and no client has to be named. None for the client's whole catalog.
            client: who is served.
            history: the messages before, oldest first.

        Raises:
            UnknownClientError: without a catalog, the toolset has clients and this is
                none of them.
            AccessError: without a catalog, who may have which tool cannot be found out.
        """
        if catalog is None:
            listed = await self.list_tools(client)
        else:
            named = frozenset(catalog)
            listed = [t for one in self.toolsets for t in await one.all_of(named)]
        chosen = optional.router.chosen_from(listed, catalog)
        router = self._router or optional.router.Router()
        route = await router.route(message, chosen, history)
        return list(route.names)

    async def best_first(self, message: str, tools: Sequence[Tool]) -> list[str]:
        """The names of the routed ones of these tools that fit a message, the best first."""
        chosen = optional.router.chosen_from(tools, None)
        router = self._router or optional.router.Router()
        return await router.best_first(message, chosen)

    def problems_with_arguments(
        self, name: str, arguments: Mapping[str, Any], client: str | None = None
    ) -> list[str]:
        """What is wrong with the arguments of a call; empty when nothing is.

        Raises:
            LookupError: the client has no such local tool.
        """
        tool = self.get_tool(name, client)
        calls = self._owners[tool.name].calls
        return calls.validators.problems_with_arguments(tool, arguments)

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
        """Calls a tool.

        The handler gets exactly the arguments that were given, once they are found valid:
        none is added and none is converted. Every failure is a response with an error.

        Args:
            name: the tool's present or former name.
            arguments: of the call.
            client: who calls.
            report_progress: is told how far the call is.
            ask: puts a question to a person, sync or async; without it a call that needs a
                person is refused. What answers here must be no model.
            keep: keeps the content of links for its caller; without it that is sent with
                the answer.
        """
        # Imported here: a registry that only lists tools needs no module of `calls`.
        from .calls.tool_calls import call_tool

        found = self.find(name, client)
        return await call_tool(
            found, name, arguments, client, report_progress, ask, keep
        )

    get_mcp_tools_sync = sync(get_mcp_tools)
    get_openai_tools_sync = sync(get_openai_tools)
    get_openai_tools_by_names_sync = sync(get_openai_tools_by_names)
    get_always_tools_sync = sync(get_always_tools)
    get_routed_tools_catalog_sync = sync(get_routed_tools_catalog)
    route_tools_sync = sync(route_tools)
    call_tool_sync = sync(call_tool)

    async def __aenter__(self) -> Self:
        """Starts the lifespan, in the present event loop, where its tools then run.

        It may be entered again meanwhile, by whoever else needs it; the last one ends it.

        Raises:
            LifespanError: it cannot be started.
        """
        async with AsyncExitStack() as stack:
            for one in self.toolsets:
                await one.enter()
                stack.push_async_callback(one.leave)
            stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        async with AsyncExitStack() as stack:
            for one in self.toolsets:
                stack.push_async_callback(one.leave)

    def __enter__(self) -> Self:
        """The same for callers without an event loop; raises as `async with`."""
        return run_sync(self.__aenter__())

    def __exit__(self, *_: object) -> None:
        run_sync(self.__aexit__())

    def at_start(self) -> Toolset:
        """Looks at what calls of a toolset need, before the first of them.

        Raises:
            LookupError: there are several, and each has its own.
        """
        return self._only

    def reserve_names(self, names: Iterable[str]) -> None:
        """Keeps names from the providers' tools, before any of them is asked."""
        for one in self.toolsets:
            one.reserve_names(names)

    def leave_lifespan_out(self) -> None:
        """Starts no lifespan from now on: who only lists tools needs no database."""
        for one in self.toolsets:
            one.is_lifespan_left_out = True

    async def close(self) -> None:
        """Ends what the providers and the lifespan hold open, when all calls are recorded.

        A later call opens it again; after `async with`, only another one does.
        """
        for one in self.toolsets:
            await one.close()

    def replaced(self, **resources: Any) -> AbstractContextManager[None]:
        """Gives tools these resources instead of the lifespan's, for tests.

        The lifespan is not started for what is replaced.

        Raises:
            LookupError: the toolset has no resource of a name.
        """
        if not any(one.lifespan for one in self.toolsets):
            raise LookupError(f"{self.package} has no lifespan, and so no resources")
        return self._only.resources.replaced(resources)

    @property
    def calls(self) -> ToolCalls:
        """What runs calls; LookupError for several toolsets, each of which has its own."""
        return self._only.calls

    @property
    def _only(self) -> Toolset:
        if len(self.toolsets) > 1:
            raise LookupError(f"{self.package}: each toolset runs its own calls")
        return self.toolsets[0]
