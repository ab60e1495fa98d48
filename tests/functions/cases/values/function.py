from datetime import date, datetime
from decimal import Decimal
from uuid import UUID


def book(
    day: date, guest: UUID, at: datetime | None = None, fee: Decimal | None = None
) -> Decimal:
    """Book a table.

    Args:
        day: The day.
        guest: Who comes.
        at: The hour.
        fee: What is paid before.
    """
    return (fee or Decimal(day.year)) + Decimal("0.10")
