"""Encode plain text: single lines, table rows and shell arguments."""

from __future__ import annotations

import shlex

from ..parsing.characters import is_printable
from .code import Code


def encode_line(text: str) -> Code:
    r"""Encode text as one line of visible characters.

    Each run of whitespace, including line breaks, becomes one space. Invisible characters
    become escapes such as `\u200b`.
    """
    line = " ".join(text.split())
    if not (line.isascii() and line.isprintable()):
        line = "".join(map(_escape_invisible, line))
    return Code(line)


def _escape_invisible(character: str) -> str:
    if is_printable(character):
        return character
    return character.encode("unicode_escape").decode("ascii")


def encode_row(*cells: str) -> Code:
    """Encode each cell with `encode_line` and join the cells with tabs."""
    return Code("\t").join(encode_line(cell) for cell in cells)


def encode_shell_argument(text: str) -> Code:
    """Quote text as one word for a POSIX shell, if it needs quotes.

    `shlex.split` returns the original text. Source: POSIX.1-2017, XCU 2.2.

    Raises:
        ValueError: the text contains a NUL, which a program argument cannot contain.
    """
    if "\0" in text:
        raise ValueError("a shell word cannot contain a NUL character")
    return Code(shlex.quote(text))


def encode_typed_argument(text: str) -> str:
    """Quote text as one word that a user can type into a shell, always on one line.

    Invisible characters are escaped in `$'...'`, which POSIX.1-2024 defines and which shells
    supported long before.
    """
    if text.isprintable():
        return encode_shell_argument(text)
    escaped = text.encode("unicode_escape").decode("ascii").replace("'", "\\'")
    return f"$'{escaped}'"
