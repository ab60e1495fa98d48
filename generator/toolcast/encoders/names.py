"""Names that are derived from tools' names: modules, files, classes, options."""

from __future__ import annotations

import hashlib
import keyword
import re
from functools import lru_cache

__all__ = [
    "class_name",
    "is_keyword_argument",
    "is_windows_device",
    "module_name",
    "option_name",
]

# `        | Callable[[XxxArguments], object]` stays within a line.
_LONGEST_CLASS = 48
_WORDS = re.compile(r"[A-Za-z0-9]+")
_NOT_IN_MODULES = re.compile(r"[^a-z0-9_]")
_NOT_IN_OPTIONS = re.compile(r"[^a-z0-9]+")
_WINDOWS_DEVICES = frozenset(
    ["con", "prn", "aux", "nul"]
    + [f"{device}{number}" for device in ("com", "lpt") for number in range(1, 10)]
)


@lru_cache(maxsize=65536)
def module_name(tool: str) -> str:
    """The module, file and fixture name of a tool: `[a-z0-9_]+`, an importable one.

    A section's or client's name may be any text, the empty one too. Two tools may derive
    the same name; the rule `name/collision` refuses that.
    """
    name = _NOT_IN_MODULES.sub("_", tool.lower()) or "_"
    if name[0].isdigit():
        name = f"n{name}"
    if (
        keyword.iskeyword(name)
        or name in _WINDOWS_DEVICES
        or name.startswith(("test_", "_"))
        or name.endswith("_test")
        or name in ("conftest", "setup")
    ):
        name = f"tool_{name.strip('_')}"
    return name


def is_windows_device(name: str) -> bool:
    """Whether Windows takes a file or folder of that name for a device."""
    return name.lower() in _WINDOWS_DEVICES


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
