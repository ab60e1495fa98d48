"""Targets and rules that other packages bring as entry points."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TypeVar

__all__ = ["ExtensionFailure", "extensions", "loaded_from", "none_installed"]

Kind = TypeVar("Kind")


# Set when an earlier run found none, and nothing was installed or removed since.
_NONE_INSTALLED: list[bool] = []
_LOADED: dict[str, None] = {}


class ExtensionFailure(Exception):
    """An installed package brings an extension that cannot be used."""


def extensions(group: str, kind: type[Kind]) -> Iterator[tuple[str, Kind]]:
    """`module:name` and value of the entry points of a group, in the order of their names.

    Raises:
        ExtensionFailure: one cannot be loaded, or is not of the kind.
    """
    if _NONE_INSTALLED:
        return
    from importlib.metadata import entry_points

    found = sorted(
        entry_points(group=group), key=lambda entry: (entry.name, entry.value)
    )
    for entry in found:
        where = f"the entry point `{entry.name}` of {group} ({entry.value})"
        try:
            value = entry.load()
        # An extension is other people's code: whatever it raises, it is named.
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise ExtensionFailure(f"{where} cannot be loaded: {reason}") from error
        _LOADED[entry.module.partition(".")[0]] = None
        if not isinstance(value, kind):
            raise ExtensionFailure(f"{where} is not a toolcast {kind.__name__}")
        yield entry.value, value


def none_installed() -> None:
    """Spares the search: the caller knows that no package brings an extension."""
    _NONE_INSTALLED.append(True)


def loaded_from() -> list[str]:
    """The files and folders of the packages that extensions came from."""
    files = [sys.modules[name].__file__ for name in _LOADED if name in sys.modules]
    return [
        os.path.dirname(file) if os.path.basename(file) == "__init__.py" else file
        for file in files
        if file is not None
    ]
