"""Annotations of parameters and results in generated adapters of functions."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from .modules import PythonModule

_BUILTIN_NAMES = frozenset("str int float bool list dict tuple object".split())
_SIMPLE_NODES = (
    ast.Subscript | ast.Tuple | ast.BinOp | ast.BitOr | ast.Constant | ast.Load
)
_SCALARS = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
}


def format_builtin_annotation(
    module: PythonModule, node: ast.expr | None
) -> str | None:
    """Return the source of an annotation that uses only built-in names, else None.

    None also for literals other than `None`, and for names that the module redefines.
    """
    if node is None:
        return None
    nodes = [*ast.walk(node)]
    names = {n.id for n in nodes if isinstance(n, ast.Name)}
    constants = {n.value for n in nodes if isinstance(n, ast.Constant)} - {None}
    is_simple = all(isinstance(n, _SIMPLE_NODES | ast.Name) for n in nodes)
    # A module can redefine a built-in name, such as `str`.
    is_builtin = names <= _BUILTIN_NAMES.difference(module.bindings)
    return ast.unparse(node) if is_simple and is_builtin and not constants else None


def format_scalar_annotation(schema: Mapping[str, Any]) -> str | None:
    """Return the Python annotation of a schema with only scalar types, else None.

    Keywords other than `type` and `description` make the schema non-scalar.
    """
    types = schema.get("type")
    types = [types] if isinstance(types, str) else types
    if not isinstance(types, list) or not {"type", "description"}.issuperset(schema):
        return None
    names = [_SCALARS.get(type_) for type_ in types]
    return " | ".join(map(str, names)) if all(names) else None
