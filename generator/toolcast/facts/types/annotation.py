"""Where the annotations of a function disagree with the types of a schema, by their text.

Only what is certain is told: a name that is neither Python's own nor a TypedDict of the same
module may be anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from .python_type import (
    Array,
    Choice,
    ObjectName,
    ObjectType,
    OneOf,
    Plain,
    PythonType,
    Table,
)

__all__ = ["Annotations"]

_ARRAYS = frozenset(["Sequence", "list", "List", "Iterable", "Collection"])
_TABLES = frozenset(["Mapping", "dict", "Dict"])
_OTHERS = frozenset(["tuple", "set", "frozenset", "bytes", "complex"])
_SCALARS = frozenset(["str", "int", "float", "bool", "None"])
_TAKES = {"int": {"int", "float"}, "bool": {"bool", "int", "float"}}
_MAX_DEPTH = 12


class Annotations:
    """Compares the annotations of one module.

    Args:
        tree: the module.
        objects: the classes of the schema's types.
    """

    def __init__(self, tree: ast.Module, objects: Sequence[ObjectType]) -> None:
        self._classes = {
            node.name: node
            for node in tree.body
            if isinstance(node, ast.ClassDef)
            and not node.decorator_list
            and not node.keywords
            and [_name(base) for base in node.bases] == ["TypedDict"]
        }
        self._objects = {one.name: one for one in objects}

    def not_taken(self, given: PythonType, node: ast.expr, place: str) -> list[str]:
        """What a parameter with this annotation is given and does not take."""
        return list(self._not_taken(given, node, place, 0))

    def not_allowed(self, wanted: PythonType, node: ast.expr, place: str) -> list[str]:
        """What a function with this result gives and the schema does not allow."""
        return list(self._not_allowed(wanted, node, place, 0))

    def _not_taken(
        self, given: PythonType, node: ast.expr, place: str, depth: int
    ) -> Iterator[str]:
        kinds = self._alternatives(node)
        if kinds is None or depth > _MAX_DEPTH:
            return
        for one in _members(given):
            tried = [list(self._by(one, kind, place, depth)) for kind in kinds]
            if all(tried):
                deeper = [
                    problem
                    for problem in tried
                    if not problem[0].startswith(f"`{place}` ")
                ]
                yield from (deeper or [[_said(place, one, node)]])[0]
                return

    def _by(
        self, given: PythonType, kind: ast.expr, place: str, depth: int
    ) -> Iterator[str]:
        """Why one alternative of an annotation does not take one kind of value."""
        name = _name(kind)
        inner = _inner(kind)
        if name in ("Any", "object"):
            return
        match given:
            case Array(item) if name in _ARRAYS:
                if inner:
                    yield from self._not_taken(item, inner[-1], f"{place}[]", depth + 1)
            case Table(value) if name in _TABLES:
                if inner:
                    yield from self._not_taken(
                        value, inner[-1], f"{place}.*", depth + 1
                    )
            case ObjectName(_) if name in _TABLES:
                return
            case ObjectName(class_) if name in self._classes:
                members = self._objects[class_].members
                for key, (type_, is_required) in self._fields(name).items():
                    if key in members:
                        inside = members[key].type
                        yield from self._not_taken(
                            inside, type_, f"{place}.{key}", depth + 1
                        )
                    if is_required and not (
                        key in members and members[key].is_required
                    ):
                        yield f"`{place}.{key}` may be left out, and `{name}` needs it"
            case Plain(scalar) if name in _TAKES.get(scalar, {scalar}):
                return
            case Choice((value,)) if _takes_value(value, kind):
                return
            case _:
                yield _said(place, given, kind)

    def _not_allowed(
        self, wanted: PythonType, node: ast.expr, place: str, depth: int
    ) -> Iterator[str]:
        kinds = self._alternatives(node)
        members = list(_members(wanted))
        if kinds is None or depth > _MAX_DEPTH or Plain("Any") in members:
            return
        for kind in kinds:
            tried = [list(self._fits(one, kind, place, depth)) for one in members]
            if all(tried):
                deeper = [
                    problem
                    for problem in tried
                    if not problem[0].startswith(f"`{place}` ")
                ]
                wrong = f"`{place}` is `{ast.unparse(kind)}`, which `returns` does not allow"
                yield from (deeper or [[wrong]])[0]

    def _fits(
        self, wanted: PythonType, kind: ast.expr, place: str, depth: int
    ) -> Iterator[str]:
        """Why what a function gives is not one kind of value."""
        name, inner = _name(kind), _inner(kind)
        if name in ("Any", "object"):
            return
        match wanted:
            case Array(item) if name in _ARRAYS or name == "tuple":
                if len(inner) == 1:
                    yield from self._not_allowed(
                        item, inner[0], f"{place}[]", depth + 1
                    )
            case Table(value) if name in _TABLES:
                if inner:
                    yield from self._not_allowed(
                        value, inner[-1], f"{place}.*", depth + 1
                    )
            case Table(_) if name in self._classes:
                return
            case ObjectName(_) if name in _TABLES:
                return
            case ObjectName(class_) if name in self._classes:
                fields = self._fields(name)
                for key, member in self._objects[class_].members.items():
                    if key in fields:
                        yield from self._not_allowed(
                            member.type, fields[key][0], f"{place}.{key}", depth + 1
                        )
                    if member.is_required and not (key in fields and fields[key][1]):
                        yield f"`{place}.{key}` is required, and `{name}` may lack it"
            case Plain(scalar) if name in _SCALARS and scalar in _TAKES.get(
                name, {name}
            ):
                return
            case Plain("str") if name == "Literal":
                return
            case Choice((value,)) if _takes_value(value, kind):
                return
            case _:
                yield f"`{place}` is not that"

    def _fields(self, name: str) -> Mapping[str, tuple[ast.expr, bool]]:
        """The fields of a TypedDict: their types, and whether each is always there."""
        found: dict[str, tuple[ast.expr, bool]] = {}
        for statement in self._classes[name].body:
            if isinstance(statement, ast.AnnAssign) and isinstance(
                statement.target, ast.Name
            ):
                node, is_required = _parsed(statement.annotation), True
                while _name(node) in ("NotRequired", "Required", "ReadOnly"):
                    is_required = is_required and _name(node) != "NotRequired"
                    node = _parsed(_inner(node)[0]) if _inner(node) else ast.Name("Any")
                found[statement.target.id] = node, is_required
        return found

    def _alternatives(self, node: ast.expr) -> list[ast.expr] | None:
        """The types of a union; None when one may be anything."""
        node = _parsed(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            parts = [node.left, node.right]
        elif _name(node) == "Optional":
            parts = [*_inner(node), ast.Constant(None)]
        elif _name(node) == "Union":
            parts = _inner(node)
        else:
            name = _name(node)
            known = (
                name in _ARRAYS | _TABLES | _OTHERS | _SCALARS or name in self._classes
            )
            return [node] if known or name == "Literal" else None
        found: list[ast.expr] = []
        for part in parts:
            inner = self._alternatives(part)
            if inner is None:
                return None
            found += inner
        return found


def _members(type_: PythonType) -> Iterator[PythonType]:
    """The kinds of value of a type, each value of a Literal by itself."""
    for one in type_.members if isinstance(type_, OneOf) else (type_,):
        if isinstance(one, Choice):
            yield from (Choice((value,)) for value in one.values)
        elif one != Plain("Any"):
            yield one


def _said(place: str, given: PythonType, node: ast.expr) -> str:
    what = {
        Array: "an array",
        Table: "an object",
        ObjectName: "an object",
    }.get(type(given), "")
    if isinstance(given, Choice):
        what = repr(given.values[0])
    elif isinstance(given, Plain):
        what = given.name
    return f"`{place}` can be {what}, and `{ast.unparse(node)}` does not take it"


def _takes_value(value: str | int | bool | None, kind: ast.expr) -> bool:
    name = "None" if value is None else type(value).__name__
    if _name(kind) != "Literal":
        return _name(kind) in _TAKES.get(name, {name})
    listed = [one.value for one in _inner(kind) if isinstance(one, ast.Constant)]
    same = [one for one in listed if one == value and type(one) is type(value)]
    return bool(same) or len(listed) != len(_inner(kind))


def _parsed(node: ast.expr) -> ast.expr:
    """An annotation that stands in quotes, without them."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            return ast.Name("object")
    return node


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant) and node.value is None:
        return "None"
    return node.id if isinstance(node, ast.Name) else ""


def _inner(node: ast.expr) -> list[ast.expr]:
    if not isinstance(node, ast.Subscript):
        return []
    inside = node.slice
    parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    return [] if _name(node) == "Literal" and not parts else [*parts]
