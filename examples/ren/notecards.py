"""Handlers of the notecard tools."""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import Connection, Row, delete, insert, select, update

from toolcast_runtime import ToolError

from .arguments import clean_text, now, parse_row_number
from .confirmations import (
    check_confirmation_arguments,
    create_confirmation,
    use_confirmation,
)
from .main_tables import notecards
from .pools import main_pool

__all__ = ["create_notecard", "delete_notecard", "list_notecards", "update_notecard"]

Status = Literal["active", "completed", "archived"]
DEFAULT_STATUSES: tuple[Status, ...] = ("active", "completed")


def create_notecard(
    *, text: str, source: Literal["chat", "manual"] = "chat"
) -> dict[str, Any]:
    """Insert a card.

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
    return _format_card(row)


def update_notecard(
    *, notecard_id: int, status: Status | None = None, text: str | None = None
) -> dict[str, Any]:
    """Change the passed fields of a card.

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
            .where(notecards.c.id == parse_row_number(notecard_id))
            .values(values)
            .returning(notecards)
        ).one_or_none()
    if row is None:
        raise ToolError(f"There is no notecard {notecard_id}.")
    return _format_card(row)


def delete_notecard(
    *, notecard_id: int, confirmed: bool = False, confirmation: str | None = None
) -> dict[str, Any]:
    """Return a card with a confirmation code; with the code, delete the card.

    Raises:
        ToolError: there is no such card, the code is not valid, or the database fails.
    """
    check_confirmation_arguments(confirmed, confirmation)
    number = parse_row_number(notecard_id)
    subject = f"notecard {number}"
    with main_pool(write=True) as connection:
        card = _get_notecard(connection, number, notecard_id)
        if not confirmed:
            created = create_confirmation(connection, subject, card)
            return {
                "deleted": False,
                "notecard": card,
                "confirmation": created.confirmation,
                "expires_at": created.expires_at,
            }
        use_confirmation(connection, confirmation, subject, card)
        connection.execute(delete(notecards).where(notecards.c.id == number))
    return {
        "deleted": True,
        "notecard": card,
        "confirmation": None,
        "expires_at": None,
    }


def list_notecards(*, status: Status | None = None) -> dict[str, Any]:
    """Return the cards with a status; the default is active and completed cards.

    Raises:
        ToolError: the database fails.
    """
    statuses = DEFAULT_STATUSES if status is None else (status,)
    with main_pool() as connection:
        rows = connection.execute(
            select(notecards)
            .where(notecards.c.status.in_(statuses))
            .order_by(notecards.c.id.desc())
        ).all()
    return {"notecards": [_format_card(row) for row in rows]}


def _get_notecard(
    connection: Connection, number: int, notecard_id: int
) -> dict[str, Any]:
    row = connection.execute(
        select(notecards).where(notecards.c.id == number)
    ).one_or_none()
    if row is None:
        raise ToolError(f"There is no notecard {notecard_id}.")
    return _format_card(row)


def _format_card(row: Row[Any]) -> dict[str, Any]:
    return {
        "notecard_id": row.id,
        "text": row.text,
        "status": row.status,
        "source": row.source,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }
