"""The values of string expressions and chains of names in source text."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import NamedTuple

from .module_scope import ModuleScope
from .package_names import Definition, HandlerPackage, Names
from .sql_tables import HOLE

__all__ = ["Chain", "chain_of", "text_of"]

_STEPS = 20
_PERCENT = re.compile(r"%(?:\(\w+\))?[#0\- +]*[\d.*]*[a-zA-Z]")
_BRACES = re.compile(r"\{[^{}]*\}")


class Chain(NamedTuple):
    """`client.agents.messages.create`, from left to right.

    Attributes:
        root: what its first name stands for; None when nothing is known of it.
    """

    names: tuple[str, ...]
    root: Definition | None


def text_of(
    node: ast.expr,
    package: HandlerPackage,
    scope: ModuleScope,
    names: Names,
    steps: int = _STEPS,
) -> str | None:
    """The text of an expression, with `HOLE` for what is known when it runs only.

    None when the expression is no text, or its value is known at run time only.
    """
    if steps <= 0:
        return None

    def inner(part: ast.expr) -> str | None:
        return text_of(part, package, scope, names, steps - 1)

    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(
            (
                (inner(part.value) or HOLE)
                if isinstance(part, ast.FormattedValue)
                else (inner(part) or "")
            )
            for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = inner(node.left), inner(node.right)
        if left is None and right is None:
            return None
        return (HOLE if left is None else left) + (HOLE if right is None else right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        left = inner(node.left)
        return None if left is None else _PERCENT.sub(HOLE, left)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "format":
            left = inner(node.func.value)
            return None if left is None else _BRACES.sub(HOLE, left)
        return None
    if isinstance(node, (ast.Name, ast.Attribute)):
        known = package.of(node, scope, names)
        if known is None or known.kind != "value" or known.value is None:
            return None
        return text_of(known.value, package, known.scope, {}, steps - 1)
    return None


def chain_of(
    node: ast.expr,
    package: HandlerPackage,
    scope: ModuleScope,
    names: Names,
    aliases: Mapping[str, ast.expr],
    steps: int = _STEPS,
) -> Chain | None:
    """The chain of an expression; calls, awaits and subscripts within it are left out."""
    found: list[str] = []
    while steps > 0:
        steps -= 1
        if isinstance(node, ast.Attribute):
            known = package.of(node, scope, names)
            if known is not None and known.kind == "value" and known.value is not None:
                # What an attribute or a module's name was assigned.
                node, scope, names, aliases = known.value, known.scope, {}, {}
                continue
            found.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, (ast.Await, ast.Subscript)):
            node = node.value
        elif isinstance(node, ast.Name):
            if node.id in aliases:
                alias = aliases[node.id]
                # A name may be assigned what it was before.
                aliases = {key: one for key, one in aliases.items() if key != node.id}
                node = alias
                continue
            known = package.of(node, scope, names)
            if known is not None and known.kind == "value" and known.value is not None:
                node, scope, names, aliases = known.value, known.scope, {}, {}
                continue
            found.append(node.id)
            return Chain(tuple(reversed(found)), known)
        else:
            return Chain(tuple(reversed(found)), None)
    return None
