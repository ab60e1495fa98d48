"""What one generated package brings to a registry: its tools, who may have them, their calls."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from . import optional
from .access import Access, Client
from .definitions.definitions import DefinitionError, own_tools
from .definitions.tool import HasServers, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from types import ModuleType

    from ..lifespan.dependencies import Resources
    from .calls.tool_calls import ToolCalls
    from .definitions.tool import ServerState, Tool, ToolProvider
    from .override_file import OverrideFile
    from .toolset_settings import LedgerSettings, Lifespan

# Calls come from any thread, and what their tools use is there once.
_first_use = threading.Lock()


class Toolset:
    """The tools of one generated package, and those of its providers; see `Registry`.

    Attributes:
        package: the toolset's package, by its name.
        tools: its own tools by their present names, in the declared order.
        former_names: the present names of its tools, by their former ones.
        declared_access: who may have which tool, without an administrator's changes.
        handlers: the package that every handler must be in.
        ledger: where calls of persistent tools are recorded; None for nowhere.
        providers: where further tools come from.
        lifespan: what opens and closes the resources that tools use; None for none.
        is_lifespan_left_out: it is never started.
        asserts_formats: whether arguments have to be of the formats that schemas name.
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
        used = lifespan.resources if lifespan else ()
        self.tools = own_tools(tools_package, handlers, used, sections)
        tools = self.tools.values()
        self.former_names = {n: t.name for t in tools for n in t.former_names}
        meant_for = {t.name: t.clients for t in tools if t.clients is not None}
        needed = {t.name: t.permission for t in tools if t.permission is not None}
        self.declared_access = Access(clients, meant_for, needed)
        self._access = self.declared_access
        self._override = override
        self.ledger = ledger.of(tools_package) if ledger is not None else None
        self.handlers = handlers
        self.asserts_formats = handlers is not None and formats == "assertion"
        self.providers = tuple(providers)
        self.lifespan = lifespan
        self.is_lifespan_left_out = False
        self._entered = 0
        self._resources: Resources | None = None

    @property
    def has_clients(self) -> bool:
        """Whether a caller has to say which client it is."""
        return self.declared_access.clients is not None

    def has(self, client: str | None) -> bool:
        """Whether it may be asked for this client."""
        clients = self.declared_access.clients
        return client is None if clients is None else client in clients

    def access(self) -> Access:
        """Who may have which tool, with an administrator's changes.

        Raises:
            AccessError: it cannot be found out, so nobody has any.
        """
        if self._override is not None:
            self._access = self._override.apply(
                self._access, self._present, self._is_known
            )
            self._override = None
        return self._access

    def reserve_names(self, names: Iterable[str]) -> None:
        """Keeps names from the providers' tools, before any of them is asked."""
        for provider in self.providers:
            provider.reserve_names({*names})

    async def remote_tools(self, client: str | None, *, is_always: bool) -> list[Tool]:
        """The providers' tools that a client may have; see `Registry.remote_tools`."""
        listed: list[Tool] = []
        access = self.access()
        wanted = Wanted(*access.lists(client), client)
        for provider in self.providers:
            if is_always and not provider.has_always_tools:
                continue
            for tool in await provider.list_tools(wanted):
                if (
                    (tool.always or not is_always)
                    and access.may_have(client, tool.name)
                    and provider.is_meant_for(tool.name, client)
                ):
                    listed.append(tool)
        return listed

    async def find_remote(self, name: str, client: str | None) -> Found | None:
        """A provider's tool that a client may have; None when there is none."""
        # Before any provider is asked: what a client may not have costs no I/O.
        if self.providers and self.access().may_have(client, name):
            for provider in self.providers:
                if provider.may_have(name) and provider.is_meant_for(name, client):
                    tool = await provider.find_tool(name)
                    if tool is not None:
                        return Found(tool, provider, self)
        return None

    async def all_of(self, names: Collection[str]) -> list[Tool]:
        """What there is of the named tools, whoever may have them."""
        found = [tool for name, tool in self.tools.items() if name in names]
        for provider in self.providers:
            if any(map(provider.may_have, names)):
                found += await provider.list_tools(Wanted(names))
        return found

    async def enter(self) -> None:
        """Starts the lifespan, in the present event loop; each `leave` ends one `enter`.

        Raises:
            LifespanError: it cannot be started.
        """
        # Counted at once: who leaves, or gives up, meanwhile must not end what this waits for.
        self._entered += 1
        if self.lifespan is not None and not self.is_lifespan_left_out:
            try:
                await self._opened()
            except BaseException:
                self._entered -= 1
                if not self._entered and self._resources is not None:
                    await self._resources.leave()
                raise

    async def _opened(self) -> None:
        from .toolset_settings import LifespanError

        try:
            resources = self.resources
        except optional.OptionalPartError as missing:
            raise LifespanError(str(missing)) from missing
        await resources.enter()

    async def leave(self) -> None:
        """Ends the lifespan and closes what is open, when the last one leaves."""
        self._entered -= 1
        if not self._entered:
            if self._resources is not None:
                self._resources.is_over = True
            await self.close()

    async def close(self) -> None:
        """See `Registry.close`."""
        for provider in self.providers:
            await provider.close()
        if "calls" in self.__dict__:
            await self.calls.close()
        if self._resources is not None:
            from .calls.worker_threads import until_ended

            # A plain handler that was told to stop has a second to let go of what is closed now.
            await until_ended(1.0)
            await self._resources.leave()

    @property
    def resources(self) -> Resources:
        """What tools use, where there is a lifespan.

        Raises:
            LifespanError: there is none.
            OptionalPartError: it cannot be loaded.
        """
        from .toolset_settings import LifespanError

        if self.lifespan is None:
            raise LifespanError("the toolset has no lifespan")
        with _first_use:
            if self._resources is None:
                toolset = self.package.rpartition(".")[2]
                self._resources = optional.lifespan.Resources(
                    self.lifespan, self.handlers, toolset
                )
            self._resources.is_left_out = self.is_lifespan_left_out
        return self._resources

    @cached_property
    def calls(self) -> ToolCalls:
        """What runs calls."""
        from .calls.tool_calls import ToolCalls

        made = ToolCalls(self.ledger, self.handlers, resources=lambda: self.resources)
        made.proxies = self.providers
        made.validators.asserts_formats = self.asserts_formats
        return made

    def import_handlers(
        self, further: Iterable[Tool] = (), begin: Callable[[str], object] = str
    ) -> dict[str, BaseException]:
        """Imports the handler of every tool, with the classes that it is given.

        With them the functions of the lifespan and the ledger, if there are any.

        Args:
            further: resources and prompts, as tools.
            begin: is told the name of each before it is imported.

        Returns:
            What was raised instead, by the names of the tools, `the lifespan` and `the
            ledger`.
        """
        from .calls.handlers import own_function

        failed: dict[str, BaseException] = {}
        lifespan = None if self.lifespan is None else self.lifespan.function
        sink = None if self.ledger is None else self.ledger.sink
        for name, function in (("the lifespan", lifespan), ("the ledger", sink)):
            if function is not None:
                begin(name)
                try:
                    own_function(function, self.handlers)
                except (Exception, SystemExit) as error:
                    failed[name] = error
        for tool in (*self.tools.values(), *further):
            if tool.handler is not None:
                begin(tool.name)
                try:
                    self.calls.handler(tool)
                except (Exception, SystemExit) as error:
                    failed[tool.name] = error
        return failed

    async def check_ledger(self) -> None:
        """Returns when calls can be recorded, or need not be.

        Raises:
            LedgerError: they cannot, and have to be.
        """
        if self.ledger is not None or any(t.persistent for t in self.tools.values()):
            await self.calls.check_ledger()

    @property
    def is_lifespan_up(self) -> bool:
        """Whether what tools use is open; so it is where they use nothing."""
        needs_none = self.lifespan is None or self.is_lifespan_left_out
        return needs_none or self.resources.is_up

    def unset_variables(self) -> Mapping[str, str]:
        """What external servers lack in the environment, by their names."""
        return {
            name: problem
            for provider in self.providers
            if isinstance(provider, HasServers)
            for name, problem in provider.unset_variables().items()
        }

    def servers(self) -> Mapping[str, ServerState]:
        """How the external servers are reached now, by their names. Does no I/O."""
        return {
            name: state
            for provider in self.providers
            if isinstance(provider, HasServers)
            for name, state in provider.states().items()
        }

    def _present(self, name: str) -> str:
        return name if name in self.tools else self.former_names.get(name, name)

    def _is_known(self, name: str) -> bool:
        return name in self.tools or any(p.may_have(name) for p in self.providers)


class Found(NamedTuple):
    """A tool that a client may have.

    Attributes:
        tool: it.
        provider: where it comes from; None for a local one.
        toolset: whose it is, and who runs its calls.
    """

    tool: Tool
    provider: ToolProvider | None
    toolset: Toolset


class AccessOfSeveral(Access):
    """Who may have which tool, by what each of several toolsets decides of its own."""

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

    def may_have(self, client: str | None, tool: str) -> bool:
        """As `Access`; a client that no toolset has may have none.

        A name that is nobody's own may be an external server's tool.
        """
        owner = self._owners.get(tool)
        asked = self._toolsets if owner is None else (owner,)
        return any(
            one.access().may_have(client, tool) for one in asked if one.has(client)
        )


def owners(package: str, toolsets: Sequence[Toolset]) -> dict[str, Toolset]:
    """Whose tool each present and former name is, in a package that has several together.

    Raises:
        DefinitionError: two have a tool of one name, or only some have clients.
    """
    found: dict[str, Toolset] = {}
    for one in toolsets:
        for name in (*one.tools, *one.former_names):
            if found.setdefault(name, one) is not one:
                other = found[name].package
                raise DefinitionError(
                    f"{package}: {other} and {one.package} both have a tool `{name}`"
                )
    if len({one.has_clients for one in toolsets}) > 1:
        raise DefinitionError(f"{package}: some of its toolsets have no clients")
    return found
