"""HTTP endpoints of clients: their paths and the environment variables of their tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .language_fields import get_default
from .model import SharedEndpoint, Toolset, Workspace
from .toolset_parts import Client

SHARED_OPTIONS = "client heartbeat search state_key_variable links http.oauth".split()
"""Options of the target `mcp` that must be equal in all toolsets of a shared endpoint."""


class EndpointPlan(NamedTuple):
    """The HTTP endpoint of one client.

    `client` is None in a toolset without clients.
    """

    client: str | None
    path: str
    token_variable: str
    client_confirms: bool = False


def list_endpoints(toolset: Toolset) -> Iterator[EndpointPlan]:
    """Yield the endpoint of each client, with defaults for path and token variable.

    A toolset without clients has one endpoint at `/mcp/`.
    """
    if not toolset.clients:
        yield EndpointPlan(None, "/mcp/", build_variable_name(toolset, "TOKEN"))
    for client in toolset.clients:
        yield EndpointPlan(
            client.name,
            client.path or _get_default_path(toolset, client),
            client.token_variable or build_variable_name(toolset, "TOKEN", client.name),
            client.client_confirms,
        )


def list_endpoint_toolsets(
    workspace: Workspace, endpoint: SharedEndpoint
) -> list[Toolset]:
    """Return the toolsets of a shared endpoint; names without a toolset are ignored."""
    toolsets = {toolset.name: toolset for toolset in workspace.toolsets}
    return [toolsets[name] for name in endpoint.toolsets if name in toolsets]


def get_server_option(toolset: Toolset, option: str) -> Any:
    """Return an option of the target `mcp`, such as `http.max_body`; None if not set."""
    value: Any = toolset.targets.get("mcp", {})
    for key in option.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def merge_toolsets(endpoint: SharedEndpoint, toolsets: Sequence[Toolset]) -> Toolset:
    """Return a toolset without tools that has the server settings of a shared endpoint.

    If the toolsets differ, the stricter setting is used: hosts and origins that all toolsets
    allow, and the smallest maximum size of a request. A client confirms calls itself only if
    it does in every toolset that declares it.
    """
    options: dict[str, Any] = {}
    http: dict[str, Any] = {}
    for option in SHARED_OPTIONS:
        settings = _list_settings(toolsets, option)
        # The rule `access/shared-endpoint` requires equal values, so use those of the first
        # toolset.
        if settings:
            group = http if option.startswith("http.") else options
            group[option.removeprefix("http.")] = settings[0]
    options["external"] = any(_list_settings(toolsets, "external"))
    for key in ("allowed_hosts", "allowed_origins", "headers"):
        lists = [get_server_option(t, f"http.{key}") or [] for t in toolsets]
        values = list(dict.fromkeys(value for items in lists for value in items))
        # Headers are combined; hosts and origins are allowed only if all toolsets allow them.
        if key != "headers":
            values = [
                value for value in values if all(value in items for items in lists)
            ]
        http[key] = values
    sizes = _list_settings(toolsets, "http.max_body")
    if sizes:
        # A toolset that does not set the size has the default, which may be the smallest.
        if len(sizes) < len(toolsets):
            sizes.append(get_default("toolset.targets.mcp.http.max_body"))
        http["max_body"] = min(sizes)
    instructions = [t.instructions.strip() for t in toolsets if t.instructions]
    return Toolset(
        endpoint.name,
        endpoint.title or ", ".join(toolset.title for toolset in toolsets),
        "",
        instructions="\n\n".join(instructions) or None,
        clients=_merge_clients(toolsets),
        targets={"mcp": {**options, "http": http}},
    )


def _list_settings(toolsets: Sequence[Toolset], option: str) -> list[Any]:
    """Return an option's value from each toolset that sets it; the list can be empty."""
    settings = [get_server_option(toolset, option) for toolset in toolsets]
    return [setting for setting in settings if setting is not None]


def _merge_clients(toolsets: Sequence[Toolset]) -> tuple[Client, ...]:
    """Return one client per name in any of the toolsets, without access lists."""
    confirmations: dict[str, list[bool]] = {}
    for toolset in toolsets:
        for client in toolset.clients:
            confirmations.setdefault(client.name, []).append(client.client_confirms)
    return tuple(
        Client(name, client_confirms=all(flags))
        for name, flags in confirmations.items()
    )


def build_variable_name(toolset: Toolset, *parts: str) -> str:
    """Return the name of a toolset's environment variable, such as `SHOP_TOKEN_AGENT`.

    Characters other than ASCII letters and digits become `_`.
    """
    text = "_".join((toolset.name, *parts)).upper()
    return re.sub(r"[^A-Z0-9]", "_", text)


def _get_default_path(toolset: Toolset, client: Client) -> str:
    """Return `/mcp/` for the client in `targets.mcp.client`, else `/mcp/CLIENT/`."""
    from urllib.parse import quote

    if client.name == toolset.targets.get("mcp", {}).get("client"):
        return "/mcp/"
    return f"/mcp/{quote(client.name, safe='')}/"
