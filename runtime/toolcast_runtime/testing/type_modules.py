"""Types of a tool, read from the source code of its generated module.

The module is parsed and not imported: it may import names that exist only for type checkers.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any


def read_types(text: str, uses: Collection[str]) -> dict[str, Any]:
    """Return the types in a module, in the form of `values.tool_types.format_tool_types`.

    Args:
        text: the source code of the module.
        uses: the dependencies of the handler; their types are omitted, because definitions do
            not contain them.
    """
    tree = ast.parse(text)
    types: dict[str, Any] = {}
    for node in tree.body:
        match node:
            case ast.ClassDef(name, [ast.Name("TypedDict")], body=body):
                fields = [item for item in body if isinstance(item, ast.AnnAssign)]
                types[name] = {
                    ast.unparse(item.target): _format_type(item.annotation)
                    for item in fields
                }
            case ast.Assign(
                [ast.Name(name)], ast.Call(args=[_, ast.Dict(keys, values)])
            ):
                # Generated code uses TypedDict's functional syntax if a key is not an
                # identifier.
                names = [ast.literal_eval(key) for key in keys if key is not None]
                types[name] = dict(zip(names, map(_format_type, values), strict=True))
            case ast.AnnAssign(ast.Name(name), value=ast.expr() as type_):
                types[name] = _format_type(type_)
    functions = {
        node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
    }
    handler, call = functions["__call__"], functions["call"]
    for argument in handler.args.kwonlyargs:
        if argument.arg in uses:
            argument.annotation = None
    check_nodes = ast.walk(functions.get("_check", ast.Pass()))
    return {
        **types,
        "__call__": _unparse_all(handler.args, handler.returns),
        "call": _unparse_all(call.args, call.returns, *call.body[1:]),
        "_check": [
            f"{node.module}:{alias.name}"
            for node in check_nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        ],
    }


def _unparse_all(*nodes: ast.AST | None) -> list[str]:
    return [ast.unparse(node) for node in nodes if node is not None]


def _format_type(type_: ast.expr) -> str:
    """Return the source code of a type, without quotes around a forward reference."""
    match type_:
        case ast.Subscript(ast.Name("NotRequired" | "ReadOnly" as qualifier), argument):
            return f"{qualifier}[{_format_type(argument)}]"
        case ast.Constant(str(text)):
            return ast.unparse(ast.parse(text, mode="eval"))
        case _:
            return ast.unparse(type_)
