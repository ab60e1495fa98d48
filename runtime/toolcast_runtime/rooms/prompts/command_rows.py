"""How a command stands in the CLI block; the generator writes the same rows into files."""

from __future__ import annotations

import re

_COMMENT_COLUMN = 50
"""Where comments begin, so that no command's row depends on another command's length."""
_WIDTH = 120
# Of `<title>` a browser makes an element that swallows the rest of a rendered page; so it
# does of these. Other names in such brackets hide nothing.
_SWALLOWS = re.compile(
    r"<(applet|audio|body|canvas|colgroup|datalist|details|dialog|form|frame|frameset"
    r"|head|html|iframe|listing|math|meter|noembed|noframes|noscript|object|optgroup|option"
    r"|picture|plaintext|pre|progress|rp|script|select|style|svg|table|tbody|td|template"
    r"|textarea|tfoot|th|thead|title|tr|video|xmp)>",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<(?=[!?])")


def command_rows(program: str, line: str, comment: str) -> list[str]:
    """A command with its comment beside it, or below it when the command is long.

    No row is wider than 120 columns unless a single word is: a long command goes on behind
    a backslash, a long comment in further ones.

    Args:
        program: what is typed before the command.
        line: the command. A parameter that is called as an element of HTML that swallows
            what follows stands in capitals, without brackets.
        comment: what is said about it, on one line.
    """
    shown = _SWALLOWS.sub(lambda found: found[1].upper(), line)
    shown = _COMMENT.sub(r"\<", shown)
    typed = _wrapped(f"{program} {shown}".split(" "), "  ", "      ", _WIDTH - 2)
    rows = [f"{row} \\" for row in typed[:-1]] + typed[-1:]
    margin = " " * _COMMENT_COLUMN
    words = comment.split()
    comments = _wrapped(words, f"{margin}# ", f"{margin}# ", _WIDTH) if words else []
    if comments and len(rows) == 1 and len(rows[0]) <= _COMMENT_COLUMN - 2:
        beside = comments[0].removeprefix(margin)
        return [rows[0].ljust(_COMMENT_COLUMN) + beside, *comments[1:]]
    return rows + comments


def _wrapped(words: list[str], first: str, other: str, width: int) -> list[str]:
    """Words on lines of at most `width`, each behind its indent."""
    rows = [first + words[0]]
    for word in words[1:]:
        if len(rows[-1]) + 1 + len(word) <= width:
            rows[-1] += f" {word}"
        else:
            rows.append(other + word)
    return rows
