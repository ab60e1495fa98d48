"""Decodes a file as UTF-8 and refuses characters that no output can show safely."""

from __future__ import annotations

from ..findings import Finding, Place, Severity
from .characters import describe, forbidden

__all__ = ["decode", "decoded", "whole_file"]


def whole_file(file: str, rule: str, message: str, help: str = "") -> Finding:
    """An error of a file as a whole."""
    return Finding(rule, Severity.ERROR, Place(file), message, help)


def decoded(data: bytes) -> str:
    """The text of UTF-8, without a byte order mark, with the line ends of Unix.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
    """
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def decode(file: str, data: bytes) -> tuple[str | None, list[Finding]]:
    """The text of a file; None, with a finding, when it is not one that can be read."""
    try:
        text = decoded(data)
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8: byte {error.start} cannot be decoded"
        help_ = "save the file as UTF-8"
        return None, [whole_file(file, "yaml/encoding", message, help_)]
    if forbidden(text) is None:
        return text, []
    for number, line in enumerate(text.split("\n"), 1):
        bad = forbidden(line)
        if bad:
            column = line.index(bad) + 1
            place = Place(file, number, column, column + 1)
            message = f"the character {describe(bad)} is not allowed"
            help_ = "remove it; no output can show it safely"
            return None, [
                Finding(
                    "yaml/forbidden-character",
                    Severity.ERROR,
                    place,
                    message,
                    help_,
                    line,
                )
            ]
    return text, []
