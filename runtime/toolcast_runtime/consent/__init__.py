"""Questions of a tool call to its user, and the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from ..core.context import DeclinedError
    from ..core.question import Answer, AskUser, InputRequiredError, Question

__all__ = [
    "Answer",
    "AskUser",
    "DeclinedError",
    "InputRequiredError",
    "Question",
]

__getattr__ = lazy_getattr(
    __name__,
    {
        "Answer": "..core.question",
        "AskUser": "..core.question",
        "DeclinedError": "..core.context",
        "InputRequiredError": "..core.question",
        "Question": "..core.question",
    },
)
