"""Chains of names in source text, with those that stand for others written out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .package_names import Definition, HandlerPackage
from .python_module import last_name
from .string_values import Place, texts_of

__all__ = ["Chain", "chain_of", "is_getter", "made_by"]

_STEPS = 20


class Chain(NamedTuple):
    """`client.agents.messages.create`, from left to right.

    Attributes:
        root: what its first name stands for; None when nothing is known of it.
    """

    names: tuple[str, ...]
    root: Definition | None


def is_getter(node: ast.Call, package: HandlerPackage, place: Place) -> bool:
    """Whether a call gives an attribute by its name: `getattr`, `attrgetter` and others."""
    return _got(node, package, place) is not None


def chain_of(
    node: ast.expr, package: HandlerPackage, place: Place, steps: int = _STEPS
) -> Chain | None:
    """The chain of an expression; calls, awaits and subscripts within it are left out.

    An attribute that is got by its name (`getattr`, `operator.attrgetter`) is one of it.
    """
    found: list[str] = []
    while steps > 0:
        steps -= 1
        if isinstance(node, ast.Attribute):
            known = package.of(node, place.scope, place.names)
            if known is not None and known.kind == "value" and known.value is not None:
                # What an attribute or a module's name was assigned.
                node, place = known.value, Place(known.scope, {}, {})
                continue
            found.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            got = _got(node, package, place)
            if got is None:
                node = node.func
            else:
                found.extend(reversed(got[0]))
                node = got[1]
        elif isinstance(node, (ast.Await, ast.Subscript, ast.NamedExpr)):
            node = node.value
        elif isinstance(node, ast.Name):
            if node.id in place.aliases:
                # A name may be assigned what it was before.
                name = node.id
                node, place = place.aliases[name], place.without(name)
                continue
            known = package.of(node, place.scope, place.names)
            if known is not None and known.kind == "value" and known.value is not None:
                node, place = known.value, Place(known.scope, {}, {})
                continue
            found.append(node.id)
            return Chain(tuple(reversed(found)), known)
        else:
            return Chain(tuple(reversed(found)), None)
    return None


def made_by(
    node: ast.expr, package: HandlerPackage, place: Place, steps: int = _STEPS
) -> Iterator[tuple[ast.Call, Place]]:
    """The calls that made what an expression stands for, each with its place."""
    if steps <= 0:
        return
    if isinstance(node, (ast.Await, ast.NamedExpr)):
        yield from made_by(node.value, package, place, steps - 1)
    elif isinstance(node, ast.Call):
        known = package.of(node.func, place.scope, place.names)
        if known is None or known.kind != "function":
            yield node, place
            return
        for given in package.returned(known):
            within = Place(known.scope, {}, package.assigned(known))
            yield from made_by(given, package, within, steps - 1)
    elif isinstance(node, ast.Name) and node.id in place.aliases:
        alias = place.aliases[node.id]
        yield from made_by(alias, package, place.without(node.id), steps - 1)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        known = package.of(node, place.scope, place.names)
        if known is not None and known.kind == "value" and known.value is not None:
            within = Place(known.scope, {}, {})
            yield from made_by(known.value, package, within, steps - 1)


def _got(
    node: ast.Call, package: HandlerPackage, place: Place
) -> tuple[list[str], ast.expr] | None:
    """The names that a call gets of something, and of what; None for any other call."""
    function = node.func
    name = last_name(function)
    if name == "getattr" and len(node.args) >= 2:
        texts = texts_of(node.args[1], package, place)
        return (texts[0].split("."), node.args[0]) if texts else None
    if name in ("__getattribute__", "__getattr__") and len(node.args) == 1:
        texts = texts_of(node.args[0], package, place)
        if texts and isinstance(function, ast.Attribute):
            return [texts[0]], function.value
    if isinstance(function, ast.Name):
        known = package.of(function, place.scope, place.names)
        alias = place.aliases.get(function.id) or (known and known.value)
        function = alias or function
    if not (isinstance(function, ast.Call) and function.args and node.args):
        return None
    if last_name(function.func) not in ("attrgetter", "methodcaller"):
        return None
    texts = texts_of(function.args[0], package, place)
    return (texts[0].split("."), node.args[0]) if texts else None
