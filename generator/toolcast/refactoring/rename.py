"""Renaming of a tool, which keeps its old name callable, and optionally of its handler.

A handler is renamed at the positions of syntax tree nodes: its `def`, its uses in the modules of the
handlers, and `__all__`. If the name is ambiguous in a module, the edit is refused, because a
partially renamed module would not run. An attribute of an object whose type is unknown becomes a
remaining mention.
"""

from __future__ import annotations

import ast
import keyword
import posixpath
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from toolcast_runtime.core.definitions.tool import module_name, spec_name

from ..findings import MAX_FINDINGS_SHOWN
from ..git.index import read_index
from ..model.model import ToolSpec, Workspace
from ..model.toolset_parts import HandlerReference
from ..static_analysis.handler import find_function_code
from ..static_analysis.modules import (
    FunctionDefinition,
    ImportedName,
    PythonModule,
    collect_bindings,
    collect_imports,
)
from .free_names import validate_tool_name
from .other_files import (
    keep_server_name,
    rename_in_markdown_regions,
    rename_in_other_files,
)
from .project_edit import (
    EditRefusedError,
    EditSession,
    OwnedTool,
    ProjectEdit,
    RemainingMention,
    load_edited_workspace,
)
from .references import rename_mentions, rename_references
from .remaining_mentions import (
    Module,
    list_changed_patterns,
    list_exported_nodes,
    list_file_mentions,
    list_handler_mentions,
    list_spec_mentions,
    list_type_imports,
    load_modules_containing,
)
from .spec_text import UneditableValueError

_PRECEDING_FIELDS = ("timeout", "handler", "name")
"""`renamed_from` is inserted after the first of these fields that a spec has."""


def rename_tool(
    workspace: Workspace, owned: OwnedTool, new: str, *, with_handler: bool
) -> ProjectEdit:
    """Plan the renaming of a tool to an unused name, or to one of its previous names.

    Args:
        workspace: the project.
        owned: the tool.
        new: the new name.
        with_handler: also rename the function that implements the tool.

    Raises:
        EditRefusedError: the name is not available, the handler cannot be renamed, or
            the specs would have new errors.
        UneditableValueError: a spec has a layout that cannot be edited.
    """
    toolset, tool = owned
    if new == tool.name:
        raise EditRefusedError(f"the tool already has the name `{new}`", is_usage=True)
    # An interrupted run of the same edit may already have written the renamed spec.
    existing = next(
        (t for t in toolset.tools if t.name == new and tool.name in t.renamed_from),
        None,
    )
    validate_tool_name(toolset, new, tool, existing)
    handler = rename_handler(workspace, owned, new) if with_handler else None
    editing = _undo_rename(workspace, owned, new, handler)
    if editing is None:
        editing = _edit_specs(workspace, owned, new, handler)
    editing.move(tool.source.file, _build_spec_path(tool, new), existing)
    rename_in_other_files(editing, workspace, owned, new)
    rename_in_markdown_regions(editing, workspace, owned, new)
    tolerated_rules = {"name/retired-name-used"}
    if handler is not None:
        for file, (before_data, after_data) in handler.files.items():
            editing.set_bytes(file, before_data, after_data)
        editing.remaining_mentions += handler.remaining_mentions
        # These rules check the module on disk, where the function still has its old
        # name.
        tolerated_rules |= {"handler/not-found", "handler/imported"}
    before, after = editing.collect_files()
    edited = load_edited_workspace(
        workspace,
        after,
        renamed=(tool.name, new),
        tolerated_rules=tolerated_rules,
    )
    remaining_mentions = [
        *editing.remaining_mentions,
        *list_changed_patterns(owned, edited, new),
        *list_spec_mentions(workspace, owned, edited),
        *list_handler_mentions(workspace, toolset, tool.name),
        *list_type_imports(workspace, owned),
        *list_file_mentions(edited, tool.name),
    ]
    summary = f"`{tool.name}` is renamed to `{new}`"
    return ProjectEdit(
        summary, before, after, tuple(remaining_mentions), ("toolcast generate",)
    )


def _edit_specs(
    workspace: Workspace,
    owned: OwnedTool,
    new: str,
    handler: HandlerEdit | None,
    *,
    is_undo: bool = False,
) -> EditSession:
    """Collect the edits that rename a tool in its spec, in references and in mentions.

    The old name is added to `renamed_from`; a `new` in this list is replaced by it.

    Args:
        workspace: the project.
        owned: the tool.
        new: the new name.
        handler: the renamed function of the handler, if any.
        is_undo: drop the previous names since `new`, instead of adding the current
            name.
    """
    tool = owned.tool
    editing = EditSession()
    text = editing.get_text(tool.source)
    text.set_name(("name",), new)
    if is_undo:
        text.truncate_list(("renamed_from",), tool.renamed_from.index(new))
    elif new in tool.renamed_from:
        text.set_name(("renamed_from", tool.renamed_from.index(new)), tool.name)
    elif "renamed_from" in tool.fields:
        text.append_item(("renamed_from",), tool.name)
    else:
        preceding = next(key for key in _PRECEDING_FIELDS if key in tool.fields)
        text.insert_key((preceding,), "renamed_from", [tool.name])
    keep_server_name(editing, owned, new)
    rename_references(editing, workspace, owned, new)
    rename_mentions(editing, workspace, owned, new)
    if handler is not None:
        _rename_function_references(editing, workspace, owned, handler)
    return editing


def _undo_rename(
    workspace: Workspace, owned: OwnedTool, new: str, handler: HandlerEdit | None
) -> EditSession | None:
    """Collect the edits that undo renames; None unless git has the spec before them.

    If git's index has exactly the spec from before the renames, the names in between
    were never published and need no entry in `renamed_from`.
    """
    if new not in owned.tool.renamed_from:
        return None
    index = read_index(workspace.root, owned.toolset.folder)
    try:
        editing = _edit_specs(workspace, owned, new, handler, is_undo=True)
        data = editing.get_text(owned.tool.source).encode()
    except UneditableValueError:
        return None
    file = _build_spec_path(owned.tool, new).removeprefix(f"{owned.toolset.folder}/")
    is_in_index = index is not None and index.has(file, data)
    return editing if is_in_index else None


def _build_spec_path(tool: ToolSpec, name: str) -> str:
    """Return the path of a tool's spec under another name, in the same folder."""
    return f"{posixpath.dirname(tool.source.file)}/{spec_name(name)}.yaml"


def _rename_function_references(
    editing: EditSession, workspace: Workspace, owned: OwnedTool, handler: HandlerEdit
) -> None:
    """Rename the function in the field `handler` of every spec that uses it."""
    pattern = re.compile(rf":{re.escape(handler.old)}\b")
    replace_name = partial(pattern.sub, f":{handler.new}")
    for toolset in workspace.toolsets:
        for spec in (*toolset.tools, *toolset.mcp_specs):
            if spec.handler == owned.tool.handler:
                text = editing.get_text(spec.source)
                text.rewrite_text(("handler",), replace_name)


_DEF_KEYWORD = re.compile(rb"(?:async[ \t\f]+)?def[ \t\f]+")

_IsFunctionOfModule = Callable[[str], bool]
"""Predicate for a module's dotted name: is the old name in the module the function?"""


class HandlerEdit(NamedTuple):
    """The modules in which a function is renamed.

    Attributes:
        old: the old name of the function.
        new: the new name.
        files: the bytes before and after, by path; the defining module comes last.
        remaining_mentions: attributes that may be the function.
    """

    old: str
    new: str
    files: dict[str, tuple[bytes, bytes]]
    remaining_mentions: tuple[RemainingMention, ...] = ()


class _Occurrence(NamedTuple):
    """A name in a module: the offset of its first byte, and the node that contains it."""

    offset: int
    node: ast.AST


def rename_handler(workspace: Workspace, owned: OwnedTool, new: str) -> HandlerEdit:
    """Rename the function of a tool's handler to match the tool's new name.

    A function that already has the new name stays as it is.

    Args:
        workspace: the project.
        owned: the tool.
        new: the tool's new name.

    Raises:
        EditRefusedError: the function does not have the tool's old name, or a use of the name
            is ambiguous. The message has the locations.
    """
    toolset, tool = owned
    reference = tool.handler
    if reference is None:
        raise EditRefusedError(f"`{tool.name}` has no handler")
    old, name = reference.function, module_name(new)
    if old not in (tool.name, module_name(tool.name)):
        raise EditRefusedError(
            f"the handler of `{tool.name}` has a name of its own, `{old}`",
            "omit `--handler`, or rename the function by hand",
        )
    if keyword.iskeyword(name) or not name.isidentifier():
        raise EditRefusedError(f"`{name}` is not a valid function name")

    def locate_function(module: str, function: str) -> str:
        code = find_function_code(
            workspace, toolset, HandlerReference(module, function)
        )
        return code.location if code is not None and not code.external_reason else ""

    location = locate_function(reference.module, old)
    # An interrupted run, or the user, has renamed the function already.
    if not location and locate_function(reference.module, name):
        return HandlerEdit(old, name, {})
    if not location:
        raise EditRefusedError(f"the function `{reference}` is not defined by a `def`")
    defining_file = location.rpartition(":")[0]
    files: dict[str, tuple[bytes, bytes]] = {}
    remaining_mentions: list[RemainingMention] = []
    modules = load_modules_containing(workspace, toolset, old)
    for module in sorted(modules, key=lambda module: module.file == defining_file):
        if module.tree is None:
            raise EditRefusedError(
                f"{module.file} may use `{old}`, but is too large or not valid Python in"
                " UTF-8",
                "fix the module, or rename the function by hand",
            )
        if module.file == defining_file:
            occurrences = _find_in_defining_module(module, module.tree, old, name)
        else:
            search = _UseSearch(
                module,
                module.tree,
                old,
                lambda candidate: locate_function(candidate, old) == location,
            )
            occurrences, mentions = search.find(name)
            remaining_mentions += mentions
        if occurrences:
            after = _replace_occurrences(module.data, occurrences, old, name)
            # Text positions can be wrong in unusual code, so the result is parsed and
            # compared.
            if not _has_renamed_tree(module.tree, after, occurrences, old, name):
                message = f"{module.file}: `{old}` cannot be renamed safely"
                raise EditRefusedError(message, "rename it by hand")
            files[module.file] = module.data, after
    return HandlerEdit(old, name, files, tuple(remaining_mentions))


def _find_in_defining_module(
    module: Module, tree: ast.Module, old: str, new: str
) -> list[_Occurrence]:
    """Return the occurrences of a function's name in the module that defines it.

    Raises:
        EditRefusedError: the old name is ambiguous in the module, or the new one is used.
    """
    bindings = collect_bindings(tree.body, PythonModule(module.name, module.file))
    definitions = [
        binding.value
        for binding in bindings.get(old, ())
        if isinstance(binding.value, FunctionDefinition)
    ]
    if len(definitions) != 1:
        message = f"{module.file} defines `{old}` {len(definitions)} times"
        raise EditRefusedError(message, "rename it by hand")
    definition = definitions[0]
    _refuse_other_bindings(module, tree, old, new, {id(definition)})
    lines = _list_line_starts(module.data)
    start = lines[definition.lineno - 1] + definition.col_offset
    match = _DEF_KEYWORD.match(module.data, start)
    if match is None:
        raise EditRefusedError(
            f"{module.file}:{definition.lineno}: the function is not defined by a `def`"
        )
    name = _Occurrence(match.end(), definition)
    return [name, *_list_name_uses(module, tree, lines, old)]


class _UseSearch:
    """Search for the uses of a function in a module that imports it."""

    def __init__(
        self,
        module: Module,
        tree: ast.Module,
        old: str,
        is_function_of_module: _IsFunctionOfModule,
    ) -> None:
        self._module, self._tree, self._old = module, tree, old
        self._is_function_of_module = is_function_of_module
        self._lines = _list_line_starts(module.data)
        nodes = list(ast.walk(tree))
        self._python_module = PythonModule(module.name, module.file)
        self._imports = collect_imports(nodes, self._python_module)
        self._bound_names = {
            name
            for node in nodes
            if not isinstance(node, ast.alias)
            for name in _list_bound_names(node)
        }

    def find(self, new: str) -> tuple[list[_Occurrence], list[RemainingMention]]:
        """Return the uses of the function, and attributes that may be the function.

        Args:
            new: the new name, which the module must not use yet.

        Raises:
            EditRefusedError: the module imports the function, and one of the names is
                used for something else.
        """
        occurrences: list[_Occurrence] = []
        mentions: list[RemainingMention] = []
        own_aliases: set[int] = set()
        for node in ast.walk(self._tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if alias.name == self._old and self._imports_function(node, alias):
                        occurrences.append(_Occurrence(self._get_offset(alias), alias))
                        if alias.asname is None:
                            own_aliases.add(id(alias))
            elif isinstance(node, ast.Attribute) and node.attr == self._old:
                module = self._resolve_module(node.value)
                if module is None:
                    mentions.append(self._describe_attribute(node))
                elif self._is_function_of_module(module):
                    end = self._lines[(node.end_lineno or 1) - 1]
                    end += node.end_col_offset or 0
                    occurrences.append(_Occurrence(end - len(self._old), node))
        has_star_import = any(key.startswith("*") for key in self._imports)
        if own_aliases or (
            has_star_import and self._is_function_of_module(self._module.name)
        ):
            _refuse_other_bindings(
                self._module, self._tree, self._old, new, own_aliases
            )
            occurrences += _list_name_uses(
                self._module, self._tree, self._lines, self._old
            )
        return occurrences, mentions

    def _describe_attribute(self, node: ast.Attribute) -> RemainingMention:
        text = f"`{ast.unparse(node)[:80]}` may be the function"
        column = node.col_offset + 1
        return RemainingMention(self._module.file, node.lineno, column, text)

    def _imports_function(self, node: ast.ImportFrom, alias: ast.alias) -> bool:
        single_import = ast.ImportFrom(node.module, [alias], node.level)
        imports = collect_imports([single_import], self._python_module)
        return any(
            self._is_function_of_module(imported.module)
            for imported in imports.values()
        )

    def _resolve_module(self, node: ast.expr) -> str | None:
        """Return the dotted name of the module that an expression may refer to.

        None for an expression that is not a chain of names after an import.
        """
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self._bound_names:
            return None
        imported: ImportedName | None = self._imports.get(node.id)
        if imported is None:
            return None
        root = imported.module
        if imported.name is not None:
            root = f"{root}.{imported.name}"
        return ".".join([root, *reversed(names)])

    def _get_offset(self, node: ast.alias) -> int:
        return self._lines[node.lineno - 1] + node.col_offset


def _refuse_other_bindings(
    module: Module, tree: ast.Module, old: str, new: str, own: set[int]
) -> None:
    """Raise EditRefusedError if a module uses the new name, or the old one otherwise.

    Args:
        module: the module.
        tree: its syntax tree.
        old: the old name.
        new: the new name.
        own: identities of the nodes that bind the old name to the function.
    """
    other_lines: set[int] = set()
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 1)
        bound = _list_bound_names(node)
        if new in bound or (isinstance(node, ast.Name) and node.id == new):
            raise EditRefusedError(
                f"{module.file}:{line}: the module already uses the name `{new}`"
            )
        if old in bound and id(node) not in own:
            other_lines.add(line)
    if other_lines:
        lines = sorted(other_lines)[:MAX_FINDINGS_SHOWN]
        locations = ", ".join(f"{module.file}:{line}" for line in lines)
        raise EditRefusedError(
            f"`{old}` is also the name of something else: {locations}",
            "rename it by hand",
        )


def _list_name_uses(
    module: Module, tree: ast.Module, lines: list[int], old: str
) -> Iterator[_Occurrence]:
    """Yield the uses of a name in a module, and its string literals in `__all__`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == old:
            yield _Occurrence(lines[node.lineno - 1] + node.col_offset, node)
    for node in list_exported_nodes(tree):
        if isinstance(node, ast.Constant) and node.value == old:
            # The name follows one quote. Literals with a prefix or three quotes are
            # left out by the comparison below.
            start = lines[node.lineno - 1] + node.col_offset + 1
            if module.data[start : start + len(old)] == old.encode():
                yield _Occurrence(start, node)


def _list_bound_names(node: ast.AST) -> frozenset[str]:
    """Return the names that a node binds or declares, in any scope."""
    names: list[str | None] = []
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    if isinstance(node, definitions | ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        names = [node.name]
    elif isinstance(node, ast.arg):
        names = [node.arg]
    elif isinstance(node, ast.alias):
        names = [node.asname or node.name.partition(".")[0]]
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        names = [*node.names]
    elif isinstance(node, ast.MatchMapping):
        names = [node.rest]
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        names = [node.id]
    return frozenset(name for name in names if name is not None)


def _replace_occurrences(
    data: bytes, occurrences: list[_Occurrence], old: str, new: str
) -> bytes:
    for start, _ in sorted(occurrences, key=lambda o: o.offset, reverse=True):
        data = data[:start] + new.encode() + data[start + len(old) :]
    return data


def _has_renamed_tree(
    tree: ast.Module, after: bytes, occurrences: list[_Occurrence], old: str, new: str
) -> bool:
    """Return whether the edited text has the syntax tree with only the name changed.

    The nodes of `tree` are renamed in place.
    """
    for occurrence in occurrences:
        for field in ("name", "id", "attr", "value"):
            if getattr(occurrence.node, field, None) == old:
                setattr(occurrence.node, field, new)
    try:
        return ast.dump(tree) == ast.dump(ast.parse(after))
    except SyntaxError:
        return False


def _list_line_starts(data: bytes) -> list[int]:
    starts = [0]
    starts += [match.end() for match in re.finditer(rb"\r\n|\r|\n", data)]
    return starts
