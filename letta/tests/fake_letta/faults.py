"""Faults that tests inject before or after the effect of a request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

__all__ = ["Fault", "FaultPlan"]


class Fault(Enum):
    """A fault of one request.

    A `BEFORE` fault prevents the effect. An `AFTER` fault hides from the client that
    the request had its effect.
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
        """Whether the request has its effect."""
        return self.name.endswith("_AFTER")


@dataclass
class FaultPlan:
    """The faults of the next requests.

    Attributes:
        at: the fault of the n-th counted request (from 0).
        counts: whether a request `(method, path)` is counted; by default, all are.
        before: a function that is called before each request.
        seen: all received requests in order.
    """

    at: dict[int, Fault] = field(default_factory=dict)
    counts: Callable[[str, str], bool] = lambda method, path: True
    before: Callable[[str, str], None] | None = None
    seen: list[tuple[str, str]] = field(default_factory=list)
    _counted: int = 0

    def next(self, method: str, path: str) -> Fault | None:
        """Return the fault of a received request, or None."""
        self.seen.append((method, path))
        if self.before is not None:
            self.before(method, path)
        if not self.counts(method, path):
            return None
        number, self._counted = self._counted, self._counted + 1
        return self.at.get(number)

    def reset(self) -> None:
        """Remove all faults and count from 0 again."""
        self.at.clear()
        self.seen.clear()
        self.before = None
        self.counts = lambda method, path: True
        self._counted = 0
