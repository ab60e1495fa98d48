"""Encode values as Python source code, laid out as black would.

An expression is a tree: text, or a bracketed group of expressions. A group that does not fit
on its line is written with one element per line and a trailing comma.
"""

from __future__ import annotations

import keyword
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..parsing.characters import is_printable
from .code import Code

WIDTH = 88
"""The line length of black, in columns."""


# Characters for which black's width table and Python's Unicode data differ.
_WIDE = re.compile(
    "[\u2630-\u2637\u268a-\u268f\u4dc0-\u4dff"
    "\U0001d300-\U0001d356\U0001d360-\U0001d376]"
)
_NARROW = re.compile(
    "[\u302a-\u302f\u3099\u309a\U00016fe4\U00016ff0\U00016ff1\U0001f3fb-\U0001f3ff]"
)


def text_width(text: str) -> int:
    """Return the columns of a text as black counts them: two per wide character."""
    if text.isascii():
        return len(text)
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if unicodedata.east_asian_width(character) in "WF":
        return 1 if _NARROW.match(character) else 2
    return 2 if _WIDE.match(character) else 1


class Text:
    """An expression without brackets: a name, number or string.

    The `flat` attribute of every expression is its text on one line.
    """

    def __init__(self, text: str) -> None:
        self.flat = text

    def render(self, indent: int, before: int, after: int) -> str:
        """Return the expression laid out for its position.

        Args:
            indent: the indentation of the line.
            before: the column at which the expression starts.
            after: the number of columns that follow the expression on its last line.
        """
        return self.flat


class Group:
    """A bracketed expression.

    Attributes:
        opening: the text up to and including the opening bracket.
        elements: the expressions inside of the brackets.
        closing: the closing bracket.
        trailing_comma: whether the last element has a comma when the group spans several
            lines; a subscript with one element must not have one.
        joined: whether all elements may share one line of their own, as in calls,
            subscripts and definitions, but not in lists, dicts and tuples.
        joined_elements: the elements on one line.
    """

    def __init__(
        self,
        opening: str,
        elements: Sequence[Expression],
        closing: str,
        trailing_comma: bool = True,
        flat_comma: bool = False,
        joined: bool = False,
    ) -> None:
        """Create a group; `flat_comma` adds a comma even on one line, as in a 1-tuple."""
        self.opening = opening
        self.elements = elements
        self.closing = closing
        self.trailing_comma = trailing_comma
        self.joined = joined
        self.joined_elements = ", ".join([element.flat for element in elements])
        comma = "," if flat_comma else ""
        self.flat: str = f"{opening}{self.joined_elements}{comma}{closing}"

    def render(self, indent: int, before: int, after: int) -> str:
        """Return the group on one line if it fits, else on several; see `Text.render`."""
        fits = before + text_width(self.flat) + after <= WIDTH
        # Empty brackets cannot be split over lines.
        if fits or not self.elements:
            return self.flat
        element_indent = indent + 4
        if self.joined and element_indent + text_width(self.joined_elements) <= WIDTH:
            rows = [" " * element_indent + self.joined_elements]
            return "\n".join([self.opening, *rows, " " * indent + self.closing])
        comma = "," if self.trailing_comma else ""
        rows = [
            " " * element_indent
            + element.render(element_indent, element_indent, len(comma))
            + comma
            for element in self.elements
        ]
        return "\n".join([self.opening, *rows, " " * indent + self.closing])


class Entry:
    """An element of a group such as `key: value`, `key=value` or `name: type = ...`."""

    def __init__(self, lead: str, value: Expression, tail: str = "") -> None:
        self.lead = lead
        self.value = value
        self.tail = tail
        self.flat: str = f"{lead}{value.flat}{tail}"

    def render(self, indent: int, before: int, after: int) -> str:
        """Return the entry laid out for its position; see `Text.render`."""
        start = before + text_width(self.lead)
        tail = after + len(self.tail)
        return self.lead + self.value.render(indent, start, tail) + self.tail


Expression = Text | Group | Entry


def lay_out(expression: Expression, before: str = "", after: str = "") -> str:
    """Lay out an expression between the texts before and after it on its line."""
    indent = len(before) - len(before.lstrip(" "))
    return expression.render(indent, text_width(before), text_width(after))


_OPTION_SEPARATORS = re.compile(r"[^a-z0-9]+")


def option_name(parameter: str) -> str:
    """Return the command-line option of a parameter: `--min-words` for `min_words`.

    A name without letters a-z and digits becomes `--value`.
    """
    return "--" + (_OPTION_SEPARATORS.sub("-", parameter.lower()).strip("-") or "value")


_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_NON_ASCII = re.compile(r"[^ -~]")


def encode_string(text: str) -> str:
    """Return text as a Python string literal, in the quotes that black prefers.

    Control, invisible and unassigned characters are escaped; other Unicode characters are
    not. `ast.literal_eval` returns the original text.
    """
    # Fast path for text without characters that need escapes.
    if text.isascii() and '"' not in text and "\\" not in text and text.isprintable():
        return f'"{text}"'
    quote = '"' if text.count('"') <= text.count("'") else "'"
    return quote + _escape_except_quotes(text).replace(quote, "\\" + quote) + quote


def _escape_except_quotes(text: str) -> str:
    """Escape everything except quotes."""
    text = text.replace("\\", "\\\\")
    if text.isascii() and text.isprintable():
        return text
    return _NON_ASCII.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    if char in _ESCAPES:
        return _ESCAPES[char]
    if is_printable(char):
        return char
    point = ord(char)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def break_string(text: str, literal: str, indent: int, before: int, after: int) -> str:
    """Return a string literal, split into implicitly joined pieces if it is too long.

    Args:
        text: the value of the string.
        literal: the whole string literal.
        indent: the indentation of the line.
        before: the column at which the literal starts.
        after: the number of columns that follow it.
    """
    width = text_width(literal)
    if before + width + after <= WIDTH:
        return literal
    piece_indent = indent + 4
    piece_width = WIDTH - piece_indent
    if width <= piece_width:
        pieces = [literal]
    else:
        pieces = _split_string(text, piece_width)
        # Text without spaces or newlines cannot be split: its line stays too long.
        if len(pieces) == 1:
            return literal
    line_start = "\n" + " " * piece_indent
    return f"({line_start}{line_start.join(pieces)}\n{' ' * indent})"


def _split_string(text: str, max_width: int) -> list[str]:
    """Split text after newlines and spaces into literals of at most `max_width` columns."""
    pieces: list[str] = []
    for line in text.splitlines(keepends=True) if "\n" in text else [text]:
        start = end = width = double = single = 0
        for word in _split_after_spaces(line):
            double += word.count('"')
            single += word.count("'")
            width += text_width(_escape_except_quotes(word))
            # The literal escapes the rarer kind of quotes; two more enclose the text.
            if start < end and width + min(double, single) + 2 > max_width:
                pieces.append(encode_string(line[start:end]))
                start = end
                double, single = word.count('"'), word.count("'")
                width = text_width(_escape_except_quotes(word))
            end += len(word)
        pieces.append(encode_string(line[start:]))
    return pieces


def _split_after_spaces(line: str) -> Iterable[str]:
    """Yield the words of a line, each with the spaces that follow it."""
    start = 0
    for index in range(1, len(line)):
        if line[index - 1] == " " and line[index] not in " \n":
            yield line[start:index]
            start = index
    yield line[start:]


_SAFE_TEXT = re.compile(r"[A-Za-z0-9 ._/,;()-]*")


class _LongString(Text):
    """A string that is split into pieces in parentheses if its line is too short."""

    def __init__(self, text: str) -> None:
        super().__init__(encode_string(text))
        self.text = text

    def render(self, indent: int, before: int, after: int) -> str:
        return break_string(self.text, self.flat, indent, before, after)


def encode_literal(value: Any, before: str = "", after: str = "") -> Code:
    """Encode a JSON value, or a tuple of JSON values, as a Python literal.

    Args:
        value: the value.
        before: the text before the literal on its line.
        after: the text after it.

    Raises:
        TypeError: the value is not JSON.
        ValueError: a number is not finite.
    """
    return Code(lay_out(build_literal(value), before, after))


def encode_optional(value: Any, before: str = "", after: str = "") -> Code:
    """Encode a value with `encode_literal`; return empty code for None."""
    return Code() if value is None else encode_literal(value, before, after)


def encode_unbroken_string(text: str) -> Code:
    """Encode text as one string literal, without splitting it."""
    return Code(encode_string(text))


def build_literal(value: Any) -> Expression:
    """Build the expression of a JSON value or a tuple of JSON values.

    Raises:
        TypeError: the value is not JSON.
        ValueError: a number is not finite.
    """
    if value is None or isinstance(value, bool):
        return Text(repr(value))
    if isinstance(value, str):
        return _LongString(str(value))
    if isinstance(value, int):
        return Text(str(value))
    if isinstance(value, float):
        return Text(_encode_number(value))
    if isinstance(value, Mapping):
        entries = [
            Entry(f"{encode_string(key)}: ", build_literal(item))
            for key, item in value.items()
        ]
        return Group("{", entries, "}")
    if isinstance(value, list):
        return Group("[", [build_literal(item) for item in value], "]")
    if isinstance(value, tuple):
        items = [build_literal(item) for item in value]
        return Group("(", items, ")", flat_comma=len(items) == 1)
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def _encode_number(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError("not a JSON number")
    # Black removes the plus sign of an exponent.
    return repr(value).replace("e+", "e")


def encode_safe_text(text: str) -> Code:
    """Encode a path or a simple phrase for a comment or a docstring.

    Comments have no escapes, so this rejects all characters that could end a comment or a
    docstring, or that tools could interpret.

    Raises:
        ValueError: the text contains characters other than letters, digits, spaces and
            `._/,;()-`.
    """
    if not _SAFE_TEXT.fullmatch(text):
        raise ValueError(
            "a comment may contain only letters, digits, spaces and `._/,;()-`"
        )
    return Code(text)


def encode_identifier(name: str) -> Code:
    """Encode a name as a Python identifier.

    Raises:
        ValueError: the name is not an identifier, or is a keyword.
    """
    return Code(validate_identifier(name))


def validate_identifier(name: str) -> str:
    """Return a name unchanged if it is a Python identifier.

    Raises:
        ValueError: the name is not an identifier, or is a keyword.
    """
    if not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name):
        raise ValueError("not a Python identifier")
    return name


def validate_dotted_name(name: str) -> str:
    """Return a dotted name unchanged if its parts are Python identifiers.

    Raises:
        ValueError: a part is not an identifier, or is a keyword.
    """
    return ".".join(map(validate_identifier, name.split(".")))


def encode_module_imports(modules: Sequence[str], indent: int) -> Code:
    """Encode one `import module` line per module.

    Args:
        modules: dotted names, in the order of the lines.
        indent: the indentation, which the template has already printed on the first line.

    Raises:
        ValueError: a part of a name is not an identifier.
    """
    return Code(
        f"\n{' ' * indent}".join(f"import {validate_dotted_name(m)}" for m in modules)
    )


def join_identifiers(names: Sequence[str]) -> Code:
    """Join identifiers with commas, for an import that fits on a line.

    Raises:
        ValueError: a name is not an identifier.
    """
    return Code(", ".join(map(validate_identifier, names)))


def encode_name_tuple(names: Sequence[str], before: str = "", after: str = "") -> Code:
    """Encode a tuple of variables; `before` and `after` are the rest of its line.

    Raises:
        ValueError: a name is not an identifier.
    """
    elements = [Text(validate_identifier(name)) for name in names]
    group = Group("(", elements, ")", flat_comma=len(elements) == 1)
    return Code(lay_out(group, before, after))


def encode_import(module: str, names: Sequence[str], indent: int = 0) -> Code:
    """Encode a `from module import ...` statement, in parentheses if it is too long.

    Returns empty code without names.

    Args:
        module: a dotted name, with leading dots if it is relative.
        names: the imported names, in order.
        indent: the indentation, which the template has already printed.

    Raises:
        ValueError: a name is not an identifier.
    """
    if not names:
        return Code()
    dots = module[: len(module) - len(module.lstrip("."))]
    source = dots
    if module != dots:
        source += validate_dotted_name(module[len(dots) :])
    names = list(map(validate_identifier, names))
    line = f"from {source} import {', '.join(names)}"
    if indent + len(line) <= WIDTH:
        return Code(line)
    line_indent = " " * (indent + 4)
    rows = "".join(f"{line_indent}{name},\n" for name in names)
    return Code(f"from {source} import (\n{rows}{' ' * indent})")
