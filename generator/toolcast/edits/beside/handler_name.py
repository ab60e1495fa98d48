"""Gives a handler's function another name, by the positions of the syntax tree.

The function's `def`, its uses in the module that defines it, and `__all__` are changed. What
could be something else, and other modules that use the function, make it a refusal: code that
was changed in part would not run.
"""

from __future__ import annotations

import ast
import keyword
import os
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from toolcast_runtime.files.regular_file import read_regular
from toolcast_runtime.tools.module_names import module_name

from ...findings import MOST_SHOWN
from ...handler_code.handler import handler_code
from ...handler_code.python_module import MAX_BYTES, FunctionDefinition, statements_of
from ...model.model import Toolset, Workspace
from ..project_edit import Owned, Refusal
from .handler_modules import MOST_MODULES, modules_of

__all__ = ["HandlerEdit", "rename_handler"]

_FIRST = re.compile(rb"(?:async[ \t\f]+)?def[ \t\f]+")


class HandlerEdit(NamedTuple):
    """A module with another name for one function.

    Attributes:
        old: the function's name before.
        new: its name now.
        file: the module's, relative to the project's root.
        before: its bytes.
        after: its bytes with the new name.
    """

    old: str
    new: str
    file: str
    before: bytes
    after: bytes


class _Place(NamedTuple):
    offset: int
    node: ast.AST


def rename_handler(workspace: Workspace, owned: Owned, new: str) -> HandlerEdit:
    """Names the handler of a tool after the tool's new name.

    Raises:
        Refusal: it is not called as the tool is, or not everything that uses it can be
            told apart. The text has the places.
    """
    toolset, tool = owned
    reference = tool.handler
    if reference is None:
        raise Refusal(f"`{tool.name}` has no handler")
    old, name = reference.function, module_name(new)
    if old not in (tool.name, module_name(tool.name)):
        help_ = "leave out `--handler`, or rename the function by hand"
        raise Refusal(f"the handler of `{tool.name}` is called `{old}`", help_)
    code = handler_code(workspace, toolset, tool)
    if code is None or not code.place or code.source is None or code.foreign:
        raise Refusal(f"the function `{reference}` is not found as a plain `def`")
    if code.source.file != code.module.file:
        raise Refusal(
            f"{code.module.file} has `{old}` from {code.source.file}",
            "rename it by hand: two modules have the name",
        )
    file = code.source.file
    data = read_regular(os.path.join(workspace.root, file), MAX_BYTES, follow=False)
    places = list(_places(data, file, old, name))
    _refuse_other_uses(workspace, toolset, file, old)
    after = _replaced(data, places, old, name)
    if not _is_as_meant(data, after, places, old, name):
        raise Refusal(f"{file}: `{old}` cannot be renamed safely", "rename it by hand")
    return HandlerEdit(old, name, file, data, after)


def _places(data: bytes, file: str, old: str, new: str) -> Iterator[_Place]:
    """Where the name stands for the function.

    Raises:
        Refusal: it also stands for something else, or the new one is taken.
    """
    try:
        data.decode("utf-8")
        tree = ast.parse(data)
    except (ValueError, SyntaxError) as error:
        raise Refusal(f"{file} cannot be read: {error}") from error
    if keyword.iskeyword(new) or not new.isidentifier():
        raise Refusal(f"`{new}` is no name of a function")
    lines = _line_starts(data)
    own = [
        node
        for node in statements_of(tree.body)
        if isinstance(node, FunctionDefinition) and node.name == old
    ]
    if len(own) != 1:
        raise Refusal(f"{file} defines `{old}` {len(own)} times", "rename it by hand")
    unclear: list[int] = []
    for node in ast.walk(tree):
        bound = _bound(node)
        if new in bound or (isinstance(node, ast.Name) and node.id == new):
            line = getattr(node, "lineno", 1)
            raise Refusal(f"{file}:{line}: the name `{new}` is taken in the module")
        if node is own[0]:
            start = lines[node.lineno - 1] + node.col_offset
            match = _FIRST.match(data, start)
            if match is None:
                raise Refusal(f"{file}:{node.lineno}: no plain `def`")
            yield _Place(match.end(), node)
        elif isinstance(node, ast.Name) and node.id == old:
            if isinstance(node.ctx, ast.Load):
                yield _Place(lines[node.lineno - 1] + node.col_offset, node)
            else:
                unclear.append(node.lineno)
        elif old in bound:
            unclear.append(getattr(node, "lineno", 1))
    if unclear:
        where = ", ".join(
            f"{file}:{line}" for line in sorted(set(unclear))[:MOST_SHOWN]
        )
        raise Refusal(f"`{old}` is something else, too: {where}", "rename it by hand")
    yield from _exported(tree, data, lines, old)


def _bound(node: ast.AST) -> frozenset[str]:
    """The names that a node binds, or declares, in whatever scope."""
    names: list[str | None] = []
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        names = [node.name]
    elif isinstance(node, ast.arg):
        names = [node.arg]
    elif isinstance(node, ast.alias):
        names = [node.asname or node.name.partition(".")[0]]
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        names = [*node.names]
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        names = [node.name]
    elif isinstance(node, ast.MatchMapping):
        names = [node.rest]
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        names = [node.id]
    return frozenset(name for name in names if name is not None)


def _exported(
    tree: ast.Module, data: bytes, lines: list[int], old: str
) -> Iterator[_Place]:
    """The name as a plain literal of `__all__`."""
    for statement in tree.body:
        if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            continue
        given = (
            statement.targets
            if isinstance(statement, ast.Assign)
            else [statement.target]
        )
        if not any(isinstance(one, ast.Name) and one.id == "__all__" for one in given):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Constant) and node.value == old:
                start = lines[node.lineno - 1] + node.col_offset
                if data[start + 1 : start + 1 + len(old)] == old.encode():
                    yield _Place(start + 1, node)


def _refuse_other_uses(
    workspace: Workspace, toolset: Toolset, file: str, old: str
) -> None:
    """Refuses when another module of the handlers uses a name like it."""
    found: list[str] = []
    paths = list(islice(modules_of(workspace, toolset), MOST_MODULES + 1))
    if len(paths) > MOST_MODULES:
        raise Refusal(f"`{toolset.handlers}` has too many modules to look through")
    for path in paths:
        if path == file:
            continue
        try:
            data = read_regular(
                os.path.join(workspace.root, path), MAX_BYTES, follow=False
            )
            if old.encode() not in data:
                continue
            tree = ast.parse(data)
        except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
            found.append(path)
            continue
        for node in ast.walk(tree):
            is_used = isinstance(node, ast.Attribute) and node.attr == old
            is_imported = isinstance(node, ast.alias) and node.name == old
            if is_used or is_imported:
                found.append(f"{path}:{getattr(node, 'lineno', 1)}")
    if found:
        shown = "".join(f"\n  {place}" for place in found[:MOST_SHOWN])
        raise Refusal(
            f"other modules of the handlers use a `{old}`:{shown}",
            "rename the function by hand, or leave out `--handler`",
        )


def _replaced(data: bytes, places: list[_Place], old: str, new: str) -> bytes:
    for place in sorted(places, key=lambda one: one.offset, reverse=True):
        end = place.offset + len(old)
        data = data[: place.offset] + new.encode() + data[end:]
    return data


def _is_as_meant(
    before: bytes, after: bytes, places: list[_Place], old: str, new: str
) -> bool:
    """Whether the new text is the old tree with the nodes of the places renamed."""
    # The nodes are of a tree of their own: their positions name them in this one.
    named = {
        (type(p.node), getattr(p.node, "lineno", 0), getattr(p.node, "col_offset", 0))
        for p in places
    }
    tree = ast.parse(before)
    for node in ast.walk(tree):
        place = (type(node), getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
        if place not in named:
            continue
        for field in ("name", "id", "value"):
            if getattr(node, field, None) == old:
                setattr(node, field, new)
    try:
        return ast.dump(tree) == ast.dump(ast.parse(after))
    except SyntaxError:
        return False


def _line_starts(data: bytes) -> list[int]:
    starts = [0]
    starts += [match.end() for match in re.finditer(rb"\r\n|\r|\n", data)]
    return starts
