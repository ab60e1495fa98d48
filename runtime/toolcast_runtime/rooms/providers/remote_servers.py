"""The tools of an MCP server that a model provider calls by itself.

Sources: the types of `anthropic` 2.12 (`BetaMCPToolsetParam`) and of `openai` 3.54 (`Mcp`), and
both providers' pages on MCP servers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.definitions.tool import Tool
from .anthropic_form import SEARCH


def anthropic_toolset(
    server: str, tools: Iterable[Tool], *, tool_search: bool, pinned: bool
) -> list[dict[str, Any]]:
    """An `mcp_toolset`, and the tool search where it defers tools.

    Args:
        server: its name in `mcp_servers` of the request.
        tools: those that are enabled; what else the server lists is not.
        tool_search: whether tools that are not `always` are deferred.
        pinned: whether the definitions are sent along. The server is then not asked for them,
            and one that changed them has no effect on what the model reads.
    """
    configs: dict[str, dict[str, bool]] = {}
    listed = list(tools)
    for tool in listed:
        configs[tool.name] = {"enabled": True}
        if tool_search and not tool.always:
            configs[tool.name]["defer_loading"] = True
    toolset: dict[str, Any] = {
        "type": "mcp_toolset",
        "mcp_server_name": server,
        "default_config": {"enabled": False},
        "configs": configs,
    }
    if pinned:
        toolset["tools"] = [_pinned(tool) for tool in listed]
    is_searched = any("defer_loading" in config for config in configs.values())
    return [toolset, *([dict(SEARCH)] if is_searched else [])]


def _pinned(tool: Tool) -> dict[str, Any]:
    """A tool as its server lists it."""
    pinned: dict[str, Any] = {"name": tool.name}
    if "description" in tool.definition:
        pinned["description"] = tool.definition["description"]
    return {**pinned, "input_schema": dict(tool.parameters)}


def openai_mcp(
    label: str, url: str, tools: Iterable[Tool], *, tool_search: bool
) -> list[dict[str, Any]]:
    """A tool of `type: mcp`, and the tool search where it is deferred.

    Args:
        label: what its calls name the server.
        url: the server's address.
        tools: those that are allowed; one with `confirm` requires an approval.
        tool_search: whether the server is deferred: as a whole, so that none of its tools may
            be `always`.
    """
    listed = list(tools)
    asked = [tool.name for tool in listed if tool.confirm is not None]
    others = [tool.name for tool in listed if tool.confirm is None]
    approval: Any = {"always": {"tool_names": asked}, "never": {"tool_names": others}}
    if not asked or not others:
        approval = "always" if asked else "never"
    server: dict[str, Any] = {
        "type": "mcp",
        "server_label": label,
        "server_url": url,
        "allowed_tools": [tool.name for tool in listed],
        "require_approval": approval,
    }
    if not tool_search or any(tool.always for tool in listed):
        return [server]
    return [{**server, "defer_loading": True}, {"type": "tool_search"}]
