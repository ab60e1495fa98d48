"""The pools whose accessors a function reaches, directly or through what it calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ..functions import Node
from ..package_names import Definition

__all__ = ["Pools"]

_Key = tuple[str, str, str]


@dataclass
class _Entered:
    """A function whose calls are being followed.

    Attributes:
        first: the number of the function that was entered first, of those on the way that
            it leads back to.
    """

    key: _Key
    number: int
    first: int
    pools: set[str] = field(default_factory=set)


class Pools:
    """The pools of functions; each function is read once.

    Args:
        accessors: the pool of each accessor, by `module:name`.
        node_of: reads a function.
    """

    def __init__(
        self, accessors: Mapping[str, str], node_of: Callable[[Definition], Node]
    ) -> None:
        self._accessors = accessors
        self._node_of = node_of
        self._found: dict[_Key, frozenset[str]] = {}

    def of(self, known: Definition) -> frozenset[str]:
        """The pools that something reaches, whoever calls it."""
        if known.reference in self._accessors:
            return frozenset([self._accessors[known.reference]])
        if known.key not in self._found:
            self._follow(known)
        return self._found[known.key]

    def _follow(self, start: Definition) -> None:
        # Functions that call each other in a circle reach the same pools: Tarjan's walk finds
        # the circles. By hand, as calls may be nested deeper than Python's own may.
        entered: dict[_Key, _Entered] = {}
        unsettled: list[_Entered] = []
        path: list[tuple[_Entered, Iterator[Definition]]] = []

        def enter(known: Definition) -> None:
            number = len(entered)
            one = _Entered(known.key, number, number)
            entered[known.key] = one
            unsettled.append(one)
            path.append((one, self._called(known, one.pools)))

        enter(start)
        while path:
            one, called = path[-1]
            for target in called:
                if target.key in self._found:
                    one.pools |= self._found[target.key]
                elif target.key in entered:
                    one.first = min(one.first, entered[target.key].number)
                else:
                    enter(target)
                    break
            else:
                path.pop()
                if path:
                    caller = path[-1][0]
                    caller.first = min(caller.first, one.first)
                    caller.pools |= one.pools
                if one.first == one.number:
                    self._settle(one, unsettled)

    def _settle(self, first: _Entered, unsettled: list[_Entered]) -> None:
        """Closes a strongly connected component: all of it reaches the same pools."""
        pools = frozenset(first.pools)
        while True:
            one = unsettled.pop()
            self._found[one.key] = pools
            if one is first:
                return

    def _called(self, known: Definition, pools: set[str]) -> Iterator[Definition]:
        """What a function refers to; the pools of accessors among it are put into `pools`."""
        for reference in self._node_of(known).references:
            pool = self._accessors.get(reference.target.reference)
            if pool is None:
                yield reference.target
            else:
                pools.add(pool)
