"""Searching texts by words, alike in SQLite and PostgreSQL."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Integer, case, func, literal

from .arguments import clean_text

__all__ = ["count_of_words"]

MOST_WORDS = 20


def count_of_words(text: ColumnElement[str], query: str) -> ColumnElement[int]:
    """How many of the query's words a text has, whatever their case.

    A word counts once, also within another word; `%` and `_` are letters.

    Raises:
        ToolError: the query has no word.
    """
    words = dict.fromkeys(clean_text(query, "query").lower().split())
    lowered = func.lower(text)
    total: ColumnElement[int] = literal(0, Integer)
    for word in list(words)[:MOST_WORDS]:
        total = total + case((lowered.contains(word, autoescape=True), 1), else_=0)
    return total
