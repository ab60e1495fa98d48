from datetime import date, datetime
from uuid import UUID


def book(day: date, guest: UUID, at: datetime | None = None) -> str:
    """Book a table.

    Args:
        day: The day.
        guest: Who comes.
        at: The hour.
    """
    return f"{day.year} {guest.version} {at}"
