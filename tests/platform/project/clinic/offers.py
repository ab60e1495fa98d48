"""Resources of the reception."""

from __future__ import annotations

from datetime import date

from sqlalchemy import Engine

from .visits import search_visits

__all__ = ["day_plan"]


def day_plan(*, day: str, db: Engine) -> str | None:
    try:
        wanted = date.fromisoformat(day)
    except ValueError:
        return None
    visits = search_visits(day=wanted, db=db)
    return f"day,open,visits\n{day},{'yes' if wanted.weekday() < 5 else 'no'},{len(visits)}\n"
