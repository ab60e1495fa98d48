"""Rules that are said in one breath with their opposites."""

from __future__ import annotations

from .change import ChangeRule, Grades

__all__ = ["alone", "pair"]

_Kind = tuple[str, str, Grades]
"""An id, what it means, and its grades."""


def pair(first: _Kind, second: _Kind) -> tuple[ChangeRule, ChangeRule]:
    """A kind of change, and the change back."""
    return ChangeRule(*first, opposite=second[0]), ChangeRule(
        *second, opposite=first[0]
    )


def alone(id_: str, means: str, grades: Grades) -> ChangeRule:
    """A kind of change that goes back by one of its own kind."""
    return ChangeRule(id_, means, grades, opposite=id_)
