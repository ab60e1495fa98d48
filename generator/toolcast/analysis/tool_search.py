"""Which tools an MCP server lists, and which are searched for, by `targets.mcp.search`."""

from __future__ import annotations

from collections.abc import Sequence

from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.mcp.tool_search import OWN, introduced

from ..model.endpoints import get_server_option
from ..model.model import Toolset, ToolSpec


def has_tool_search(toolset: Toolset) -> bool:
    """Whether its MCP server lists the tools of every turn alone."""
    return get_server_option(toolset, "search") is True


def has_search_hints(toolset: Toolset) -> bool:
    """Whether definitions tell clients that search by themselves what to load and to find."""
    return get_server_option(toolset, "search_hints") is True


def get_server_tool_names(toolset: Toolset) -> dict[str, str]:
    """The names of its MCP server's own tools, each with why no other may have it."""
    why = "it is the MCP server's own (`targets.mcp.search`)"
    return dict.fromkeys(OWN, why) if has_tool_search(toolset) else {}


def select_listed_tools(toolset: Toolset, tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """Those of a client's tools that its MCP server lists."""
    return [tool for tool in tools if tool.always or not has_tool_search(toolset)]


def list_server_tools(toolset: Toolset, tools: Sequence[ToolSpec]) -> tuple[Tool, ...]:
    """What its MCP server lists of its own to a client that may have these tools."""
    has_others = get_served_instructions(toolset, tools) != toolset.instructions
    return tuple(OWN.values()) if has_others else ()


def count_listed_tools(toolset: Toolset, tools: Sequence[ToolSpec]) -> int:
    """How many tools its MCP server lists to a client that may have these."""
    return len(select_listed_tools(toolset, tools)) + len(
        list_server_tools(toolset, tools)
    )


def get_served_instructions(toolset: Toolset, tools: Sequence[ToolSpec]) -> str | None:
    """What its MCP server tells a client that may have these tools."""
    hidden = len(tools) - len(select_listed_tools(toolset, tools))
    has_others = has_tool_search(toolset) and bool(
        get_server_option(toolset, "external")
    )
    return introduced(toolset.instructions, hidden, has_others=has_others)
