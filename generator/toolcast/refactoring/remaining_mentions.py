"""Mentions of a name that remain after an edit: in specs, handlers and scanned files."""

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
from .project_edit import OwnedTool, RemainingMention, build_mention
from .references import list_possible_toolsets, list_reference_paths

_MAX_MODULES = 2_000
"""The maximum number of modules that are searched."""


class Module(NamedTuple):
    """A Python module of a toolset's handlers.

    Attributes:
        file: the path relative to the project's root.
        name: the dotted name.
        data: the bytes of the file; empty if it cannot be read.
        tree: the syntax tree; None if the file cannot be read or parsed.
    """

    file: str
    name: str
    data: bytes
    tree: ast.Module | None


def load_modules_containing(
    workspace: Workspace, toolset: Toolset, word: str
) -> list[Module]:
    """Load the modules of a toolset's handlers that contain a word or cannot be read.

    A module that is too large or cannot be read or parsed is included with the tree
    None, because it could contain the word. Symbolic links are not followed. At most
    `_MAX_MODULES` modules are searched.
    """
    modules: list[Module] = []
    for index, (file, name) in enumerate(_list_modules(workspace, toolset)):
        if index == _MAX_MODULES:
            break
        data, tree = b"", None
        try:
            path = os.path.join(workspace.root, file)
            data = read_regular_file(path, MAX_MODULE_BYTES + 1, follow=False)
            if len(data) <= MAX_MODULE_BYTES:
                if word.encode() not in data:
                    continue
                data.decode("utf-8")
                tree = ast.parse(data)
        except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
            pass
        modules.append(Module(file, name, data, tree))
    return modules


def _list_modules(workspace: Workspace, toolset: Toolset) -> Iterator[tuple[str, str]]:
    """Yield the path and dotted name of each module in the handlers package.

    Symbolic links are not followed.
    """
    if toolset.handlers is None:
        return
    for source in workspace.sources:
        package = os.path.join(source, *toolset.handlers.split("."))
        package_path = os.path.normpath(package).replace(os.sep, "/")
        pending = [(package_path, toolset.handlers)]
        while pending:
            folder, name = pending.pop()
            try:
                with os.scandir(os.path.join(workspace.root, folder)) as entries:
                    sorted_entries = sorted(entries, key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in sorted_entries:
                path, stem = f"{folder}/{entry.name}", entry.name.removesuffix(".py")
                if entry.is_dir(follow_symlinks=False):
                    pending.append((path, f"{name}.{stem}"))
                elif path.endswith(".py") and entry.is_file(follow_symlinks=False):
                    yield path, name if stem == "__init__" else f"{name}.{stem}"


_MAX_TEXT_CHARACTERS = 80
"""The maximum number of characters of a quoted text."""


def list_spec_mentions(
    workspace: Workspace, owned: OwnedTool, edited: Workspace
) -> Iterator[RemainingMention]:
    """Yield the lines of specs that still mention a tool's old name after an edit.

    Comments, data and the content of resources are included. `renamed_from`,
    `reserved_names` and handler names are not, because there the old name is correct.

    Args:
        workspace: the workspace before the edit.
        owned: the tool before the edit.
        edited: the workspace after the edit.
    """
    name = owned.tool.name
    folders = {t.folder for t in list_possible_toolsets(workspace, owned)}
    for toolset in edited.toolsets:
        if toolset.folder not in folders:
            continue
        current_names = frozenset(tool.name for tool in toolset.tools)
        contents = [
            Source(f"{toolset.folder}/{spec.file}", spec.content)
            for spec in toolset.mcp_resources
            if spec.content is not None
        ]
        for source in (*toolset.sources, *contents):
            yield from _list_line_mentions(source, name, current_names)
        is_own_toolset = toolset.folder == owned.toolset.folder
        if is_own_toolset and name not in current_names:
            yield from _list_extension_mentions(toolset, name, workspace.extensions)


def _list_extension_mentions(
    toolset: Toolset, name: str, extensions: tuple[str, ...]
) -> Iterator[RemainingMention]:
    """Yield the fields of extensions in `toolset.yaml` that refer to a tool."""
    tree = toolset.source.tree
    own_paths = list_reference_paths(name, tree, "toolset")
    for path in list_reference_paths(name, tree, "toolset", extensions):
        if path not in own_paths:
            text = f"`{format_path(path)}` refers to `{name}`"
            yield build_mention(toolset.source, path, text)


def list_changed_patterns(
    owned: OwnedTool, edited: Workspace, new: str
) -> Iterator[RemainingMention]:
    """Yield patterns in client lists that match only the old or only the new name.

    Such a pattern changes which clients may call the tool.
    """
    old = owned.tool.name
    toolset = next(t for t in edited.toolsets if t.name == owned.toolset.name)
    for client in toolset.clients:
        client_before = owned.toolset.find_client(client.name)
        if client_before is None:
            continue
        for key in ("allow", "deny"):
            old_entry = client_before.find_entry(key, old)
            new_entry = client.find_entry(key, new)
            for entry, other, difference in (
                (old_entry, new_entry, f"matched `{old}`, but does not match `{new}`"),
                (new_entry, old_entry, f"matches `{new}`, but did not match `{old}`"),
            ):
                if entry is None or not entry.is_pattern or other is not None:
                    continue
                if entry.text not in client.get_entry_texts(key):
                    continue
                path: Path = ("clients", client.name, key)
                if client.allow is not None or key == "deny":
                    path = (*path, client.get_entry_texts(key).index(entry.text))
                text = f"`{entry.text}` in `{key}` of `{client.name}` {difference}"
                yield build_mention(toolset.source, path, text)


def _list_line_mentions(
    source: Source, name: str, current_names: frozenset[str]
) -> Iterator[RemainingMention]:
    pattern = compile_mention_pattern([name])
    if pattern is None or name.lower().encode() not in source.data.lower():
        return
    # The edit does not change the name in other capitalizations, so these are reported,
    # too.
    pattern = re.compile(pattern.pattern, re.IGNORECASE)
    # The content of a resource may be binary data.
    text = source.data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    declarations = [
        source.offsets(path) for path in _list_name_declarations(source.tree, name)
    ]
    lines = text.split("\n")
    line_starts = [0, *accumulate(len(line) + 1 for line in lines)]
    for mention, line, column in find_names_in_lines(lines, pattern):
        offset = line_starts[line - 1] + column - 1
        is_declaration = any(start <= offset < end for start, end in declarations)
        if mention not in current_names and not is_declaration:
            excerpt = _shorten(lines[line - 1].strip())
            yield RemainingMention(source.file, line, column, excerpt)


def _list_name_declarations(tree: object, name: str) -> Iterator[Path]:
    """Yield the paths of values in which the old name is correct.

    These are `handler`, and entries of `renamed_from` and `reserved_names` with the
    name.
    """
    values: Mapping[str, object] = tree if isinstance(tree, dict) else {}
    if "handler" in values:
        yield ("handler",)
    for key in ("renamed_from", "reserved_names"):
        items = values.get(key)
        for index, item in enumerate(items if isinstance(items, list) else ()):
            if item == name:
                yield (key, index)
            elif isinstance(item, dict) and item.get("name") == name:
                yield from ((key, index, field) for field in item)


def list_handler_mentions(
    workspace: Workspace, toolset: Toolset, name: str
) -> Iterator[RemainingMention]:
    """Yield the string literals in the handlers' modules that mention a name.

    Strings of `__all__` are skipped.
    """
    pattern = compile_mention_pattern([name])
    searched_files: set[str] = set()
    for tool in toolset.tools:
        module = find_defining_module(workspace, toolset, tool)
        if module is None or module.tree is None or module.file in searched_files:
            continue
        searched_files.add(module.file)
        # `__all__` contains the names of functions, not of tools.
        exported_nodes = {id(node) for node in list_exported_nodes(module.tree)}
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Constant) or id(node) in exported_nodes:
                continue
            text = node.value if isinstance(node.value, str) else ""
            if text == name or (pattern is not None and pattern.search(text)):
                excerpt = " ".join(text.split())[:_MAX_TEXT_CHARACTERS]
                yield RemainingMention(
                    module.file, node.lineno, node.col_offset + 1, f'"{excerpt}"'
                )


def list_type_imports(
    workspace: Workspace, owned: OwnedTool
) -> Iterator[RemainingMention]:
    """Yield the statements that import a tool's generated types.

    The next `toolcast generate` removes the imported module.
    """
    toolset, tool = owned
    package = f"{workspace.package}.{toolset.name}.tools".lstrip(".")
    for module in load_modules_containing(workspace, toolset, tool.module):
        if module.tree is None:
            continue
        for node in ast.walk(module.tree):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                names.append(node.module)
            if isinstance(node, ast.stmt) and f"{package}.{tool.module}" in names:
                text = f"imports the types of `{tool.name}` from a module to be removed"
                yield RemainingMention(
                    module.file, node.lineno, node.col_offset + 1, text
                )


def list_file_mentions(edited: Workspace, name: str) -> Iterator[RemainingMention]:
    """Yield the mentions of a name in the files that `scan` of the workspace selects.

    Args:
        edited: the workspace after the edit, in which no tool has the name.
        name: the name.
    """
    for mention in scan_files(edited).mentions:
        if mention.name == name:
            text = _shorten(mention.text.strip())
            yield RemainingMention(mention.file, mention.line, mention.column, text)


def _shorten(text: str) -> str:
    if len(text) <= _MAX_TEXT_CHARACTERS:
        return text
    return f"{text[:_MAX_TEXT_CHARACTERS]}..."


def list_exported_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield all nodes of the module's statements that assign or add to `__all__`."""
    for statement in tree.body:
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AugAssign | ast.AnnAssign):
            targets = [statement.target]
        if any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
            yield from ast.walk(statement)
