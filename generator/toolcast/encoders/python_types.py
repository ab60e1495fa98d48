"""Python types: what a JSON Schema lets through, as an annotation.

A type is an expression of the layout; `annotation` and the other printing functions make
Code of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from .code import Code
from .layout import WIDTH, Entry, Expression, Group, Text, laid_out, text_width
from .python import dotted, encode, identifier
from .python_strings import string

__all__ = [
    "Type",
    "annotation",
    "callable_with",
    "fields",
    "literal_of",
    "named",
    "named_in",
    "one_of",
    "parameters",
    "subscript",
    "typed_dict",
    "union",
]

Type = Expression
"""A type, not yet printed; `flat` is its text on one line."""
_NAME = re.compile(r"[A-Za-z_]\w*(\[[A-Za-z_, ]+\])?", re.ASCII)


class _Union(Text):
    """`A | B`, or `Union[A, B]` where that is too long for a line."""

    def __init__(self, members: Sequence[Type], names: set[str]) -> None:
        super().__init__(" | ".join(member.flat for member in members))
        self.members = members
        self.names = names

    def render(self, indent: int, before: int, after: int) -> str:
        if before + text_width(self.flat) + after <= WIDTH:
            return self.flat
        self.names.add("Union")
        return subscript("Union", self.members).render(indent, before, after)


def named(name: str) -> Type:
    """A type of a name, its own parameters included: `dict[str, Any]`.

    Raises:
        ValueError: it is no such name.
    """
    if not _NAME.fullmatch(name):
        raise ValueError("not the name of a Python type")
    return Text(name)


def named_in(module: str, name: str) -> Type:
    """A type of a module that is imported as a whole: `module.name`.

    Raises:
        ValueError: it is no such name.
    """
    return Text(dotted(f"{module}.{name}"))


def subscript(name: str, elements: Sequence[Type]) -> Type:
    """`name[...]`."""
    return Group(
        f"{named(name).flat}[",
        elements,
        "]",
        trailing_comma=len(elements) > 1,
        joined=True,
    )


def literal_of(choices: Sequence[Any]) -> Type:
    """`Literal[...]` of texts, integers, truth values and None."""
    elements = [Text(encode(choice).flat) for choice in choices]
    return subscript("Literal", elements)


def union(members: Sequence[Type], names: set[str]) -> Type:
    """One of several types, each once; adds to `names` what it needs of `typing`.

    `float` has `int` in it. Source: Python's typing specification, special cases for float.
    """
    each: dict[str, Type] = {}
    for member in members:
        inner = member.members if isinstance(member, _Union) else (member,)
        each.update((one.flat, one) for one in inner)
    if "float" in each:
        each.pop("int", None)
    distinct = list(each.values())
    return distinct[0] if len(distinct) == 1 else _Union(distinct, names)


def annotation(type_: Type, before: str = "", after: str = "") -> Code:
    """A type where it stands; `before` and `after` are around it on its line."""
    return Code(laid_out(type_, before, after))


def callable_with(argument: Type) -> Type:
    """A function that takes one argument by place."""
    return Group("Callable[", [Group("[", [argument], "]"), Text("object")], "]")


def one_of(members: Sequence[Type], before: str) -> Code:
    """`A | B`, in parentheses where that is too long for the line behind `before`."""
    flat = " | ".join(member.flat for member in members)
    if text_width(before + flat) <= WIDTH:
        return Code(flat)
    outer = " " * (len(before) - len(before.lstrip(" ")))
    inner = f"\n{outer}    "
    if text_width(inner + flat) - 1 > WIDTH:
        flat = f"{inner}| ".join(member.flat for member in members)
    return Code(f"({inner}{flat}\n{outer})")


def typed_dict(fields: Mapping[str, Type], before: str) -> Code:
    """The fields of a TypedDict as a mapping, for names that no class can have.

    `before` is what stands on the line before the call's `TypedDict(`.
    """
    entries = [Entry(f"{string(key)}: ", type_) for key, type_ in fields.items()]
    name = before.partition(" ")[0]
    call = Group("TypedDict(", [Text(string(name)), Group("{", entries, "}")], ")")
    return Code(laid_out(call, before))


def fields(types: Mapping[str, Type], indent: int) -> Code:
    """The fields of a class, one below the other.

    `indent` is the columns before the first one, which the template has.

    Raises:
        ValueError: a name is no identifier.
    """
    margin = " " * indent
    rows = []
    for key, type_ in types.items():
        before = f"{margin}{identifier(key)}: "
        rows.append(before + laid_out(type_, before))
    return Code("\n".join(rows)[indent:])


def parameters(
    types: Mapping[str, Type],
    keywords: frozenset[str] | None,
    before: str,
    after: str,
    further: Mapping[str, Type] = MappingProxyType({}),
) -> Code:
    """The parameters of a method, with their parentheses.

    They are keywords, of which those in `keywords` have to be given, or by place when that
    is None. `further` are keywords in any case. `before` and `after` are around them on
    their line.
    """
    listed: list[Expression] = [Text("self")]
    if keywords is None:
        listed += [_parameter(key, type_) for key, type_ in types.items()]
        listed.append(Text("/"))
    else:
        listed.append(Text("/"))
        if types:
            listed.append(Text("*"))
        for key in sorted(types, key=lambda key: key not in keywords):
            default = "" if key in keywords else " = ..."
            listed.append(_parameter(key, types[key], default))
    if further and (keywords is None or not types):
        listed.append(Text("*"))
    listed += [_parameter(key, type_) for key, type_ in further.items()]
    return Code(laid_out(Group("(", listed, ")", joined=True), before, after))


def _parameter(name: str, type_: Type, default: str = "") -> Entry:
    return Entry(f"{named(name).flat}: ", type_, default)
