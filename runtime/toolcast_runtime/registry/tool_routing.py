"""The registry's method `route_tools`: its tools as the router sees them.

The registry's module imports this one, so it loads next to nothing itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..router.route import RoutedTool
    from ..tools.tool import Tool
    from .registry import Registry
    from .tool_list import ListedTool

__all__ = ["route_tools"]


async def route_tools(
    self: Registry,
    message: str,
    catalog: Mapping[str, str] | None = None,
    client: str | None = None,
    *,
    history: Sequence[str] = (),
) -> list[str]:
    """The names of the routed tools that fit a message; when in doubt, all of them.

    Args:
        message: what the user said last.
        catalog: what `get_routed_tools_catalog` gave: only its names are chosen from, and
            no client has to be named. None for the client's whole catalogue.
        client: who is served.
        history: the messages before, oldest first.

    Raises:
        UnknownClientError: without a catalogue, the toolset has clients and this is none.
        AccessError: without a catalogue, who may have which tool cannot be found out.
    """
    from ..router.route import RoutedTool
    from ..router.router import Router

    if catalog is None:
        listed = await self.list_tools(client)
    else:
        listed = await _known(self, frozenset(catalog))
    known = {tool.name: _routed(tool) for tool in listed if not tool.always}
    tools = list(known.values())
    if catalog is not None:
        # One that is not listed any more is chosen by what the catalogue says.
        tools = [known.get(n) or RoutedTool(n, text) for n, text in catalog.items()]
    router = self._router or Router()
    route = await router.route(message, tools, history)
    return list(route.names)


async def _known(self: Registry, names: frozenset[str]) -> list[ListedTool | Tool]:
    """What there is of the tools of a catalogue, whoever it was made for."""
    own = [self._own.listed(name) for name in self._own.names if name in names]
    asked = [source for source in self._sources if any(map(source.may_own, names))]
    return [*own, *[tool for source in asked for tool in await source.list_tools()]]


def _routed(tool: ListedTool | Tool) -> RoutedTool:
    from ..router.route import RoutedTool

    return RoutedTool(
        tool.name,
        tool.summary,
        tool.description,
        getattr(tool, "when_to_use", ""),
        tool.parameters,
    )
