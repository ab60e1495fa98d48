"""The texts of a module of handlers that models read: what it returns, and its tool errors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .local_names import arguments_of, last_name
from .module_scope import values_of
from .python_module import PythonModule, statements_of

__all__ = ["SaidText", "said_in"]

_ANSWERS = frozenset(["ToolError", "ToolResponse"])


class SaidText(NamedTuple):
    """A string literal, or a part of a formatted one."""

    line: int
    text: str


def said_in(module: PythonModule) -> Iterator[SaidText]:
    """The literals of several words in what functions return and in tool errors, each once.

    Those of the module's constants that stand there by their names are among them. What a
    function says in its docstring, logs or raises as any other error reaches no model.
    """
    if module.tree is None:
        return
    body = list(statements_of(module.tree.body))
    answers = {*_ANSWERS} | {
        one.name
        for one in body
        if isinstance(one, ast.ClassDef)
        and any(last_name(base) == "ToolError" for base in one.bases)
    }
    constants = values_of(body)
    waiting: list[ast.AST] = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Return) and node.value is not None:
            waiting.append(node.value)
        elif isinstance(node, ast.Call) and last_name(node.func) in answers:
            waiting += arguments_of(node)
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and " " in node.value:
                yield SaidText(node.lineno, node.value)
        elif isinstance(node, ast.Name):
            waiting += [constants[node.id]] if node.id in constants else []
        else:
            waiting.extend(ast.iter_child_nodes(node))
