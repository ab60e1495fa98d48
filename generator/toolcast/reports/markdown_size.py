"""How much Markdown a comment of GitHub holds."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["MOST_CHARACTERS", "cell", "within"]

MOST_CHARACTERS = 60_000
"""Of 65,536 that GitHub takes; what an action puts around a report has room as well."""


def cell(text: str) -> str:
    """Markdown of one line within a table, where a bar ends a cell even in code.

    Source: GitHub Flavored Markdown, section 4.10.
    """
    return text.replace("|", "\\|")


def within(parts: Iterable[str], used: int, most: int = MOST_CHARACTERS) -> list[str]:
    """The first of the parts that have room behind what is used; no more are made."""
    kept = []
    for part in parts:
        # Outside of Unicode's first plane a character may count twice.
        used += len(part) + sum(character > "\uffff" for character in part)
        if used > most:
            break
        kept.append(part)
    return kept
