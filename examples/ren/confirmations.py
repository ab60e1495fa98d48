"""Deletions in two steps: what is shown first, and only that, may then be deleted."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, insert, update

from toolcast_runtime import ToolError

from .arguments import now
from .main_tables import confirmations

__all__ = ["Offer", "check_confirmed", "offer", "redeem"]

GOOD_FOR = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Offer:
    """A confirmation, and until when it is good."""

    confirmation: str
    expires_at: str


def offer(connection: Connection, subject: str, state: Any) -> Offer:
    """A new confirmation for a subject in the state that the caller is shown.

    Args:
        subject: what would be deleted, such as `notecard 7`.
        state: its content as JSON has it; when it changes, the confirmation is void.
    """
    token = secrets.token_urlsafe(16)
    made = Offer(token, now(later=GOOD_FOR))
    connection.execute(
        insert(confirmations).values(
            digest=_digest(token),
            subject=subject,
            state=_digest(state),
            offered_at=now(),
            expires_at=made.expires_at,
        )
    )
    return made


def check_confirmed(confirmed: bool, confirmation: str | None) -> None:
    """Refuses the two halves of a confirmation without each other.

    Raises:
        ToolError: one is there and the other is not.
    """
    if confirmed and confirmation is None:
        raise ToolError(
            "`confirmed` needs the `confirmation` that a call without it gives."
        )
    if confirmation is not None and not confirmed:
        raise ToolError("`confirmation` without `confirmed: true` deletes nothing.")


def redeem(
    connection: Connection, confirmation: str | None, subject: str, state: Any
) -> None:
    """Uses a confirmation up, in the transaction of the deletion.

    Raises:
        ToolError: it was never given, was used, is too old, or is for another subject
            or for a state that is no more.
    """
    moment = now()
    used = connection.execute(
        update(confirmations)
        .where(
            confirmations.c.digest == _digest(confirmation),
            confirmations.c.subject == subject,
            confirmations.c.state == _digest(state),
            confirmations.c.used_at.is_(None),
            confirmations.c.expires_at > moment,
        )
        .values(used_at=moment)
    )
    if used.rowcount != 1:
        raise ToolError(
            "This confirmation is not good for what is there now: it was used, is too "
            "old, or is for something else. Call without `confirmed` and read what "
            "would be deleted."
        )


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
