"""Registration of routes and look-up of what their paths name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import RequestRefusedError
from ..mcp_side import UnreachableError
from ..rows import Agent, Entry, Tool, is_id

if TYPE_CHECKING:
    from ..serving import Request

__all__ = [
    "Routes",
    "get_agent",
    "get_arguments",
    "check_id",
    "find_entry",
    "get_entry",
    "get_tool",
    "build_unreachable_error",
]

Handle = Callable[..., Any]


class Routes:
    """Routes of a resource that answer as Letta 0.16.6.

    Attributes:
        all: method, path pattern and function, in matching order.
    """

    def __init__(self) -> None:
        self.all: list[tuple[str, str, Handle]] = []

    def add(self, method: str, pattern: str) -> Callable[[Handle], Handle]:
        """Register the decorated function."""

        def register(handle: Handle) -> Handle:
            self.all.append((method, pattern, handle))
            return handle

        return register


def get_agent(request: Request, agent_id: str) -> Agent:
    check_id("agent", agent_id)
    agent = request.world.agents.get(agent_id)
    if agent is None:
        raise RequestRefusedError(404, "Agent not found")
    return agent


def get_tool(request: Request, tool_id: str) -> Tool:
    check_id("tool", tool_id)
    tool = request.world.tools.get(tool_id)
    if tool is None:
        raise RequestRefusedError(404, f"Tool with id {tool_id} not found.")
    return tool


def check_id(kind: str, value: str) -> None:
    if not is_id(kind, value):
        raise RequestRefusedError(
            422, f"[{{'type': 'string_pattern_mismatch', 'input': '{value}'}}]"
        )


def get_entry(request: Request, entry_id: str) -> Entry:
    entry = request.world.entries.get(entry_id)
    if entry is None:
        raise RequestRefusedError(
            404, f"NoResultFound: MCPServer with id {entry_id} not found"
        )
    return entry


def find_entry(request: Request, name: str) -> Entry:
    entry = request.world.find_entry(name)
    if entry is None:
        raise RequestRefusedError(400, f"MCP server '{name}' not found")
    return entry


def build_unreachable_error(error: UnreachableError) -> RequestRefusedError:
    return RequestRefusedError(
        502,
        {
            "error": {
                "type": "mcp_connection_error",
                "message": "Failed to connect to MCP server.",
                "detail": str(error),
            }
        },
    )


def get_arguments(request: Request) -> dict[str, Any]:
    return dict((request.body or {}).get("args") or {})
