"""The marks of regions in documents that name a tool."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from toolcast_runtime.files.regular_file import read_regular

from ...documents.filling import LARGEST
from ...documents.regions import Region, regions_in
from ...model.model import Workspace
from ..project_edit import Editing, Left, Owned

__all__ = ["change_marks", "marks_of"]


class _Mark(NamedTuple):
    document: str
    data: bytes
    region: Region


def change_marks(
    editing: Editing, workspace: Workspace, owned: Owned, toolset: str, name: str
) -> None:
    """Lets the marks of a tool name it as it is called now, in the toolset where it is."""
    found: dict[str, list[_Mark]] = {}
    for mark in _marks(workspace, owned):
        found.setdefault(mark.document, []).append(mark)
    for document, marks in found.items():
        before = after = marks[0].data
        for mark in reversed(marks):
            end = mark.region.start
            start = after.rfind(b"<!--", 0, end)
            words = f"<!-- toolcast: {mark.region.words[0]} {toolset} {name} -->"
            line = after[start:end]
            behind = line[line.index(b"-->") + len(b"-->") :]
            after = after[:start] + words.encode() + behind + after[end:]
        editing.set_bytes(document, before, after)


def marks_of(workspace: Workspace, owned: Owned) -> list[Left]:
    """Where marks name a tool."""
    return [
        Left(mark.document, mark.region.line, 1, mark.region.text)
        for mark in _marks(workspace, owned)
    ]


def _marks(workspace: Workspace, owned: Owned) -> Iterator[_Mark]:
    for document in workspace.documents:
        try:
            path = os.path.join(workspace.root, document)
            data = read_regular(path, LARGEST, follow=False)
        except OSError:
            continue  # `check` says what is wrong with it.
        for region in regions_in(document, data)[0]:
            if region.words == ("parameters", owned.toolset.name, owned.tool.name):
                yield _Mark(document, data, region)
