"""What JSON Schema cannot check of an argument."""

from __future__ import annotations

from typing import TypeVar

from toolcast_runtime import ToolError

__all__ = ["clean_text", "needed", "row_id"]

Value = TypeVar("Value")


def needed(value: Value | None, parameter: str) -> Value:
    """The value, or a ToolError when the caller left the parameter out."""
    if value is None:
        raise ToolError(f"`{parameter}` is required for this action.")
    return value


def clean_text(value: str, parameter: str) -> str:
    """The text without surrounding space.

    Raises:
        ToolError: nothing is left, or the text cannot be stored: JSON can spell halves
            of characters (`\\ud800`) that no file can hold.
    """
    text = value.replace("\x00", " ").strip()
    if not text:
        raise ToolError(f"`{parameter}` must not be blank.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"`{parameter}` contains half a character.") from error
    return text


def row_id(value: str, parameter: str) -> int:
    """The row number that an identifier stands for.

    Raises:
        ToolError: the text is no identifier that any answer ever gave.
    """
    if not (value.isascii() and value.isdigit() and len(value) <= 18):
        raise ToolError(
            f"`{parameter}` must be an identifier as an earlier answer gave it, "
            f"not {value!r}."
        )
    return int(value)
