"""What the types of a generated tool are made of, beside what `typing` has.

`ReadOnly` and `TypedDict` are those of typing_extensions: the first is new in Python 3.13,
and before 3.12 pydantic reads no other TypedDict.
"""

from typing_extensions import ReadOnly, TypedDict

from .core.types import (
    HandlerForm,
    HandlerResult,
    ListResult,
    ObjectResult,
    ResourceHandlerForm,
    TakesKeywords,
    tool_result,
)

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
