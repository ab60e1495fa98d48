"""Compare two versions of an `allow` and a `deny` list of names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class NameChange(NamedTuple):
    """A name for which two versions of an `allow` and a `deny` list differ.

    Attributes:
        name: the name.
        was_admitted: whether the old lists admit the name.
        is_admitted: whether the new lists admit the name.
        was_denied: whether the old `deny` has the name.
        is_denied: whether the new `deny` has the name.
    """

    name: str
    was_admitted: bool
    is_admitted: bool
    was_denied: bool
    is_denied: bool

    @property
    def key(self) -> str:
        """The list that causes the difference."""
        return "deny" if self.is_prohibition else "allow"

    @property
    def is_prohibition(self) -> bool:
        """Whether only one version of `deny` has the name."""
        return self.was_denied != self.is_denied

    @property
    def has_effect(self) -> bool:
        """Whether only one version of the lists admits the name."""
        return self.was_admitted != self.is_admitted


class NameLists:
    """The names that an `allow` and a `deny` list admit.

    The lists are stored as sets, because many names are looked up in long lists.

    Args:
        allow: the admitted names; None for all names.
        deny: names that are not admitted, even if `allow` has them.
    """

    def __init__(self, allow: Iterable[str] | None, deny: Iterable[str]) -> None:
        self._allow = None if allow is None else frozenset(allow)
        self._deny = frozenset(deny)

    def admits(self, name: str) -> bool:
        """Return whether the lists admit a name."""
        is_allowed = self._allow is None or name in self._allow
        return is_allowed and name not in self._deny

    def compare(self, new: NameLists, names: Iterable[str]) -> Iterator[NameChange]:
        """Yield the names that only one version of the lists admits or denies.

        Repeated names are yielded once.

        Args:
            new: the new version of the lists.
            names: the names to compare.
        """
        for name in dict.fromkeys(names):
            admitted = self.admits(name), new.admits(name)
            denied = name in self._deny, name in new._deny
            change = NameChange(name, *admitted, *denied)
            if change.is_prohibition or change.has_effect:
                yield change
