"""What the reception offers to read."""

from __future__ import annotations

from datetime import date

__all__ = ["day_plan"]


def day_plan(*, day: str) -> str | None:
    try:
        weekday = date.fromisoformat(day).weekday()
    except ValueError:
        return None
    return f"day,open\n{day},{'yes' if weekday < 5 else 'no'}\n"
