"""A toolset's tools: who sees which, look-up, and calls.

Importing this module loads next to nothing. Lists come from what was prepared at generation;
a tool's module is imported when the tool itself is asked for, and what calls need at the first
call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .prepared_tools import ListedTool, PreparedTools, PreparedToolsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .call_context import ReportProgress
    from .tool import Tool
    from .tool_calls import ToolCalls
    from .tool_response import ToolResponse

__all__ = ["Registry", "UnknownClientError", "UnknownToolError"]


class UnknownToolError(LookupError):
    """No tool of that name is offered to that client."""


class UnknownClientError(LookupError):
    """The toolset has no such client; nobody is let in by default."""


class Registry:
    """The tools of one toolset.

    Args:
        package: the toolset's package; its `tools` has one module a tool.
        modules: the module of each tool, by the tool's name, in the declared order.
        checksum: that of the prepared file which belongs to these modules.
        clients: the tools that each client may see and call; None when the toolset has no
            clients and its one caller may have every tool.
        former_names: the tool that each former name resolves to. Lists never show them.

    Attributes:
        prepared: what lists show of every tool, whoever may see it.
    """

    def __init__(
        self,
        package: str | None,
        modules: Mapping[str, str],
        checksum: str,
        clients: Mapping[str, tuple[str, ...]] | None = None,
        former_names: Mapping[str, str] | None = None,
    ) -> None:
        self._package = package
        self._modules = modules
        self._clients = clients
        self._former_names = former_names or {}
        self.prepared = PreparedTools(package, modules, checksum)
        self._offered: dict[str | None, frozenset[str]] = {}
        self._tools: dict[str, Tool] = {}
        self._tool_calls: ToolCalls | None = None

    def names(self, client: str | None = None) -> tuple[str, ...]:
        """The names of a client's tools, in the declared order.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
        """
        if self._clients is None:
            if client is not None:
                raise UnknownClientError(f"the toolset has no client `{client}`")
            return tuple(self._modules)
        if client is None:
            raise UnknownClientError("name the client that asks")
        if client not in self._clients:
            raise UnknownClientError(f"the toolset has no client `{client}`")
        return self._clients[client]

    def resolve(self, name: str) -> str:
        """The present name of a tool that may be asked for by a former one."""
        return self._former_names.get(name, name)

    def get_tool(self, name: str, client: str | None = None) -> Tool:
        """A tool by its present or a former name.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            UnknownToolError: the client has no such tool.
        """
        return self._load(self._present(name, client))

    def listed_tool(self, name: str, client: str | None = None) -> ListedTool:
        """What lists show of a tool; the tool's module is not imported for it.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            UnknownToolError: the client has no such tool.
        """
        return self.prepared.tool(self._present(name, client))

    def tools(self, client: str | None = None) -> list[Tool]:
        """A client's tools, in the declared order; imports the module of each.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
        """
        return [self._load(name) for name in self.names(client)]

    def listed_tools(self, client: str | None = None) -> list[ListedTool]:
        """What lists show of a client's tools, in the declared order."""
        return [self.prepared.tool(name) for name in self.names(client)]

    def tools_json(self, names: Iterable[str]) -> bytes:
        """The JSON array of tools as MCP's `tools/list` sends it, in the order of the names.

        The names must be the registry's own: who may see them was decided before.
        """
        return self.prepared.tools_json(names)

    def get_mcp_tools(self, client: str | None = None) -> list[Mapping[str, Any]]:
        """A client's tools as MCP's `tools/list` shows them."""
        return [tool.definition for tool in self.listed_tools(client)]

    def get_openai_tools(self, client: str | None = None) -> list[dict[str, Any]]:
        """A client's tools in OpenAI's Chat Completions format."""
        return [tool.openai() for tool in self.listed_tools(client)]

    def get_openai_tools_by_names(
        self, names: Iterable[str], client: str | None = None
    ) -> list[dict[str, Any]]:
        """The named tools in OpenAI's format, in the order of the names.

        Raises:
            UnknownToolError: the client has no tool of one of the names.
        """
        return [self.listed_tool(name, client).openai() for name in names]

    def get_always_tools(self, client: str | None = None) -> list[dict[str, Any]]:
        """The client's tools that are offered in every turn, in OpenAI's format."""
        return [tool.openai() for tool in self.listed_tools(client) if tool.always]

    def get_routed_tools_catalog(self, client: str | None = None) -> dict[str, str]:
        """Name and summary of the client's tools that are not offered in every turn."""
        listed = self.listed_tools(client)
        return {tool.name: tool.summary for tool in listed if not tool.always}

    def problems_with_arguments(
        self, name: str, arguments: Mapping[str, Any], client: str | None = None
    ) -> list[str]:
        """What is wrong with the arguments of a call; empty when nothing is.

        Raises:
            LookupError: the client has no such tool.
        """
        return self._calls.problems_with_arguments(name, arguments, client)

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
        return await self._calls.call(name, arguments, client, report_progress)

    def call_tool_sync(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        client: str | None = None,
    ) -> ToolResponse:
        """`call_tool` for callers without an event loop."""
        import asyncio

        return asyncio.run(self.call_tool(name, arguments, client))

    @property
    def _calls(self) -> ToolCalls:
        if self._tool_calls is None:
            from .tool_calls import ToolCalls

            self._tool_calls = ToolCalls(self.get_tool)
        return self._tool_calls

    def _present(self, name: str, client: str | None) -> str:
        offered = self._offered.get(client)
        if offered is None:
            offered = self._offered[client] = frozenset(self.names(client))
        present = self.resolve(name)
        if present not in offered:
            raise UnknownToolError(f"unknown tool `{name}`")
        return present

    def _load(self, name: str) -> Tool:
        tool = self._tools.get(name)
        if tool is None:
            import importlib

            module = f"{self._package}.tools.{self._modules[name]}"
            tool = importlib.import_module(module).TOOL
            if tool.definition != self.prepared.tool(name).definition:
                raise PreparedToolsError(
                    f"{module} is of another generation than the prepared lists, which"
                    f" show `{name}` otherwise: generate both again"
                )
            self._tools[name] = tool
        return tool
