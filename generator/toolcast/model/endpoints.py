"""Where each client of a toolset is served over HTTP, and what its token is called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .clients import Client
from .model import Toolset

__all__ = ["EndpointPlan", "endpoints", "variable"]


class EndpointPlan(NamedTuple):
    """Where one client is served; `client` is None in a toolset without clients."""

    client: str | None
    path: str
    token_variable: str
    approves: bool = False


def endpoints(toolset: Toolset) -> Iterator[EndpointPlan]:
    """The endpoint of each client, declared or by default."""
    if not toolset.clients:
        yield EndpointPlan(None, "/mcp/", variable(toolset, "TOKEN"))
    for client in toolset.clients:
        yield EndpointPlan(
            client.name,
            client.path or _path(toolset, client),
            client.token_variable or variable(toolset, "TOKEN", client.name),
            client.approves,
        )


def variable(toolset: Toolset, *words: str) -> str:
    """The environment variable of a toolset's setting."""
    text = "_".join((toolset.name, *words)).upper()
    return re.sub(r"[^A-Z0-9]", "_", text)


def _path(toolset: Toolset, client: Client) -> str:
    from urllib.parse import quote

    if client.name == toolset.targets.get("mcp", {}).get("client"):
        return "/mcp/"
    return f"/mcp/{quote(client.name, safe='')}/"
