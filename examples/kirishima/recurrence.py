"""Repeating intervals: `R/P1D`, `R3/P1W` and their like."""

from __future__ import annotations

import re
from dataclasses import dataclass

from whenever import Instant, ItemizedDelta

from toolcast_runtime import ToolError

from .moments import Moment, millis, parse_duration, shift

__all__ = ["Recurrence", "parse_recurrence"]

SHAPE = re.compile(r"R([0-9]{0,6})/(P.+)")
SHORTEST_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A start and every moment a whole number of steps after it.

    Every occurrence is counted from the start, so that the 31st stays the 31st after a
    month that has none.

    Attributes:
        step: the time from one occurrence to the next.
        count: how many occurrences there are; None when they never end.
    """

    step: ItemizedDelta
    count: int | None = None

    def occurrence(self, start: Moment, number: int) -> Moment | None:
        """The occurrence of that number, 0 being the start; None when there is none."""
        if self.count is not None and number >= self.count:
            return None
        if number == 0:
            return start
        try:
            steps = {unit: amount * number for unit, amount in self.step.items()}
            return shift(start, ItemizedDelta(**steps))
        except ValueError:  # beyond the year 9999, where calendars end
            return None

    def following(self, start: Moment, number: int, now: Instant) -> int | None:
        """The number of the first occurrence after both `number` and now, or None."""

        def is_later(candidate: int) -> bool:
            moment = self.occurrence(start, candidate)
            return moment is None or moment.to_instant() > now

        reach = 1
        while not is_later(number + reach):
            reach *= 2
        low, high = number + reach // 2, number + reach
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_later(middle) else (middle, high)
        return None if self.occurrence(start, high) is None else high


def parse_recurrence(text: str, start: Moment, parameter: str) -> Recurrence:
    """The recurrence that the text means for a series that begins at `start`.

    Raises:
        ToolError: the text is none, or its step is too short or never fits a calendar.
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
    second = Recurrence(step).occurrence(start, 1)
    if second is None:
        raise ToolError(f"`{parameter}` leads beyond the year 9999.")
    if (
        "nanoseconds" in step
        or millis(second) - millis(start) < SHORTEST_SECONDS * 1000
    ):
        raise ToolError(
            f"`{parameter}` must repeat in whole seconds and at most once a minute."
        )
    return Recurrence(step, count)
