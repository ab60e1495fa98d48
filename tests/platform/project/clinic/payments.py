"""Prices and refunds of visits."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel
from sqlalchemy import Engine, update

from toolcast_runtime import ToolError

from .tables import VISITS

__all__ = ["Charge", "Refund", "Refunded", "charge_visit", "refund_visit"]


class Currency(StrEnum):
    EUR = "EUR"
    CHF = "CHF"


class Money(BaseModel):
    cents: int
    currency: Currency


class Charge(BaseModel):
    visit_id: int
    price: Money


class Refund(BaseModel):
    visit_id: int
    amount: Money


class Refunded(BaseModel):
    refunded: Money
    left: Money


def charge_visit(charge: Charge, *, db: Engine) -> str:
    price = charge.price
    row = update(VISITS).where(VISITS.c.id == charge.visit_id)
    row = row.values(cents=price.cents, currency=price.currency.value)
    with db.begin() as connection:
        if connection.execute(row).rowcount == 0:
            raise ToolError(f"There is no visit {charge.visit_id}.")
    return f"Visit {charge.visit_id} costs {price.cents / 100:.2f} {price.currency}."


def refund_visit(refund: Refund, *, db: Engine) -> Refunded:
    amount = refund.amount
    # A single statement, so that concurrent refunds cannot exceed the price.
    row = (
        update(VISITS)
        .where(VISITS.c.id == refund.visit_id)
        .where(VISITS.c.currency == amount.currency.value)
        .where(VISITS.c.cents >= amount.cents)
        .values(cents=VISITS.c.cents - amount.cents)
        .returning(VISITS.c.cents)
    )
    with db.begin() as connection:
        left = connection.scalar(row)
    if left is None:
        raise ToolError(f"Visit {refund.visit_id} did not cost more than that.")
    return Refunded(refunded=amount, left=Money(cents=left, currency=amount.currency))
