"""The tools of a registry as the router sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .routing import Route, RoutedTool, Router

if TYPE_CHECKING:
    from .own_tools import OwnTools
    from .prepared_tools import ListedTool
    from .tool import Tool
    from .tool_source import ToolSource

__all__ = ["cataloged_tools", "route_listed"]


async def cataloged_tools(
    own: OwnTools, sources: Iterable[ToolSource], catalog: Iterable[str]
) -> list[ListedTool | Tool]:
    """What is known of the tools of a catalogue, whoever it was made for."""
    names = frozenset(catalog)
    listed: list[ListedTool | Tool] = [own.listed(n) for n in own.names if n in names]
    for source in sources:
        if any(map(source.may_own, names)):
            listed += [tool for tool in await source.list_tools() if tool.name in names]
    return listed


async def route_listed(
    router: Router | None,
    message: str,
    listed: Iterable[ListedTool | Tool],
    catalog: Mapping[str, str] | None,
    history: Sequence[str],
) -> Route:
    """Chooses among the tools that are not offered in every turn.

    Args:
        listed: the tools that are known, with all their texts.
        catalog: name and summary of the only tools to choose from; None for all that are
            listed. One that is not listed is chosen by these two alone.
    """
    known = {tool.name: _routed(tool) for tool in listed if not tool.always}
    if catalog is None:
        tools = list(known.values())
    else:
        tools = [
            known.get(name) or RoutedTool(name, summary)
            for name, summary in catalog.items()
        ]
    return await (router or Router()).route(message, tools, history)


def _routed(tool: ListedTool | Tool) -> RoutedTool:
    return RoutedTool(
        tool.name, tool.summary, tool.description, tool.when_to_use, tool.parameters
    )
