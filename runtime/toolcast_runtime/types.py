"""Types for generated tool modules, in addition to those of `typing`.

They let type checkers compare handlers with their specs: a tool's module has a function that is
never called, which calls the handler with the arguments of the spec. A type checker's message
about a mismatch then names the handler and the parameter.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, Protocol, TypeAlias, TypeVar, overload

from .core.context import ToolError, ToolResponse

__all__ = [
    "HandlerForm",
    "HandlerResult",
    "ListResult",
    "ObjectResult",
    "DependencyHandlerForm",
    "TakesKeywords",
    "tool_result",
]

_Result = TypeVar("_Result")
_Result_co = TypeVar("_Result_co", covariant=True)
_Arguments = TypeVar("_Arguments")
_Handler = TypeVar("_Handler", bound=Callable[..., object])

HandlerResult: TypeAlias = _Result | ToolResponse | Awaitable[_Result | ToolResponse]
"""The return value of a handler: the result, content blocks, or an awaitable of either."""

ObjectResult: TypeAlias = HandlerResult[_Result | dict[str, Any]]
"""The return value of a handler whose result is an object; a plain dict is accepted, too.

The dict is validated against the schema at run time.
"""

ListResult: TypeAlias = HandlerResult[_Result | list[dict[str, Any]]]
"""The return value of a handler whose result is an array of objects; plain dicts are accepted."""


class TakesKeywords(Protocol[_Result_co]):
    """A function that accepts any arguments as keywords."""

    def __call__(self, **arguments: Any) -> _Result_co:
        """Call the function."""


class HandlerForm(Protocol):
    """A function that returns a handler as a function with keyword parameters.

    A handler that accepts all arguments as one mapping is returned as a function that accepts
    any keywords: its parameter's type is checked by the overload. A handler with keyword
    parameters is returned unchanged, so that type checkers compare the keywords.
    """

    @overload
    def __call__(
        self, handler: Callable[[_Arguments], _Result], arguments: _Arguments, /
    ) -> TakesKeywords[_Result]: ...

    @overload
    def __call__(
        self, handler: Callable[[dict[str, Any]], _Result], arguments: object, /
    ) -> TakesKeywords[_Result]: ...

    @overload
    def __call__(self, handler: _Handler, arguments: object, /) -> _Handler: ...


class DependencyHandlerForm(Protocol):
    """A `HandlerForm` for handlers that also get dependencies as keywords."""

    @overload
    def __call__(
        self,
        handler: Callable[Concatenate[_Arguments, ...], _Result],
        arguments: _Arguments,
        /,
    ) -> TakesKeywords[_Result]: ...

    @overload
    def __call__(
        self,
        handler: Callable[Concatenate[dict[str, Any], ...], _Result],
        arguments: object,
        /,
    ) -> TakesKeywords[_Result]: ...

    @overload
    def __call__(self, handler: _Handler, arguments: object, /) -> _Handler: ...


async def tool_result(response: Awaitable[ToolResponse]) -> Any:
    """Return the result of a call; its content blocks if it has no other result.

    Raises:
        ToolError: the call failed; the message is the one for the model.
    """
    completed = await response
    if completed.error is not None:
        raise ToolError(completed.error)
    if completed.result is None and completed.content is not None:
        return completed.content
    return completed.result
