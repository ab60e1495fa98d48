"""A toolset's tools: who sees which, look-up, and calls.

What may ask a tool source awaits; each such function has a `_sync` twin for callers
without an event loop.

Importing this module loads next to nothing. Lists come from what was prepared at generation;
a tool's module is imported when the tool itself is asked for, and what calls need at the first
call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..access.clients import Access, AccessError, Client, UnknownClientError
from ..calls.background_loop import sync
from .local_tools import OwnTools
from .remote_tools import find_source_tool, list_source_tools
from .tool_list import ListedTool, PreparedTools
from .tool_routing import route_tools as _route_tools
from .toolset_registry import UnknownToolError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..access.override_file import OverrideFile
    from ..calls.call_context import ReportProgress
    from ..calls.tool_calls import ToolCalls
    from ..calls.tool_response import ToolResponse
    from ..ledger.ledger_settings import LedgerSettings
    from ..router.router import Router
    from .provider import ToolSource
    from .tool import Tool

__all__ = ["AccessError", "Registry", "UnknownClientError", "UnknownToolError"]


class Registry:
    """The tools of one toolset, and those of its sources.

    Args:
        package: the toolset's package; its `tools` has one module a tool.
        modules: the module of each tool, by the tool's name, in the declared order.
        clients: what each client may have; None when the toolset has no clients and its
            one caller may have every tool.
        tool_clients: the only clients that a tool is meant for, for tools that say so.
        former_names: the tool that each former name resolves to. Lists never show them.
        sources: where further tools come from; an own tool wins over one of the same name.
        ledger: where calls of persistent tools are recorded; None refuses them.
        override: where an administrator's changes are, read when access is first asked for.
        router: chooses tools for a message; None to choose by words.
        checksum: that of the prepared file which belongs to the modules.
    """

    def __init__(
        self,
        package: str | None,
        modules: Mapping[str, str],
        clients: Mapping[str, Client] | None = None,
        tool_clients: Mapping[str, tuple[str, ...]] | None = None,
        former_names: Mapping[str, str] | None = None,
        sources: Sequence[ToolSource] = (),
        ledger: LedgerSettings | None = None,
        override: OverrideFile | None = None,
        router: Router | None = None,
        *,
        checksum: str,
    ) -> None:
        self.package = package
        self._own = OwnTools(package, modules, checksum, former_names or {})
        self._access = Access(clients, tool_clients or {})
        self._sources = tuple(sources)
        self._ledger = ledger
        self._override = override
        self._router = router
        self._tool_calls: ToolCalls | None = None

    @property
    def prepared(self) -> PreparedTools:
        """What lists show of every tool of the toolset's own, whoever may see it."""
        return self._own.prepared

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

    def names(self, client: str | None = None) -> tuple[str, ...]:
        """The names of the toolset's own tools that a client may have, in their order.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        access = self.access()
        access.client(client)
        return tuple(n for n in self._own.names if access.may_have(client, n))

    @property
    def has_clients(self) -> bool:
        """Whether a caller has to say which client it is."""
        return self._access.clients is not None

    def names_in(self, target: str) -> tuple[str, ...]:
        """The names of the toolset's own tools that are in a target, in their order."""
        return self._own.names

    def resolve(self, name: str) -> str:
        """The present name of a tool that may be asked for by a former one."""
        return self._own.resolve(name)

    def is_own(self, name: str) -> bool:
        """Whether the toolset itself has a tool of this present name, for anybody."""
        return name in self._own

    def get_tool(self, name: str, client: str | None = None) -> Tool:
        """One of the toolset's own tools, by its present or a former name.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            UnknownToolError: the client has no such tool.
            AccessError: who may have which tool cannot be found out.
        """
        return self._own.load(self._present(name, client))

    def listed_tool(self, name: str, client: str | None = None) -> ListedTool:
        """What lists show of one of the toolset's own tools; its module is not imported.

        Raises: as `get_tool`.
        """
        return self._own.listed(self._present(name, client))

    def tools(self, client: str | None = None) -> list[Tool]:
        """The toolset's own tools that a client may have, in the declared order.

        Imports the module of each.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        return [self._own.load(name) for name in self.names(client)]

    async def find_tool(self, name: str, client: str | None = None) -> Tool:
        """A tool, the toolset's own or a source's, by its present or a former name.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            UnknownToolError: the client has no such tool.
            AccessError: who may have which tool cannot be found out.
        """
        return (await self._found(name, client))[0]

    async def list_tools(self, client: str | None = None) -> list[ListedTool | Tool]:
        """A client's tools: the toolset's own as prepared, in their order, then the sources'.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        own = [self._own.listed(name) for name in self.names(client)]
        return [*own, *await self.source_tools(client)]

    async def source_tools(
        self, client: str | None = None, *, is_always: bool = False
    ) -> list[Tool]:
        """The sources' tools that a client may have, each name once; raises as `list_tools`.

        `is_always`: only those of every turn; a source without any is not waited for.
        """
        access = self.access()
        access.client(client)

        def may_have(name: str) -> bool:
            return name not in self._own and access.may_have(client, name)

        return await list_source_tools(
            self._sources, client, may_have, is_always=is_always
        )

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
        shown: list[dict[str, Any]] = []
        for name in names:
            present = self.resolve(name)
            if present in self._own:
                shown.append(self.listed_tool(present, client).openai())
            else:
                shown.append((await self.find_tool(name, client)).openai())
        return shown

    async def get_always_tools(self, client: str | None = None) -> list[dict[str, Any]]:
        """The client's tools that are offered in every turn, in OpenAI's format."""
        own = [self._own.listed(name) for name in self.names(client)]
        shown = [tool.openai() for tool in own if tool.always]
        others = await self.source_tools(client, is_always=True)
        return shown + [tool.openai() for tool in others]

    async def get_routed_tools_catalog(
        self, client: str | None = None
    ) -> dict[str, str]:
        """Name and summary of the client's tools that are not offered in every turn."""
        listed = await self.list_tools(client)
        return {tool.name: tool.summary for tool in listed if not tool.always}

    route_tools = _route_tools

    get_mcp_tools_sync = sync(get_mcp_tools)
    get_openai_tools_sync = sync(get_openai_tools)
    get_openai_tools_by_names_sync = sync(get_openai_tools_by_names)
    get_always_tools_sync = sync(get_always_tools)
    get_routed_tools_catalog_sync = sync(get_routed_tools_catalog)
    route_tools_sync = sync(route_tools)

    def problems_with_arguments(
        self, name: str, arguments: Mapping[str, Any], client: str | None = None
    ) -> list[str]:
        """What is wrong with the arguments of a call; empty when nothing is.

        Raises:
            LookupError: the client has no such tool of the toolset's own.
        """
        tool = self.get_tool(name, client)
        return self._calls.validators.problems_with_arguments(tool, arguments)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        client: str | None = None,
        *,
        report_progress: ReportProgress | None = None,
    ) -> ToolResponse:
        """Calls a tool.

        The handler gets exactly the arguments that were given, once they are found valid:
        none is added and none is converted. Every failure is a response with an error.
        """
        found = self._found(name, client)
        return await self._calls.find_and_call(
            found, name, arguments, client, report_progress  # type: ignore[arg-type]
        )

    call_tool_sync = sync(call_tool)

    async def close(self) -> None:
        """Ends what the sources hold open, and returns when all calls are recorded."""
        for source in self._sources:
            await source.close()
        if self._tool_calls is not None:
            await self._tool_calls.close()

    @property
    def _calls(self) -> ToolCalls:
        if self._tool_calls is None:
            from ..calls.tool_calls import ToolCalls

            self._tool_calls = ToolCalls(self._ledger)
        return self._tool_calls

    def _is_known(self, name: str) -> bool:
        return name in self._own or any(s.may_own(name) for s in self._sources)

    def _present(self, name: str, client: str | None) -> str:
        present = self.resolve(name)
        if not self.access().may_have(client, present) or present not in self._own:
            raise UnknownToolError(f"unknown tool `{name}`")
        return present

    async def _found(
        self, name: str, client: str | None
    ) -> tuple[Tool, ToolSource | None]:
        present = self.resolve(name)
        # Before any source is asked: what a client may not have costs no I/O.
        if self.access().may_have(client, present):
            if present in self._own:
                return self._own.load(present), None
            found = await find_source_tool(self._sources, client, present)
            if found is not None:
                return found
        raise UnknownToolError(f"unknown tool `{name}`")
