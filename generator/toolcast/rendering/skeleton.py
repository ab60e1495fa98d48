"""A Python text without what its literals say: what is left is what its code does.

Most of a generated file is data. To Python a string is one token, whatever it holds, and a
list or mapping of literals one value, so that both can be left out before the text is parsed.
Files of one template mostly have the same skeleton, which is judged once.
"""

from __future__ import annotations

import keyword
import re
from functools import lru_cache

__all__ = ["OWN_NAME", "can_give_way", "skeleton"]

_ESCAPE = r"\\(?:[\"'\\ntr]|x[0-9a-f]{2}|u[0-9a-f]{4}|U00(?:0[0-9a-f]|10)[0-9a-f]{4})"
# From left to right each quote and each comment sign is either the start of one of these, or
# it is left over, and then there is no skeleton. A prefix or a neighbour leaves it over, too.
_DATA = re.compile(
    r'"(?<![\w"\']")'
    rf'(?:""[^"\\]*+"""|[^"\\\n]*+(?:{_ESCAPE}[^"\\\n]*+)*+"(?!["\']))'
    rf"|'(?<![\w\"']')[^'\\\n]*+(?:{_ESCAPE}[^'\\\n]*+)*+'(?![\"'])"
    r"|\#[^\n]*+"
)
_STRING, _VALUE = "\x01", "\x02"
# Each starts with the set of its first characters, which is what makes a search quick.
_CONSTANT = re.compile(
    r"[0-9FNT](?<![\w.][0-9FNT])(?:"
    r"(?:(?<=0)|(?<=[1-9])\d{0,400}+)(?:\.\d{1,400}+)?(?:e-?\d{1,3}+)?"
    r"|(?<=T)rue|(?<=F)alse|(?<=N)one)(?![\w.])"
)
_ATOM = r"-?[\x01\x02]"
_GAP = r"[ \n]*+"


def _bracketed(value: str) -> str:
    """A pattern of a list or mapping of such values, or of strings in parentheses."""
    entry = rf"{value}: {value}"
    return (
        rf"(?:\[{_GAP}(?:{value}(?:,{_GAP}{value})*+,?{_GAP})?\]"
        rf"|\{{{_GAP}(?:{entry}(?:,{_GAP}{entry})*+,?{_GAP})?\}}"
        rf"|\({_GAP}\x01(?:{_GAP}\x01)*+{_GAP}\))"
    )


# Behind one of the signs stands the start of an expression, so that a bracket is neither a
# call's nor a subscript's. A row of a bracketed value is indented, which statements are not.
# Two levels at once, because each pass goes over the whole text.
_INNERMOST = re.compile(
    rf"([=:,(\[{{](?: |\n +)?+){_bracketed(f'(?:{_ATOM}|{_bracketed(_ATOM)})')}"
)
_MOST_LEVELS = 100
OWN_NAME = "OwnName_"
"""What stands for a file's own name; no text that has it by itself has a skeleton."""
_WORDS = " ".join([*keyword.kwlist, *keyword.softkwlist])
_LEFT_OVER = ('"', "'", "#", "\\", ";", OWN_NAME)


def skeleton(text: str, own_name: str = "") -> str | None:
    """The text with empty data, which Python parses to the same code, or refuses.

    Strings become empty, comments go, and lists, mappings and strings in parentheses that
    hold only literals become one number.

    Args:
        own_name: what all names begin with that the file defines for itself; it gives way
            to `OWN_NAME`. Not a part of a word of Python's: see `can_give_way`.

    Returns:
        None when it cannot be told for certain where the data ends and the code begins.
    """
    if not text.replace("\n", "").isprintable():
        return None
    short = _DATA.sub(_without_data, text)
    if not short.isascii() or any(sign in short for sign in _LEFT_OVER):
        return None
    if own_name:
        short = short.replace(own_name, OWN_NAME)
    return _without_values(short)


@lru_cache(maxsize=256)
def _without_values(short: str) -> str | None:
    """A text without strings, of which files of one template often have the same."""
    short = _CONSTANT.sub(_VALUE, short)
    for _ in range(_MOST_LEVELS):
        short, count = _INNERMOST.subn(_as_value, short)
        if not count:
            return short.replace(_STRING, '""').replace(_VALUE, "(0)")
    return None


def can_give_way(name: str) -> bool:
    """Whether a name can be replaced wherever it stands, in longer names too.

    The other names stay different ones, and no word of Python's becomes a name.
    """
    is_name = name.isascii() and name.isidentifier() and name[0].isupper()
    return is_name and name not in _WORDS


def _without_data(match: re.Match[str]) -> str:
    return "" if match[0][0] == "#" else _STRING


def _as_value(match: re.Match[str]) -> str:
    return match[1] + _VALUE
