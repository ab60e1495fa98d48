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
from .python import (
    WIDTH,
    Entry,
    Expression,
    Group,
    Text,
    build_literal,
    encode_string,
    lay_out,
    text_width,
    validate_dotted_name,
    validate_identifier,
)

Type = Expression
"""A type, not yet printed; `flat` is its text on one line."""
_NAME = re.compile(r"[A-Za-z_]\w*(\[[A-Za-z_, ]+\])?", re.ASCII)


class _Union(Text):
    """`A | B`, one below the other where that is too long for a line."""

    def __init__(self, members: Sequence[Type]) -> None:
        super().__init__(" | ".join(member.flat for member in members))
        self.members = members

    def render(self, indent: int, before: int, after: int) -> str:
        if before + text_width(self.flat) + after <= WIDTH:
            return self.flat
        if before == indent:
            return self._lines(indent, after)
        # What stands behind something on its line has parentheses of its own.
        inner = indent + 4
        rows = self.flat
        if inner + text_width(rows) > WIDTH:
            rows = self._lines(inner, 0)
        return f"(\n{' ' * inner}{rows}\n{' ' * indent})"

    def _lines(self, indent: int, after: int) -> str:
        last = len(self.members) - 1
        rows = [
            member.render(indent, indent + 2 * (i > 0), after * (i == last))
            for i, member in enumerate(self.members)
        ]
        return f"\n{' ' * indent}| ".join(rows)


def build_named_type(name: str) -> Type:
    """A type of a name, its own parameters included: `dict[str, Any]`.

    Raises:
        ValueError: it is no such name.
    """
    if not _NAME.fullmatch(name):
        raise ValueError("not the name of a Python type")
    return Text(name)


def build_module_type(module: str, name: str) -> Type:
    """A type of a module that is imported as a whole: `module.name`.

    Raises:
        ValueError: it is no such name.
    """
    return Text(validate_dotted_name(f"{module}.{name}"))


def build_subscript(name: str, elements: Sequence[Type]) -> Type:
    """`name[...]`."""
    return Group(
        f"{build_named_type(name).flat}[",
        elements,
        "]",
        trailing_comma=len(elements) > 1,
        joined=True,
    )


def quote_type(type_: Type) -> Type:
    """The type as a string, for where it is evaluated before what it names is there."""
    return Text(encode_string(type_.flat))


def build_literal_type(choices: Sequence[Any]) -> Type:
    """`Literal[...]` of texts, integers, truth values and None."""
    elements = [Text(build_literal(choice).flat) for choice in choices]
    return build_subscript("Literal", elements)


def build_union(members: Sequence[Type]) -> Type:
    """One of several types."""
    each: list[Type] = []
    for member in members:
        each += member.members if isinstance(member, _Union) else (member,)
    return _Union(each)


def encode_annotation(type_: Type, before: str = "", after: str = "") -> Code:
    """A type where it stands; `before` and `after` are around it on its line."""
    return Code(lay_out(type_, before, after))


def encode_typed_dict(fields: Mapping[str, Type], before: str) -> Code:
    """The fields of a TypedDict as a mapping, for names that no class can have.

    `before` is what stands on the line before the call's `TypedDict(`.
    """
    entries = [Entry(f"{encode_string(key)}: ", type_) for key, type_ in fields.items()]
    name = before.partition(" ")[0]
    call = Group(
        "TypedDict(", [Text(encode_string(name)), Group("{", entries, "}")], ")"
    )
    return Code(lay_out(call, before))


def encode_fields(
    types: Mapping[str, Type], indent: int, comments: Mapping[str, Code]
) -> Code:
    """The fields of a class, one below the other, those with a comment below it.

    `indent` is the columns before the first one, which the template has.

    Raises:
        ValueError: a name is no identifier.
    """
    margin = " " * indent
    rows = []
    for key, type_ in types.items():
        before = f"{margin}{validate_identifier(key)}: "
        if key in comments:
            rows.append(f"{margin}# {comments[key]}")
        rows.append(before + type_.render(indent, len(before), 0))
    return Code("\n".join(rows)[indent:])


def encode_method_parameters(
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
    return Code(lay_out(Group("(", listed, ")", joined=True), before, after))


def encode_parameters(
    parts: Sequence[tuple[str, Type | None]], before: str, after: str
) -> Code:
    """The parameters of a function, with their parentheses: names, and `/` without a type.

    `before` and `after` are around them on their line.
    """
    listed: list[Expression] = [
        Text("/") if type_ is None else _parameter(name, type_) for name, type_ in parts
    ]
    # Black gives a lone parameter a line and a comma of its own.
    group = Group("(", listed, ")", joined=len(listed) > 1)
    return Code(lay_out(group, before, after))


def encode_call(
    function: str,
    given: Sequence[Code],
    before: str,
    keywords: Mapping[str, str] | None = None,
) -> Code:
    """The call of a function with expressions by place, and names by keyword.

    Raises:
        ValueError: a name is no identifier.
    """
    listed: list[Expression] = [Text(f"{one}") for one in given]
    listed += [
        Entry(f"{validate_identifier(key)}=", Text(validate_identifier(name)))
        for key, name in (keywords or {}).items()
    ]
    call = Group(f"{validate_identifier(function)}(", listed, ")", joined=True)
    return Code(lay_out(call, before))


def encode_chained_call(
    maker: str,
    function: str,
    given: str,
    keywords: Mapping[str, str],
    before: str,
    with_given: bool = False,
) -> Code:
    """`maker(function, given)(...)`: a call of what a call gives.

    Args:
        maker: the first function.
        function: its first argument.
        given: its second.
        keywords: names by keyword.
        before: what stands before it on its line.
        with_given: whether all that `given` has are keywords, too.

    Raises:
        ValueError: a name is no identifier.
    """
    names = [Text(validate_identifier(name)) for name in (function, given)]
    listed: list[Expression] = [
        Entry(f"{validate_identifier(key)}=", Text(validate_identifier(value)))
        for key, value in keywords.items()
    ]
    if with_given:
        listed.insert(0, Text(f"**{names[1].flat}"))
    made = Group(f"{validate_identifier(maker)}(", names, ")", joined=True)
    call = Group(f"{made.flat}(", listed, ")", joined=True)
    if text_width(before + call.opening) > WIDTH:
        tail = call.flat[len(made.flat) :]
        return Code(lay_out(made, before, tail) + tail)
    return Code(lay_out(call, before))


def _parameter(name: str, type_: Type, default: str = "") -> Entry:
    stars = name[: len(name) - len(name.lstrip("*"))]
    return Entry(
        f"{stars}{build_named_type(name[len(stars) :]).flat}: ", type_, default
    )
