"""The files of a package of handlers."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...model.model import Toolset, Workspace

__all__ = ["MOST_MODULES", "modules_of"]

MOST_MODULES = 2_000
"""So many are looked through."""


def modules_of(workspace: Workspace, toolset: Toolset) -> Iterator[str]:
    """The Python files of a toolset's handlers, below the root; links are not followed."""
    if toolset.handlers is None:
        return
    package = toolset.handlers.replace(".", "/")
    for source in workspace.sources:
        stem = os.path.normpath(os.path.join(source, package)).replace(os.sep, "/")
        waiting = [stem]
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(os.path.join(workspace.root, folder)) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in found:
                path = f"{folder}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path)
                elif path.endswith(".py") and entry.is_file(follow_symlinks=False):
                    yield path
