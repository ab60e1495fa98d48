"""Plain text: a file of lines, or of cells between tabs."""

from __future__ import annotations

from ..reading.characters import is_plain
from .code import Code

__all__ = ["line", "row"]


def line(text: str) -> Code:
    """The text as one line that can be seen.

    White space in a row, line breaks included, becomes one space; what cannot be seen
    becomes an escape, `\\u200b` for one.
    """
    shown = " ".join(text.split())
    if not (shown.isascii() and shown.isprintable()):
        shown = "".join(map(_seen, shown))
    return Code(shown)


def _seen(character: str) -> str:
    if is_plain(character):
        return character
    return character.encode("unicode_escape").decode("ascii")


def row(*cells: str) -> Code:
    """Cells with a tab between them, each as of `line`."""
    return Code("\t").join(line(cell) for cell in cells)
