"""The file with which an administrator changes what clients may have."""

from __future__ import annotations

from ..findings import has_errors
from ..model.model import Toolset, Workspace
from ..reading.project_files import DiskFiles
from ..reading.tree import Document
from ..reading.yaml_reader import MAX_BYTES, read_yaml
from .project_edit import Editing, Left, Owned
from .references import places_of
from .spec_text import CannotEdit

__all__ = ["names_in_override", "rename_in_override"]

_LISTS = (("*", "allow", "*"), ("*", "restrict", "*"))


def rename_in_override(
    editing: Editing, workspace: Workspace, owned: Owned, new: str
) -> None:
    """Changes the name in the lists of `clients_override`, where that file can be read.

    It names tools by their former names as well, so that one that cannot is only told of.
    """
    document = _override(workspace, owned.toolset)
    if document is None:
        return
    for pattern in _LISTS:
        for path in places_of(document.value, pattern, owned.tool.name):
            try:
                editing.text(document.source).set_name(path, new)
            except CannotEdit as error:
                editing.left.append(Left(document.source.file, 0, 0, str(error)))


def names_in_override(workspace: Workspace, owned: Owned) -> list[Left]:
    """Where the lists of `clients_override` name a tool."""
    document = _override(workspace, owned.toolset)
    found: list[Left] = []
    if document is None:
        return found
    for pattern in _LISTS:
        for path in places_of(document.value, pattern, owned.tool.name):
            span = document.source.span(path)
            text = f"a list names `{owned.tool.name}`"
            found.append(Left(document.source.file, span.line, span.column, text))
    return found


def _override(workspace: Workspace, toolset: Toolset) -> Document | None:
    """The file; None where the toolset has none, or it is not there, or no YAML of ours."""
    path = toolset.clients_override
    if path is None:
        return None
    try:
        data = DiskFiles(workspace.root).read(path, MAX_BYTES + 1)
    except OSError:
        return None
    document, findings = read_yaml(path, data)
    return None if document is None or has_errors(findings) else document
