"""Finds a tool's handler and hands the arguments over in the way that it takes them.

A function of anybody else's than the team's own is refused. The generator proves the same of the
source text; this looks at the live object, so that a definition that was edited by hand, or code
that changed since, hands no model a shell.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from .. import optional
from ..definitions.definitions import is_in_package
from ..definitions.tool import Tool
from ..validation.checker import DeclaredNames

_MAX_WRAPPERS = 50
"""Wrappers around a callable that are followed."""
_KEYWORD_KINDS = (
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


class HandlerAdapter:
    """A handler with its calling convention found out once.

    A function takes the arguments as keywords, or, when its only parameter is not one of
    the tool's, as one mapping. It takes the tool's resources as further keywords.

    Args:
        function: the handler.
        declared: the parameters that the tool's schema declares.
        resources: the names of the resources that the tool uses.

    Raises:
        TypeError: the function does not take a resource by its name, or a caller could
            give it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        declared: DeclaredNames,
        resources: Collection[str] = (),
    ) -> None:
        self.function = function
        self._declared = declared
        self._resources = frozenset(resources)
        parameters = list(inspect.signature(function).parameters.values())
        if resources:
            parameters = self._without_resources(parameters)
        kinds = [parameter.kind for parameter in parameters]
        self.takes_mapping = (
            len(parameters) == 1
            and kinds[0]
            not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
            and (
                kinds[0] is inspect.Parameter.POSITIONAL_ONLY
                or parameters[0].name not in declared.names
            )
        )
        takes_any = inspect.Parameter.VAR_KEYWORD in kinds
        self._keywords = (
            None
            if takes_any
            else frozenset(p.name for p in parameters if p.kind in _KEYWORD_KINDS)
        )
        # What calls are made of that are right: nothing of theirs has to be looked at.
        known = declared.names - self._resources
        self._taken = known if self._keywords is None else known & self._keywords
        target = inspect.unwrap(function)
        while isinstance(target, functools.partial):
            target = target.func
        self.is_async = inspect.iscoroutinefunction(target)

    def not_taken(self, arguments: Mapping[str, Any]) -> list[str]:
        """The arguments that the function is not given, in their order.

        Those that it has no parameter for, and those that the schema does not declare,
        whatever `additionalProperties` says: a caller sets no parameter of the function
        that it was not shown. One mapping may hold what an open schema lets in, but for
        what is called as a resource is.
        """
        if arguments.keys() <= self._taken:
            return []
        own = []
        if self._resources:
            own = [name for name in arguments if name in self._resources]
        if self.takes_mapping:
            return own
        undeclared = self._declared.lacks(arguments)
        undeclared += own
        if not undeclared and (
            self._keywords is None or self._keywords.issuperset(arguments)
        ):
            return []
        if self._keywords is None:
            return undeclared
        return [n for n in arguments if n not in self._keywords or n in undeclared]

    def __call__(
        self, arguments: Mapping[str, Any], resources: Mapping[str, Any] | None = None
    ) -> Any:
        """The function's value: the result, or an awaitable of it."""
        given = {} if resources is None else resources
        if self.takes_mapping:
            return self.function(dict(arguments), **given)
        return self.function(**arguments, **given)

    def _without_resources(
        self, parameters: list[inspect.Parameter]
    ) -> list[inspect.Parameter]:
        """The parameters that a caller's arguments can be for."""
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
        named = {p.name for p in parameters if p.kind in _KEYWORD_KINDS}
        for name in sorted(self._resources):
            if name not in named and not takes_any:
                raise TypeError(
                    f"the handler has no parameter for the resource `{name}`"
                )
            if name in self._declared.names:
                raise TypeError(
                    f"the resource `{name}` is a parameter of the tool, too"
                )
        return [
            p
            for p in parameters
            if p.name not in self._resources or p.kind not in _KEYWORD_KINDS
        ]


def adapt_handler(tool: Tool, package: str | None) -> HandlerAdapter:
    """The handler that a tool names; imports its module, and its classes if it has any.

    Args:
        tool: it.
        package: the package that has to define it.

    Raises:
        ImportError: as `own_function`, AttributeError and TypeError too.
        OptionalPartError: the handler takes values of Python, and the part that converts
            them cannot be loaded.
        Exception: a class that it is given or gives does not agree with the tool's schemas.
    """
    function = own_function(tool.handler or "", package)
    if tool.has_python_values or tool.arguments_type or tool.result_type:
        function = optional.models.typed_function(function, tool, package)
    return HandlerAdapter(function, DeclaredNames(tool.handled_parameters), tool.uses)


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


def _constructor(function: Any) -> Any:
    """The class that a class has its constructor from; anything else is what it was."""
    if not isinstance(function, type):
        return function
    makers = {"__init__", "__new__"}
    return next((c for c in function.__mro__[:-1] if makers & vars(c).keys()), function)


def _homes(function: Any) -> Iterator[str]:
    """The modules that define a callable and what it wraps, as far as they are known."""
    for _ in range(_MAX_WRAPPERS):
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
