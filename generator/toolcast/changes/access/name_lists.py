"""A list of what is allowed and one of what is not, for many questions."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["NameLists"]


class NameLists:
    """Which names two lists let through: long ones are asked for each of many names.

    Args:
        allow: the only names; None for every one.
        restrict: the names that are kept out whatever `allow` says.
    """

    def __init__(self, allow: Iterable[str] | None, restrict: Iterable[str]) -> None:
        self._allow = None if allow is None else frozenset(allow)
        self._restrict = frozenset(restrict)

    def have(self, name: str) -> bool:
        """Whether they let a name through."""
        is_allowed = self._allow is None or name in self._allow
        return is_allowed and name not in self._restrict

    def differing(self, other: NameLists, name: str) -> str:
        """The list in which two of a kind differ about a name: `restrict`, or `allow`."""
        is_same = (name in self._restrict) == (name in other._restrict)
        return "allow" if is_same else "restrict"
