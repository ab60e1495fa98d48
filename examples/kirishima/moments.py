"""Dates, times and durations as ISO 8601 writes them.

`whenever` does the parsing and the arithmetic: it is strict, keeps calendar units apart
from exact ones (`P1D` is the same hour on the next day, `PT24H` is not) and knows what
daylight saving does to local times.
"""

from __future__ import annotations

import os
from typing import TypeAlias

from whenever import (
    Date,
    Instant,
    ItemizedDelta,
    OffsetDateTime,
    PlainDateTime,
    Time,
    TimeZoneNotFoundError,
    ZonedDateTime,
)

from toolcast_runtime import ToolError

__all__ = [
    "Moment",
    "from_millis",
    "local",
    "millis",
    "own_zone",
    "parse_duration",
    "parse_moment",
    "shift",
    "utc_text",
    "zone_of",
]

Moment: TypeAlias = ZonedDateTime | OffsetDateTime


def own_zone() -> str:
    """The assistant's time zone, which KIRISHIMA_TIMEZONE names. Default: UTC.

    Raises:
        ToolError: there is no such zone.
    """
    zone = os.environ.get("KIRISHIMA_TIMEZONE") or "UTC"
    try:
        Instant.now().to_tz(zone)
    except TimeZoneNotFoundError as error:
        raise ToolError(
            f"KIRISHIMA_TIMEZONE names no known time zone: {zone!r}. "
            "It must be an IANA name such as Europe/Amsterdam."
        ) from error
    return zone


def parse_moment(text: str, parameter: str) -> Moment:
    """The moment that the text means; without an offset it is in the own time zone.

    A date means its first moment. An hour that daylight saving skips means the one
    after it; of one that comes twice, the first is meant.

    Raises:
        ToolError: the text is no ISO 8601 date or time.
    """
    zone = own_zone()
    for read in (_read_offset, _read_local, _read_date):
        try:
            return read(text, zone)
        except ValueError:
            continue  # another of the three forms, or none: then the error below
    raise ToolError(
        f"`{parameter}` must be an ISO 8601 date or time such as 2026-03-29 or "
        f"2026-03-29T09:00+02:00, not {text!r}."
    )


def _read_offset(text: str, _zone: str) -> Moment:
    return OffsetDateTime.parse_iso(text)


def _read_local(text: str, zone: str) -> Moment:
    return PlainDateTime.parse_iso(text).assume_tz(zone, disambiguation="compatible")


def _read_date(text: str, zone: str) -> Moment:
    midnight = Date.parse_iso(text).at(Time())
    return midnight.assume_tz(zone, disambiguation="compatible")


def parse_duration(text: str, parameter: str) -> ItemizedDelta:
    """The duration that the text means.

    Raises:
        ToolError: the text is no ISO 8601 duration, or not a positive one.
    """
    try:
        duration = ItemizedDelta.parse_iso(text)
    except ValueError as error:
        raise ToolError(
            f"`{parameter}` must be an ISO 8601 duration such as PT1H or P1D, "
            f"not {text!r}."
        ) from error
    if duration.sign() != 1:
        raise ToolError(f"`{parameter}` must be longer than nothing, not {text!r}.")
    return duration


def shift(moment: Moment, duration: ItemizedDelta) -> Moment:
    """The moment that much later, in the same zone or at the same offset.

    Months are calendar months: a day that a month lacks becomes its last day.

    Raises:
        ValueError: that is beyond the year 9999.
    """
    if isinstance(moment, ZonedDateTime):
        return moment.add(duration, disambiguation="compatible")
    return moment.add(duration, stale_offset_ok=True)


def zone_of(moment: Moment) -> str:
    """The IANA name or the offset that the moment is local to."""
    if isinstance(moment, ZonedDateTime):
        return moment.tz_id or "UTC"
    return moment.format_iso().removeprefix(moment.to_plain().format_iso())


def local(text: str, zone: str) -> Moment:
    """The moment of a local time in a zone that `zone_of` gave."""
    if zone[0] in "+-":
        return OffsetDateTime.parse_iso(text + zone)
    return PlainDateTime.parse_iso(text).assume_tz(zone, disambiguation="compatible")


def millis(moment: Moment | Instant) -> int:
    """Milliseconds since 1970: how moments are stored and compared."""
    return int(moment.timestamp(unit="millisecond"))


def from_millis(value: int) -> Instant:
    """The moment that `millis` gave the number of."""
    return Instant.from_timestamp(value, unit="millisecond")


def utc_text(value: int) -> str:
    """The ISO 8601 text, in UTC, of a stored moment."""
    return from_millis(value).format_iso(unit="millisecond")
