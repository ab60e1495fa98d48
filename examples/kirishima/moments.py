"""Dates, times and durations in ISO 8601.

The library `whenever` parses strictly, distinguishes calendar units from exact ones
(`P1D` is the same local time on the next day, `PT24H` is not), and handles daylight
saving time.
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
    "parse_local",
    "to_millis",
    "get_time_zone",
    "parse_duration",
    "parse_moment",
    "add_duration",
    "format_utc",
    "get_zone",
]

Moment: TypeAlias = ZonedDateTime | OffsetDateTime


def get_time_zone() -> str:
    """Return the assistant's time zone, KIRISHIMA_TIMEZONE or UTC.

    Raises:
        ToolError: the time zone does not exist.
    """
    zone = os.environ.get("KIRISHIMA_TIMEZONE") or "UTC"
    try:
        Instant.now().to_tz(zone)
    except TimeZoneNotFoundError as error:
        raise ToolError(
            f"KIRISHIMA_TIMEZONE is not a known time zone: {zone!r}. "
            "It must be an IANA name such as Europe/Amsterdam."
        ) from error
    return zone


def parse_moment(text: str, parameter: str) -> Moment:
    """Parse a date or time; without an offset, it is in the assistant's time zone.

    A date is its first moment. A local time that daylight saving time skips is shifted
    forward; of an ambiguous local time, the earlier one is used.

    Raises:
        ToolError: the text is not an ISO 8601 date or time.
    """
    zone = get_time_zone()
    for read in (_parse_with_offset, _parse_without_offset, _parse_date):
        try:
            return read(text, zone)
        except ValueError:
            continue
    raise ToolError(
        f"`{parameter}` must be an ISO 8601 date or time such as 2026-03-29 or "
        f"2026-03-29T09:00+02:00, not {text!r}."
    )


def _parse_with_offset(text: str, _zone: str) -> Moment:
    return OffsetDateTime.parse_iso(text)


def _parse_without_offset(text: str, zone: str) -> Moment:
    return PlainDateTime.parse_iso(text).assume_tz(zone, disambiguation="compatible")


def _parse_date(text: str, zone: str) -> Moment:
    midnight = Date.parse_iso(text).at(Time())
    return midnight.assume_tz(zone, disambiguation="compatible")


def parse_duration(text: str, parameter: str) -> ItemizedDelta:
    """Parse a positive duration.

    Raises:
        ToolError: the text is not an ISO 8601 duration, or is not positive.
    """
    try:
        duration = ItemizedDelta.parse_iso(text)
    except ValueError as error:
        raise ToolError(
            f"`{parameter}` must be an ISO 8601 duration such as PT1H or P1D, "
            f"not {text!r}."
        ) from error
    if duration.sign() != 1:
        raise ToolError(f"`{parameter}` must be a positive duration, not {text!r}.")
    return duration


def add_duration(moment: Moment, duration: ItemizedDelta) -> Moment:
    """Return the moment plus a duration, in the same zone or at the same offset.

    A day that does not exist in the resulting month becomes the month's last day.

    Raises:
        ValueError: the result is after the year 9999.
    """
    if isinstance(moment, ZonedDateTime):
        return moment.add(duration, disambiguation="compatible")
    return moment.add(duration, stale_offset_ok=True)


def get_zone(moment: Moment) -> str:
    """Return the IANA name of the moment's zone, or its offset."""
    if isinstance(moment, ZonedDateTime):
        return moment.tz_id or "UTC"
    return moment.format_iso().removeprefix(moment.to_plain().format_iso())


def parse_local(text: str, zone: str) -> Moment:
    """Parse a local time in a zone that `get_zone` returned."""
    if zone[0] in "+-":
        return OffsetDateTime.parse_iso(text + zone)
    return PlainDateTime.parse_iso(text).assume_tz(zone, disambiguation="compatible")


def to_millis(moment: Moment | Instant) -> int:
    """Return milliseconds since 1970, the format in which moments are stored."""
    return int(moment.timestamp(unit="millisecond"))


def from_millis(value: int) -> Instant:
    """Return the moment of a number of milliseconds since 1970."""
    return Instant.from_timestamp(value, unit="millisecond")


def format_utc(value: int) -> str:
    """Format a stored moment as ISO 8601 in UTC."""
    return from_millis(value).format_iso(unit="millisecond")
