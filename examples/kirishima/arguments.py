"""Checks of arguments that JSON Schema cannot express."""

from __future__ import annotations

from typing import TypeVar

from toolcast_runtime import ToolError

__all__ = ["clean_text", "require", "parse_row_id"]

Value = TypeVar("Value")


def require(value: Value | None, parameter: str) -> Value:
    """Return the value, or raise a ToolError if the parameter was omitted."""
    if value is None:
        raise ToolError(f"`{parameter}` is required for this action.")
    return value


def clean_text(value: str, parameter: str) -> str:
    r"""Return the text without surrounding whitespace.

    Raises:
        ToolError: the text is blank, or contains a surrogate (`\\ud800` in JSON), which
            cannot be encoded.
    """
    text = value.replace("\x00", " ").strip()
    if not text:
        raise ToolError(f"`{parameter}` must not be blank.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"`{parameter}` contains an invalid character.") from error
    return text


def parse_row_id(value: str, parameter: str) -> int:
    """Return the row number of an identifier.

    Raises:
        ToolError: the text does not have the format of an identifier.
    """
    if not (value.isascii() and value.isdigit() and len(value) <= 18):
        raise ToolError(
            f"`{parameter}` must be an identifier from an earlier result, "
            f"not {value!r}."
        )
    return int(value)
