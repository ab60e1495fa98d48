"""A toolset's tools: who sees which, look-up, and calls.

What may ask a provider awaits; each such function has a `_sync` wrapper for callers without an
event loop.

The definitions are read when a registry is made. Handlers, and what calls need, are imported at
the first call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ..access.clients import Access, AccessError, Client, UnknownClientError
from ..calls.work import run_sync, sync
from ..definitions.definitions import own_tools
from ..definitions.provider import Wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType
    from typing import Self

    from ...rooms.lifespan.resources import Resources
    from ...rooms.router.router import Router
    from ..access.override_file import OverrideFile
    from ..calls.tool_calls import ToolCalls
    from ..context import Keep, ReportProgress, ToolResponse
    from ..definitions.provider import ToolProvider
    from ..definitions.tool import Tool
    from ..question import AskPerson
    from ..toolset_settings import LedgerSettings, Lifespan
    from .at_start import AtStart

__all__ = ["AccessError", "Registry", "UnknownClientError", "UnknownToolError"]


class UnknownToolError(LookupError):
    """No tool of that name is offered to that client."""


class Registry:
    """The tools of one toolset, and those of its providers.

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
        package: the toolset's package, by its name.
        lifespan_resources: the names of all that handlers may use.
        asserts_formats: whether arguments have to be of the formats that schemas name.
        declared_access: who may have which tool, without an administrator's changes.

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
        self.package = tools_package.__name__.rpartition(".")[0]
        self.lifespan_resources = used = lifespan.resources if lifespan else ()
        self._tools = own_tools(tools_package, handlers, used, sections)
        tools = self._tools.values()
        self._former_names = {n: t.name for t in tools for n in t.former_names}
        meant_for = {t.name: t.clients for t in tools if t.clients is not None}
        needed = {t.name: t.permission for t in tools if t.permission is not None}
        self.declared_access = Access(clients, meant_for, needed)
        self._access = self.declared_access
        self._override = override
        self._ledger = ledger.of(tools_package) if ledger is not None else None
        self._handlers = handlers
        self.asserts_formats = handlers is not None and formats == "assertion"
        self._providers = tuple(providers)
        self._router = router
        self._tool_calls: ToolCalls | None = None
        self._entered = 0
        self._resources: Resources | None = None
        if lifespan is not None:
            from ...rooms.lifespan.resources import Resources

            toolset = self.package.rpartition(".")[2]
            self._resources = Resources(lifespan, handlers, toolset)
        self.reserve_names({*self._tools, *self._former_names, *reserved_names})

    @property
    def has_clients(self) -> bool:
        """Whether a caller has to say which client it is."""
        return self._access.clients is not None

    @property
    def has_ledger(self) -> bool:
        """Whether there is a place for records."""
        return self._ledger is not None

    @property
    def clients(self) -> tuple[str, ...]:
        """The toolset's clients, in the declared order."""
        return tuple(self._access.clients or ())

    @property
    def local_tools(self) -> tuple[Tool, ...]:
        """Every tool of the toolset's own, whoever may see it, in the declared order."""
        return tuple(self._tools.values())

    def access(self) -> Access:
        """Who may have which tool, with an administrator's changes.

        Raises:
            AccessError: it cannot be found out, so nobody has any.
        """
        if self._override is not None:
            self._access = self._override.apply(
                self._access, self.resolve, self._is_known
            )
            self._override = None
        return self._access

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
        """A tool, local or a provider's, by its present or a former name.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            UnknownToolError: the client has no such tool.
            AccessError: who may have which tool cannot be found out.
        """
        return (await self._found(name, client))[0]

    async def list_tools(self, client: str | None = None) -> list[Tool]:
        """A client's tools: the local ones in their order, then the providers'.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        return [*self.tools(client), *await self.remote_tools(client)]

    async def remote_tools(
        self, client: str | None = None, *, is_always: bool = False
    ) -> list[Tool]:
        """The providers' tools that a client may have, each name once; raises as `list_tools`.

        `is_always`: only those of every turn; a provider without any is not waited for.
        """
        access = self.access()
        wanted = Wanted(*access.lists(client), client)
        listed: dict[str, Tool] = {}
        for provider in self._providers:
            if is_always and not provider.has_always_tools:
                continue
            for tool in await provider.list_tools(wanted):
                if (
                    (tool.always or not is_always)
                    and tool.name not in self._tools
                    and access.may_have(client, tool.name)
                    and provider.is_meant_for(tool.name, client)
                ):
                    listed.setdefault(tool.name, tool)
        return list(listed.values())

    async def get_mcp_tools(self, client: str | None = None) -> list[Mapping[str, Any]]:
        """A client's tools as MCP's `tools/list` shows them; raises as `list_tools`."""
        return [tool.definition for tool in await self.list_tools(client)]

    async def get_openai_tools(self, client: str | None = None) -> list[dict[str, Any]]:
        """A client's tools in OpenAI's Chat Completions format; raises as `list_tools`."""
        return [tool.openai() for tool in await self.list_tools(client)]

    async def get_openai_tools_by_names(
        self, names: Iterable[str], client: str | None = None
    ) -> list[dict[str, Any]]:
        """The named tools in OpenAI's format, in the order of the names.

        Raises:
            UnknownToolError: the client has no tool of one of the names.
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
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
                and no client has to be named. None for the client's whole catalogue.
            client: who is served.
            history: the messages before, oldest first.

        Raises:
            UnknownClientError: without a catalogue, the toolset has clients and this is
                none of them.
            AccessError: without a catalogue, who may have which tool cannot be found out.
        """
        from ...rooms.router.route import chosen_from
        from ...rooms.router.router import Router

        if catalog is None:
            listed = await self.list_tools(client)
        else:
            listed = await self._all_of(frozenset(catalog))
        router = self._router or Router()
        route = await router.route(message, chosen_from(listed, catalog), history)
        return list(route.names)

    def problems_with_arguments(
        self, name: str, arguments: Mapping[str, Any], client: str | None = None
    ) -> list[str]:
        """What is wrong with the arguments of a call; empty when nothing is.

        Raises:
            LookupError: the client has no such local tool.
        """
        tool = self.get_tool(name, client)
        return self.calls.validators.problems_with_arguments(tool, arguments)

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
        found = self._found(name, client)
        return await self.calls.find_and_call(
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
        # Counted at once: who leaves, or gives up, meanwhile must not end what this waits for.
        self._entered += 1
        if self._resources is not None:
            try:
                await self._resources.enter()
            except BaseException:
                self._entered -= 1
                if not self._entered:
                    await self._resources.leave()
                raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._entered -= 1
        if not self._entered:
            if self._resources is not None:
                self._resources.is_over = True
            await self.close()

    def __enter__(self) -> Self:
        """The same for callers without an event loop; raises as `async with`."""
        return run_sync(self.__aenter__())

    def __exit__(self, *_: object) -> None:
        run_sync(self.__aexit__())

    def at_start(self) -> AtStart:
        """Looks at what calls need, before the first of them."""
        from .at_start import AtStart

        mine = self._handlers, self._ledger, self._resources, self._providers
        return AtStart(self.local_tools, self.calls, *mine)

    def reserve_names(self, names: Iterable[str]) -> None:
        """Keeps names from the providers' tools, before any of them is asked."""
        for provider in self._providers:
            provider.reserve_names({*names})

    def leave_lifespan_out(self) -> None:
        """Starts no lifespan from now on: who only lists tools needs no database."""
        if self._resources is not None:
            self._resources.is_left_out = True

    async def close(self) -> None:
        """Ends what the providers and the lifespan hold open, when all calls are recorded.

        A later call opens it again; after `async with`, only another one does.
        """
        for provider in self._providers:
            await provider.close()
        if self._tool_calls is not None:
            await self._tool_calls.close()
        if self._resources is not None:
            from ..calls.work import until_ended

            # A plain handler that was told to stop has a second to let go of what is closed now.
            await until_ended(1.0)
            await self._resources.leave()

    def replaced(self, **resources: Any) -> AbstractContextManager[None]:
        """Gives tools these resources instead of the lifespan's, for tests.

        The lifespan is not started for what is replaced.

        Raises:
            LookupError: the toolset has no resource of a name.
        """
        if self._resources is None:
            raise LookupError(f"{self.package} has no lifespan, and so no resources")
        return self._resources.replaced(resources)

    @property
    def calls(self) -> ToolCalls:
        """What runs calls, for parts of the runtime that hand it work themselves."""
        if self._tool_calls is None:
            from ..calls.tool_calls import ToolCalls

            made = ToolCalls(self._ledger, self._handlers, resources=self._resources)
            made.proxies = self._providers
            made.validators.asserts_formats = self.asserts_formats
            self._tool_calls = made
        return self._tool_calls

    def _is_known(self, name: str) -> bool:
        return name in self._tools or any(p.may_have(name) for p in self._providers)

    async def _found(
        self, name: str, client: str | None
    ) -> tuple[Tool, ToolProvider | None]:
        present = self.resolve(name)
        # Before any provider is asked: what a client may not have costs no I/O.
        if self.access().may_have(client, present):
            if present in self._tools:
                return self._tools[present], None
            for provider in self._providers:
                if provider.may_have(present) and provider.is_meant_for(
                    present, client
                ):
                    tool = await provider.find_tool(present)
                    if tool is not None:
                        return tool, provider
        raise UnknownToolError(f"unknown tool `{name}`")

    async def _all_of(self, names: frozenset[str]) -> list[Tool]:
        """What there is of the named tools, whoever may have them."""
        found = [tool for name, tool in self._tools.items() if name in names]
        for provider in self._providers:
            if any(map(provider.may_have, names)):
                found += await provider.list_tools(Wanted(names))
        return found
