"""What JSON Schema cannot check of an argument, and the times that tools write."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from toolcast_runtime import ToolError

__all__ = ["clean_text", "day", "now", "optional_text", "row_number"]

_LARGEST = 2**63 - 1


def clean_text(value: str, parameter: str) -> str:
    """The text without surrounding space.

    Raises:
        ToolError: nothing is left, or the text has half a character (`\\ud800`), which
            no database can hold.
    """
    text = optional_text(value, parameter)
    if not text:
        raise ToolError(f"`{parameter}` must not be blank.")
    return text


def optional_text(value: str, parameter: str) -> str:
    """The same for a text that may be empty."""
    # PostgreSQL has no place for NUL.
    text = value.replace("\x00", " ").strip()
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"`{parameter}` contains half a character.") from error
    return text


def day(value: str | None, parameter: str) -> str:
    """A day as YYYY-MM-DD; today in UTC without a value.

    Raises:
        ToolError: there is no such day.
    """
    if value is None:
        return datetime.now(UTC).date().isoformat()
    try:
        found = date.fromisoformat(value)
    except ValueError:
        found = None
    if found is None or found.isoformat() != value:
        raise ToolError(
            f"`{parameter}` must be a day such as 2026-06-13, not {value!r}."
        )
    return value


def now(*, later: timedelta = timedelta(0)) -> str:
    """The time in UTC, or one that much later, in ISO 8601 with milliseconds."""
    moment = datetime.now(UTC) + later
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def row_number(value: int | str) -> int:
    """A row's number; 0, which no row has, when no row could have it."""
    if isinstance(value, str):
        is_number = value.isascii() and value.isdigit() and len(value) <= 19
        value = int(value) if is_number else 0
    return int(value) if 0 < value <= _LARGEST else 0
