"""What still says a name after an edit: in specs, in handlers, in files that are scanned."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple

from toolcast_runtime.core.safe_file import read_regular_file

from ..analysis.retired_names import scan_files
from ..analysis.tool_names import compile_mention_pattern, find_names_in_lines
from ..model.model import Toolset, Workspace
from ..parsing.tree import Path, Source
from ..static_analysis.handler import find_defining_module
from ..static_analysis.modules import MAX_MODULE_BYTES
from ..suggestions import format_path
from .project_edit import OwnedTool, RemainingMention, left_at
from .references import fields_with, toolsets_that_may_mean

_MAX_MODULES = 2_000
"""Modules that are searched."""


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


def modules_with(workspace: Workspace, toolset: Toolset, word: str) -> list[Module]:
    """The modules of a toolset's handlers that have a word, and those that cannot be read.

    Links are not followed; of very many modules, the first ones are looked through.
    """
    found: list[Module] = []
    for number, (file, name) in enumerate(_files(workspace, toolset)):
        if number == _MAX_MODULES:
            break
        data, tree = b"", None
        try:
            path = os.path.join(workspace.root, file)
            data = read_regular_file(path, MAX_MODULE_BYTES, follow=False)
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


_MAX_TEXT_CHARACTERS = 80
"""Characters of a quoted text."""


def left_in_specs(
    workspace: Workspace, owned: OwnedTool, edited: Workspace
) -> Iterator[RemainingMention]:
    """The lines of specs that say the name still, comments and data among them.

    What resources hold counts, too.

    What declares it gone is left out, `renamed_from` and `reserved_names`, and so are the
    names of functions.

    Args:
        workspace: before the edit.
        edited: after it.
    """
    name = owned.tool.name
    looked_through = toolsets_that_may_mean(workspace, owned)
    folders = {toolset.folder for toolset in looked_through}
    for toolset in edited.toolsets:
        if toolset.folder in folders:
            live = frozenset(tool.name for tool in toolset.tools)
            contents = [
                Source(f"{toolset.folder}/{spec.file}", spec.content)
                for spec in toolset.mcp_resources
                if spec.content is not None
            ]
            for source in (*toolset.sources, *contents):
                yield from _lines(source, name, live)
            own = toolset.folder == owned.toolset.folder and name not in live
            tree, extensions = toolset.source.tree, workspace.extensions
            known = fields_with(name, tree, "toolset")
            for path in fields_with(name, tree, "toolset", extensions) if own else ():
                if path not in known:
                    text = f"`{format_path(path)}` names `{name}`"
                    yield left_at(toolset.source, path, text)


def left_patterns(
    owned: OwnedTool, edited: Workspace, new: str
) -> Iterator[RemainingMention]:
    """Patterns of clients' lists that stand for a renamed tool no more, or from now on."""
    old = owned.tool.name
    here = next(one for one in edited.toolsets if one.name == owned.toolset.name)
    for client in here.clients:
        before = owned.toolset.find_client(client.name)
        if before is None:
            continue
        for key in ("allow", "deny"):
            was = before.find_entry(key, old)
            now = client.find_entry(key, new)
            for entry, other, mention in (
                (was, now, f"stood for `{old}`, and does not stand for `{new}`"),
                (now, was, f"stands for `{new}`, and did not stand for `{old}`"),
            ):
                if entry is None or not entry.is_pattern or other is not None:
                    continue
                if entry.text not in client.get_entry_texts(key):
                    continue
                place: Path = ("clients", client.name, key)
                if client.allow is not None or key == "deny":
                    place = (*place, client.get_entry_texts(key).index(entry.text))
                text = f"`{entry.text}` of `{client.name}` in `{key}` {mention}"
                yield left_at(here.source, place, text)


def _lines(
    source: Source, name: str, live: frozenset[str]
) -> Iterator[RemainingMention]:
    pattern = compile_mention_pattern([name])
    if pattern is None or name.lower().encode() not in source.data.lower():
        return
    # A name at the beginning of a sentence, or shouted, was left as well.
    pattern = re.compile(pattern.pattern, re.IGNORECASE)
    # What a resource holds may be no text.
    text = source.data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    passed = [source.offsets(path) for path in _declarations(source.tree, name)]
    lines = text.split("\n")
    begins = [0, *accumulate(len(line) + 1 for line in lines)]
    for mention, line, column in find_names_in_lines(lines, pattern):
        place = begins[line - 1] + column - 1
        if mention not in live and not any(a <= place < b for a, b in passed):
            yield RemainingMention(
                source.file, line, column, _shown(lines[line - 1].strip())
            )


def _declarations(tree: object, name: str) -> Iterator[Path]:
    values: Mapping[str, object] = tree if isinstance(tree, dict) else {}
    if "handler" in values:
        yield ("handler",)
    for key in ("renamed_from", "reserved_names"):
        listed = values.get(key)
        for index, item in enumerate(listed if isinstance(listed, list) else ()):
            if item == name:
                yield (key, index)
            elif isinstance(item, dict) and item.get("name") == name:
                yield from ((key, index, field) for field in item)


def left_in_handlers(
    workspace: Workspace, toolset: Toolset, name: str
) -> Iterator[RemainingMention]:
    """String literals of the modules that define handlers in which the name stands."""
    pattern = compile_mention_pattern([name])
    read: set[str] = set()
    for tool in toolset.tools:
        module = find_defining_module(workspace, toolset, tool)
        if module is None or module.tree is None or module.file in read:
            continue
        read.add(module.file)
        passed = {id(node) for node in exported(module.tree)}
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Constant) or id(node) in passed:
                continue
            text = node.value if isinstance(node.value, str) else ""
            if text == name or (pattern is not None and pattern.search(text)):
                shown = " ".join(text.split())[:_MAX_TEXT_CHARACTERS]
                yield RemainingMention(
                    module.file, node.lineno, node.col_offset + 1, f'"{shown}"'
                )


def left_imports(workspace: Workspace, owned: OwnedTool) -> Iterator[RemainingMention]:
    """Where handlers import the tool's types, whose module will not be there any more."""
    toolset, tool = owned
    package = f"{workspace.package}.{toolset.name}.tools".lstrip(".")
    for found in modules_with(workspace, toolset, tool.module):
        for node in () if found.tree is None else ast.walk(found.tree):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                names.append(node.module)
            if isinstance(node, ast.stmt) and f"{package}.{tool.module}" in names:
                text = f"imports the types of `{tool.name}` from a module that goes"
                yield RemainingMention(
                    found.file, node.lineno, node.col_offset + 1, text
                )


def left_in_files(edited: Workspace, name: str) -> Iterator[RemainingMention]:
    """The places of files below `scan` that say the name.

    Args:
        edited: the workspace after the edit, in which no tool has the name.
    """
    for mention in scan_files(edited).mentions:
        if mention.name == name:
            text = _shown(mention.text.strip())
            yield RemainingMention(mention.file, mention.line, mention.column, text)


def _shown(text: str) -> str:
    return (
        text
        if len(text) <= _MAX_TEXT_CHARACTERS
        else f"{text[:_MAX_TEXT_CHARACTERS]}..."
    )


def exported(tree: ast.Module) -> Iterator[ast.AST]:
    """What stands in `__all__`: names of functions."""
    for statement in tree.body:
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AugAssign | ast.AnnAssign):
            targets = [statement.target]
        if any(isinstance(one, ast.Name) and one.id == "__all__" for one in targets):
            yield from ast.walk(statement)
