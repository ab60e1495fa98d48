"""Notecards."""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import Connection, Row, delete, insert, select, update

from toolcast_runtime import ToolError

from .arguments import clean_text, now, row_number
from .confirmations import check_confirmed, offer, redeem
from .main_tables import notecards
from .pools import main_pool

__all__ = ["create_notecard", "delete_notecard", "list_notecards", "update_notecard"]

Status = Literal["active", "completed", "archived"]
WITHOUT_STATUS: tuple[Status, ...] = ("active", "completed")


def create_notecard(
    *, text: str, source: Literal["chat", "manual"] = "chat"
) -> dict[str, Any]:
    """Writes a card.

    Raises:
        ToolError: the text is blank, or the database fails.
    """
    moment = now()
    values = {
        "text": clean_text(text, "text"),
        "status": "active",
        "source": source,
        "created_at": moment,
        "updated_at": moment,
    }
    with main_pool(write=True) as connection:
        row = connection.execute(
            insert(notecards).values(values).returning(notecards)
        ).one()
    return _card(row)


def update_notecard(
    *, notecard_id: int, status: Status | None = None, text: str | None = None
) -> dict[str, Any]:
    """Changes what is given.

    Raises:
        ToolError: there is no such card, the text is blank, or the database fails.
    """
    values = {"updated_at": now()}
    if status is not None:
        values["status"] = status
    if text is not None:
        values["text"] = clean_text(text, "text")
    with main_pool(write=True) as connection:
        row = connection.execute(
            update(notecards)
            .where(notecards.c.id == row_number(notecard_id))
            .values(values)
            .returning(notecards)
        ).one_or_none()
    if row is None:
        raise ToolError(f"There is no notecard {notecard_id}.")
    return _card(row)


def delete_notecard(
    *, notecard_id: int, confirmed: bool = False, confirmation: str | None = None
) -> dict[str, Any]:
    """Shows a card and offers a confirmation; with one, deletes the card.

    Raises:
        ToolError: there is no such card, the confirmation is not good, or the database
            fails.
    """
    check_confirmed(confirmed, confirmation)
    number = row_number(notecard_id)
    subject = f"notecard {number}"
    with main_pool(write=True) as connection:
        card = _existing(connection, number, notecard_id)
        if not confirmed:
            offered = offer(connection, subject, card)
            return {
                "deleted": False,
                "notecard": card,
                "confirmation": offered.confirmation,
                "expires_at": offered.expires_at,
            }
        redeem(connection, confirmation, subject, card)
        connection.execute(delete(notecards).where(notecards.c.id == number))
    return {
        "deleted": True,
        "notecard": card,
        "confirmation": None,
        "expires_at": None,
    }


def list_notecards(*, status: Status | None = None) -> dict[str, Any]:
    """The cards of a status; without one, the active and the completed ones.

    Raises:
        ToolError: the database fails.
    """
    wanted = WITHOUT_STATUS if status is None else (status,)
    with main_pool() as connection:
        rows = connection.execute(
            select(notecards)
            .where(notecards.c.status.in_(wanted))
            .order_by(notecards.c.id.desc())
        ).all()
    return {"notecards": [_card(row) for row in rows]}


def _existing(connection: Connection, number: int, asked_for: int) -> dict[str, Any]:
    row = connection.execute(
        select(notecards).where(notecards.c.id == number)
    ).one_or_none()
    if row is None:
        raise ToolError(f"There is no notecard {asked_for}.")
    return _card(row)


def _card(row: Row[Any]) -> dict[str, Any]:
    return {
        "notecard_id": row.id,
        "text": row.text,
        "status": row.status,
        "source": row.source,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }
