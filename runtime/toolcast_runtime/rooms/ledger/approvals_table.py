"""Questions to people and their answers, in the ledger's SQLite file or database.

The table is shared by every process that has it, so that a round is taken once.
"""

from __future__ import annotations

import asyncio
import sqlite3
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ...core.toolset_settings import LedgerError
from . import sqlite_ledger
from .keeping import keep_no_longer
from .rows import RECORD_ERRORS, json_text, storable
from .secret_arguments import Redaction

if TYPE_CHECKING:
    from ...core.question import Asked
    from ...core.toolset_settings import LedgerSettings

_ASKED = (
    'INSERT INTO approvals (round, question, toolset, tool, client, "user", message,'
    " arguments, asked) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_TAKEN = "UPDATE approvals SET taken = ? WHERE round = ? AND taken IS NULL"
_GIVEN_BACK = "UPDATE approvals SET taken = NULL WHERE round = ?"
_ANSWERED = (
    "UPDATE approvals SET action = ?, taken = coalesce(taken, ?)"
    " WHERE round = ? AND question = ?"
)


class ApprovalsTable:
    """The table `approvals` of a toolset's ledger; each method is one short transaction."""

    def __init__(self, settings: LedgerSettings) -> None:
        self._settings = settings

    async def begin(self, asked: Asked) -> None:
        """As of `Approvals`."""
        keep_no_longer(self._settings)
        values = (
            asked.round,
            asked.question,
            self._settings.toolset,
            asked.tool,
            asked.client,
            storable(asked.user),
            asked.message,
            json_text(Redaction(asked.parameters).of(asked.arguments)),
            asked.asked,
        )
        await self._changed(_ASKED, values)

    async def take(self, round: str) -> bool:
        """As of `Approvals`."""
        return await self._changed(_TAKEN, (_now(), round)) > 0

    async def give_back(self, round: str) -> None:
        """As of `Approvals`."""
        await self._changed(_GIVEN_BACK, (round,))

    async def answered(self, round: str, question: str, action: str) -> None:
        """As of `Approvals`."""
        await self._changed(_ANSWERED, (action, _now(), round, question))

    async def _changed(self, statement: str, values: tuple[Any, ...]) -> int:
        return await asyncio.to_thread(self._execute, statement, values)

    def _execute(self, statement: str, values: tuple[Any, ...]) -> int:
        """How many rows a statement changed."""
        try:
            url = self._settings.database()
            if url is not None:
                from .postgresql_ledger import changed

                return changed(url, statement, values)
            return sqlite_ledger.changed(self._settings.file(), statement, values)
        except (sqlite3.Error, LedgerError, ImportError, *RECORD_ERRORS) as error:
            raise OSError(f"the ledger cannot be written: {error}") from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
