"""Python: values of specs as literals, and names that were made from checked names."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .code import Code
from .layout import WIDTH, Entry, Expression, Group, Text, text_width
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

_ANY_WIDTH = 10**9


class _LongString(Text):
    """A string that is broken into pieces in parentheses when the line is too short."""

    def render(self, indent: int, before: int, after: int) -> str:
        return broken(self.pieces[0], self.text, indent, before, after)


@dataclass(frozen=True)
class _Data(Text):
    """A mapping or list of JSON: laid out without a tree of expressions beside it."""

    value: Any = None

    @property
    def flat(self) -> str:
        """The expression on one line."""
        return _laid_out(self.value, 0, 0, -_ANY_WIDTH)

    def flat_within(self, room: int) -> str | None:
        return _flat(self.value, room)

    def render(self, indent: int, before: int, after: int) -> str:
        return _laid_out(self.value, indent, before, after)


def _laid_out(value: Any, indent: int, before: int, after: int) -> str:
    """What `Group` and `Entry` would make of a JSON value."""
    kind = value.__class__
    if kind is str:
        return broken(value, string(value), indent, before, after)
    if kind is not dict and kind is not list:
        return _laid_out_otherwise(value, indent, before, after)
    flat = _flat(value, WIDTH - before - after)
    if flat is not None or not value:
        return flat or ("{}" if kind is dict else "[]")
    inner = indent + 4
    gap = "\n" + " " * inner
    rows = []
    if kind is list:
        for item in value:
            rows.append(f"{gap}{_laid_out(item, inner, inner, 1)},")
        return f"[{''.join(rows)}\n{' ' * indent}]"
    for key, item in value.items():
        lead = f"{string(key)}: "
        start = inner + text_width(lead)
        rows.append(f"{gap}{lead}{_laid_out(item, inner, start, 1)},")
    return f"{{{''.join(rows)}\n{' ' * indent}}}"


def _laid_out_otherwise(value: Any, indent: int, before: int, after: int) -> str:
    """The same of what is no text, mapping or list by its very class."""
    if isinstance(value, str):
        return _laid_out(str(value), indent, before, after)
    if isinstance(value, Mapping):
        return _laid_out(dict(value), indent, before, after)
    if isinstance(value, (list, tuple)):
        return _laid_out(list(value), indent, before, after)
    return encode(value).flat


def _flat(value: Any, room: int) -> str | None:
    """A JSON value on one line; None when it has more than `room` columns."""
    kind = value.__class__
    if kind is str:
        if len(value) >= room:
            return None
        shown = string(value)
        width = len(shown) if shown.isascii() else text_width(shown)
        return shown if width <= room else None
    if kind is not dict and kind is not list:
        shown = _laid_out_otherwise(value, 0, 0, -_ANY_WIDTH)
        return shown if text_width(shown) <= room else None
    parts: list[str] = []
    lead = ""
    for item in value:
        room -= 2
        if kind is dict:
            lead = f"{string(item)}: "
            room -= text_width(lead)
            item = value[item]
        shown_item = None if room < 0 else _flat(item, room)
        if shown_item is None:
            return None
        room -= len(shown_item) if shown_item.isascii() else text_width(shown_item)
        parts.append(lead + shown_item)
    if room < (0 if parts else 2):
        return None
    inner = ", ".join(parts)
    return f"{{{inner}}}" if kind is dict else f"[{inner}]"


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
        return Text(_number(value))
    if isinstance(value, (Mapping, list, tuple)):
        return _Data("", (), value)
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError("not a JSON number")
    return repr(value).replace("e+", "e")


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
