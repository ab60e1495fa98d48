"""POSIX shell: one word of a command line."""

from __future__ import annotations

import shlex

from .code import Code

__all__ = ["typed_word", "word"]


def word(text: str) -> Code:
    """The text as one word, quoted where the shell would read it otherwise.

    `shlex.split` gives the text back. Source: POSIX.1-2017, XCU 2.2.

    Raises:
        ValueError: the text has a NUL, which no argument of a program can hold.
    """
    if "\0" in text:
        raise ValueError("a word of a shell cannot hold a NUL character")
    return Code(shlex.quote(text))


def typed_word(text: str) -> str:
    """The text as a person types it into a shell, on one line whatever it is.

    What cannot be seen is written as an escape in `$'...'`, which POSIX.1-2024 has and
    shells had long before.
    """
    if text.isprintable():
        return word(text)
    escaped = text.encode("unicode_escape").decode("ascii").replace("'", "\\'")
    return f"$'{escaped}'"
