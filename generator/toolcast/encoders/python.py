"""Values become text of a Python module: literals, names and calls, laid out as black would.

An expression is a tree: text, or a bracketed group of expressions. What fits on the line
stays there; what does not has one element a line with a trailing comma."""

from __future__ import annotations

import keyword
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..parsing.characters import is_plain
from .code import Code

WIDTH = 88


# Where black's table of widths and Python's own Unicode data differ.
_WIDE = re.compile(
    "[\u2630-\u2637\u268a-\u268f\u4dc0-\u4dff"
    "\U0001d300-\U0001d356\U0001d360-\U0001d376]"
)
_NARROW = re.compile(
    "[\u302a-\u302f\u3099\u309a\U00016fe4\U00016ff0\U00016ff1\U0001f3fb-\U0001f3ff]"
)


def text_width(text: str) -> int:
    """Columns of a text as black counts them: wide characters are two, others one."""
    if text.isascii():
        return len(text)
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if unicodedata.east_asian_width(character) in "WF":
        return 1 if _NARROW.match(character) else 2
    return 2 if _WIDE.match(character) else 1


class Text:
    """An expression without brackets to break at: a name, number or string.

    Every expression has a `flat`, which is all of it on one line.
    """

    def __init__(self, text: str) -> None:
        self.flat = text

    def render(self, indent: int, before: int, after: int) -> str:
        """The expression from column `before` on, with `after` columns to follow."""
        return self.flat


class Group:
    """A bracketed expression: `opening`, elements, `closing`.

    A one-element group without `trailing_comma` breaks without a comma, as subscripts of
    one element must; with `flat_comma` it has one even on one line, as a tuple must. The
    elements of a call, a subscript or a definition stay together, `joined`, where one line
    is long enough for them; those of a list, a mapping or a tuple do not.
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
        self.opening = opening
        self.elements = elements
        self.closing = closing
        self.trailing_comma = trailing_comma
        self.joined = joined
        self.together = ", ".join([element.flat for element in elements])
        comma = "," if flat_comma else ""
        self.flat: str = f"{opening}{self.together}{comma}{closing}"

    def render(self, indent: int, before: int, after: int) -> str:
        """The expression from column `before` on, with `after` columns to follow.

        `indent` is the indentation of the line that it stands on.
        """
        fits = before + text_width(self.flat) + after <= WIDTH
        if fits or not self.elements:
            return self.flat
        inner = indent + 4
        if self.joined and inner + text_width(self.together) <= WIDTH:
            rows = [" " * inner + self.together]
            return "\n".join([self.opening, *rows, " " * indent + self.closing])
        comma = "," if self.trailing_comma else ""
        rows = [
            " " * inner + element.render(inner, inner, len(comma)) + comma
            for element in self.elements
        ]
        return "\n".join([self.opening, *rows, " " * indent + self.closing])


class Entry:
    """`key: value`, `key=value` or `name: type = ...` inside a group."""

    def __init__(self, lead: str, value: Expression, tail: str = "") -> None:
        self.lead = lead
        self.value = value
        self.tail = tail
        self.flat: str = f"{lead}{value.flat}{tail}"

    def render(self, indent: int, before: int, after: int) -> str:
        """The entry from column `before` on, with `after` columns to follow."""
        start = before + text_width(self.lead)
        tail = after + len(self.tail)
        return self.lead + self.value.render(indent, start, tail) + self.tail


Expression = Text | Group | Entry


def lay_out(expression: Expression, before: str = "", after: str = "") -> str:
    """An expression for the line on which `before` and `after` stand around it."""
    indent = len(before) - len(before.lstrip(" "))
    return expression.render(indent, text_width(before), text_width(after))


_NOT_IN_OPTIONS = re.compile(r"[^a-z0-9]+")


def option_name(parameter: str) -> str:
    """`min_keywords` is `--min-keywords`."""
    return "--" + (_NOT_IN_OPTIONS.sub("-", parameter.lower()).strip("-") or "value")


_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_UNUSUAL = re.compile(r"[^ -~]")


def encode_string(text: str) -> str:
    """A Python string literal of any text, in the quotes that black prefers.

    Letters of every script stay readable; control, invisible and unassigned characters
    become escapes. `ast.literal_eval` gives the text back exactly.
    """
    if text.isascii() and '"' not in text and "\\" not in text and text.isprintable():
        return f'"{text}"'
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


def break_string(text: str, shown: str, indent: int, before: int, after: int) -> str:
    """A text whose literal is `shown`, in pieces where the line is too short for it."""
    width = text_width(shown)
    if before + width + after <= WIDTH:
        return shown
    inner = indent + 4
    room = WIDTH - inner
    if width <= room:
        pieces = [shown]
    else:
        pieces = _pieces(text, room)
        if len(pieces) == 1:
            return shown
    gap = "\n" + " " * inner
    return f"({gap}{gap.join(pieces)}\n{' ' * indent})"


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
                pieces.append(encode_string(line[start:end]))
                start = end
                double, single = word.count('"'), word.count("'")
                width = text_width(_escaped(word))
            end += len(word)
        pieces.append(encode_string(line[start:]))
    return pieces


def _words(line: str) -> Iterable[str]:
    """The words of a line, each with the spaces after it."""
    start = 0
    for index in range(1, len(line)):
        if line[index - 1] == " " and line[index] not in " \n":
            yield line[start:index]
            start = index
    yield line[start:]


_WORDS = re.compile(r"[A-Za-z0-9 ._/,;()-]*")


class _LongString(Text):
    """A string that is broken into pieces in parentheses when the line is too short."""

    def __init__(self, text: str) -> None:
        super().__init__(encode_string(text))
        self.text = text

    def render(self, indent: int, before: int, after: int) -> str:
        return break_string(self.text, self.flat, indent, before, after)


def encode_literal(value: Any, before: str = "", after: str = "") -> Code:
    """A value of JSON, or a tuple of such, as the Python literal that gives it back.

    Raises:
        TypeError: the value is neither.
        ValueError: a number is not finite.
    """
    return Code(lay_out(build_literal(value), before, after))


def encode_optional(value: Any, before: str = "", after: str = "") -> Code:
    """`literal`, and nothing for None."""
    return Code() if value is None else encode_literal(value, before, after)


def encode_unbroken_string(text: str) -> Code:
    """A text as one string literal, however long."""
    return Code(encode_string(text))


def build_literal(value: Any) -> Expression:
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


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError("not a JSON number")
    return repr(value).replace("e+", "e")


def encode_safe_text(text: str) -> Code:
    """A path or words of a checked grammar, for a comment or a docstring.

    Neither has escapes, so that all which could end it, or mean something to a tool that
    reads comments, is refused.

    Raises:
        ValueError: something else than letters, digits, spaces and `._/,;()-` is in it.
    """
    if not _WORDS.fullmatch(text):
        raise ValueError("a comment holds words of a checked grammar only")
    return Code(text)


def encode_identifier(name: str) -> Code:
    """A name that is a Python identifier and no keyword.

    Raises:
        ValueError: it is not, so it must not be printed as one.
    """
    return Code(validate_identifier(name))


def validate_identifier(name: str) -> str:
    """The same for a part of an expression."""
    if not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name):
        raise ValueError("not a Python identifier")
    return name


def validate_dotted_name(name: str) -> str:
    """A dotted name.

    Raises:
        ValueError: a part of it is no identifier.
    """
    return ".".join(map(validate_identifier, name.split(".")))


def encode_module_imports(modules: Sequence[str], indent: int) -> Code:
    """`import module`, a line each, in this order; the template has the first indent.

    Raises:
        ValueError: a part of a name is no identifier.
    """
    return Code(
        f"\n{' ' * indent}".join(f"import {validate_dotted_name(m)}" for m in modules)
    )


def join_identifiers(listed: Sequence[str]) -> Code:
    """Names with commas between them, for an import that fits on a line.

    Raises:
        ValueError: one of them is no identifier.
    """
    return Code(", ".join(map(validate_identifier, listed)))


def encode_name_tuple(listed: Sequence[str], before: str = "", after: str = "") -> Code:
    """A tuple of what the names stand for.

    Raises:
        ValueError: one of them is no identifier.
    """
    elements = [Text(validate_identifier(name)) for name in listed]
    group = Group("(", elements, ")", flat_comma=len(elements) == 1)
    return Code(lay_out(group, before, after))


def encode_import(module: str, listed: Sequence[str], indent: int = 0) -> Code:
    """`from module import listed`, in parentheses where a line is too short for it.

    Nothing where nothing is listed.

    Args:
        module: a dotted name; dots before it make it a relative one.
        listed: what is imported, in this order.
        indent: the columns before it, which the template has.

    Raises:
        ValueError: a name is no identifier.
    """
    if not listed:
        return Code()
    relative = module[: len(module) - len(module.lstrip("."))]
    where = relative
    if module != relative:
        where += validate_dotted_name(module[len(relative) :])
    names = list(map(validate_identifier, listed))
    line = f"from {where} import {', '.join(names)}"
    if indent + len(line) <= WIDTH:
        return Code(line)
    inner = " " * (indent + 4)
    rows = "".join(f"{inner}{name},\n" for name in names)
    return Code(f"from {where} import (\n{rows}{' ' * indent})")
