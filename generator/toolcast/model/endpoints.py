"""Where each client of a toolset is served over HTTP, and what its token is called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .language_fields import get_default
from .model import SharedEndpoint, Toolset, Workspace
from .toolset_parts import Client

SHARED_OPTIONS = "client heartbeat search state_key_variable links http.oauth".split()
"""What the toolsets of an endpoint say of their servers that has to be the same."""


class EndpointPlan(NamedTuple):
    """Where one client is served; `client` is None in a toolset without clients."""

    client: str | None
    path: str
    token_variable: str
    client_confirms: bool = False


def list_endpoints(toolset: Toolset) -> Iterator[EndpointPlan]:
    """The endpoint of each client, declared or by default."""
    if not toolset.clients:
        yield EndpointPlan(None, "/mcp/", build_variable_name(toolset, "TOKEN"))
    for client in toolset.clients:
        yield EndpointPlan(
            client.name,
            client.path or _path(toolset, client),
            client.token_variable or build_variable_name(toolset, "TOKEN", client.name),
            client.client_confirms,
        )


def list_endpoint_toolsets(
    workspace: Workspace, endpoint: SharedEndpoint
) -> list[Toolset]:
    """The toolsets that share an endpoint, as far as they are there."""
    there = {toolset.name: toolset for toolset in workspace.toolsets}
    return [there[name] for name in endpoint.toolsets if name in there]


def get_server_option(toolset: Toolset, option: str) -> Any:
    """What a toolset says of its server; None where it says nothing."""
    value: Any = toolset.targets.get("mcp", {})
    for key in option.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def merge_toolsets(endpoint: SharedEndpoint, toolsets: Sequence[Toolset]) -> Toolset:
    """What is said of the server that toolsets share, as if of one without tools.

    A host and an origin may come in where every toolset allows it, a client approves where it
    does so in every toolset that has it, and the largest request is the smallest of them.
    """
    options: dict[str, Any] = {}
    http: dict[str, Any] = {}
    for option in SHARED_OPTIONS:
        settings = [get_server_option(toolset, option) for toolset in toolsets]
        given = next((one for one in settings if one is not None), None)
        if given is not None:
            in_http = option.startswith("http.")
            (http if in_http else options)[option.removeprefix("http.")] = given
    options["external"] = any(get_server_option(one, "external") for one in toolsets)
    for key in ("allowed_hosts", "allowed_origins", "headers"):
        lists = [get_server_option(one, f"http.{key}") or [] for one in toolsets]
        listed = list(dict.fromkeys(text for each in lists for text in each))
        if key != "headers":
            listed = [text for text in listed if all(text in each for each in lists)]
        http[key] = listed
    sizes = [get_server_option(one, "http.max_body") for one in toolsets]
    known = [size for size in sizes if size is not None]
    if known:
        usual = get_default("toolset.targets.mcp.http.max_body")
        http["max_body"] = min(known + [usual] * (len(known) < len(sizes)))
    names = dict.fromkeys(client.name for one in toolsets for client in one.clients)
    each = {
        name: [
            client for one in toolsets for client in one.clients if client.name == name
        ]
        for name in names
    }
    instructions = [one.instructions for one in toolsets if one.instructions]
    return Toolset(
        endpoint.name,
        endpoint.title or ", ".join(one.title for one in toolsets),
        "",
        instructions="\n\n".join(text.strip() for text in instructions) or None,
        clients=tuple(
            Client(
                name, client_confirms=all(client.client_confirms for client in clients)
            )
            for name, clients in each.items()
        ),
        targets={"mcp": {**options, "http": http}},
    )


def build_variable_name(toolset: Toolset, *words: str) -> str:
    """The environment variable of a toolset's setting."""
    text = "_".join((toolset.name, *words)).upper()
    return re.sub(r"[^A-Z0-9]", "_", text)


def _path(toolset: Toolset, client: Client) -> str:
    from urllib.parse import quote

    if client.name == toolset.targets.get("mcp", {}).get("client"):
        return "/mcp/"
    return f"/mcp/{quote(client.name, safe='')}/"
