"""Toolsets: the tools of one generated package, their access rules, and their calls."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from . import optional
from .access import Access, Client
from .definitions.definitions import DefinitionError, load_tools
from .definitions.tool import HasServers, ToolFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from types import ModuleType

    from ..lifespan.dependencies import Dependencies
    from .calls.tool_calls import ToolCalls
    from .definitions.tool import ServerState, Tool, ToolProvider
    from .override_file import OverrideFile
    from .toolset_settings import LedgerSettings, Lifespan

# Guards the creation of `Toolset._dependencies`, because calls come from any thread.
_first_use_lock = threading.Lock()


class Toolset:
    """The tools of one generated package, and those of its providers.

    For the arguments see `Registry`.

    Attributes:
        package: the name of the toolset's package.
        tools: the toolset's own tools by their current names, in the declared order.
        former_names: the current names of its tools, by their previous names.
        declared_access: the access rules, without an administrator's changes.
        handlers: the package that must contain every handler.
        ledger: the settings of the ledger; None if there is none.
        providers: the sources of further tools.
        lifespan: opens and closes the dependencies of tools; None without dependencies.
        is_lifespan_disabled: whether the lifespan is never started.
        asserts_formats: whether arguments must match the formats in their schemas.
    """

    def __init__(
        self,
        tools_package: ModuleType,
        handlers: str | None = None,
        sections: Sequence[str] = (),
        clients: Mapping[str, Client] | None = None,
        override: OverrideFile | None = None,
        ledger: LedgerSettings | None = None,
        providers: Sequence[ToolProvider] = (),
        lifespan: Lifespan | None = None,
        formats: Literal["assertion", "annotation"] = "assertion",
    ) -> None:
        self.package = tools_package.__name__.rpartition(".")[0]
        dependencies = lifespan.dependencies if lifespan else ()
        self.tools = load_tools(tools_package, handlers, dependencies, sections)
        tools = self.tools.values()
        self.former_names = {n: t.name for t in tools for n in t.former_names}
        tool_clients = {t.name: t.clients for t in tools if t.clients is not None}
        permissions = {t.name: t.permission for t in tools if t.permission is not None}
        self.declared_access = Access(clients, tool_clients, permissions)
        self._access = self.declared_access
        self._override = override
        self.ledger = ledger.for_package(tools_package) if ledger is not None else None
        self.handlers = handlers
        self.asserts_formats = handlers is not None and formats == "assertion"
        self.providers = tuple(providers)
        self.lifespan = lifespan
        self.is_lifespan_disabled = False
        self._entered = 0
        self._dependencies: Dependencies | None = None

    @property
    def has_clients(self) -> bool:
        """Whether callers must state which client they are."""
        return self.declared_access.clients is not None

    def has_client(self, client: str | None) -> bool:
        """Return whether the toolset has this client, or no clients if `client` is None."""
        clients = self.declared_access.clients
        return client is None if clients is None else client in clients

    def access(self) -> Access:
        """Return the access rules, with an administrator's changes.

        Raises:
            AccessError: the changes cannot be loaded, so no client may use any tool.
        """
        if self._override is not None:
            self._access = self._override.apply(
                self._access, self._resolve, self._is_known
            )
            # The override file is read only once, when access is first checked.
            self._override = None
        return self._access

    def reserve_names(self, names: Iterable[str]) -> None:
        """Reserve names, so that a provider omits its own tools with these names."""
        for provider in self.providers:
            provider.reserve_names({*names})

    async def list_remote_tools(
        self, client: str | None, *, is_always: bool
    ) -> list[Tool]:
        """Return the providers' tools that a client may use.

        With `is_always`, return only tools that are marked `always`, and do not query providers
        that have none.

        Raises:
            UnknownClientError: the toolset has no such client.
            AccessError: the access rules cannot be loaded.
        """
        tools: list[Tool] = []
        access = self.access()
        wanted = ToolFilter(*access.get_lists(client), client)
        for provider in self.providers:
            if is_always and not provider.has_always_tools:
                continue
            for tool in await provider.list_tools(wanted):
                if (
                    (tool.always or not is_always)
                    and access.is_allowed(client, tool.name)
                    and provider.is_available_to(tool.name, client)
                ):
                    tools.append(tool)
        return tools

    async def find_remote_tool(self, name: str, client: str | None) -> ToolMatch | None:
        """Return a provider's tool that a client may use; None if there is none."""
        # Check access before querying providers, so that a denied tool causes no I/O.
        if self.providers and self.access().is_allowed(client, name):
            for provider in self.providers:
                if provider.can_provide(name) and provider.is_available_to(
                    name, client
                ):
                    tool = await provider.find_tool(name)
                    if tool is not None:
                        return ToolMatch(tool, provider, self)
        return None

    async def list_named_tools(self, names: Collection[str]) -> list[Tool]:
        """Return the existing tools with these names, for any client.

        The list may contain other tools of providers as well.
        """
        tools = [tool for name, tool in self.tools.items() if name in names]
        for provider in self.providers:
            if any(map(provider.can_provide, names)):
                tools += await provider.list_tools(ToolFilter(names))
        return tools

    async def enter(self) -> None:
        """Start the lifespan in the current event loop; each `leave` ends one `enter`.

        Raises:
            LifespanError: the lifespan cannot be started.
        """
        # Count before the first `await`: a concurrent `leave` must not close the lifespan
        # while this call opens it.
        self._entered += 1
        if self.lifespan is not None and not self.is_lifespan_disabled:
            try:
                await self._enter_lifespan()
            except BaseException:
                self._entered -= 1
                if not self._entered and self._dependencies is not None:
                    await self._dependencies.leave()
                raise

    async def _enter_lifespan(self) -> None:
        from .toolset_settings import LifespanError

        try:
            dependencies = self.dependencies
        except optional.OptionalPartError as missing:
            raise LifespanError(str(missing)) from missing
        await dependencies.enter()

    async def leave(self) -> None:
        """End one `enter`; the last one closes the lifespan and the providers."""
        self._entered -= 1
        if not self._entered:
            if self._dependencies is not None:
                self._dependencies.has_ended = True
            await self.close()

    async def close(self) -> None:
        """Close the providers, then the ledger, then the lifespan; later calls reopen them."""
        for provider in self.providers:
            await provider.close()
        if "calls" in self.__dict__:
            await self.calls.close()
        if self._dependencies is not None:
            from .calls.worker_threads import wait_for_abandoned

            # Plain handlers of cancelled calls continue in their threads. Give them a second to
            # end before their dependencies are closed.
            await wait_for_abandoned(1.0)
            await self._dependencies.leave()

    @property
    def dependencies(self) -> Dependencies:
        """The dependencies of the lifespan.

        Raises:
            LifespanError: the toolset has no lifespan.
            OptionalPartError: the optional part for lifespans cannot be loaded.
        """
        from .toolset_settings import LifespanError

        if self.lifespan is None:
            raise LifespanError("the toolset has no lifespan")
        with _first_use_lock:
            if self._dependencies is None:
                toolset = self.package.rpartition(".")[2]
                self._dependencies = optional.lifespan.Dependencies(
                    self.lifespan, self.handlers, toolset
                )
            self._dependencies.is_disabled = self.is_lifespan_disabled
        return self._dependencies

    @cached_property
    def calls(self) -> ToolCalls:
        """The object that runs the calls of the toolset's tools."""
        from .calls.tool_calls import ToolCalls

        calls = ToolCalls(
            self.ledger,
            self.handlers,
            dependencies=lambda: self.dependencies,
            dependency_names=self.lifespan.dependencies if self.lifespan else (),
        )
        calls.proxies = self.providers
        calls.validators.asserts_formats = self.asserts_formats
        return calls

    def import_handlers(
        self, extra_tools: Iterable[Tool] = (), begin: Callable[[str], object] = str
    ) -> dict[str, BaseException]:
        """Import all handlers with their classes, and the lifespan's and ledger's functions.

        Args:
            extra_tools: MCP resources and prompts, as tools.
            begin: called with the name of each tool or function before its import.

        Returns:
            The exceptions of failed imports and of signatures that do not match, by the name
            of the tool, or by `the lifespan` and `the ledger`.
        """
        from .calls.handlers import load_function

        errors: dict[str, BaseException] = {}
        lifespan = None if self.lifespan is None else self.lifespan.function
        sink = None if self.ledger is None else self.ledger.sink
        for name, function in (("the lifespan", lifespan), ("the ledger", sink)):
            if function is not None:
                begin(name)
                try:
                    load_function(function, self.handlers)
                except (Exception, SystemExit) as error:
                    errors[name] = error
        for tool in (*self.tools.values(), *extra_tools):
            if tool.handler is not None:
                begin(tool.name)
                try:
                    self.calls.get_handler(tool).validate_signature()
                except (Exception, SystemExit) as error:
                    errors[tool.name] = error
        return errors

    async def check_ledger(self) -> None:
        """Check that calls can be recorded, if the toolset has a ledger or persistent tools.

        Raises:
            LedgerError: calls cannot be recorded.
        """
        if self.ledger is not None or any(t.persistent for t in self.tools.values()):
            await self.calls.check_ledger()

    @property
    def is_lifespan_started(self) -> bool:
        """Whether the dependencies are open; True if the toolset has none."""
        has_no_lifespan = self.lifespan is None or self.is_lifespan_disabled
        return has_no_lifespan or self.dependencies.is_up

    def list_unset_variables(self) -> Mapping[str, str]:
        """Return, by external server, a message about missing environment variables."""
        return {
            name: problem
            for provider in self.providers
            if isinstance(provider, HasServers)
            for name, problem in provider.list_unset_variables().items()
        }

    def get_server_states(self) -> Mapping[str, ServerState]:
        """Return the connection state of each external server by name. Does no I/O."""
        return {
            name: state
            for provider in self.providers
            if isinstance(provider, HasServers)
            for name, state in provider.get_server_states().items()
        }

    def _resolve(self, name: str) -> str:
        return name if name in self.tools else self.former_names.get(name, name)

    def _is_known(self, name: str) -> bool:
        return name in self.tools or any(p.can_provide(name) for p in self.providers)


class ToolMatch(NamedTuple):
    """Tool that a client may use, with its provider and toolset.

    Attributes:
        tool: the tool.
        provider: the tool's provider; None for a local tool.
        toolset: the toolset that has the tool and runs its calls.
    """

    tool: Tool
    provider: ToolProvider | None
    toolset: Toolset


class CombinedAccess(Access):
    """Access rules of several toolsets; each toolset decides about its own tools."""

    __slots__ = ("_owners", "_toolsets")

    def __init__(
        self, toolsets: Sequence[Toolset], owners: Mapping[str, Toolset]
    ) -> None:
        clients = {
            name: client
            for toolset in toolsets
            for name, client in (toolset.declared_access.clients or {}).items()
        }
        super().__init__(clients or None)
        self._toolsets = toolsets
        self._owners = owners

    def is_allowed(self, client: str | None, tool: str) -> bool:
        """Return whether the tool's toolset has the client and allows the tool.

        A name that no toolset owns may be a tool of an external server: it is allowed if any
        toolset allows it.
        """
        owner = self._owners.get(tool)
        toolsets = self._toolsets if owner is None else (owner,)
        return any(
            toolset.access().is_allowed(client, tool)
            for toolset in toolsets
            if toolset.has_client(client)
        )


def index_tool_owners(package: str, toolsets: Sequence[Toolset]) -> dict[str, Toolset]:
    """Return the toolset of each current and previous tool name.

    Args:
        package: the name of the package that combines the toolsets, for error messages.
        toolsets: the toolsets.

    Raises:
        DefinitionError: two toolsets have a tool of the same name, or only some of them have
            clients.
    """
    owners: dict[str, Toolset] = {}
    for toolset in toolsets:
        for name in (*toolset.tools, *toolset.former_names):
            if owners.setdefault(name, toolset) is not toolset:
                other = owners[name].package
                raise DefinitionError(
                    f"{package}: {other} and {toolset.package} both have a tool `{name}`"
                )
    if len({toolset.has_clients for toolset in toolsets}) > 1:
        raise DefinitionError(f"{package}: some of its toolsets have no clients")
    return owners
