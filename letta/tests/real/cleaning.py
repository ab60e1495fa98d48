"""Removal of all data from a used Letta server, so that tests are independent."""

from __future__ import annotations

import httpx

__all__ = ["clean_server"]


def clean_server(base_url: str) -> None:
    """Delete all agents, MCP servers and custom tools, and restore built-in tools."""
    with httpx.Client(base_url=base_url, timeout=60) as client:
        for kind in ("agents", "mcp-servers"):
            for row in client.get(f"/v1/{kind}/", params={"limit": 1000}).json():
                name = f"/v1/{kind}/{row['id']}"
                client.delete(name).raise_for_status()
        for tool in client.get("/v1/tools/", params={"limit": 1000}).json():
            if tool["tool_type"] in ("external_mcp", "custom"):
                client.delete(f"/v1/tools/{tool['id']}").raise_for_status()
        # Letta restores missing built-in tools when tools are listed.
        client.get("/v1/tools/").raise_for_status()
