"""Where the annotations of a function disagree with the types of a schema, by their text.

Only what is certain is told: a name that is neither Python's own nor a TypedDict of the
project may be anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from toolcast_runtime.values.annotated_types import (
    Array,
    Choice,
    NamedType,
    ObjectName,
    ObjectType,
    OneOf,
    PythonType,
    Table,
)

from ..static_analysis.annotations import UnknownTypeError, read_annotation
from ..static_analysis.classes import DictField, typed_dict_fields
from ..static_analysis.module_names import Definition, ModuleNames
from ..static_analysis.modules import PythonModule, shown

_ARRAYS = frozenset(["Sequence", "list", "Iterable", "Collection"])
_TABLES = frozenset(["Mapping", "dict"])
_OTHERS = frozenset(["tuple", "set", "frozenset", "bytes", "complex", "Literal"])
_SCALARS = frozenset(["str", "int", "float", "bool", "None"])
_KNOWN = _ARRAYS | _TABLES | _OTHERS | _SCALARS
# What says of the type between its brackets whether a member may be left out, or more of it.
_WRAPPERS = frozenset(["NotRequired", "Required", "ReadOnly", "Final", "Annotated"])
_TAKES = {"int": {"int", "float"}, "bool": {"bool", "int", "float"}}
_MAX_DEPTH = 12
# Annotations that one comparison may look at.
_MAX_COMPARED_ANNOTATIONS = 2_000


class _Kind(NamedTuple):
    """One of the alternatives of an annotation.

    Attributes:
        name: what it names, without `builtins` and `typing`; of a TypedDict its own name.
        parts: what stands between its brackets.
        fields: those of a TypedDict; None for anything else.
    """

    name: str
    parts: list[ast.expr]
    fields: Mapping[str, DictField] | None
    module: PythonModule
    node: ast.expr


class AnnotationChecker:
    """Compares the annotations of one module with the types of a schema.

    Args:
        objects: the classes of the schema's types.
    """

    def __init__(
        self, names: ModuleNames, module: PythonModule, objects: Sequence[ObjectType]
    ) -> None:
        self._names = names
        self._module = module
        self._objects = {one.name: one for one in objects}
        self._left = 0
        self._takes = True
        self._fields: dict[Definition, Mapping[str, DictField] | None] = {}

    def check_parameter(
        self, given: PythonType, node: ast.expr, place: str
    ) -> list[str]:
        """What a parameter with this annotation is given and does not take."""
        self._left, self._takes = _MAX_COMPARED_ANNOTATIONS, True
        return list(self._compared(given, self._module, node, place, 0))

    def check_result(self, wanted: PythonType, node: ast.expr, place: str) -> list[str]:
        """What a function with this result gives and the schema does not allow."""
        self._left, self._takes = _MAX_COMPARED_ANNOTATIONS, False
        return list(self._compared(wanted, self._module, node, place, 0))

    def _compared(
        self,
        type_: PythonType,
        module: PythonModule,
        node: ast.expr,
        place: str,
        depth: int,
    ) -> Iterator[str]:
        """The first kind of value that is taken by nothing, or all kinds that are not allowed."""
        members = list(_members(type_))
        if not members:
            return  # Anything goes together with it.
        kinds = self._alternatives(module, node, depth)
        if self._takes:
            for one in members if kinds is not None else ():
                tried = [
                    list(self._by(one, kind, place, depth)) for kind in kinds or ()
                ]
                if all(tried):
                    yield from _deeper(tried, place) or [_said(place, one, node)]
                    return
            return
        for kind in kinds or ():
            tried = [list(self._by(one, kind, place, depth)) for one in members]
            if all(tried):
                text = shown(kind.node)
                wrong = f"`{place}` is `{text}`, which `returns` does not allow"
                yield from _deeper(tried, place) or [wrong]

    def _by(
        self, type_: PythonType, kind: _Kind, place: str, depth: int
    ) -> Iterator[str]:
        """Why one kind of value and one alternative of an annotation do not go together."""
        module, inner, name = kind.module, kind.parts, kind.name
        match type_:
            case Array(item) if name in _ARRAYS or (
                name == "tuple" and not self._takes
            ):
                if len(inner) == 1:
                    yield from self._compared(
                        item, module, inner[0], f"{place}[]", depth + 1
                    )
            case Table(value) if name in _TABLES:
                if inner:
                    yield from self._compared(
                        value, module, inner[-1], f"{place}.*", depth + 1
                    )
            case Table(_) if kind.fields is not None and not self._takes:
                return
            case ObjectName(_) if name in _TABLES:
                return
            case Table() | ObjectName() | NamedType("str") | Choice((str(),)) if (
                name == "Iterable" and self._takes
            ):
                # Who iterates over a text or an object is given texts.
                item = NamedType("str")
                for part in inner[-1:]:
                    if any(self._compared(item, module, part, place, depth + 1)):
                        yield _said(place, type_, kind.node)
            case ObjectName(class_) if kind.fields is not None:
                yield from self._members_by(class_, kind, kind.fields, place, depth)
            case NamedType(scalar) if self._is_scalar(scalar, name):
                return
            case NamedType("str") if name == "Literal" and not self._takes:
                return
            case Choice((value,)) if _takes_value(value, kind):
                return
            case _:
                yield _said(place, type_, kind.node)

    def _members_by(
        self,
        class_: str,
        kind: _Kind,
        fields: Mapping[str, DictField],
        place: str,
        depth: int,
    ) -> Iterator[str]:
        members = self._objects[class_].members
        for key in fields if self._takes else members:
            field, member = fields.get(key), members.get(key)
            at = f"{place}.{key}"
            if field is not None and member is not None:
                yield from self._compared(
                    member.type, field.module, field.annotation, at, depth + 1
                )
            by_type = field is not None and field.is_required
            by_schema = member is not None and member.is_required
            if self._takes and by_type and not by_schema:
                yield f"`{at}` may be left out, and `{kind.name}` needs it"
            elif not self._takes and by_schema and not by_type:
                yield f"`{at}` is required, and `{kind.name}` may lack it"

    def _is_scalar(self, scalar: str, name: str) -> bool:
        given, taken = (scalar, name) if self._takes else (name, scalar)
        return taken in _TAKES.get(given, {given})

    def _alternatives(
        self, module: PythonModule, node: ast.expr, depth: int
    ) -> list[_Kind] | None:
        """The types of a union; None when one may be anything, or there are too many."""
        found: list[_Kind] = []
        waiting = [(module, node)]
        while waiting:
            self._left -= 1
            if depth > _MAX_DEPTH or self._left <= 0:
                return None
            module, node = waiting.pop()
            try:
                said = read_annotation(self._names, module, node)
            except UnknownTypeError:
                return None
            meaning, parts, node = said.meaning, list(said.parts), said.node
            if isinstance(meaning, Definition):
                fields = None
                if meaning.class_ is not None:
                    fields = self._fields_of(meaning)
                elif meaning.value is not None:
                    waiting.append((meaning.scope, meaning.value))
                    continue
                if fields is None:
                    return None
                found.append(_Kind(meaning.name, [], fields, module, node))
                continue
            prefix, _, last = (meaning or "").rpartition(".")
            name = last if prefix in ("", "builtins", "typing") else ""
            if name in _WRAPPERS and parts:
                waiting.append((module, parts[0]))
            elif name in ("Union", "Optional"):
                parts += [ast.Constant(None)] if name == "Optional" else []
                waiting += [(module, part) for part in reversed(parts)]
            elif name in _KNOWN:
                found.append(_Kind(name, parts, None, module, node))
            else:
                return None
        return found

    def _fields_of(self, known: Definition) -> Mapping[str, DictField] | None:
        if known not in self._fields:
            self._fields[known] = typed_dict_fields(self._names, known)
        return self._fields[known]


def _deeper(tried: Sequence[Sequence[str]], place: str) -> Sequence[str]:
    """The first problems that are about a part of what stands at a place."""
    parts = (one for one in tried if not one[0].startswith(f"`{place}` "))
    return next(parts, ())


def _members(type_: PythonType) -> Iterator[PythonType]:
    """The kinds of value of a type, each value of a Literal by itself."""
    for one in type_.members if isinstance(type_, OneOf) else (type_,):
        if isinstance(one, Choice):
            yield from (Choice((value,)) for value in one.values)
        elif one != NamedType("Any"):
            yield one


def _said(place: str, given: PythonType, node: ast.expr) -> str:
    what = {
        Array: "an array",
        Table: "an object",
        ObjectName: "an object",
    }.get(type(given), "")
    if isinstance(given, Choice):
        what = repr(given.values[0])
    elif isinstance(given, NamedType):
        what = given.name
    return f"`{place}` can be {what}, and `{shown(node)}` does not take it"


def _takes_value(value: str | int | bool | None, kind: _Kind) -> bool:
    name = "None" if value is None else type(value).__name__
    if kind.name != "Literal":
        return kind.name in _TAKES.get(name, {name})
    listed = [one.value for one in kind.parts if isinstance(one, ast.Constant)]
    same = [one for one in listed if one == value and type(one) is type(value)]
    return bool(same) or len(listed) != len(kind.parts)
