"""References to a tool outside of specs: overrides, acceptances, Markdown, server entries."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import NamedTuple

from ..findings import has_errors
from ..markdown_regions.content import DocumentError
from ..markdown_regions.regions import Region, find_regions, read_document
from ..model.mcp_servers import McpServer
from ..model.model import Toolset, ToolSpec, Workspace
from ..parsing.project_files import DiskFiles
from ..parsing.tree import Document, Path
from ..parsing.yaml_reader import MAX_BYTES, read_yaml
from .project_edit import EditSession, OwnedTool, RemainingMention, build_mention
from .references import list_matching_paths
from .spec_text import SpecText, UneditableValueError

_ACCEPTANCE_FILE = "toolcast.accept.yaml"
_OVERRIDE_PATTERNS = (("*", "allow", "*"), ("*", "deny", "*"))


class _ToolRegion(NamedTuple):
    """A managed region for the parameters of a tool, in a Markdown file."""

    document: str
    data: bytes
    region: Region


def rename_in_other_files(
    editing: EditSession, workspace: Workspace, owned: OwnedTool, new: str
) -> None:
    """Rename a tool in the clients override file and in acceptances.

    A file that cannot be edited becomes a remaining mention.
    """
    for document, path in _list_references(workspace, owned):
        try:
            editing.get_text(document.source).set_name(path, new)
        except UneditableValueError as error:
            editing.remaining_mentions.append(
                RemainingMention(document.source.file, 0, 0, str(error))
            )


def list_other_file_mentions(
    workspace: Workspace, owned: OwnedTool
) -> list[RemainingMention]:
    """Return the mentions of a tool in the clients override file and in acceptances."""
    text = f"refers to `{owned.tool.name}`"
    references = _list_references(workspace, owned)
    return [build_mention(document.source, path, text) for document, path in references]


def _list_references(
    workspace: Workspace, owned: OwnedTool
) -> Iterator[tuple[Document, Path]]:
    """Yield each value that names the tool, in the clients override and acceptances.

    An acceptance without a toolset counts only if no other toolset has such a tool.
    """
    name = owned.tool.name
    override = _read_document(workspace, owned.toolset.clients_override)
    if override is not None:
        for pattern in _OVERRIDE_PATTERNS:
            for path in list_matching_paths(override.value, pattern, name):
                yield override, path
    acceptances = _read_document(workspace, _ACCEPTANCE_FILE)
    if acceptances is not None:
        toolsets_with_tool = [
            toolset
            for toolset in workspace.toolsets
            if any(tool.name == name for tool in toolset.tools)
        ]
        pattern = ("accept", "*", "tool")
        for path in list_matching_paths(acceptances.value, pattern, name):
            toolset = acceptances.value["accept"][path[1]].get("toolset")
            # An entry without a toolset applies to every tool with the name.
            if toolset == owned.toolset.name or (
                toolset is None and len(toolsets_with_tool) == 1
            ):
                yield acceptances, path


def _read_document(workspace: Workspace, path: str | None) -> Document | None:
    """Return a YAML file of the project; None if it is missing or has errors."""
    if path is None:
        return None
    try:
        data = DiskFiles(workspace.root).read(path, MAX_BYTES + 1)
    except OSError:
        return None
    document, findings = read_yaml(path, data)
    return None if document is None or has_errors(findings) else document


def rename_in_markdown_regions(
    editing: EditSession, workspace: Workspace, owned: OwnedTool, name: str
) -> None:
    """Rename a tool in the opening markers of its regions in Markdown files."""
    regions_by_document: dict[str, list[_ToolRegion]] = {}
    for tool_region in _list_tool_regions(workspace, owned):
        regions_by_document.setdefault(tool_region.document, []).append(tool_region)
    for document, tool_regions in regions_by_document.items():
        before = after = tool_regions[0].data
        # Replace from the end of the file, so that the offsets of earlier regions stay
        # valid.
        for tool_region in reversed(tool_regions):
            # The region starts after its opening marker, which is the last `<!--`
            # before it.
            end = tool_region.region.start
            start = after.rfind(b"<!--", 0, end)
            arguments = f"{tool_region.region.arguments[0]} {owned.toolset.name} {name}"
            marker = f"<!-- toolcast: {arguments} -->".encode()
            line = after[start:end]
            rest_of_line = line[line.index(b"-->") + len(b"-->") :]
            after = after[:start] + marker + rest_of_line + after[end:]
        editing.set_bytes(document, before, after)


def list_region_mentions(
    workspace: Workspace, owned: OwnedTool
) -> list[RemainingMention]:
    """Return the opening marker of each managed region for a tool's parameters."""
    return [
        RemainingMention(
            tool_region.document,
            tool_region.region.line,
            1,
            tool_region.region.text,
        )
        for tool_region in _list_tool_regions(workspace, owned)
    ]


def _list_tool_regions(workspace: Workspace, owned: OwnedTool) -> Iterator[_ToolRegion]:
    for document in workspace.documents:
        try:
            data = read_document(workspace, document)
        except DocumentError:
            # `toolcast check` reports a document that cannot be used.
            continue
        for region in find_regions(document, data)[0]:
            if region.arguments == ("parameters", owned.toolset.name, owned.tool.name):
                yield _ToolRegion(document, data, region)


def keep_server_name(editing: EditSession, owned: OwnedTool, new: str) -> None:
    """Keep calling a renamed proxy tool by its old name at the external server.

    The server's entry in `mcp_servers` then maps the tool's name at the server to the
    new name in the toolset. Tools without a server are skipped.
    """
    server = _find_server(*owned)
    if server is not None:
        text = editing.get_text(owned.toolset.source)
        _set_local_name(text, server, server.get_server_name(owned.tool.name), new)


def remove_from_server(editing: EditSession, owned: OwnedTool) -> None:
    """Remove a proxy tool from its external server's entry in `mcp_servers`.

    The entry itself is removed if no other tool uses the server, because an entry
    without tools would offer all tools that the server lists. Tools without a server
    are skipped.
    """
    toolset, tool = owned
    server = _find_server(toolset, tool)
    if server is None:
        return
    text = editing.get_text(toolset.source)
    used_servers = {
        toolset.get_proxy(other) for other in toolset.tools if other is not tool
    }
    if server.name in {toolset.proxy, *used_servers}:
        server_name = server.get_server_name(tool.name)
        if server_name in server.tools:
            # If the entry cannot be edited, it keeps a name that is no longer called,
            # which does no harm.
            with suppress(UneditableValueError):
                _remove_entry(
                    text, (*_build_tools_path(server), server_name), server.tools
                )
        return
    servers = [other.name for other in toolset.mcp_servers]
    _remove_entry(text, ("mcp_servers", server.name), servers)


def _find_server(toolset: Toolset, tool: ToolSpec) -> McpServer | None:
    name = toolset.get_proxy(tool)
    return next((s for s in toolset.mcp_servers if s.name == name), None)


def _build_tools_path(server: McpServer) -> tuple[str, ...]:
    return ("mcp_servers", server.name, "tools")


def _set_local_name(
    text: SpecText, server: McpServer, server_name: str, local_name: str
) -> None:
    """Declare under which name the toolset has a tool of an external server.

    Args:
        text: the text of `toolset.yaml`.
        server: the server's entry.
        server_name: the tool's name at the server.
        local_name: the tool's name in the toolset.
    """
    path = _build_tools_path(server)
    if server_name not in server.tools:
        if server.tools:
            last_tool = list(server.tools)[-1]
            text.insert_key((*path, last_tool), server_name, local_name)
        elif server.get_server_name(local_name) != server_name:
            last_field = server.fields[-1]
            tools = {server_name: local_name}
            text.insert_key((*path[:-1], last_field), "tools", tools)
        return
    if local_name == server.prefix + server_name:
        # The server's `prefix` already produces the tool's name, so the entry is not
        # needed.
        with suppress(UneditableValueError):
            _remove_entry(text, (*path, server_name), server.tools)
            return
    text.set_name((*path, server_name), local_name)


def _remove_entry(
    text: SpecText, path: tuple[str, ...], entries: Collection[str]
) -> None:
    """Remove an entry of an object; remove the whole object with its last entry."""
    text.remove_key(path if len(entries) > 1 else path[:-1])
