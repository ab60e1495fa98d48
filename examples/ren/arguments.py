"""Checks of arguments that JSON Schema cannot express, and timestamps."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from toolcast_runtime import ToolError

__all__ = ["clean_text", "parse_day", "now", "clean_optional_text", "parse_row_number"]

_MAX_ROW_NUMBER = 2**63 - 1


def clean_text(value: str, parameter: str) -> str:
    r"""Return the text without surrounding whitespace.

    Raises:
        ToolError: the text is blank, or contains a surrogate (`\\ud800` in JSON), which
            databases cannot store.
    """
    text = clean_optional_text(value, parameter)
    if not text:
        raise ToolError(f"`{parameter}` must not be blank.")
    return text


def clean_optional_text(value: str, parameter: str) -> str:
    """Return the text without surrounding whitespace; the text may be blank."""
    # PostgreSQL cannot store NUL characters.
    text = value.replace("\x00", " ").strip()
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"`{parameter}` contains an invalid character.") from error
    return text


def parse_day(value: str | None, parameter: str) -> str:
    """Return a date as YYYY-MM-DD; the default is today in UTC.

    Raises:
        ToolError: the date does not exist.
    """
    if value is None:
        return datetime.now(UTC).date().isoformat()
    try:
        parsed = date.fromisoformat(value)
    except ValueError:
        parsed = None
    # `fromisoformat` also accepts other formats, such as 20260613.
    if parsed is None or parsed.isoformat() != value:
        raise ToolError(
            f"`{parameter}` must be a date such as 2026-06-13, not {value!r}."
        )
    return value


def now(*, later: timedelta = timedelta(0)) -> str:
    """Return the current time in UTC plus `later`, in ISO 8601 with milliseconds."""
    moment = datetime.now(UTC) + later
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_row_number(value: int | str) -> int:
    """Return a row number, or 0, which no row has, if the value is out of range."""
    if isinstance(value, str):
        is_number = value.isascii() and value.isdigit() and len(value) <= 19
        value = int(value) if is_number else 0
    return int(value) if 0 < value <= _MAX_ROW_NUMBER else 0
