"""Python: values of specs as literals, and names that were made from checked names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .code import Code
from .layout import Entry, Expression, Group, Text, text_width
from .python_data import flat_data, flat_data_within, laid_out_data, number
from .python_strings import broken, string

__all__ = [
    "call",
    "comment",
    "code_of",
    "encode",
    "identifier",
    "keyword_argument",
    "literal",
    "string",
    "subscript",
    "tuple_of",
]


class _LongString(Text):
    """A string that is broken into pieces in parentheses when the line is too short."""

    def render(self, indent: int, before: int, after: int) -> str:
        return broken(self.pieces[0], self.text, indent, before, after)


class _Data(Text):
    """A mapping or list of JSON: laid out without a tree of expressions beside it."""

    def __init__(self, value: Any) -> None:
        super().__init__("")
        self.value = value

    @property
    def flat(self) -> str:
        """The expression on one line."""
        return flat_data(self.value)

    def flat_within(self, room: int) -> str | None:
        return flat_data_within(self.value, room)

    def render(self, indent: int, before: int, after: int) -> str:
        return laid_out_data(self.value, indent, before, after)


def encode(value: Any) -> Expression:
    """The expression whose value is a JSON value.

    Raises:
        TypeError: the value is not JSON.
        ValueError: a number is not finite.
    """
    if value is None or isinstance(value, bool):
        return Text(repr(value))
    if isinstance(value, str):
        return _LongString(string(value), (value,))
    if isinstance(value, int):
        return Text(str(value))
    if isinstance(value, float):
        return Text(number(value))
    if isinstance(value, (Mapping, list, tuple)):
        return _Data(value)
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def tuple_of(elements: Iterable[Expression]) -> Group:
    """A tuple; one element gets its comma."""
    listed = list(elements)
    return Group("(", listed, ")", flat_comma=len(listed) == 1)


def call(function: str, arguments: Iterable[Expression]) -> Group:
    """A call of a function of the generator's own choosing."""
    return Group(f"{function}(", list(arguments), ")")


def subscript(name: str, elements: Iterable[Expression]) -> Group:
    """`name[...]`."""
    listed = list(elements)
    return Group(f"{name}[", listed, "]", trailing_comma=len(listed) > 1)


def keyword_argument(name: str, value: Expression) -> Entry:
    """`name=value`."""
    return Entry(f"{name}=", value)


def comment(words: str) -> Code:
    """What stands behind `# `: a path or words of a checked grammar.

    A comment has no escapes, so that all which could end it, or mean something to a tool
    that reads comments, is refused.

    Raises:
        ValueError: something else than letters, digits, spaces and `._/,;()-` is in it.
    """
    if not re.fullmatch(r"[A-Za-z0-9 ._/,;()-]*", words):
        raise ValueError("a comment holds words of a checked grammar only")
    return Code(words)


def identifier(name: str) -> Code:
    """A name that is a Python identifier and no keyword.

    Raises:
        ValueError: it is not, so it must not be printed as one.
    """
    import keyword

    if not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name):
        raise ValueError("not a Python identifier")
    return Code(name)


def code_of(
    expression: Expression, indent: int = 0, lead: str = "", after: int = 0
) -> Code:
    """`lead` and the expression, laid out for a line indented by `indent` columns.

    The first line is not indented: the template places it.
    """
    start = indent + text_width(lead)
    return Code(lead + expression.render(indent, start, after))


def literal(value: Any, indent: int = 0, lead: str = "", after: int = 0) -> Code:
    """`lead` and a JSON value as Python literal; see `code_of`."""
    return code_of(encode(value), indent, lead, after)
