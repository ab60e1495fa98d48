"""YAML files beside the specs that name tools: an administrator's lists, and acceptances."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import has_errors
from ...model.model import Workspace
from ...reading.project_files import DiskFiles
from ...reading.tree import Document, Path
from ...reading.yaml_reader import MAX_BYTES, read_yaml
from ..project_edit import Editing, Left, Owned
from ..references import places_of
from ..spec_text import CannotEdit

__all__ = ["named_in_other_files", "rename_in_other_files"]

_ACCEPTED = "toolcast.accept.yaml"
_OVERRIDE = (("*", "allow", "*"), ("*", "restrict", "*"))


def rename_in_other_files(
    editing: Editing, workspace: Workspace, owned: Owned, new: str
) -> None:
    """Changes the name in these files where they can be read, and tells of it elsewhere."""
    for document, path in _places(workspace, owned):
        try:
            editing.text(document.source).set_name(path, new)
        except CannotEdit as error:
            editing.left.append(Left(document.source.file, 0, 0, str(error)))


def named_in_other_files(workspace: Workspace, owned: Owned) -> list[Left]:
    """Where these files name a tool."""
    found = []
    for document, path in _places(workspace, owned):
        span = document.source.span(path)
        text = f"`{owned.tool.name}` is named here"
        found.append(Left(document.source.file, span.line, span.column, text))
    return found


def _places(workspace: Workspace, owned: Owned) -> Iterator[tuple[Document, Path]]:
    name = owned.tool.name
    override = _read(workspace, owned.toolset.clients_override)
    if override is not None:
        for pattern in _OVERRIDE:
            for path in places_of(override.value, pattern, name):
                yield override, path
    accepted = _read(workspace, _ACCEPTED)
    if accepted is not None:
        toolsets = {
            toolset.name
            for toolset in workspace.toolsets
            if any(tool.name == name for tool in toolset.tools)
        }
        for path in places_of(accepted.value, ("accept", "*", "tool"), name):
            told = accepted.value["accept"][path[1]].get("toolset")
            # Without a toolset an entry is about every tool of the name.
            if told == owned.toolset.name or (told is None and len(toolsets) == 1):
                yield accepted, path


def _read(workspace: Workspace, path: str | None) -> Document | None:
    """A file of the project; None where it is not there, or no YAML of ours."""
    if path is None:
        return None
    try:
        data = DiskFiles(workspace.root).read(path, MAX_BYTES + 1)
    except OSError:
        return None
    document, findings = read_yaml(path, data)
    return None if document is None or has_errors(findings) else document
