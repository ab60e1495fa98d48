"""ISO 8601 repeating intervals such as `R/P1D` and `R3/P1W`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from whenever import Instant, ItemizedDelta

from toolcast_runtime import ToolError

from .moments import Moment, add_duration, parse_duration, to_millis

__all__ = ["Recurrence", "parse_recurrence"]

SHAPE = re.compile(r"R([0-9]{0,6})/(P.+)")
MIN_STEP_S = 60


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A step that repeats from a start.

    Each occurrence is computed from the start, so that the 31st remains the 31st after
    a shorter month.

    Attributes:
        step: duration between two occurrences.
        count: number of occurrences; None if it is unlimited.
    """

    step: ItemizedDelta
    count: int | None = None

    def get_occurrence(self, start: Moment, number: int) -> Moment | None:
        """Return the time of an occurrence, or None; occurrence 0 is the start."""
        if self.count is not None and number >= self.count:
            return None
        if number == 0:
            return start
        try:
            steps = {unit: amount * number for unit, amount in self.step.items()}
            return add_duration(start, ItemizedDelta(**steps))
        except ValueError:  # after the year 9999
            return None

    def find_next(self, start: Moment, number: int, now: Instant) -> int | None:
        """Return the number of the first occurrence after both arguments, or None."""

        def is_later(candidate: int) -> bool:
            moment = self.get_occurrence(start, candidate)
            return moment is None or moment.to_instant() > now

        distance = 1
        while not is_later(number + distance):
            distance *= 2
        low, high = number + distance // 2, number + distance
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_later(middle) else (middle, high)
        return None if self.get_occurrence(start, high) is None else high


def parse_recurrence(text: str, start: Moment, parameter: str) -> Recurrence:
    """Parse the recurrence of a series that begins at `start`.

    Raises:
        ToolError: the text is not a repeating interval, or its step is too short or
            leads beyond the year 9999.
    """
    match = SHAPE.fullmatch(text)
    if match is None:
        raise ToolError(
            f"`{parameter}` must be R/ and an ISO 8601 duration such as R/P1D or "
            f"R3/P1W, not {text!r}."
        )
    step = parse_duration(match[2], parameter)
    count = int(match[1]) if match[1] else None
    if count == 0:
        raise ToolError(f"`{parameter}` must allow at least one occurrence.")
    second = Recurrence(step).get_occurrence(start, 1)
    if second is None:
        raise ToolError(f"`{parameter}` leads beyond the year 9999.")
    if (
        "nanoseconds" in step
        or to_millis(second) - to_millis(start) < MIN_STEP_S * 1000
    ):
        raise ToolError(
            f"`{parameter}` must repeat in whole seconds and at most once a minute."
        )
    return Recurrence(step, count)
