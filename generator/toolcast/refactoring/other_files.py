"""What else names a tool: its server's entry, other YAML files, marks in documents."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import NamedTuple

from toolcast_runtime.core.safe_file import read_regular_file

from ..findings import has_errors
from ..markdown_regions.regions import MAX_DOCUMENT_BYTES, Region, find_regions
from ..model.mcp_servers import McpServer
from ..model.model import Toolset, ToolSpec, Workspace
from ..parsing.project_files import DiskFiles
from ..parsing.tree import Document, Path
from ..parsing.yaml_reader import MAX_BYTES, read_yaml
from .project_edit import EditSession, OwnedTool, RemainingMention, left_at
from .references import places_of
from .spec_text import SpecText, UneditableValueError

_ACCEPTED = "toolcast.accept.yaml"
_OVERRIDE = (("*", "allow", "*"), ("*", "deny", "*"))


class _Mark(NamedTuple):
    document: str
    data: bytes
    region: Region


def rename_in_other_files(
    editing: EditSession, workspace: Workspace, owned: OwnedTool, new: str
) -> None:
    """Changes the name in these files where they can be read, and tells of it elsewhere."""
    for document, path in _list_places(workspace, owned):
        try:
            editing.text(document.source).set_name(path, new)
        except UneditableValueError as error:
            editing.left.append(
                RemainingMention(document.source.file, 0, 0, str(error))
            )


def named_in_other_files(
    workspace: Workspace, owned: OwnedTool
) -> list[RemainingMention]:
    """Where these files name a tool."""
    text = f"`{owned.tool.name}` is named here"
    places = _list_places(workspace, owned)
    return [left_at(document.source, path, text) for document, path in places]


def _list_places(
    workspace: Workspace, owned: OwnedTool
) -> Iterator[tuple[Document, Path]]:
    name = owned.tool.name
    override = _read_list(workspace, owned.toolset.clients_override)
    if override is not None:
        for pattern in _OVERRIDE:
            for path in places_of(override.value, pattern, name):
                yield override, path
    accepted = _read_list(workspace, _ACCEPTED)
    if accepted is not None:
        toolsets = {
            toolset.name
            for toolset in workspace.toolsets
            if any(tool.name == name for tool in toolset.tools)
        }
        for path in places_of(accepted.value, ("accept", "*", "tool"), name):
            named_toolset = accepted.value["accept"][path[1]].get("toolset")
            # Without a toolset an entry is about every tool of the name.
            if named_toolset == owned.toolset.name or (
                named_toolset is None and len(toolsets) == 1
            ):
                yield accepted, path


def _read_list(workspace: Workspace, path: str | None) -> Document | None:
    """A file of the project; None where it is not there, or no YAML of ours."""
    if path is None:
        return None
    try:
        data = DiskFiles(workspace.root).read(path, MAX_BYTES + 1)
    except OSError:
        return None
    document, findings = read_yaml(path, data)
    return None if document is None or has_errors(findings) else document


def change_marks(
    editing: EditSession, workspace: Workspace, owned: OwnedTool, name: str
) -> None:
    """Lets the marks of a tool name it as it is called now."""
    found: dict[str, list[_Mark]] = {}
    for mark in _marks(workspace, owned):
        found.setdefault(mark.document, []).append(mark)
    for document, marks in found.items():
        before = after = marks[0].data
        for mark in reversed(marks):
            end = mark.region.start
            start = after.rfind(b"<!--", 0, end)
            named = f"{mark.region.arguments[0]} {owned.toolset.name} {name}"
            words = f"<!-- toolcast: {named} -->"
            line = after[start:end]
            behind = line[line.index(b"-->") + len(b"-->") :]
            after = after[:start] + words.encode() + behind + after[end:]
        editing.set_bytes(document, before, after)


def marks_of(workspace: Workspace, owned: OwnedTool) -> list[RemainingMention]:
    """Where marks name a tool."""
    return [
        RemainingMention(mark.document, mark.region.line, 1, mark.region.text)
        for mark in _marks(workspace, owned)
    ]


def _marks(workspace: Workspace, owned: OwnedTool) -> Iterator[_Mark]:
    for document in workspace.documents:
        try:
            path = os.path.join(workspace.root, document)
            data = read_regular_file(path, MAX_DOCUMENT_BYTES, follow=False)
        except OSError:
            continue  # `check` says what is wrong with it.
        for region in find_regions(document, data)[0]:
            if region.arguments == ("parameters", owned.toolset.name, owned.tool.name):
                yield _Mark(document, data, region)


def keep_answering(editing: EditSession, owned: OwnedTool, new: str) -> None:
    """Lets the tool's server be called as before when the tool has another name."""
    server = _server_of(*owned)
    if server is not None:
        text = editing.text(owned.toolset.source)
        _name(text, server, server.get_server_name(owned.tool.name), new)


def take_from_server(editing: EditSession, owned: OwnedTool) -> None:
    """Takes the tool from its server's names; a server that answers no other tool goes.

    It would be one whose own list is offered, with every tool that it has.
    """
    toolset, tool = owned
    server = _server_of(toolset, tool)
    if server is None:
        return
    text = editing.text(toolset.source)
    others = {toolset.get_proxy(one) for one in toolset.tools if one is not tool}
    if server.name in {toolset.proxy, *others}:
        own = server.get_server_name(tool.name)
        if own in server.tools:
            with suppress(
                UneditableValueError
            ):  # it says the name of a tool that nobody calls
                _remove(text, (*_tools(server), own), server.tools)
        return
    servers = [one.name for one in toolset.mcp_servers]
    _remove(text, ("mcp_servers", server.name), servers)


def _server_of(toolset: Toolset, tool: ToolSpec) -> McpServer | None:
    name = toolset.get_proxy(tool)
    return next((s for s in toolset.mcp_servers if s.name == name), None)


def _tools(server: McpServer) -> tuple[str, ...]:
    return ("mcp_servers", server.name, "tools")


def _name(text: SpecText, server: McpServer, own: str, name: str) -> None:
    """Writes what a tool of the server is called here."""
    path = _tools(server)
    if own not in server.tools:
        if server.tools:
            text.insert_key((*path, list(server.tools)[-1]), own, name)
        elif server.get_server_name(name) != own:
            text.insert_key((*path[:-1], server.fields[-1]), "tools", {own: name})
        return
    if name == server.prefix + own:
        with suppress(UneditableValueError):
            _remove(text, (*path, own), server.tools)
            return
    text.set_name((*path, own), name)


def _remove(text: SpecText, path: tuple[str, ...], entries: Collection[str]) -> None:
    """Removes an entry; the last one goes with the key that holds it."""
    text.remove_key(path if len(entries) > 1 else path[:-1])
