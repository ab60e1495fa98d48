"""What a shell completes: names of a project's specs, and of rules.

Names are read from folders and first lines of files, since a shell asks at each press of a key.
Source: Click, "Shell Completion".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

import click
from click.shell_completion import CompletionItem

from ..project import WORKSPACE_FILE, find_root

__all__ = [
    "complete_clients",
    "complete_kinds",
    "complete_rules",
    "complete_tools",
    "complete_toolsets",
]

# A shell puts a name into the command line as it is, where `$(...)` would be run.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
_TOOLSET_FILE = "toolset.yaml"
_NO_TOOLS = (_TOOLSET_FILE, "definitions.yaml")


def complete_tools(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The names of tools, each with its toolset's folder; a file is called as its tool."""
    found = []
    for folder in _folders(ctx):
        for name in _names_in(folder):
            stem, ending = os.path.splitext(name)
            if ending == ".yaml" and name not in _NO_TOOLS:
                found.append((stem, os.path.basename(folder)))
    return _items(found, incomplete)


def complete_toolsets(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The names of toolsets, each with its title."""
    trees = [_tree(os.path.join(folder, _TOOLSET_FILE)) for folder in _folders(ctx)]
    found = [
        (str(one["name"]), str(one.get("title", ""))) for one in trees if "name" in one
    ]
    return _items(found, incomplete)


def complete_clients(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The names of clients, each with its toolset."""
    found = []
    for folder in _folders(ctx):
        tree = _tree(os.path.join(folder, _TOOLSET_FILE))
        clients = tree.get("clients")
        for name in clients if isinstance(clients, dict) else ():
            found.append((str(name), str(tree.get("name", ""))))
    return _items(found, incomplete)


def complete_kinds(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The kinds of clients, each with what people call it."""
    from ..facts.client_kinds import KINDS

    return _items([(one.name, one.title) for one in KINDS.values()], incomplete)


def complete_rules(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The ids of findings and of changes, each with what it is about."""
    from ..changes.table import rules as change_rules
    from ..rules.table import rules
    from .options import listed_extensions

    extensions = listed_extensions(_root(ctx))
    found = [(one.id, one.text.purpose) for one in rules(extensions).values()]
    found += [(one.id, one.means) for one in change_rules(extensions).values()]
    return _items(found, incomplete)


def _items(found: Iterable[tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    return [
        CompletionItem(name, help=help_ if help_.isprintable() else None)
        for name, help_ in sorted(found)
        if name.startswith(incomplete) and _NAME.fullmatch(name)
    ]


def _root(ctx: click.Context) -> str | None:
    given = ctx.params.get("project")
    return find_root(given if given and os.path.isdir(given) else os.getcwd())


def _folders(ctx: click.Context) -> Iterator[str]:
    """The folders of the project's toolsets."""
    root = _root(ctx)
    listed = _tree(os.path.join(root, WORKSPACE_FILE)).get("toolsets") if root else ()
    for folder in listed if isinstance(listed, list) else ():
        if root and isinstance(folder, str) and not folder.startswith(("/", "..")):
            yield os.path.join(root, folder)


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _tree(path: str) -> dict[str, Any]:
    """The mapping that a file holds; an empty one where it has errors."""
    from toolcast_runtime.files.regular_file import read_regular

    from ..reading.yaml_reader import MAX_BYTES, read_yaml

    try:
        document, _ = read_yaml(path, read_regular(path, MAX_BYTES + 1))
    except OSError:
        return {}
    is_mapping = document is not None and isinstance(document.value, dict)
    return document.value if document is not None and is_mapping else {}
