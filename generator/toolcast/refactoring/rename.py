"""A tool gets another name, and keeps answering to the old one; its handler gets it, too, if asked.

A handler is renamed by the positions of its module's syntax tree: the function's `def`, what
uses it in the modules of the handlers, and `__all__`. What may be something else makes it a
refusal: code that was changed in part would not run. An attribute of an object that only a run
would show is left for a person.
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
from .free_names import refuse_taken_name
from .other_files import change_marks, keep_answering, rename_in_other_files
from .project_edit import (
    EditRefusedError,
    EditSession,
    OwnedTool,
    ProjectEdit,
    RemainingMention,
    specs_after,
)
from .references import rename_mentions, rename_references
from .remaining_mentions import (
    Module,
    exported,
    left_imports,
    left_in_files,
    left_in_handlers,
    left_in_specs,
    left_patterns,
    modules_with,
)
from .spec_text import UneditableValueError

_MAY_FOLLOW = ("timeout", "handler", "name")
"""Behind the first of these that a spec has, `renamed_from` is written."""


def rename(
    workspace: Workspace, owned: OwnedTool, new: str, *, with_handler: bool = False
) -> ProjectEdit:
    """Gives a tool a name that is free, or one that it had before.

    Args:
        with_handler: names its handler's function after it, too.

    Raises:
        EditRefusedError: the name is not to be had, or what would be written is not right.
        UneditableValueError: a spec has a layout that is not edited.
    """
    toolset, tool = owned
    if new == tool.name:
        raise EditRefusedError(f"the tool is called `{new}` already", is_usage=True)
    others = (t for t in toolset.tools if t.name == new)
    begun = next((t for t in others if tool.name in t.renamed_from), None)
    refuse_taken_name(toolset, new, tool, begun)
    function = rename_handler(workspace, owned, new) if with_handler else None
    editing = _taken_back(workspace, owned, new, function)
    if editing is None:
        editing = _edited(workspace, owned, new, function)
    editing.move(tool.source.file, _file(tool, new), begun)
    rename_in_other_files(editing, workspace, owned, new)
    change_marks(editing, workspace, owned, new)
    passed = {"name/retired-name-used"}
    if function is not None:
        for file, (old, renamed) in function.files.items():
            editing.set_bytes(file, old, renamed)
        editing.left += function.left
        # They read the module that is on disk.
        passed |= {"handler/not-found", "handler/imported"}
    before, after = editing.files()
    edited = specs_after(workspace, after, renamed=(tool.name, new), passed=passed)
    left = [
        *editing.left,
        *left_patterns(owned, edited, new),
        *left_in_specs(workspace, owned, edited),
        *left_in_handlers(workspace, toolset, tool.name),
        *left_imports(workspace, owned),
        *left_in_files(edited, tool.name),
    ]
    done = f"`{tool.name}` is called `{new}`"
    return ProjectEdit(done, before, after, tuple(left), ("toolcast generate",))


def _edited(
    workspace: Workspace,
    owned: OwnedTool,
    new: str,
    function: HandlerEdit | None,
    *,
    is_taken_back: bool = False,
) -> EditSession:
    """The specs with another name of a tool."""
    tool = owned.tool
    editing = EditSession()
    text = editing.text(tool.source)
    text.set_name(("name",), new)
    if is_taken_back:
        text.shorten(("renamed_from",), tool.renamed_from.index(new))
    elif new in tool.renamed_from:
        text.set_name(("renamed_from", tool.renamed_from.index(new)), tool.name)
    elif "renamed_from" in tool.fields:
        text.append(("renamed_from",), tool.name)
    else:
        before = next(key for key in _MAY_FOLLOW if key in tool.fields)
        text.insert_key((before,), "renamed_from", [tool.name])
    keep_answering(editing, owned, new)
    rename_references(editing, workspace, owned, new)
    rename_mentions(editing, workspace, owned, new)
    if function is not None:
        _name_function(editing, workspace, owned, function)
    return editing


def _taken_back(
    workspace: Workspace, owned: OwnedTool, new: str, function: HandlerEdit | None
) -> EditSession | None:
    """Takes renames back that git has not seen; None when its index has another spec.

    Nobody else knows the names that came after the one that git has.
    """
    if new not in owned.tool.renamed_from:
        return None
    index = read_index(workspace.root, owned.toolset.folder)
    try:
        editing = _edited(workspace, owned, new, function, is_taken_back=True)
        data = editing.text(owned.tool.source).result()
    except UneditableValueError:
        return None
    file = _file(owned.tool, new).removeprefix(f"{owned.toolset.folder}/")
    was_there = index is not None and index.has(file, data)
    return editing if was_there else None


def _file(tool: ToolSpec, name: str) -> str:
    """Where the spec of a tool is by another name: in the same folder."""
    return f"{posixpath.dirname(tool.source.file)}/{spec_name(name)}.yaml"


def _name_function(
    editing: EditSession, workspace: Workspace, owned: OwnedTool, function: HandlerEdit
) -> None:
    """Changes the function's name in every spec that has it as its handler."""
    old = re.compile(rf":{re.escape(function.old)}\b")
    for toolset in workspace.toolsets:
        for spec in (*toolset.tools, *toolset.mcp_specs):
            if spec.handler == owned.tool.handler:
                text = editing.text(spec.source)
                text.rewrite(("handler",), partial(old.sub, f":{function.new}"))


_FIRST = re.compile(rb"(?:async[ \t\f]+)?def[ \t\f]+")

_Means = Callable[[str], bool]
"""Whether the function has its old name in a module."""


class HandlerEdit(NamedTuple):
    """Modules with another name for one function.

    Attributes:
        old: the function's name before.
        new: its name now.
        files: the bytes before and after, by path; the module that defines it comes last.
        left: where it may be used as well.
    """

    old: str
    new: str
    files: dict[str, tuple[bytes, bytes]]
    left: tuple[RemainingMention, ...] = ()


class _Place(NamedTuple):
    offset: int
    node: ast.AST


def rename_handler(workspace: Workspace, owned: OwnedTool, new: str) -> HandlerEdit:
    """Names the handler of a tool after the tool's new name.

    A function that has the name already is left as it is.

    Raises:
        EditRefusedError: it is not called as the tool is, or not everything that uses it can be
            told apart. The text has the places.
    """
    toolset, tool = owned
    reference = tool.handler
    if reference is None:
        raise EditRefusedError(f"`{tool.name}` has no handler")
    old, name = reference.function, module_name(new)
    if old not in (tool.name, module_name(tool.name)):
        help_ = "leave out `--handler`, or rename the function by hand"
        raise EditRefusedError(f"the handler of `{tool.name}` is called `{old}`", help_)
    if keyword.iskeyword(name) or not name.isidentifier():
        raise EditRefusedError(f"`{name}` is no name of a function")

    def place_of(module: str, function: str) -> str:
        code = find_function_code(
            workspace, toolset, HandlerReference(module, function)
        )
        return code.location if code is not None and not code.external_reason else ""

    place = place_of(reference.module, old)
    if not place and place_of(reference.module, name):
        return HandlerEdit(old, name, {})
    if not place:
        raise EditRefusedError(
            f"the function `{reference}` is not found as a plain `def`"
        )
    defining = place.rpartition(":")[0]
    files: dict[str, tuple[bytes, bytes]] = {}
    left: list[RemainingMention] = []
    modules = modules_with(workspace, toolset, old)
    for module in sorted(modules, key=lambda one: one.file == defining):
        if module.tree is None:
            message = f"{module.file} says `{old}`, and is no Python module in UTF-8"
            raise EditRefusedError(message, "mend it, or rename the function by hand")
        if module.file == defining:
            places = _of_definition(module, module.tree, old, name)
        else:
            uses = _Uses(
                module, module.tree, old, lambda at: place_of(at, old) == place
            )
            places, unclear = uses.places(name)
            left += unclear
        if places:
            after = _replaced(module.data, places, old, name)
            if not _is_as_meant(module.tree, after, places, old, name):
                message = f"{module.file}: `{old}` cannot be renamed safely"
                raise EditRefusedError(message, "rename it by hand")
            files[module.file] = module.data, after
    return HandlerEdit(old, name, files, tuple(left))


def _of_definition(
    module: Module, tree: ast.Module, old: str, new: str
) -> list[_Place]:
    """Where the name stands for the function in the module that defines it.

    Raises:
        EditRefusedError: it also stands for something else, or the new one is taken.
    """
    bindings = collect_bindings(tree.body, PythonModule(module.name, module.file))
    bound = (binding.value for binding in bindings.get(old, ()))
    own = [node for node in bound if isinstance(node, FunctionDefinition)]
    if len(own) != 1:
        times = f"{module.file} defines `{old}` {len(own)} times"
        raise EditRefusedError(times, "rename it by hand")
    _refuse_other_meanings(module, tree, old, new, {id(own[0])})
    lines = _line_starts(module.data)
    start = lines[own[0].lineno - 1] + own[0].col_offset
    match = _FIRST.match(module.data, start)
    if match is None:
        raise EditRefusedError(f"{module.file}:{own[0].lineno}: no plain `def`")
    return [_Place(match.end(), own[0]), *_loads(module, tree, lines, old)]


class _Uses:
    """What uses the function in another module."""

    def __init__(
        self, module: Module, tree: ast.Module, old: str, means: _Means
    ) -> None:
        self._module, self._tree, self._old = module, tree, old
        self._means = means
        self._lines = _line_starts(module.data)
        nodes = list(ast.walk(tree))
        self._importing = PythonModule(module.name, module.file)
        self._imports = collect_imports(nodes, self._importing)
        others = (node for node in nodes if not isinstance(node, ast.alias))
        self._bound = {name for node in others for name in _bound(node)}

    def places(self, new: str) -> tuple[list[_Place], list[RemainingMention]]:
        """Where the function is named for certain, and where it may be.

        Raises:
            EditRefusedError: where it is imported, the name stands for something else as well.
        """
        found: list[_Place] = []
        left: list[RemainingMention] = []
        own: set[int] = set()
        for node in ast.walk(self._tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if alias.name == self._old and self._is_ours(node, alias):
                        found.append(_Place(self._offset(alias), alias))
                        if alias.asname is None:
                            own.add(id(alias))
            elif isinstance(node, ast.Attribute) and node.attr == self._old:
                module = self._module_in(node.value)
                if module is not None and self._means(module):
                    end = self._lines[(node.end_lineno or 1) - 1]
                    end += node.end_col_offset or 0
                    found.append(_Place(end - len(self._old), node))
                elif module is None:
                    shown = ast.unparse(node)[:80]
                    text = f"`{shown}` may be the function"
                    column = node.col_offset + 1
                    left.append(
                        RemainingMention(self._module.file, node.lineno, column, text)
                    )
        is_starred = any(key.startswith("*") for key in self._imports)
        if own or (is_starred and self._means(self._module.name)):
            _refuse_other_meanings(self._module, self._tree, self._old, new, own)
            found += _loads(self._module, self._tree, self._lines, self._old)
        return found, left

    def _is_ours(self, node: ast.ImportFrom, alias: ast.alias) -> bool:
        one = ast.ImportFrom(node.module, [alias], node.level)
        brought = collect_imports([one], self._importing)
        return any(self._means(each.module) for each in brought.values())

    def _module_in(self, node: ast.expr) -> str | None:
        """The dotted name of the module that an expression may stand for; None for objects."""
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self._bound:
            return None
        known: ImportedName | None = self._imports.get(node.id)
        if known is None:
            return None
        root = known.module if known.name is None else f"{known.module}.{known.name}"
        return ".".join([root, *reversed(names)])

    def _offset(self, node: ast.alias) -> int:
        return self._lines[node.lineno - 1] + node.col_offset


def _refuse_other_meanings(
    module: Module, tree: ast.Module, old: str, new: str, own: set[int]
) -> None:
    """Raise EditRefusedError if something else has one of the names in a module."""
    unclear: set[int] = set()
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 1)
        bound = _bound(node)
        if new in bound or (isinstance(node, ast.Name) and node.id == new):
            where = f"{module.file}:{line}"
            raise EditRefusedError(f"{where}: the name `{new}` is taken in the module")
        if old in bound and id(node) not in own:
            unclear.add(line)
    if unclear:
        lines = sorted(unclear)[:MAX_FINDINGS_SHOWN]
        where = ", ".join(f"{module.file}:{line}" for line in lines)
        raise EditRefusedError(
            f"`{old}` is something else, too: {where}", "rename it by hand"
        )


def _loads(
    module: Module, tree: ast.Module, lines: list[int], old: str
) -> Iterator[_Place]:
    """Where a module's name is used, and where it is a literal of `__all__`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == old:
            yield _Place(lines[node.lineno - 1] + node.col_offset, node)
    for node in exported(tree):
        if isinstance(node, ast.Constant) and node.value == old:
            start = lines[node.lineno - 1] + node.col_offset + 1
            if module.data[start : start + len(old)] == old.encode():
                yield _Place(start, node)


def _bound(node: ast.AST) -> frozenset[str]:
    """The names that a node binds, or declares, in whatever scope."""
    names: list[str | None] = []
    defines = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    if isinstance(node, defines | ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
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


def _replaced(data: bytes, places: list[_Place], old: str, new: str) -> bytes:
    for place in sorted(places, key=lambda one: one.offset, reverse=True):
        end = place.offset + len(old)
        data = data[: place.offset] + new.encode() + data[end:]
    return data


def _is_as_meant(
    tree: ast.Module, after: bytes, places: list[_Place], old: str, new: str
) -> bool:
    """Whether the new text is the old tree with the nodes of the places renamed, as they are here."""
    for place in places:
        for field in ("name", "id", "attr", "value"):
            if getattr(place.node, field, None) == old:
                setattr(place.node, field, new)
    try:
        return ast.dump(tree) == ast.dump(ast.parse(after))
    except SyntaxError:
        return False


def _line_starts(data: bytes) -> list[int]:
    starts = [0]
    starts += [match.end() for match in re.finditer(rb"\r\n|\r|\n", data)]
    return starts
