"""The search for a value that one schema takes and another refuses.

It is bounded by counts, not by a clock: the same schemas give the same answer everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from toolcast_runtime.validation.compiled import build
from toolcast_runtime.validation.schema_visits import most_visits

from ....reading.tree import Path
from ...change import ABSENT
from ..proof.effort import Effort
from ..schema_side import Conjunction, SchemaSide
from ..walk.paired_nodes import Difference
from .candidate_values import Candidates
from .sent_names import has_only_declared_names
from .smaller_values import smaller

__all__ = ["Refuses", "Search", "Taker", "Witness"]

_MOST_WORK = 200_000
_LEAST_TRIED = 150
_MOST_VISITS = 500
_LEVELS = 6
_SOON = 100
_MOST_WITH_CARE = 6
_MOST_EFFORT = 6_000

Refuses = Callable[[Any], bool]


class Proved(Protocol):
    """Whether a schema refuses nothing that is sent, or nothing that was told of."""

    def __call__(self, side: SchemaSide, *, only_declared: bool) -> bool: ...


class Witness(NamedTuple):
    """A value that was taken and is refused.

    Attributes:
        value: the value.
        is_declared: whether its sender was told of all names in it.
    """

    value: Any
    is_declared: bool


class Taker:
    """What a side takes when the tool is called, or gives as its result.

    Args:
        side: the schema.
        is_closed: whether names at the top that the schema does not declare are refused, as
            the runtime refuses them for a handler that takes keywords.
        refuses_besides: what else refuses a value.
    """

    def __init__(
        self,
        side: SchemaSide,
        *,
        is_closed: bool,
        refuses_besides: Refuses | None = None,
    ) -> None:
        self.side = side
        self.is_closed = is_closed
        self._refuses_besides = refuses_besides

    @cached_property
    def parts(self) -> Conjunction:
        """All that is asked of a value."""
        parts = self.side.conjunction(self.side.root)
        if not self.is_closed:
            return parts
        declared = self.side.declared
        named = dict.fromkeys(sorted(declared.names), True)
        matching = dict.fromkeys(declared.patterns, True)
        closed = {
            "properties": named,
            "patternProperties": matching,
            "additionalProperties": False,
        }
        return (*parts, closed)

    @cached_property
    def _validator(self) -> Any:
        return build(self.side.root, asserts_formats=self.side.asserts_formats)

    def takes(self, value: Any) -> bool:
        """Whether a value is taken.

        Raises:
            ValueError: the schema cannot be applied.
        """
        validator = self._validator
        try:
            if not validator.is_valid(value):
                return False
        except (ValueError, TypeError):
            return False  # A pattern that gives up takes nothing.
        is_object = isinstance(value, dict)
        if self.is_closed and is_object and self.side.declared.lacks(value):
            return False
        return self._refuses_besides is None or not self._refuses_besides(value)


class Search:
    """Looks for what is sent and refused, and for the change that refuses it.

    Args:
        sender: whose values are looked for.
        receiver: who may refuse them.
        is_forward: whether the sender is the old side.
    """

    def __init__(self, sender: Taker, receiver: Taker, *, is_forward: bool) -> None:
        self._sender = sender
        self._receiver = receiver
        self._is_forward = is_forward
        self._left: int | None = None
        self._effort = Effort(_MOST_EFFORT)

    def explained(
        self, suspects: Mapping[int, SchemaSide], is_proved: Proved
    ) -> tuple[dict[int, Witness], Witness | None]:
        """What each change refuses by itself, and what none of them does.

        Args:
            suspects: what the receiver's schema would be with each change alone, by its
                index.
            is_proved: whether such a schema refuses nothing that is sent.

        Raises:
            ValueError: a schema cannot be applied, or is too costly to be tried.
        """
        takers = self._takers(suspects)
        whole = self._receiver
        found: dict[int, Witness] = {}
        other: Witness | None = None
        waiting = dict(takers)

        def is_shown(index: int) -> bool:
            return index in found and (
                found[index].is_declared
                or is_proved(suspects[index], only_declared=True)
            )

        # What is quickly made for all changes at once shows most of them.
        for number, value in enumerate(self._made(whole, is_checked=False)):
            if number == _SOON:
                waiting = _unproved(waiting, suspects, is_proved)
            if not waiting and (other or is_proved(whole.side, only_declared=True)):
                break
            if not self._is_refused(value, whole):
                continue
            refusing = [i for i, taker in waiting.items() if not taker.takes(value)]
            if not refusing and other is not None:
                continue
            witness = Witness(value, has_only_declared_names(self._sender.side, value))
            for index in refusing:
                found.setdefault(index, witness)
                if witness.is_declared:
                    found[index] = witness
                if is_shown(index):
                    del waiting[index]
            if witness.is_declared:
                other = other or witness
        # What is made with care, for one change at a time, shows the others.
        waiting = _unproved(waiting, suspects, is_proved)
        for index in list(waiting)[:_MOST_WITH_CARE]:
            for is_checked in (False, True):
                if is_checked or takers[index] is not whole:
                    self._shown_alone(index, takers[index], found, is_checked)
                if is_shown(index):
                    break
        if any(witness.is_declared for witness in found.values()):
            other = None
        elif other is None and not is_proved(whole.side, only_declared=True):
            other = self._shown_by_all()
        return {i: self._small(one, takers[i]) for i, one in found.items()}, other

    def blamed(
        self, witness: Witness, changes: Mapping[int, SchemaSide]
    ) -> dict[int, Witness]:
        """Those of the changes that refuse a value alone, each with the value made small."""
        takers = self._takers(changes)
        return {
            index: self._small(witness, taker)
            for index, taker in takers.items()
            if not taker.takes(witness.value)
        }

    def _shown_alone(
        self, index: int, taker: Taker, found: dict[int, Witness], is_checked: bool
    ) -> None:
        """Looks for what one change refuses."""
        for value in self._refused(taker, is_checked=is_checked):
            if self._receiver.takes(value):
                continue
            if has_only_declared_names(self._sender.side, value):
                found[index] = Witness(value, True)
                return
            found.setdefault(index, Witness(value, False))

    def _shown_by_all(self) -> Witness | None:
        """Looks with care for what all changes refuse together."""
        for value in self._refused(self._receiver, is_checked=True):
            if has_only_declared_names(self._sender.side, value):
                return Witness(value, True)
        return None

    def _takers(self, suspects: Mapping[int, SchemaSide]) -> dict[int, Taker]:
        """Those of the changes that make a schema which can be applied alone."""
        found: dict[int, Taker] = {}
        for index, side in suspects.items():
            taker = Taker(side, is_closed=self._receiver.is_closed)
            if side is self._receiver.side:
                taker = self._receiver
            try:
                taker.takes(None)
            except ValueError:
                continue
            found[index] = taker
        return found

    def _refused(self, taker: Taker, *, is_checked: bool) -> Iterator[Any]:
        """What is sent and refused, as it is found."""
        made = self._made(taker, is_checked=is_checked)
        return (value for value in made if self._is_refused(value, taker))

    def _is_refused(self, value: Any, taker: Taker) -> bool:
        return self._sender.takes(value) and not taker.takes(value)

    def _made(self, taker: Taker, *, is_checked: bool) -> Iterator[Any]:
        """What may be sent and refused."""
        if self._left is None:
            self._left = min(self._budget(self._sender), self._budget(self._receiver))
        made = Candidates(
            self._sender.side, taker.side, self._effort, is_checked=is_checked
        )
        for value in made.of_roots():
            self._left -= 1
            if self._left < 0:
                return
            yield value

    def _budget(self, taker: Taker) -> int:
        root = taker.side.root
        # Without references each place of a schema is visited once.
        visits: int | None = 1
        if taker.side.has_references:
            visits = most_visits(root, _LEVELS, _MOST_VISITS)
        if visits is None:
            raise ValueError("its references multiply")
        tried = _MOST_WORK // (len(taker.side.places) + 1 + 10 * visits)
        if tried < _LEAST_TRIED // 10:
            raise ValueError("it is too large")
        return max(tried, _LEAST_TRIED)

    def _small(self, witness: Witness, taker: Taker) -> Witness:
        """The same without what it shows nothing by."""

        def shows(value: Any) -> bool:
            return (
                self._sender.takes(value)
                and not self._receiver.takes(value)
                and (taker is self._receiver or not taker.takes(value))
            )

        return witness._replace(value=smaller(witness.value, shows))

    def alone(self, change: Difference) -> SchemaSide:
        """The receiver's schema, were this change the only one."""
        root = self._sender.side.root
        for edit in change.edits:
            if self._is_forward:
                root = _edited(root, edit.before_path, edit.alone)
            else:
                root = _edited(root, edit.after_path, edit.undone)
        return SchemaSide(
            _with_definitions(root, self._receiver.side.root),
            asserts_formats=self._receiver.side.asserts_formats,
        )


def _unproved(
    waiting: Mapping[int, Taker], suspects: Mapping[int, SchemaSide], is_proved: Proved
) -> dict[int, Taker]:
    """Those of the changes that may refuse something, as far as is proved."""
    return {
        index: taker
        for index, taker in waiting.items()
        if not is_proved(suspects[index], only_declared=False)
    }


def _edited(root: Any, path: Path, value: Any) -> Any:
    """A copy of a schema with another value at a path, made where it is not there."""
    if not path:
        return True if value is ABSENT else value
    step = path[0]
    if isinstance(root, list) and isinstance(step, int):
        copied = list(root)
        if len(path) == 1 and value is ABSENT:
            return copied[:step] + copied[step + 1 :]
        if step >= len(copied):
            copied += [True] * (step + 1 - len(copied))
        copied[step] = _edited(copied[step], path[1:], value)
        return copied
    mapping = dict(root) if isinstance(root, dict) else {}
    if len(path) == 1 and value is ABSENT:
        mapping.pop(str(step), None)
    else:
        mapping[str(step)] = _edited(mapping.get(str(step), {}), path[1:], value)
    return mapping


def _with_definitions(root: Any, other: Any) -> Any:
    """A schema with those definitions of another that it does not have."""
    if not isinstance(root, dict) or not isinstance(other, dict):
        return root
    more = {
        word: {**other[word], **root.get(word, {})}
        for word in ("$defs", "definitions")
        if isinstance(other.get(word), dict)
    }
    return {**root, **more} if more else root
