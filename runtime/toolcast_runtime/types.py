"""What the types of a generated tool are made of, beside what `typing` has.

`ReadOnly` and `TypedDict` are those of typing_extensions: the first is new in Python 3.13,
and before 3.12 pydantic reads no other TypedDict. The rest is what generated modules say of
handlers, for type checkers: a tool's module has a function that is never called and calls the
handler with what its spec says, so that a type checker's message names the handler and the
parameter.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, Protocol, TypeAlias, TypeVar, overload

from typing_extensions import ReadOnly, TypedDict

from .core.context import ToolError, ToolResponse

__all__ = [
    "HandlerForm",
    "HandlerResult",
    "ListResult",
    "ObjectResult",
    "ReadOnly",
    "ResourceHandlerForm",
    "TakesKeywords",
    "TypedDict",
    "tool_result",
]

_Result = TypeVar("_Result")
_Given_co = TypeVar("_Given_co", covariant=True)
_Arguments = TypeVar("_Arguments")
_Handler = TypeVar("_Handler", bound=Callable[..., object])

HandlerResult: TypeAlias = _Result | ToolResponse | Awaitable[_Result | ToolResponse]
"""What a handler may give: the result, content blocks, or an awaitable of either."""

ObjectResult: TypeAlias = HandlerResult[_Result | dict[str, Any]]
"""The same for an object, which a handler may also leave to the check of its call."""

ListResult: TypeAlias = HandlerResult[_Result | list[dict[str, Any]]]
"""The same for a list of objects."""


class TakesKeywords(Protocol[_Given_co]):
    """A function that takes whatever a tool has as keywords."""

    def __call__(self, **arguments: Any) -> _Given_co: ...


class HandlerForm(Protocol):
    """A handler as a function of keywords, and of no others than it has itself.

    One that takes all arguments as one mapping is seen to fit by that alone. One that takes
    keywords is given back as it is, with its name.
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


class ResourceHandlerForm(Protocol):
    """The same for a handler that is given resources as keywords beside its arguments."""

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
    """What a tool gives; content blocks when it answers with these alone.

    Raises:
        ToolError: the call failed; the text is the one for the model.
    """
    answer = await response
    if answer.error is not None:
        raise ToolError(answer.error)
    if answer.result is None and answer.content is not None:
        return answer.content
    return answer.result
