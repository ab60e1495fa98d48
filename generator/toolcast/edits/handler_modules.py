"""The modules of a package of handlers in which a word stands."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import NamedTuple

from toolcast_runtime.files.regular_file import read_regular

from ..model.model import Toolset, Workspace
from ..python_code.modules import MAX_BYTES

__all__ = ["Module", "modules_with"]

_MOST_MODULES = 2_000


class Module(NamedTuple):
    """A module.

    Attributes:
        file: its path relative to the project's root.
        name: its dotted name.
        tree: its syntax tree; None when it cannot be read.
    """

    file: str
    name: str
    data: bytes
    tree: ast.Module | None

    @property
    def is_package(self) -> bool:
        """Whether it is an `__init__.py`."""
        return self.file.endswith("/__init__.py")


def modules_with(workspace: Workspace, toolset: Toolset, word: str) -> list[Module]:
    """The modules of a toolset's handlers that have a word, and those that cannot be read.

    Links are not followed; of very many modules, the first ones are looked through.
    """
    found: list[Module] = []
    for number, (file, name) in enumerate(_files(workspace, toolset)):
        if number == _MOST_MODULES:
            break
        data, tree = b"", None
        try:
            path = os.path.join(workspace.root, file)
            data = read_regular(path, MAX_BYTES, follow=False)
            if word.encode() not in data:
                continue
            data.decode("utf-8")
            tree = ast.parse(data)
        except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
            pass
        found.append(Module(file, name, data, tree))
    return found


def _files(workspace: Workspace, toolset: Toolset) -> Iterator[tuple[str, str]]:
    """The paths of modules, each with its dotted name."""
    if toolset.handlers is None:
        return
    for source in workspace.sources:
        package = os.path.join(source, *toolset.handlers.split("."))
        waiting = [(os.path.normpath(package).replace(os.sep, "/"), toolset.handlers)]
        while waiting:
            folder, name = waiting.pop()
            try:
                with os.scandir(os.path.join(workspace.root, folder)) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in found:
                path, stem = f"{folder}/{entry.name}", entry.name.removesuffix(".py")
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((path, f"{name}.{stem}"))
                elif path.endswith(".py") and entry.is_file(follow_symlinks=False):
                    yield path, name if stem == "__init__" else f"{name}.{stem}"
