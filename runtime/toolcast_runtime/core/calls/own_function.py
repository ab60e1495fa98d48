"""Imports a function of the team's own that a spec names, and refuses one of anybody else's.

The generator proves the same of the source text. This looks at the live object, so that a
definition that was edited by hand, or code that changed since, hands no model a shell.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

_MOST_LAYERS = 50


def own_function(reference: str, package: str | None) -> Callable[..., Any]:
    """The callable that `module:function` names; imports its module.

    Args:
        reference: `module:function`.
        package: the package in which it has to be defined; None when there is none.

    Raises:
        ImportError: the module cannot be imported, or the function, its module or what it
            wraps is known to be defined outside of the package.
        AttributeError: the module has no such function.
        TypeError: what it has is not callable.
    """
    module_name, _, name = reference.partition(":")
    if not is_in_package(module_name, package):
        where = "no package of handlers is declared"
        if package is not None:
            where = f"it is outside of `{package}`"
        raise ImportError(f"{reference} is refused: {where}")
    function: Callable[..., Any] = getattr(importlib.import_module(module_name), name)
    if not callable(function):
        raise TypeError(f"{reference} is not callable")
    homes = list(_homes(_constructor(function)))
    if homes and not any(is_in_package(home, package) for home in homes):
        raise ImportError(
            f"{reference} is refused: it is defined in `{homes[-1]}`, outside of `{package}`;"
            " name a function that is written there, which may call it"
        )
    return function


def own_class(reference: str, package: str | None) -> type:
    """The class that `module:Class` names; imports its module.

    Raises:
        ImportError: the module cannot be imported, or it or the class is not in the
            package.
        AttributeError: the module has no such class.
        TypeError: what it has is no class.
    """
    module_name, _, name = reference.partition(":")
    if not is_in_package(module_name, package):
        raise ImportError(f"{reference} is refused: it is outside of `{package}`")
    found = getattr(importlib.import_module(module_name), name)
    if not isinstance(found, type):
        raise TypeError(f"{reference} is no class")
    if not is_in_package(found.__module__, package):
        raise ImportError(
            f"{reference} is refused: it is defined in `{found.__module__}`, outside of"
            f" `{package}`; name a class that is written there"
        )
    return found


def is_in_package(module: str, package: str | None) -> bool:
    """Whether a module is a package or in it."""
    return package is not None and f"{module}.".startswith(f"{package}.")


def _constructor(function: Any) -> Any:
    """The class that a class has its constructor from; anything else is what it was."""
    if not isinstance(function, type):
        return function
    makers = {"__init__", "__new__"}
    return next((c for c in function.__mro__[:-1] if makers & vars(c).keys()), function)


def _homes(function: Any) -> Iterator[str]:
    """The modules that define a callable and what it wraps, as far as they are known."""
    for _ in range(_MOST_LAYERS):
        home = getattr(function, "__module__", None)
        if isinstance(home, str):
            yield home
        # A wrapper that takes the other's names over was written here all the same.
        written = getattr(function, "__globals__", {}).get("__name__")
        if isinstance(written, str):
            yield written
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            return
