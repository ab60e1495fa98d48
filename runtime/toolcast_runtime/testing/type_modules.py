"""The types of a tool as its module says them.

The module is read and not imported: what its imports for type checkers name need not be here.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any


def read_types(text: str, uses: Collection[str]) -> dict[str, Any]:
    """What a module says, in the form of `types_of` in `values`.

    Args:
        text: the module's.
        uses: the dependencies of the handler, whose types no definition has.
    """
    tree = ast.parse(text)
    said: dict[str, Any] = {}
    for node in tree.body:
        match node:
            case ast.ClassDef(name, [ast.Name("TypedDict")], body=body):
                fields = (one for one in body if isinstance(one, ast.AnnAssign))
                said[name] = {
                    ast.unparse(f.target): _shown(f.annotation) for f in fields
                }
            case ast.Assign(
                [ast.Name(name)], ast.Call(args=[_, ast.Dict(keys, types)])
            ):
                names = (ast.literal_eval(key) for key in keys if key is not None)
                said[name] = dict(zip(names, map(_shown, types), strict=True))
            case ast.AnnAssign(ast.Name(name), value=ast.expr() as type_):
                said[name] = _shown(type_)
    functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    handler, call = functions["__call__"], functions["call"]
    for one in handler.args.kwonlyargs:
        one.annotation = None if one.arg in uses else one.annotation
    checked = ast.walk(functions.get("_check", ast.Pass()))
    return {
        **said,
        "__call__": _texts(handler.args, handler.returns),
        "call": _texts(call.args, call.returns, *call.body[1:]),
        "_check": [
            f"{node.module}:{alias.name}"
            for node in checked
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        ],
    }


def _texts(*nodes: ast.AST | None) -> list[str]:
    return [ast.unparse(one) for one in nodes if one is not None]


def _shown(type_: ast.expr) -> str:
    """A type's text; one that is named before it is there stands between quotation marks."""
    match type_:
        case ast.Subscript(ast.Name("NotRequired" | "ReadOnly" as word), inner):
            return f"{word}[{_shown(inner)}]"
        case ast.Constant(str(text)):
            return ast.unparse(ast.parse(text, mode="eval"))
        case _:
            return ast.unparse(type_)
