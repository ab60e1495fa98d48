"""Handlers of the shop; each appends its result to the file that SHOP_DONE names."""

from __future__ import annotations

import os
from pathlib import Path

from toolcast_runtime import current_call

SEATS = {
    "type": "object",
    "properties": {"seats": {"type": "integer", "minimum": 1, "maximum": 8}},
    "required": ["seats"],
}
PLACE = {
    "type": "object",
    "properties": {"place": {"type": "string", "enum": ["inside", "garden"]}},
    "required": ["place"],
}


def done(line: str) -> str:
    with Path(os.environ["SHOP_DONE"]).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    return line


def refund_order(
    *, order_id: str, amount: float | None = None, card: str | None = None
) -> str:
    return done(f"refunded {order_id} {amount}")


def set_price(*, article: str, price: float) -> str:
    return done(f"priced {article} {price:g}")


def garden_is_closed() -> bool:
    return Path(os.environ["SHOP_DONE"]).with_suffix(".closed").exists()


async def reserve(*, day: str) -> str:
    """Ask one question fewer if the garden was closed since the last round.

    A correct handler asks the same questions in every round.
    """
    call = current_call()
    seats = (await call.ask(SEATS, f"How many seats on {day}?"))["seats"]
    if not garden_is_closed():
        await call.ask(PLACE, "Where?")
    return done(f"reserved {day} {seats}")


async def book_table(*, day: str) -> str:
    call = current_call()
    seats = (await call.ask(SEATS, f"How many seats on {day}?", name="seats"))["seats"]
    place = (await call.ask(PLACE, "Where?"))["place"]
    return done(f"booked {day} {seats} {place}")
