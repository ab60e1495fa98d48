"""Encode Python types as annotations, fields, parameters and calls.

A type is an expression of `encoders.python`. The `build_` functions create types; the
`encode_` functions convert them to Code.
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
"""A Python type; `flat` is its text on one line."""
_NAME = re.compile(r"[A-Za-z_]\w*(\[[A-Za-z_, ]+\])?", re.ASCII)


class _Union(Text):
    """A union `A | B`, with one member per line if it is too long."""

    def __init__(self, members: Sequence[Type]) -> None:
        super().__init__(" | ".join(member.flat for member in members))
        self.members = members

    def render(self, indent: int, before: int, after: int) -> str:
        if before + text_width(self.flat) + after <= WIDTH:
            return self.flat
        if before == indent:
            return self._render_lines(indent, after)
        # A union that is not first on its line needs parentheses to span several lines.
        member_indent = indent + 4
        rows = self.flat
        if member_indent + text_width(rows) > WIDTH:
            rows = self._render_lines(member_indent, 0)
        return f"(\n{' ' * member_indent}{rows}\n{' ' * indent})"

    def _render_lines(self, indent: int, after: int) -> str:
        last = len(self.members) - 1
        rows = [
            member.render(indent, indent + 2 * (i > 0), after * (i == last))
            for i, member in enumerate(self.members)
        ]
        return f"\n{' ' * indent}| ".join(rows)


def build_named_type(name: str) -> Type:
    """Build a type from its name and simple type arguments, as in `dict[str, Any]`.

    Raises:
        ValueError: the text is not a name with simple type arguments.
    """
    if not _NAME.fullmatch(name):
        raise ValueError("not the name of a Python type")
    return Text(name)


def build_module_type(module: str, name: str) -> Type:
    """Build the type `module.name` of a module that is imported as a whole.

    Raises:
        ValueError: the text is not a dotted name.
    """
    return Text(validate_dotted_name(f"{module}.{name}"))


def build_subscript(name: str, elements: Sequence[Type]) -> Type:
    """Build the type `name[element, ...]`."""
    return Group(
        f"{build_named_type(name).flat}[",
        elements,
        "]",
        trailing_comma=len(elements) > 1,
        joined=True,
    )


def quote_type(type_: Type) -> Type:
    """Quote a type that is evaluated before the classes that it names are defined."""
    return Text(encode_string(type_.flat))


def build_literal_type(choices: Sequence[Any]) -> Type:
    """Build `Literal[...]` from strings, integers and booleans."""
    elements = [Text(build_literal(choice).flat) for choice in choices]
    return build_subscript("Literal", elements)


def build_union(members: Sequence[Type]) -> Type:
    """Build a union of types; nested unions are flattened."""
    flattened: list[Type] = []
    for member in members:
        flattened += member.members if isinstance(member, _Union) else (member,)
    return _Union(flattened)


def encode_annotation(type_: Type, before: str = "", after: str = "") -> Code:
    """Encode a type between the texts before and after it on its line."""
    return Code(lay_out(type_, before, after))


def encode_typed_dict(fields: Mapping[str, Type], before: str) -> Code:
    """Encode a `TypedDict(...)` call, for field names that are not identifiers.

    Args:
        fields: the type of each field by name.
        before: the text before the call on its line; its first word is the class name.
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
    """Encode the fields of a class, one per line, each below its comment.

    Args:
        types: the type of each field by name.
        indent: the indentation, which the template has already printed on the first line.
        comments: the comment of each field that has one.

    Raises:
        ValueError: a name is not an identifier.
    """
    margin = " " * indent
    rows = []
    for key, type_ in types.items():
        before = f"{margin}{validate_identifier(key)}: "
        if key in comments:
            rows.append(f"{margin}# {comments[key]}")
        rows.append(before + _render_field_type(type_, indent, len(before)))
    # The template has already printed the indentation of the first line.
    return Code("\n".join(rows)[indent:])


def _render_field_type(type_: Type, indent: int, before: int) -> str:
    text = type_.render(indent, before, 0)
    # Black puts a long name in parentheses if it then fits in a line of its own.
    is_name = isinstance(type_, Text) and text == type_.flat
    width = text_width(text)
    if is_name and before + width > WIDTH and indent + 4 + width <= WIDTH:
        margin = " " * indent
        return f"(\n{margin}    {text}\n{margin})"
    return text


def encode_method_parameters(
    types: Mapping[str, Type],
    required: frozenset[str] | None,
    before: str,
    after: str,
    keyword_only: Mapping[str, Type] = MappingProxyType({}),
) -> Code:
    """Encode the parameter list of a method, in parentheses.

    Args:
        types: the type of each parameter by name.
        required: the names of the required parameters, when the parameters are keyword-only;
            None makes all of them positional-only.
        before: the text before the list on its line.
        after: the text after the list.
        keyword_only: further parameters, which are keyword-only and required.
    """
    parameters: list[Expression] = [Text("self")]
    if required is None:
        parameters += [_build_parameter(key, type_) for key, type_ in types.items()]
        parameters.append(Text("/"))
    else:
        parameters.append(Text("/"))
        if types:
            parameters.append(Text("*"))
        for key in sorted(types, key=lambda key: key not in required):
            default = "" if key in required else " = ..."
            parameters.append(_build_parameter(key, types[key], default))
    if keyword_only and (required is None or not types):
        parameters.append(Text("*"))
    parameters += [_build_parameter(key, type_) for key, type_ in keyword_only.items()]
    return Code(lay_out(Group("(", parameters, ")", joined=True), before, after))


def encode_parameters(
    parts: Sequence[tuple[str, Type | None]], before: str, after: str
) -> Code:
    """Encode the parameter list of a function, in parentheses.

    Args:
        parts: the parameters in order; a part without a type is the `/` marker.
        before: the text before the list on its line.
        after: the text after the list.
    """
    parameters: list[Expression] = [
        Text("/") if type_ is None else _build_parameter(name, type_)
        for name, type_ in parts
    ]
    # Black puts a single parameter on its own line with a trailing comma.
    group = Group("(", parameters, ")", joined=len(parameters) > 1)
    return Code(lay_out(group, before, after))


def encode_call(
    function: str,
    arguments: Sequence[Code],
    before: str,
    keywords: Mapping[str, str] | None = None,
) -> Code:
    """Encode a call with positional expressions, and with variables as keyword arguments.

    Args:
        function: the name of the function.
        arguments: the positional expressions.
        before: the text before the call on its line, which counts for line breaks.
        keywords: the variable for each keyword argument.

    Raises:
        ValueError: a name is not an identifier.
    """
    elements: list[Expression] = [Text(str(argument)) for argument in arguments]
    elements += [
        Entry(f"{validate_identifier(key)}=", Text(validate_identifier(name)))
        for key, name in (keywords or {}).items()
    ]
    call = Group(f"{validate_identifier(function)}(", elements, ")", joined=True)
    return Code(lay_out(call, before))


def encode_chained_call(
    factory: str,
    function: str,
    arguments: str,
    keywords: Mapping[str, str],
    before: str,
    unpack_arguments: bool = False,
) -> Code:
    """Encode `factory(function, arguments)(...)`, the call of a returned function.

    Args:
        factory: the name of the outer function.
        function: the variable that is its first argument.
        arguments: the variable that is its second argument, a mapping.
        keywords: the variables that the returned function receives as keyword arguments.
        before: the text before the call on its line.
        unpack_arguments: whether the returned function also receives `**arguments`.

    Raises:
        ValueError: a name is not an identifier.
    """
    names = [Text(validate_identifier(name)) for name in (function, arguments)]
    elements: list[Expression] = [
        Entry(f"{validate_identifier(key)}=", Text(validate_identifier(value)))
        for key, value in keywords.items()
    ]
    if unpack_arguments:
        elements.insert(0, Text(f"**{names[1].flat}"))
    inner_call = Group(f"{validate_identifier(factory)}(", names, ")", joined=True)
    call = Group(f"{inner_call.flat}(", elements, ")", joined=True)
    if text_width(before + call.opening) > WIDTH:
        tail = call.flat[len(inner_call.flat) :]
        return Code(lay_out(inner_call, before, tail) + tail)
    return Code(lay_out(call, before))


def _build_parameter(name: str, type_: Type, default: str = "") -> Entry:
    stars = name[: len(name) - len(name.lstrip("*"))]
    return Entry(
        f"{stars}{build_named_type(name[len(stars) :]).flat}: ", type_, default
    )
