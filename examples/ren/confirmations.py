"""Confirmation codes of deletions in two steps.

The first call of a tool shows the data and creates a code; the second call needs this
code to delete the data.
"""

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

__all__ = [
    "Confirmation",
    "check_confirmation_arguments",
    "create_confirmation",
    "use_confirmation",
]

VALID_FOR = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A confirmation code and its expiry time."""

    confirmation: str
    expires_at: str


def create_confirmation(
    connection: Connection, subject: str, state: Any
) -> Confirmation:
    """Create a confirmation code for a subject in its current state.

    Args:
        subject: identifies the data to delete, such as `notecard 7`.
        state: content of the data as JSON; a change makes the code invalid.
    """
    token = secrets.token_urlsafe(16)
    confirmation = Confirmation(token, now(later=VALID_FOR))
    connection.execute(
        insert(confirmations).values(
            digest=_compute_digest(token),
            subject=subject,
            state=_compute_digest(state),
            offered_at=now(),
            expires_at=confirmation.expires_at,
        )
    )
    return confirmation


def check_confirmation_arguments(confirmed: bool, confirmation: str | None) -> None:
    """Check that `confirmed` and `confirmation` are passed together.

    Raises:
        ToolError: only one of them is passed.
    """
    if confirmed and confirmation is None:
        raise ToolError(
            "`confirmed` needs the `confirmation` that a call without it returns."
        )
    if confirmation is not None and not confirmed:
        raise ToolError("`confirmation` without `confirmed: true` deletes nothing.")


def use_confirmation(
    connection: Connection, confirmation: str | None, subject: str, state: Any
) -> None:
    """Mark a confirmation code as used, in the transaction of the deletion.

    Raises:
        ToolError: the code is unknown, used or expired, or is for another subject or
            state.
    """
    moment = now()
    used = connection.execute(
        update(confirmations)
        .where(
            confirmations.c.digest == _compute_digest(confirmation),
            confirmations.c.subject == subject,
            confirmations.c.state == _compute_digest(state),
            confirmations.c.used_at.is_(None),
            confirmations.c.expires_at > moment,
        )
        .values(used_at=moment)
    )
    if used.rowcount != 1:
        raise ToolError(
            "This confirmation is not valid: it was used or has expired, or is for other "
            "data or a previous state. Call again without `confirmed`, and check the "
            "data to delete."
        )


def _compute_digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
