"""The tools among which a message chooses, as the router sees them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from toolcast_runtime.router.route import RoutedTool

from ..facts.prompt_docs import usage_lines
from ..model.model import Toolset, ToolSpec

__all__ = ["Catalogue", "catalogues", "routed"]


class Catalogue(NamedTuple):
    """What some clients are offered.

    Attributes:
        clients: the clients; empty where the toolset has none.
        tools: their tools, those of every turn among them.
    """

    clients: tuple[str, ...]
    tools: tuple[ToolSpec, ...]


def catalogues(toolset: Toolset, client: str | None = None) -> list[Catalogue]:
    """What the clients of a toolset are offered; those with the same tools are one.

    Args:
        client: this client alone.
    """
    tools = toolset.tools_in("registry")
    if not toolset.clients:
        return [Catalogue((), tools)]
    clients: dict[tuple[ToolSpec, ...], list[str]] = {}
    for one in toolset.clients:
        if client in (None, one.name):
            offered = tuple(tool for tool in tools if toolset.is_offered(tool, one))
            clients.setdefault(offered, []).append(one.name)
    return [Catalogue(tuple(names), offered) for offered, names in clients.items()]


def routed(tools: Sequence[ToolSpec]) -> tuple[RoutedTool, ...]:
    """Tools as the router of a registry sees them."""
    return tuple(
        RoutedTool(
            tool.name,
            tool.summary,
            tool.model_description,
            # The first paragraph of the docs, as a definition has it.
            "\n".join(takewhile(bool, map(str, usage_lines(tool)))),
            tool.parameters,
        )
        for tool in tools
    )
