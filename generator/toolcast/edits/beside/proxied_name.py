"""The server that answers a tool's calls keeps its own name of the tool, or is not asked."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from ...model.mcp.mcp_servers import McpServer
from ...model.model import Toolset, ToolSpec
from ..project_edit import Editing, Owned, Refusal
from ..spec_text import CannotEdit, SpecText

__all__ = ["keep_answering", "keep_answering_there", "take_from_server"]

_REACHED_BY = ("command", "args", "env", "cwd", "url", "headers")


def keep_answering(editing: Editing, owned: Owned, new: str) -> None:
    """Lets the tool's server be called as before when the tool has another name."""
    server = _server_of(*owned)
    if server is not None:
        text = editing.text(owned.toolset.source)
        _name(text, server, server.own_name(owned.tool.name), new)


def keep_answering_there(
    editing: Editing, owned: Owned, target: Toolset, handler: str | None
) -> None:
    """Lets the same server answer in another toolset, unless a handler does from now on.

    Raises:
        Refusal: it does not answer calls there.
    """
    toolset, tool = owned
    server = _server_of(toolset, tool)
    if server is None:
        return
    text = editing.text(tool.source)
    if handler is not None:
        if "proxy" in tool.fields:
            text.remove_key(("proxy",))
        return
    there = next((s for s in target.mcp_servers if s.name == server.name), None)
    if there is None or not _are_same(server, there):
        raise _refusal(server, target, "which is not there, or not the same")
    if server.name not in target.proxied_servers:
        raise _refusal(server, target, "whose own list is offered there")
    if target.proxy != server.name and "proxy" not in tool.fields:
        text.insert_key((tool.fields[-1],), "proxy", server.name)
    own = server.own_name(tool.name)
    if there.own_name(tool.name) != own:
        if own in there.tools:
            called = f"whose `{own}` is called `{there.tools[own]}` there"
            raise _refusal(server, target, called)
        _name(editing.text(target.source), there, own, tool.name)


def take_from_server(editing: Editing, owned: Owned) -> None:
    """Takes the tool from its server's names; a server that answers no other tool goes.

    It would be one whose own list is offered, with every tool that it has.
    """
    toolset, tool = owned
    server = _server_of(toolset, tool)
    if server is None:
        return
    text = editing.text(toolset.source)
    others = {toolset.proxy_of(one) for one in toolset.tools if one is not tool}
    if server.name in {toolset.proxy, *others}:
        own = server.own_name(tool.name)
        if own in server.tools:
            with suppress(CannotEdit):  # it says the name of a tool that nobody calls
                _remove(text, (*_tools(server), own), server.tools)
        return
    servers = [one.name for one in toolset.mcp_servers]
    _remove(text, ("mcp_servers", server.name), servers)


def _server_of(toolset: Toolset, tool: ToolSpec) -> McpServer | None:
    name = toolset.proxy_of(tool)
    return next((s for s in toolset.mcp_servers if s.name == name), None)


def _tools(server: McpServer) -> tuple[str, ...]:
    return ("mcp_servers", server.name, "tools")


def _are_same(one: McpServer, other: McpServer) -> bool:
    return all(getattr(one, key) == getattr(other, key) for key in _REACHED_BY)


def _refusal(server: McpServer, target: Toolset, why: str) -> Refusal:
    return Refusal(
        f"its calls are answered by the server `{server.name}`, {why}",
        f"give {target.folder}/toolset.yaml the same entry of `mcp_servers`, and"
        f" `proxy: {server.name}`; or a handler answers from now on: `--handler`",
    )


def _name(text: SpecText, server: McpServer, own: str, name: str) -> None:
    """Writes what a tool of the server is called here."""
    path = _tools(server)
    if own not in server.tools:
        if server.tools:
            text.insert_key((*path, list(server.tools)[-1]), own, name)
        elif server.own_name(name) != own:
            text.insert_key((*path[:-1], server.fields[-1]), "tools", {own: name})
        return
    if name == server.prefix + own:
        with suppress(CannotEdit):
            _remove(text, (*path, own), server.tools)
            return
    text.set_name((*path, own), name)


def _remove(text: SpecText, path: tuple[str, ...], entries: Collection[str]) -> None:
    """Removes an entry; the last one goes with the key that holds it."""
    text.remove_key(path if len(entries) > 1 else path[:-1])
