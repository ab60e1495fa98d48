"""Public names of a module that are imported on first use (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_getattr(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a module that imports its public names on first use.

    Each name is stored in the module after its import, so that Python calls `__getattr__`
    once per name.

    Args:
        package: the `__name__` of the package or module.
        modules: the module of each public name; one that begins with a dot is relative to
            the package.
    """

    def load_name(name: str) -> Any:
        # An AttributeError lets `hasattr` and `from ... import` work as usual (PEP 562).
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(modules[name], package), name)
        # Python calls a module's `__getattr__` only for names that the module lacks.
        setattr(sys.modules[package], name, value)
        return value

    return load_name
