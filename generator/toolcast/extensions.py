"""Targets and rules that other packages bring as entry points."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TypeVar

__all__ = [
    "ExtensionFailure",
    "any_loaded",
    "extensions",
    "loaded_from",
    "none_installed",
]

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
        _LOADED[entry.module] = None
        if not isinstance(value, kind):
            raise ExtensionFailure(f"{where} is not a toolcast {kind.__name__}")
        yield entry.value, value


def none_installed() -> None:
    """Spares the search: the caller knows that no package brings an extension."""
    _NONE_INSTALLED.append(True)


def any_loaded() -> bool:
    """Whether an extension was loaded."""
    return bool(_LOADED)


def loaded_from() -> list[str]:
    """The files and folders of the packages that extensions came from."""
    places = (_place_of(module) for module in _LOADED)
    return list(dict.fromkeys(place for place in places if place is not None))


def _place_of(module: str) -> str | None:
    """Where the outermost package of a module is that is not spread over many folders."""
    steps = module.split(".")
    for end in range(1, len(steps) + 1):
        loaded = sys.modules.get(".".join(steps[:end]))
        file = getattr(loaded, "__file__", None)
        if file is not None:
            is_package = os.path.basename(file) == "__init__.py"
            return os.path.dirname(file) if is_package else str(file)
    return None
