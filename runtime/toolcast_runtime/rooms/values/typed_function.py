"""A handler that is given Python's values, or instances of a class, and gives such back."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...core.calls.handlers import own_class
from ...core.context import ToolResponse
from ...core.definitions.tool import Tool
from .python_values import PythonValues, WrittenBytes

if TYPE_CHECKING:
    from .models import ModelOfArguments, ModelOfResult


def typed_function(
    function: Callable[..., Any], tool: Tool, package: str | None
) -> Callable[..., Any]:
    """A function for plain JSON values around a handler that is given others.

    Args:
        function: the handler.
        tool: says which values, and which classes, it is given and gives.
        package: the package that has to define its classes.

    Raises:
        ImportError: a class cannot be had, or is not the package's own; AttributeError,
            TypeError and ValueError too, where it does not agree with the tool's schemas.
    """
    values = PythonValues(tool.parameters) if tool.has_python_values else None
    written = WrittenBytes(tool.returns) if tool.has_python_values else None
    model: ModelOfArguments | None = None
    result_model: ModelOfResult | None = None
    if tool.arguments_type is not None:
        from .models import ModelOfArguments

        model = ModelOfArguments(
            own_class(tool.arguments_type, package),
            tool.parameters,
            has_values=tool.has_python_values,
        )
    if tool.result_type is not None:
        from .models import ModelOfResult

        result_model = ModelOfResult(
            own_class(tool.result_type, package),
            tool.returns,
            has_values=tool.has_python_values,
        )

    def given(arguments: Mapping[str, Any]) -> Any:
        converted = arguments if values is None else values.of(arguments)
        return converted if model is None else model.of(converted)

    def plain(result: Any) -> Any:
        if isinstance(result, ToolResponse):
            if result.result is None:
                return result
            return replace(result, result=plain(result.result))
        if result_model is not None:
            result = result_model.plain(result)
        return result if written is None else written.of(result)

    async def awaited(result: Awaitable[Any]) -> Any:
        return plain(await result)

    @functools.wraps(function)
    def typed(*mapping: Any, **keywords: Any) -> Any:
        if mapping:
            result = function(given(mapping[0]), **keywords)
        else:
            resources = {name: keywords.pop(name) for name in tool.uses}
            result = function(**given(keywords), **resources)
        return awaited(result) if inspect.isawaitable(result) else plain(result)

    if model is not None:
        typed.__signature__ = _with_one(function)  # type: ignore[attr-defined]
    return typed


def _with_one(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function whose first parameter is given by its place."""
    first, *others = inspect.signature(function).parameters.values()
    if first.kind not in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD):
        raise TypeError("it takes no argument by its place")
    return inspect.Signature([first.replace(kind=first.POSITIONAL_ONLY), *others])
