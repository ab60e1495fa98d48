"""Names that are derived from tools' names: classes, options, keyword arguments."""

from __future__ import annotations

import hashlib
import keyword
import re
from collections.abc import Sequence

__all__ = [
    "class_name",
    "is_keyword_argument",
    "nested_class_name",
    "option_name",
]

# `        | Callable[[XxxArguments], object]` stays within a line.
_LONGEST_CLASS = 48
# `class XxxYyyyy(TypedDict):` stays within a line.
_LONGEST_NESTED = 66
_WORDS = re.compile(r"[A-Za-z0-9]+")
_NOT_IN_OPTIONS = re.compile(r"[^a-z0-9]+")


def class_name(tool: str) -> str:
    """`delegate_task` is `DelegateTask`; always an identifier."""
    words = _WORDS.findall(tool)
    name = "".join(word[0].upper() + word[1:] for word in words)
    if not name or name[0].isdigit() or keyword.iskeyword(name):
        name = f"Tool{name}"
    if len(name) > _LONGEST_CLASS:
        # A line that defines it stays within a page's width.
        digest = hashlib.sha256(tool.encode()).hexdigest()[:8]
        name = f"{name[: _LONGEST_CLASS - 8]}{digest}"
    return name


def nested_class_name(first: str, words: Sequence[str]) -> str:
    """`FindNotes` and `filter`, `price range` are `FindNotesFilterPriceRange`.

    Args:
        first: a class name.
        words: any texts, of which letters and digits of ASCII are kept.
    """
    kept = [word for text in words for word in _WORDS.findall(text)]
    name = first + "".join(word[0].upper() + word[1:] for word in kept)
    if len(name) > _LONGEST_NESTED:
        digest = hashlib.sha256("\0".join(words).encode("utf-8", "replace")).hexdigest()
        name = f"{name[: _LONGEST_NESTED - 8]}{digest[:8]}"
    return name


def option_name(parameter: str) -> str:
    """`min_keywords` is `--min-keywords`."""
    return "--" + (_NOT_IN_OPTIONS.sub("-", parameter.lower()).strip("-") or "value")


def is_keyword_argument(parameter: str) -> bool:
    """Whether a handler can take the parameter as a keyword of that name."""
    return (
        parameter.isascii()
        and parameter.isidentifier()
        and not keyword.iskeyword(parameter)
        and not parameter.startswith("__")
        and parameter != "self"
    )
