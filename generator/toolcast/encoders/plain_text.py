"""Text without a markup: lines of plain text, words of a shell."""

from __future__ import annotations

import shlex

from ..parsing.characters import is_plain
from .code import Code


def encode_line(text: str) -> Code:
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


def encode_row(*cells: str) -> Code:
    """Cells with a tab between them, each as of `line`."""
    return Code("\t").join(encode_line(cell) for cell in cells)


def encode_shell_word(text: str) -> Code:
    """The text as one word, quoted where the shell would read it otherwise.

    `shlex.split` gives the text back. Source: POSIX.1-2017, XCU 2.2.

    Raises:
        ValueError: the text has a NUL, which no argument of a program can hold.
    """
    if "\0" in text:
        raise ValueError("a word of a shell cannot hold a NUL character")
    return Code(shlex.quote(text))


def encode_typed_word(text: str) -> str:
    """The text as a person types it into a shell, on one line whatever it is.

    What cannot be seen is written as an escape in `$'...'`, which POSIX.1-2024 has and
    shells had long before.
    """
    if text.isprintable():
        return encode_shell_word(text)
    escaped = text.encode("unicode_escape").decode("ascii").replace("'", "\\'")
    return f"$'{escaped}'"
