"""Which request is answered by which function, and what a path names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..mcp_side import UnreachableError
from ..refused import RequestRefusedError
from ..rows import Agent, Entry, Tool, is_id

if TYPE_CHECKING:
    from ..serving import Request

__all__ = [
    "Routes",
    "agent_of",
    "arguments_of",
    "check_id",
    "entry_named",
    "entry_of",
    "tool_of",
    "unreachable",
]

Handle = Callable[..., Any]


class Routes:
    """Routes of one part, each as Letta 0.16.6 answers it.

    Attributes:
        all: method, pattern of the path, and function, in the order in which they are tried.
    """

    def __init__(self) -> None:
        self.all: list[tuple[str, str, Handle]] = []

    def on(self, method: str, pattern: str) -> Callable[[Handle], Handle]:
        """Adds the decorated function."""

        def keep(handle: Handle) -> Handle:
            self.all.append((method, pattern, handle))
            return handle

        return keep


def agent_of(request: Request, agent_id: str) -> Agent:
    check_id("agent", agent_id)
    agent = request.world.agents.get(agent_id)
    if agent is None:
        raise RequestRefusedError(404, "Agent not found")
    return agent


def tool_of(request: Request, tool_id: str) -> Tool:
    check_id("tool", tool_id)
    tool = request.world.tools.get(tool_id)
    if tool is None:
        raise RequestRefusedError(404, f"Tool with id {tool_id} not found.")
    return tool


def check_id(kind: str, given: str) -> None:
    if not is_id(kind, given):
        raise RequestRefusedError(
            422, f"[{{'type': 'string_pattern_mismatch', 'input': '{given}'}}]"
        )


def entry_of(request: Request, entry_id: str) -> Entry:
    entry = request.world.entries.get(entry_id)
    if entry is None:
        raise RequestRefusedError(
            404, f"NoResultFound: MCPServer with id {entry_id} not found"
        )
    return entry


def entry_named(request: Request, name: str) -> Entry:
    entry = request.world.entry_named(name)
    if entry is None:
        raise RequestRefusedError(400, f"MCP server '{name}' not found")
    return entry


def unreachable(error: UnreachableError) -> RequestRefusedError:
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


def arguments_of(request: Request) -> dict[str, Any]:
    return dict((request.body or {}).get("args") or {})
