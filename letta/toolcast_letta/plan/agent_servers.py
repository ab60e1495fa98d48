"""The list of MCP servers that each agent has in a settings file of Letta Code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .desired_state import DesiredAgent, DesiredState
from .plan import Change

AGENT_HEADER = "X-Agent-Id"
"""The request header that names the calling agent.

A Letta server adds it to each call itself.
"""


def format_alias(name: str) -> str:
    """Return a server's alias, which its tools' names contain.

    A tool is named `mcp__<alias>__<tool>`. Characters other than ASCII letters, digits,
    `_` and `-` become `_`, and several `_` become one. The alias of an empty name is
    `tool`.
    """
    return re.sub("_{2,}", "_", re.sub("[^a-zA-Z0-9_-]", "_", name)) or "tool"


def build_desired_entry(
    servers: Sequence[Mapping[str, Any]], desired: DesiredState, agent: DesiredAgent
) -> dict[str, Any]:
    """Return the entry of the toolset's MCP server for an agent, with secrets.

    Headers that a user added to the existing entry are preserved, unless another owner
    created that entry for another server.
    """
    own_headers = {AGENT_HEADER: agent.id}
    if desired.token is not None:
        own_headers["Authorization"] = f"Bearer {desired.token}"
    # Header names are case-insensitive: compare them in lower case.
    own_names = {name.lower() for name in own_headers}
    old = next(
        (server for server in servers if server.get("name") == desired.server_name),
        None,
    )
    old_headers = None
    if old is not None and not is_foreign(old, desired, agent):
        old_headers = old.get("headers")
    headers = {}
    if isinstance(old_headers, dict):
        headers = {k: v for k, v in old_headers.items() if k.lower() not in own_names}
    return {
        "name": desired.server_name,
        "transport": "http",
        "url": desired.server_url,
        "headers": {**headers, **own_headers},
    }


def is_not_http(server: Mapping[str, Any]) -> bool:
    """Return whether an entry starts a program or uses a transport other than HTTP."""
    return server.get("transport") != "http" or "command" in server


def is_foreign(
    server: Mapping[str, Any], desired: DesiredState, agent: DesiredAgent
) -> bool:
    """Return whether another owner created an entry with the toolset's server name.

    The toolset's own entry uses HTTP, and has the URL of the toolset's server or an
    agent header with this agent's id, which apply writes.
    """
    if is_not_http(server):
        return True
    headers = server.get("headers")
    values = headers if isinstance(headers, Mapping) else {}
    agent_ids = [v for k, v in values.items() if k.lower() == AGENT_HEADER.lower()]
    return server.get("url") != desired.server_url and agent_ids != [agent.id]


def set_entry(
    servers: Sequence[Mapping[str, Any]], entry: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return a copy of a list of servers in which one entry is set.

    An existing HTTP entry is updated and retains its other keys; an entry that is not
    HTTP is replaced. A new entry is appended.
    """
    result = [dict(server) for server in servers]
    for server in result:
        if server.get("name") == entry["name"]:
            # An entry that starts a program has other keys than an HTTP entry.
            if is_not_http(server):
                server.clear()
            server.update(entry)
            return result
    return [*result, dict(entry)]


def compare_entry(
    servers: Sequence[Mapping[str, Any]], entry: Mapping[str, Any], agent: str
) -> Change | None:
    """Return the change to the entry of an MCP server in an agent's settings.

    Args:
        servers: the existing entries of the agent.
        entry: the desired entry; an existing entry with the same name is replaced.
        agent: the name of the agent.

    Returns:
        The change, without secrets; None if the existing entry is equal.
    """
    old = next((s for s in servers if s.get("name") == entry["name"]), None)
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
