"""Lays Python expressions out as black would, so that black has nothing to change.

An expression is a tree: text, or a bracketed group of expressions. What fits on the line
stays there; what does not has one element a line with a trailing comma.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

__all__ = ["WIDTH", "Entry", "Expression", "Group", "Text", "laid_out", "text_width"]

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


def laid_out(expression: Expression, before: str = "", after: str = "") -> str:
    """An expression for the line on which `before` and `after` stand around it."""
    indent = len(before) - len(before.lstrip(" "))
    return expression.render(indent, text_width(before), text_width(after))
