"""Questions that a call asks its user, and the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from ..core.context import Declined
    from ..core.question import Answer, AskUser, InputNeeded, Question

__all__ = [
    "Answer",
    "AskUser",
    "Declined",
    "InputNeeded",
    "Question",
]

__getattr__ = lazy_getattr(
    __name__,
    {
        "Answer": "..core.question",
        "AskUser": "..core.question",
        "Declined": "..core.context",
        "InputNeeded": "..core.question",
        "Question": "..core.question",
    },
)
