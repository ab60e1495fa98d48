"""A toolset's tools: who sees which, look-up, and calls."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from .call_context import CallContext, ReportProgress
from .calling import run_handler
from .handlers import BoundHandler, bind_handler
from .tool import Tool
from .tool_response import ToolResponse
from .validation import Validators

__all__ = ["Registry", "UnknownClientError", "UnknownToolError"]

_logger = logging.getLogger("toolcast")


class UnknownToolError(LookupError):
    """No tool of that name is offered to that client."""


class UnknownClientError(LookupError):
    """The toolset has no such client; nobody is let in by default."""


class Registry:
    """The tools of one toolset.

    Args:
        package: the toolset's package; its `tools` has one module a tool.
        modules: the module of each tool, by the tool's name, in the declared order.
        clients: the tools that each client may see and call; None when the toolset has no
            clients and its one caller may have every tool.
        former_names: the tool that each former name resolves to. Lists never show them.
    """

    def __init__(
        self,
        package: str | None,
        modules: Mapping[str, str],
        clients: Mapping[str, tuple[str, ...]] | None = None,
        former_names: Mapping[str, str] | None = None,
    ) -> None:
        self._package = package
        self._modules = modules
        self._clients = clients
        self._former_names = former_names or {}
        self._handlers: dict[str, BoundHandler] = {}
        self._validators = Validators()

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
        present = self.resolve(name)
        if present not in self.names(client):
            raise UnknownToolError(f"unknown tool `{name}`")
        return self._load(present)

    def tools(self, client: str | None = None) -> list[Tool]:
        """A client's tools, in the declared order.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
        """
        return [self._load(name) for name in self.names(client)]

    def get_mcp_tools(self, client: str | None = None) -> list[Mapping[str, Any]]:
        """A client's tools as MCP's `tools/list` shows them."""
        return [tool.definition for tool in self.tools(client)]

    def get_openai_tools(self, client: str | None = None) -> list[dict[str, Any]]:
        """A client's tools in OpenAI's Chat Completions format."""
        return [tool.openai() for tool in self.tools(client)]

    def get_openai_tools_by_names(
        self, names: Iterable[str], client: str | None = None
    ) -> list[dict[str, Any]]:
        """The named tools in OpenAI's format, in the order of the names.

        Raises:
            UnknownToolError: the client has no tool of one of the names.
        """
        return [self.get_tool(name, client).openai() for name in names]

    def get_always_tools(self, client: str | None = None) -> list[dict[str, Any]]:
        """The client's tools that are offered in every turn, in OpenAI's format."""
        return [tool.openai() for tool in self.tools(client) if tool.always]

    def get_routed_tools_catalog(self, client: str | None = None) -> dict[str, str]:
        """Name and summary of the client's tools that are not offered in every turn."""
        return {
            tool.name: tool.summary for tool in self.tools(client) if not tool.always
        }

    def problems_with_arguments(
        self, name: str, arguments: Mapping[str, Any], client: str | None = None
    ) -> list[str]:
        """What is wrong with the arguments of a call; empty when nothing is.

        Raises:
            LookupError: the client has no such tool.
        """
        tool = self.get_tool(name, client)
        return self._validators.problems_with_arguments(tool, arguments)

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
        try:
            tool = self.get_tool(name, client)
        except LookupError as error:
            return ToolResponse(error=str(error))
        given: Mapping[str, Any] = {} if arguments is None else arguments
        problems = self._validators.problems_with_arguments(tool, given)
        if problems:
            return ToolResponse(error=_invalid(tool, problems))
        if tool.handler is None:
            return ToolResponse(
                error=f"the tool `{tool.name}` is not implemented: its spec names no handler"
            )
        try:
            handler = self._handler(tool)
        except Exception:
            _logger.exception("the handler of %s cannot be loaded", tool.name)
            return ToolResponse(
                error=f"the tool `{tool.name}` is not available: its handler cannot be"
                " loaded; the log has the details"
            )
        unknown = handler.not_taken(given)
        if unknown:
            problems = [f"`{argument}` is not a parameter" for argument in unknown]
            return ToolResponse(error=_invalid(tool, problems))
        context = CallContext(tool.name, client, report_progress)
        return await run_handler(tool, handler, given, context, self._validators)

    def call_tool_sync(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        client: str | None = None,
    ) -> ToolResponse:
        """`call_tool` for callers without an event loop."""
        return asyncio.run(self.call_tool(name, arguments, client))

    def _load(self, name: str) -> Tool:
        module = importlib.import_module(f"{self._package}.tools.{self._modules[name]}")
        tool: Tool = module.TOOL
        return tool

    def _handler(self, tool: Tool) -> BoundHandler:
        handler = self._handlers.get(tool.name)
        if handler is None:
            properties = frozenset(tool.parameters.get("properties", {}))
            handler = bind_handler(tool.handler or "", properties)
            self._handlers[tool.name] = handler
        return handler


def _invalid(tool: Tool, problems: list[str]) -> str:
    lines = "".join(f"\n- {problem}" for problem in problems)
    return f"the arguments of `{tool.name}` are not valid:{lines}"
