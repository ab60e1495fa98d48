"""How much work the comparison of two schemas may take, counted and not timed."""

from __future__ import annotations

__all__ = ["Effort", "OutOfEffort"]


class OutOfEffort(Exception):
    """No more work may be done."""


class Effort:
    """Steps that several proofs share: one takes some forty microseconds.

    Args:
        steps: all of them.
    """

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int, floor: int = 0) -> None:
        """Takes some of the steps.

        Raises:
            OutOfEffort: there are not that many above the floor.
        """
        self.left -= steps
        if self.left < floor:
            raise OutOfEffort
