"""Search for words in text columns, with the same result in SQLite and PostgreSQL."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Integer, case, func, literal

from .arguments import clean_text

__all__ = ["count_matching_words"]

MAX_WORDS = 20


def count_matching_words(text: ColumnElement[str], query: str) -> ColumnElement[int]:
    """Return an expression for the number of the query's words that a text contains.

    Case is ignored, and parts of words match. `%` and `_` are ordinary characters.

    Raises:
        ToolError: the query contains no words.
    """
    words = dict.fromkeys(clean_text(query, "query").lower().split())
    lowered = func.lower(text)
    total: ColumnElement[int] = literal(0, Integer)
    for word in list(words)[:MAX_WORDS]:
        total = total + case((lowered.contains(word, autoescape=True), 1), else_=0)
    return total
