"""Python: values of specs as literals, and names that were made from checked names.

What is too long for a line is laid out as black would. `before` and `after` are what the
template has on the same line around the value, indentation included.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .code import Code
from .layout import WIDTH, Entry, Expression, Group, Text, laid_out
from .python_strings import broken, string

__all__ = [
    "dotted",
    "identifier",
    "imported",
    "literal",
    "modules_imported",
    "tuple_of_names",
    "words",
]


_WORDS = re.compile(r"[A-Za-z0-9 ._/,;()-]*")


class _LongString(Text):
    """A string that is broken into pieces in parentheses when the line is too short."""

    def __init__(self, text: str) -> None:
        super().__init__(string(text))
        self.text = text

    def render(self, indent: int, before: int, after: int) -> str:
        return broken(self.text, self.flat, indent, before, after)


def literal(value: Any, before: str = "", after: str = "") -> Code:
    """A value of JSON, or a tuple of such, as the Python literal that gives it back.

    Raises:
        TypeError: the value is neither.
        ValueError: a number is not finite.
    """
    return Code(laid_out(encode(value), before, after))


def encode(value: Any) -> Expression:
    """The expression whose value is a JSON value, or a tuple of such; see `literal`."""
    if value is None or isinstance(value, bool):
        return Text(repr(value))
    if isinstance(value, str):
        return _LongString(str(value))
    if isinstance(value, int):
        return Text(str(value))
    if isinstance(value, float):
        return Text(_number(value))
    if isinstance(value, Mapping):
        entries = [
            Entry(f"{string(key)}: ", encode(item)) for key, item in value.items()
        ]
        return Group("{", entries, "}")
    if isinstance(value, list):
        return Group("[", [encode(item) for item in value], "]")
    if isinstance(value, tuple):
        items = [encode(item) for item in value]
        return Group("(", items, ")", flat_comma=len(items) == 1)
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError("not a JSON number")
    return repr(value).replace("e+", "e")


def words(text: str) -> Code:
    """A path or words of a checked grammar, for a comment or a docstring.

    Neither has escapes, so that all which could end it, or mean something to a tool that
    reads comments, is refused.

    Raises:
        ValueError: something else than letters, digits, spaces and `._/,;()-` is in it.
    """
    if not _WORDS.fullmatch(text):
        raise ValueError("a comment holds words of a checked grammar only")
    return Code(text)


def identifier(name: str) -> Code:
    """A name that is a Python identifier and no keyword.

    Raises:
        ValueError: it is not, so it must not be printed as one.
    """
    return Code(_identifier(name))


def _identifier(name: str) -> str:
    if not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name):
        raise ValueError("not a Python identifier")
    return name


def dotted(name: str) -> str:
    """A dotted name.

    Raises:
        ValueError: a part of it is no identifier.
    """
    return ".".join(map(_identifier, name.split(".")))


def modules_imported(modules: Sequence[str], indent: int) -> Code:
    """`import module`, a line each, in this order; the template has the first indent.

    Raises:
        ValueError: a part of a name is no identifier.
    """
    return Code(f"\n{' ' * indent}".join(f"import {dotted(m)}" for m in modules))


def names(listed: Sequence[str]) -> Code:
    """Names with commas between them, for an import that fits on a line.

    Raises:
        ValueError: one of them is no identifier.
    """
    return Code(", ".join(map(_identifier, listed)))


def tuple_of_names(listed: Sequence[str], before: str = "", after: str = "") -> Code:
    """A tuple of what the names stand for.

    Raises:
        ValueError: one of them is no identifier.
    """
    elements = [Text(_identifier(name)) for name in listed]
    group = Group("(", elements, ")", flat_comma=len(elements) == 1)
    return Code(laid_out(group, before, after))


def imported(module: str, listed: Sequence[str], indent: int = 0) -> Code:
    """`from module import listed`, in parentheses where a line is too short for it.

    Args:
        module: a dotted name; dots before it make it a relative one.
        listed: what is imported, in this order.
        indent: the columns before it, which the template has.

    Raises:
        ValueError: a name is no identifier.
    """
    relative = module[: len(module) - len(module.lstrip("."))]
    where = relative
    if module != relative:
        where += dotted(module[len(relative) :])
    checked = list(map(_identifier, listed))
    line = f"from {where} import {', '.join(checked)}"
    if indent + len(line) <= WIDTH:
        return Code(line)
    inner = " " * (indent + 4)
    rows = "".join(f"{inner}{name},\n" for name in checked)
    return Code(f"from {where} import (\n{rows}{' ' * indent})")
