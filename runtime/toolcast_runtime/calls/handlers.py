"""Finds a tool's handler and hands the arguments over in the way that it takes them."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["HandlerAdapter", "adapt_handler"]

_KEYWORD_KINDS = (
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


class HandlerAdapter:
    """A handler with its calling convention found out once.

    A function takes the arguments as keywords, or, when its only parameter is not one of
    the tool's, as one mapping.
    """

    def __init__(
        self, function: Callable[..., Any], properties: frozenset[str]
    ) -> None:
        self.function = function
        parameters = list(inspect.signature(function).parameters.values())
        kinds = [parameter.kind for parameter in parameters]
        self.takes_mapping = (
            len(parameters) == 1
            and kinds[0]
            not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
            and (
                kinds[0] is inspect.Parameter.POSITIONAL_ONLY
                or parameters[0].name not in properties
            )
        )
        takes_any = inspect.Parameter.VAR_KEYWORD in kinds
        self.keywords = (
            None
            if takes_any or self.takes_mapping
            else frozenset(p.name for p in parameters if p.kind in _KEYWORD_KINDS)
        )
        target = inspect.unwrap(function)
        while isinstance(target, functools.partial):
            target = target.func
        self.is_async = inspect.iscoroutinefunction(target)

    def not_taken(self, arguments: Mapping[str, Any]) -> list[str]:
        """The arguments that the function has no parameter for."""
        if self.keywords is None:
            return []
        return [name for name in arguments if name not in self.keywords]

    def __call__(self, arguments: Mapping[str, Any]) -> Any:
        """The function's value: the result, or an awaitable of it."""
        if self.takes_mapping:
            return self.function(dict(arguments))
        return self.function(**arguments)


def adapt_handler(reference: str, properties: frozenset[str]) -> HandlerAdapter:
    """The handler that `module:function` names; imports its module.

    Raises:
        ImportError: the module cannot be imported.
        AttributeError: the module has no such function.
        TypeError: what it has is not callable.
    """
    module_name, _, function_name = reference.partition(":")
    function = getattr(importlib.import_module(module_name), function_name)
    if not callable(function):
        raise TypeError(f"{reference} is not callable")
    return HandlerAdapter(function, properties)
