"""Tool search of a toolset's MCP server (`targets.mcp.search`): listed and searched tools."""

from __future__ import annotations

from collections.abc import Sequence

from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.mcp.tool_search import SEARCH_TOOLS, add_search_instructions

from ..model.endpoints import get_server_option
from ..model.model import Toolset, ToolSpec


def has_tool_search(toolset: Toolset) -> bool:
    """Return whether the MCP server has search tools (`targets.mcp.search`).

    It then lists only tools with `always`; clients search all others.
    """
    return get_server_option(toolset, "search") is True


def has_search_hints(toolset: Toolset) -> bool:
    """Return whether definitions have hints for clients with their own tool search."""
    return get_server_option(toolset, "search_hints") is True


def get_server_tool_names(toolset: Toolset) -> dict[str, str]:
    """Return the names of the MCP server's search tools, each with a reason.

    The reason explains why specs must not use the name. Empty without tool search.
    """
    reason = "it is a tool of the MCP server itself (`targets.mcp.search`)"
    return dict.fromkeys(SEARCH_TOOLS, reason) if has_tool_search(toolset) else {}


def select_listed_tools(toolset: Toolset, tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """Return those tools of a client that the MCP server lists.

    Without tool search these are all tools, and otherwise the tools with `always`.
    """
    return [tool for tool in tools if tool.always or not has_tool_search(toolset)]


def list_server_tools(toolset: Toolset, tools: Sequence[ToolSpec]) -> tuple[Tool, ...]:
    """Return the search tools that the MCP server lists for a client with these tools.

    Empty if the server lists all tools itself, so that there is nothing to search.
    """
    # The server extends the instructions exactly if there are tools to search.
    has_searched_tools = get_served_instructions(toolset, tools) != toolset.instructions
    return tuple(SEARCH_TOOLS.values()) if has_searched_tools else ()


def count_listed_tools(toolset: Toolset, tools: Sequence[ToolSpec]) -> int:
    """Return the number of tools that the MCP server lists for a client.

    These are listed tools and the server's search tools.
    """
    return len(select_listed_tools(toolset, tools)) + len(
        list_server_tools(toolset, tools)
    )


def get_served_instructions(toolset: Toolset, tools: Sequence[ToolSpec]) -> str | None:
    """Return the instructions that the MCP server sends to a client with these tools.

    If there are tools to search, they begin with a sentence about the search.
    """
    hidden_count = len(tools) - len(select_listed_tools(toolset, tools))
    has_external = has_tool_search(toolset) and bool(
        get_server_option(toolset, "external")
    )
    return add_search_instructions(
        toolset.instructions, hidden_count, has_others=has_external
    )
