"""Masking of text that may differ at each start of a server: paths, numbers and dates."""

from __future__ import annotations

import re
from calendar import day_abbr, day_name, month_abbr, month_name

_DAY_AND_MONTH_NAMES = "|".join(
    name
    for names in (day_name, day_abbr, month_name, month_abbr)
    for name in names
    if name
)
_VOLATILE_TEXT = re.compile(
    # An IPv6 address has `::` or eight groups. It is matched first, because its last group can
    # look like a number.
    r"(?P<address>(?<![\w:])(?=[\da-fA-F:]*::|(?:[\da-fA-F]{1,4}:){7})[\da-fA-F:.]+)"
    r"|(?P<path>(?<![\w:/\\.])(?:file://)?(?:[A-Za-z]:)?(?:[/\\~][\w.+-]+)+[/\\]?)"
    r"|(?P<number>(?<![\w@/\\-])\d+(?:[-:.,/T +]?\d+)*"
    r"(?:\ ?(?:ms|s|min|h|%|Z|[ap]m|[AP]M|st|nd|rd|th))?(?![\w@/\\]))"
    rf"|(?P<day>\b(?:{_DAY_AND_MONTH_NAMES})\b)"
)
_IPV4_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?!\d)")
# First folders of paths that are masked. Other words with slashes, such as `and/or`, may be
# part of a sentence.
_DATA_FOLDERS = frozenset(
    "app builds code data github home mnt opt private root run srv temp tmp users usr var"
    " volumes work workspace workspaces".split()
)
_WORD = re.compile(r"[A-Za-z]{2,}")
_MAX_WORDS = 2
"""Maximum number of words in a masked path's names; a name with more may be a sentence."""
_MAX_FOLDERS = 12
"""Maximum number of names in a masked path; a longer path may be a sentence."""


def mask_volatile_text(text: str) -> str:
    """Return text with each path, number and date replaced by a placeholder for its kind.

    IP addresses, and paths whose names could be sentences, are unchanged.
    """
    return _VOLATILE_TEXT.sub(_mask, text)


def _mask(match: re.Match[str]) -> str:
    text = match[0]
    if match.lastgroup == "address":
        return text
    if match.lastgroup == "number" and _IPV4_ADDRESS.match(text):
        return text
    if match.lastgroup == "path" and not _is_data_path(text):
        return text
    return f"\0{match.lastgroup}"


def _is_data_path(path: str) -> bool:
    """Return whether a path is surely a location of files, not words with slashes."""
    path = re.sub(r"^(?:file://)?(?:[A-Za-z]:)?", "", path)
    names = [name for name in re.split(r"[/\\]", path) if name]
    starts_in_data = names[0] == "~" or names[0].lower() in _DATA_FOLDERS
    return (
        starts_in_data
        and len(names) <= _MAX_FOLDERS
        and all(
            len(_WORD.findall(name)) <= _MAX_WORDS or re.search(r"\d", name) is not None
            for name in names
        )
    )
