"""Faults to inject into requests: before their effect or behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

__all__ = ["Fault", "FaultPlan"]


class Fault(Enum):
    """What goes wrong with one request.

    `BEFORE` faults have no effect on the world; behind an `AFTER` fault the effect is
    there and the caller does not know.
    """

    ERROR_BEFORE = "500, nothing done"
    ERROR_AFTER = "500, done"
    DROP_BEFORE = "connection closed, nothing done"
    DROP_AFTER = "connection closed, done"
    HANG_BEFORE = "no answer, nothing done"
    HANG_AFTER = "no answer, done"
    CONFLICT = "409, nothing done"
    LOCKED = "409 with Retry-After, nothing done"

    @property
    def has_effect(self) -> bool:
        """Whether the request is carried out."""
        return self.name.endswith("_AFTER")


@dataclass
class FaultPlan:
    """Which requests fail.

    Attributes:
        at: the fault of the n-th request (from 0) of those that `counts` names.
        counts: whether a request `(method, path)` is counted; default: every one.
        before: called with each request before it is carried out, to change the world in
            between or to end a process.
        seen: every request that came, in order.
    """

    at: dict[int, Fault] = field(default_factory=dict)
    counts: Callable[[str, str], bool] = lambda method, path: True
    before: Callable[[str, str], None] | None = None
    seen: list[tuple[str, str]] = field(default_factory=list)
    _counted: int = 0

    def next(self, method: str, path: str) -> Fault | None:
        """The fault of a request that has just come."""
        self.seen.append((method, path))
        if self.before is not None:
            self.before(method, path)
        if not self.counts(method, path):
            return None
        number, self._counted = self._counted, self._counted + 1
        return self.at.get(number)

    def reset(self) -> None:
        """Counts from 0 again, without faults."""
        self.at.clear()
        self.seen.clear()
        self.before = None
        self.counts = lambda method, path: True
        self._counted = 0
