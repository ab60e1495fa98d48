"""Python: values of specs as literals, and names that were made from checked names."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from .characters import is_plain
from .code import Code
from .layout import WIDTH, Entry, Expression, Group, Text, text_width

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

_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_UNUSUAL = re.compile(r"[^ -~]")


def string(text: str) -> str:
    """A Python string literal of any text, in the quotes that black prefers.

    Letters of every script stay readable; control, invisible and unassigned characters
    become escapes. `ast.literal_eval` gives the text back exactly.
    """
    quote = '"' if text.count('"') <= text.count("'") else "'"
    return quote + _escaped(text).replace(quote, "\\" + quote) + quote


def _escaped(text: str) -> str:
    """The text with everything escaped but quotes."""
    text = text.replace("\\", "\\\\")
    if text.isascii() and text.isprintable():
        return text
    return _UNUSUAL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    if char in _ESCAPES:
        return _ESCAPES[char]
    if is_plain(char):
        return char
    point = ord(char)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


class _LongString(Text):
    """A string that is broken into pieces in parentheses when the line is too short."""

    def render(self, indent: int, before: int, after: int) -> str:
        if before + text_width(self.text) + after <= WIDTH:
            return self.text
        inner = indent + 4
        room = WIDTH - inner
        if text_width(self.text) <= room:
            pieces = [self.text]
        else:
            pieces = _pieces(self.pieces[0], room)
            if len(pieces) == 1:
                return self.text
        rows = [" " * inner + piece for piece in pieces]
        return "\n".join(["(", *rows, " " * indent + ")"])


def _pieces(text: str, room: int) -> list[str]:
    """Literals that join to the text, broken after newlines and spaces to fit the room."""
    pieces: list[str] = []
    for line in text.splitlines(keepends=True) if "\n" in text else [text]:
        start = end = width = double = single = 0
        for word in _words(line):
            double += word.count('"')
            single += word.count("'")
            width += text_width(_escaped(word))
            if start < end and width + min(double, single) + 2 > room:
                pieces.append(string(line[start:end]))
                start = end
                double, single = word.count('"'), word.count("'")
                width = text_width(_escaped(word))
            end += len(word)
        pieces.append(string(line[start:]))
    return pieces


def _words(line: str) -> Iterable[str]:
    """The words of a line, each with the spaces after it."""
    start = 0
    for index in range(1, len(line)):
        if line[index - 1] == " " and line[index] not in " \n":
            yield line[start:index]
            start = index
    yield line[start:]


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
    if isinstance(value, Mapping):
        entries = [Entry(f"{string(k)}: ", encode(v)) for k, v in value.items()]
        return Group("{", entries, "}")
    if isinstance(value, (list, tuple)):
        return Group("[", [encode(item) for item in value], "]")
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
