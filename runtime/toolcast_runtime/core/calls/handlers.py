"""Handlers: load the functions that definitions name, and adapt their parameters.

Only functions and classes that are defined in the toolset's own handlers package are loaded.
The generator checks the same in the source code. The check is repeated here on the imported
object, so that neither an edited definition nor changed code lets a model call, for example, a
function of `subprocess`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from .. import optional
from ..definitions.definitions import is_in_package
from ..definitions.tool import Tool
from ..validation.checker import DeclaredNames

_MAX_WRAPPERS = 50
"""Maximum number of wrappers around a callable that are followed; wrappers may be circular."""
_KEYWORD_KINDS = (
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


class SignatureMismatchError(TypeError):
    """A handler's signature does not match the arguments that its spec declares."""


class HandlerAdapter:
    """Handler function, adapted to be called with a tool's arguments.

    The function's signature is inspected once. A function gets all arguments as one dict if its
    only parameter is positional-only, or is annotated as a mapping or a TypedDict and is not a
    parameter of the tool. Every other function gets them as keywords. Dependencies are always
    passed as keywords.

    Args:
        function: the handler.
        declared: the parameters that the tool's schema declares.
        dependencies: the names of the lifespan's dependencies that the function gets.

    Attributes:
        uses: these names.

    Raises:
        TypeError: the function has no parameter for a dependency, or a dependency has the
            same name as a parameter of the tool.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        declared: DeclaredNames,
        dependencies: Collection[str] = (),
    ) -> None:
        self.function = function
        self._declared = declared
        self.uses = tuple(dependencies)
        self._dependencies = frozenset(dependencies)
        parameters = list(inspect.signature(function).parameters.values())
        if dependencies:
            parameters = self._remove_dependencies(parameters)
        kinds = [parameter.kind for parameter in parameters]
        self.accepts_mapping = (
            len(parameters) == 1
            and kinds[0]
            in (
                inspect.Parameter.POSITIONAL_ONLY,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
            )
            and (
                kinds[0] is inspect.Parameter.POSITIONAL_ONLY
                or (
                    parameters[0].name not in declared.names
                    and _is_annotated_as_mapping(function, parameters[0].annotation)
                )
            )
        )
        accepts_any_keyword = inspect.Parameter.VAR_KEYWORD in kinds
        self._keywords = (
            None
            if accepts_any_keyword
            else frozenset(p.name for p in parameters if p.kind in _KEYWORD_KINDS)
        )
        # Fast path of `find_rejected`: arguments with only these names need no further check.
        accepted = declared.names - self._dependencies
        if self._keywords is not None:
            accepted &= self._keywords
        self._accepted = accepted
        # `inspect.signature` of a wrapper returns the signature of the wrapped function, whose
        # required parameters the wrapper may pass itself.
        is_wrapper = hasattr(function, "__wrapped__")
        self._required = [
            p.name
            for p in parameters
            if p.default is p.empty
            and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
            and not is_wrapper
        ]
        self.is_async = inspect.iscoroutinefunction(_unwrap(function))

    def find_rejected(self, arguments: Mapping[str, Any]) -> list[str]:
        """Return the names of arguments that must not reach the function, in call order.

        An argument is rejected if the function has no parameter for it, or if the schema does
        not declare it, even if `additionalProperties` permits it: a caller must not set a
        parameter that the tool does not list. A function that gets all arguments as one dict
        also gets undeclared arguments, except those with the name of a dependency.
        """
        if arguments.keys() <= self._accepted:
            return []
        dependencies = [name for name in arguments if name in self._dependencies]
        if self.accepts_mapping:
            return dependencies
        rejected = {*dependencies, *self._declared.find_undeclared(arguments)}
        if self._keywords is not None:
            rejected.update(arguments.keys() - self._keywords)
        return [name for name in arguments if name in rejected]

    def validate_signature(self) -> None:
        """Check that the function accepts the declared arguments.

        The generator checks this in the source code of plain functions. Only the imported
        object shows the signatures of decorated functions, methods, and classes.

        Raises:
            SignatureMismatchError: a call with declared arguments cannot succeed.
        """
        if self.accepts_mapping:
            return
        problems = [
            f"it has no parameter `{name}`"
            for name in self.find_rejected(dict.fromkeys(sorted(self._declared.names)))
        ]
        problems += [
            f"it requires `{name}`, which is not an argument"
            for name in self._declared.find_undeclared(self._required)
        ]
        if problems:
            raise SignatureMismatchError(", and ".join(problems))

    def __call__(
        self,
        arguments: Mapping[str, Any],
        dependencies: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call the function; return its result, or an awaitable of the result."""
        keywords = {} if dependencies is None else dependencies
        if self.accepts_mapping:
            return self.function(dict(arguments), **keywords)
        return self.function(**arguments, **keywords)

    def _remove_dependencies(
        self, parameters: list[inspect.Parameter]
    ) -> list[inspect.Parameter]:
        """Return the function's parameters without those for dependencies.

        Raises:
            TypeError: the function has no parameter for a dependency, or a dependency has the
                same name as a parameter of the tool.
        """
        accepts_any_keyword = any(p.kind is p.VAR_KEYWORD for p in parameters)
        keywords = {p.name for p in parameters if p.kind in _KEYWORD_KINDS}
        for name in sorted(self._dependencies):
            if name not in keywords and not accepts_any_keyword:
                raise TypeError(
                    f"the handler has no parameter for the dependency `{name}`"
                )
            if name in self._declared.names:
                raise TypeError(
                    f"the dependency `{name}` is a parameter of the tool, too"
                )
        return [
            p
            for p in parameters
            if p.name not in self._dependencies or p.kind not in _KEYWORD_KINDS
        ]


def _unwrap(function: Callable[..., Any]) -> Callable[..., Any]:
    function = inspect.unwrap(function)
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _is_annotated_as_mapping(function: Callable[..., Any], annotation: Any) -> bool:
    """Return whether a parameter's annotation is a mapping type or a TypedDict.

    True also if the annotation's name is not defined at run time.
    """
    if annotation is inspect.Parameter.empty:
        return False
    target = _unwrap(function)
    module = sys.modules.get(getattr(target, "__module__", None) or "")
    names = getattr(target, "__globals__", None) or vars(module or sys)

    def probe() -> None: ...

    probe.__annotations__ = {"arguments": annotation}
    try:
        return _is_mapping_type(get_type_hints(probe, names)["arguments"])
    except NameError:
        # The annotation's class is imported only under TYPE_CHECKING, as generated types
        # usually are. The generator has checked the annotation in the source code.
        return True
    except (TypeError, AttributeError, SyntaxError):
        return False


def _is_mapping_type(hint: Any) -> bool:
    # Resolve aliases of `type X = ...` (`__value__`) and `NewType` (`__supertype__`).
    for attribute in ("__value__", "__supertype__"):
        hint = getattr(hint, attribute, hint)
    if get_origin(hint) in (Union, UnionType):
        members = [member for member in get_args(hint) if member is not type(None)]
        return all(map(_is_mapping_type, members))
    base = get_origin(hint) or hint
    return isinstance(base, type) and issubclass(base, Mapping)


def adapt_handler(
    tool: Tool, package: str | None, provided: Collection[str] = ()
) -> HandlerAdapter:
    """Import the handler that a tool names, and its argument and result classes.

    Args:
        tool: a tool whose `handler` is set.
        package: the package that must define the handler.
        provided: the names of the lifespan's dependencies.

    Raises:
        ImportError: see `load_function`, which also raises AttributeError and TypeError.
        OptionalPartError: the handler uses Python values or classes, and the part that
            converts them cannot be loaded.
        Exception: an argument or result class does not match the tool's schemas.
    """
    function = load_function(tool.handler or "", package)
    uses = tool.uses
    if tool.has_python_values or tool.arguments_type or tool.result_type:
        function = optional.models.typed_function(function, tool, package)
    elif tool.has_pydantic_values:
        convert = optional.pydantic_functions.convert_function
        function, uses = convert(function, tool, provided)
    return HandlerAdapter(function, DeclaredNames(tool.handler_parameters), uses)


def load_function(reference: str, package: str | None) -> Callable[..., Any]:
    """Import and return the callable that `module:function` names.

    Args:
        reference: `module:function`.
        package: the package that must define the function; None if there is none.

    Raises:
        ImportError: the module cannot be imported, or the function, its module or a
            function that it wraps is known to be defined outside of the package.
        AttributeError: the module has no such function.
        TypeError: the module's attribute is not callable.
    """
    module_name, _, name = reference.partition(":")
    if not is_in_package(module_name, package):
        reason = "no package of handlers is declared"
        if package is not None:
            reason = f"it is outside of `{package}`"
        raise ImportError(f"the handler {reference} is refused: {reason}")
    function: Callable[..., Any] = getattr(importlib.import_module(module_name), name)
    if not callable(function):
        raise TypeError(f"{reference} is not callable")
    modules = list(_defining_modules(_constructor_class(function)))
    if modules and not any(is_in_package(module, package) for module in modules):
        raise ImportError(
            f"{reference} is refused: it is defined in `{modules[-1]}`, outside of"
            f" `{package}`; name a function that is defined in `{package}`, which may call it"
        )
    return function


def load_class(reference: str, package: str | None) -> type:
    """Import and return the class that `module:Class` names.

    Raises:
        ImportError: the module cannot be imported, or the module or the class is not in the
            package.
        AttributeError: the module has no such class.
        TypeError: the module's attribute is not a class.
    """
    module_name, _, name = reference.partition(":")
    if not is_in_package(module_name, package):
        raise ImportError(f"{reference} is refused: it is outside of `{package}`")
    loaded = getattr(importlib.import_module(module_name), name)
    if not isinstance(loaded, type):
        raise TypeError(f"{reference} is not a class")
    if not is_in_package(loaded.__module__, package):
        raise ImportError(
            f"{reference} is refused: it is defined in `{loaded.__module__}`, outside of"
            f" `{package}`; name a class that is defined in `{package}`"
        )
    return loaded


def _constructor_class(function: Any) -> Any:
    """Return the base class that defines a class's constructor; other callables unchanged."""
    if not isinstance(function, type):
        return function
    constructors = {"__init__", "__new__"}
    return next(
        (c for c in function.__mro__[:-1] if constructors & vars(c).keys()), function
    )


def _defining_modules(function: Any) -> Iterator[str]:
    """Yield the modules that define a callable and the functions that it wraps, if known."""
    for _ in range(_MAX_WRAPPERS):
        module = getattr(function, "__module__", None)
        if isinstance(module, str):
            yield module
        # `functools.wraps` copies `__module__` of the wrapped function. Only `__globals__`
        # identifies the module that defines the wrapper.
        global_name = getattr(function, "__globals__", {}).get("__name__")
        if isinstance(global_name, str):
            yield global_name
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            return
