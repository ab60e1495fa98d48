"""Text that may differ at each start of a server: paths, counts, times and dates."""

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
    r"(?P<path>(?<![\w:/\\.])(?:file://)?(?:[A-Za-z]:)?(?:[/\\~][\w.+-]+)+[/\\]?)"
    r"|(?P<number>(?<![\w@/\\-])\d+(?:[-:.,/T +]?\d+)*"
    r"(?:\ ?(?:ms|s|min|h|%|Z|[ap]m|[AP]M|st|nd|rd|th))?(?![\w@/\\]))"
    rf"|(?P<day>\b(?:{_DAY_AND_MONTH_NAMES})\b)"
)
_IP_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?!\d)")
# Folders in which programs keep their data; the names of other ones can be sentences.
_DATA_FOLDERS = frozenset(
    "app builds code data github home mnt opt private root run srv temp tmp users usr var"
    " var volumes work workspace workspaces".split()
)
_WORD = re.compile(r"[A-Za-z]{2,}")
_MAX_WORDS = 2
"""Words in the name of a folder or file; a name with more can be a sentence."""
_MAX_FOLDERS = 12
"""Parts of a path; a path with more can be a sentence."""


def mask_volatile_text(text: str) -> str:
    """Return a text with each path, number and date replaced by its kind.

    Addresses, and paths whose names could be sentences, stay as they are.
    """
    return _VOLATILE_TEXT.sub(_mask, text)


def _mask(match: re.Match[str]) -> str:
    text = match[0]
    if match.lastgroup == "number" and _IP_ADDRESS.match(text):
        return text
    if match.lastgroup == "path" and not _is_data_path(text):
        return text
    return f"\0{match.lastgroup}"


def _is_data_path(path: str) -> bool:
    """Return whether a path can only be a location of files, not words with slashes."""
    path = re.sub(r"^(?:file://)?(?:[A-Za-z]:)?", "", path)
    names = [name for name in re.split(r"[/\\]", path) if name]
    if not names or len(names) > _MAX_FOLDERS:
        return False
    starts_in_data = names[0] == "~" or names[0].lower() in _DATA_FOLDERS
    return starts_in_data and all(
        len(_WORD.findall(name)) <= _MAX_WORDS or re.search(r"\d", name) is not None
        for name in names
    )
