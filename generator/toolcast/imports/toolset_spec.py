"""What an import says of the toolset itself, and of the project that it is new in."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from ..edits.project_edit import Editing
from ..encoders.yaml_block import block
from ..language.spec_language import KINDS, schema_text
from ..model.model import Toolset, Workspace
from ..model.schema_files import named_schema
from ..project import WORKSPACE_FILE
from .source import Source

__all__ = ["change_toolset", "new_toolset", "schemas_of", "spec_text"]

_TARGETS: Mapping[str, Any] = {"mcp": {}, "registry": {}, "snapshots": {}}


def spec_text(
    schemas: str | None, file: str, kind: str, fields: Mapping[str, Any]
) -> bytes:
    """A spec file, which begins with the line by which editors complete and check it.

    Args:
        schemas: the folder of the project's schemas; None leaves the line out.
        file: where it will be, relative to the project's root.
        kind: of `KINDS`.
        fields: JSON, in the order in which they are written.
    """
    opening = ""
    if schemas is not None:
        there = f"{schemas}/{kind}.schema.json"
        path = posixpath.relpath(there, posixpath.dirname(file))
        opening = f"# yaml-language-server: $schema={path}\n"
    lines = (str(block(key, value)) for key, value in fields.items())
    return "".join((opening, *lines)).encode()


def schemas_of(workspace: Workspace, toolset: Toolset | None) -> str | None:
    """The folder of the schemas that the project's specs name; None where they name none."""
    toolsets = (toolset,) if toolset is not None else workspace.toolsets
    for source in (*(one.source for one in toolsets), workspace.source):
        path = named_schema(source.file, source.opening)
        if path is not None:
            return posixpath.dirname(path)
    return None


def new_toolset(
    workspace: Workspace, editing: Editing, source: Source, name: str
) -> tuple[str, str | None, dict[str, bytes]]:
    """Adds a toolset without tools to the project, or begins a project with it.

    Returns:
        Its folder, the folder of the project's schemas, and the new files.
    """
    folders = workspace.toolset_folders
    above = posixpath.dirname(folders[0]) if folders else "specs"
    folder = posixpath.join(above, name)
    schemas = schemas_of(workspace, None)
    files: dict[str, bytes] = {}
    if folders:
        editing.text(workspace.source).append(("toolsets",), folder)
    else:
        schemas = posixpath.join(above, "schemas")
        files = {f"{schemas}/{k}.schema.json": schema_text(k).encode() for k in KINDS}
        fields = {"version": 1, "toolsets": [folder]}
        files[WORKSPACE_FILE] = spec_text(schemas, WORKSPACE_FILE, "workspace", fields)
    file = f"{folder}/toolset.yaml"
    files[file] = spec_text(schemas, file, "toolset", _fields(source, name))
    return folder, schemas, files


def change_toolset(
    editing: Editing, toolset: Toolset, source: Source
) -> tuple[str, ...]:
    """Makes a toolset say the server's version and instructions; the fields that change.

    A list in a file has neither, and changes nothing.
    """
    info = source.listing.server_info or {}
    said = {"version": info.get("version"), "instructions": source.listing.instructions}
    there = {"version": toolset.version, "instructions": toolset.instructions}
    changed = []
    for field, value in said.items():
        if isinstance(value, str) and value and value != there[field]:
            editing.text(toolset.source).set_block(field, value, "title")
            changed.append(field)
    return tuple(changed)


def _fields(source: Source, name: str) -> dict[str, Any]:
    info = source.listing.server_info or {}
    title = info.get("title") or info.get("name")
    fields: dict[str, Any] = {"name": name}
    fields["title"] = title if isinstance(title, str) and title.strip() else name
    if isinstance(info.get("version"), str) and info["version"]:
        fields["version"] = info["version"]
    if source.listing.instructions:
        fields["instructions"] = source.listing.instructions
    fields["targets"] = _TARGETS
    if clients := _clients(source):
        most = max(clients, key=lambda client: len(clients[client]["allow"]))
        fields["clients"] = clients
        fields["targets"] = {**_TARGETS, "mcp": {"client": most}}
    return fields


def _clients(source: Source) -> dict[str, Any]:
    """The clients that tools name, each with the tools that name it, and no others."""
    clients: dict[str, dict[str, list[str]]] = {}
    for name, fields in source.fields.items():
        named = fields.get("clients")
        for client in named if isinstance(named, list) else ():
            if isinstance(client, str):
                clients.setdefault(client, {"allow": []})["allow"].append(name)
    return clients
