"""What visits cost, and what is paid back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine, update

from toolcast_runtime import ToolError

from .tables import VISITS

__all__ = ["charge_visit", "refund_visit"]


def charge_visit(*, visit_id: int, price: Mapping[str, Any], db: Engine) -> str:
    row = update(VISITS).where(VISITS.c.id == visit_id)
    with db.begin() as connection:
        if connection.execute(row.values(**price)).rowcount == 0:
            raise ToolError(f"There is no visit {visit_id}.")
    return f"Visit {visit_id} costs {price['cents'] / 100:.2f} {price['currency']}."


def refund_visit(
    *, visit_id: int, amount: Mapping[str, Any], db: Engine
) -> dict[str, object]:
    # One statement: two refunds at once cannot pay back more than there is.
    row = (
        update(VISITS)
        .where(VISITS.c.id == visit_id, VISITS.c.currency == amount["currency"])
        .where(VISITS.c.cents >= amount["cents"])
        .values(cents=VISITS.c.cents - amount["cents"])
        .returning(VISITS.c.cents)
    )
    with db.begin() as connection:
        left = connection.scalar(row)
    if left is None:
        raise ToolError(f"Visit {visit_id} did not cost more than that.")
    return {
        "refunded": amount,
        "left": {"cents": left, "currency": amount["currency"]},
    }
