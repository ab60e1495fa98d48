"""What stands in an agent's list of MCP servers, where a settings file has one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .desired_state import DesiredAgent, DesiredState
from .plan import Change

AGENT_HEADER = "X-Agent-Id"
"""Says of a call which agent makes it. Letta's server sends it by itself."""


def format_alias(name: str) -> str:
    """What stands for a server in the names of its tools, `mcp__<alias>__<tool>`."""
    return re.sub("_{2,}", "_", re.sub("[^a-zA-Z0-9_-]", "_", name)) or "tool"


def build_desired_entry(
    servers: Sequence[Mapping[str, Any]], desired: DesiredState, agent: DesiredAgent
) -> dict[str, Any]:
    """The entry of the toolset's server, with the headers that somebody else wrote into it.

    Of an entry that is somebody else's nothing is kept: its headers are for another server.
    """
    named = [one for one in servers if one.get("name") == desired.server_name]
    old = named[0] if named and not is_foreign(named[0], desired, agent) else {}
    kept = old.get("headers") if isinstance(old.get("headers"), dict) else None
    own = {AGENT_HEADER: agent.id}
    if desired.token is not None:
        own["Authorization"] = f"Bearer {desired.token}"
    ours = {name.lower() for name in own}
    headers = {k: v for k, v in (kept or {}).items() if k.lower() not in ours}
    return {
        "name": desired.server_name,
        "transport": "http",
        "url": desired.server_url,
        "headers": {**headers, **own},
    }


def is_not_http(server: Mapping[str, Any]) -> bool:
    """Whether an entry starts a program, or is reached otherwise than over HTTP."""
    return server.get("transport") != "http" or "command" in server


def is_foreign(
    server: Mapping[str, Any], desired: DesiredState, agent: DesiredAgent
) -> bool:
    """Whether an entry of the toolset's name is somebody else's.

    The toolset's own leads to its server, or names the agent as only an apply does.
    """
    if is_not_http(server):
        return True
    headers = server.get("headers")
    values = headers if isinstance(headers, Mapping) else {}
    marks = [v for k, v in values.items() if k.lower() == AGENT_HEADER.lower()]
    return server.get("url") != desired.server_url and marks != [agent.id]


def set_entry(
    servers: Sequence[Mapping[str, Any]], entry: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The list with one entry set: in its place, where unknown keys stay, or at the end.

    What starts a program is replaced as a whole.
    """
    result = [dict(one) for one in servers]
    for server in result:
        if server.get("name") == entry["name"]:
            if is_not_http(server):
                server.clear()
            server.update(entry)
            return result
    return [*result, dict(entry)]


def compare_entry(
    servers: Sequence[Mapping[str, Any]], entry: Mapping[str, Any], agent: str
) -> Change | None:
    """What setting the entry changes; no secret is part of it. None for nothing."""
    old = next((one for one in servers if one.get("name") == entry["name"]), None)
    if old is None:
        return Change("+", "server", entry["name"], agent, entry["url"])
    changed = [key for key, value in entry.items() if old.get(key) != value]
    if not changed:
        return None
    detail = ", ".join(
        f"url: {old.get('url')} -> {entry['url']}" if key == "url" else key
        for key in changed
    )
    return Change("~", "server", entry["name"], agent, detail)
