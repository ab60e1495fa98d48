"""Makes a used server empty, so that tests do not see one another."""

from __future__ import annotations

import httpx

__all__ = ["clean"]


def clean(base_url: str) -> None:
    """Deletes all agents, MCP servers and tools but the built-ins, which it makes whole."""
    with httpx.Client(base_url=base_url, timeout=60) as client:
        for kind in ("agents", "mcp-servers"):
            for one in client.get(f"/v1/{kind}/", params={"limit": 1000}).json():
                name = f"/v1/{kind}/{one['id']}"
                client.delete(name).raise_for_status()
        for tool in client.get("/v1/tools/", params={"limit": 1000}).json():
            if tool["tool_type"] in ("external_mcp", "custom"):
                client.delete(f"/v1/tools/{tool['id']}").raise_for_status()
        # Listing the tools is what creates missing built-ins again.
        client.get("/v1/tools/").raise_for_status()
