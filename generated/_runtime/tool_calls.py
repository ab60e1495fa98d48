"""The calls of a registry: what is checked before a handler runs, in which order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from .call_context import CallContext, ReportProgress
from .calling import run_handler
from .handlers import BoundHandler, bind_handler
from .tool import Tool
from .tool_response import ToolResponse
from .validation import Validators

__all__ = ["ToolCalls"]

_logger = logging.getLogger("toolcast")


class ToolCalls:
    """Calls tools; keeps their handlers and compiled validators.

    Args:
        get_tool: gives a client's tool by its present or a former name, or raises
            LookupError.
    """

    def __init__(self, get_tool: Callable[[str, str | None], Tool]) -> None:
        self._get_tool = get_tool
        self._handlers: dict[str, BoundHandler] = {}
        self._validators = Validators()

    def problems_with_arguments(
        self, name: str, arguments: Mapping[str, Any], client: str | None
    ) -> list[str]:
        """What is wrong with the arguments of a call; empty when nothing is.

        Raises:
            LookupError: the client has no such tool.
        """
        tool = self._get_tool(name, client)
        return self._validators.problems_with_arguments(tool, arguments)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        client: str | None,
        report_progress: ReportProgress | None,
    ) -> ToolResponse:
        """Calls a tool; every failure is a response with an error."""
        try:
            tool = self._get_tool(name, client)
        except LookupError as error:
            return ToolResponse(error=str(error))
        except Exception:
            _logger.exception("the tool %s cannot be loaded", name)
            return ToolResponse(
                error=f"the tool `{name}` is not available: it cannot be loaded; the log"
                " has the details"
            )
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
