"""The tools that a registry's sources give a client."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..tools.tool import Tool
    from .provider import ToolSource

__all__ = ["find_source_tool", "list_source_tools"]


async def list_source_tools(
    sources: Iterable[ToolSource],
    client: str | None,
    may_have: Callable[[str], bool],
    *,
    is_always: bool = False,
) -> list[Tool]:
    """The tools of sources that a client may have, each name once.

    Args:
        sources: the first that has a name wins.
        client: who asks.
        may_have: whether the client may have a tool of this name from a source at all.
        is_always: only tools that are offered in every turn; a source that has none is
            not waited for.
    """
    listed: dict[str, Tool] = {}
    for source in sources:
        if is_always and not source.has_always_tools:
            continue
        for tool in await source.list_tools():
            if (
                (tool.always or not is_always)
                and may_have(tool.name)
                and source.is_meant_for(tool.name, client)
            ):
                listed.setdefault(tool.name, tool)
    return list(listed.values())


async def find_source_tool(
    sources: Iterable[ToolSource], client: str | None, name: str
) -> tuple[Tool, ToolSource] | None:
    """The first source that has a tool of this name for this client, with the tool."""
    for source in sources:
        if source.may_own(name) and source.is_meant_for(name, client):
            tool = await source.find_tool(name)
            if tool is not None:
                return tool, source
    return None
