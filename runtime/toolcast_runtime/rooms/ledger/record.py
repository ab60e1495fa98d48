"""What is recorded of a call, and what a ledger is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ...core.context import CallOutcome

Outcome = CallOutcome | Literal["started"]
"""`started` is what a call that never ended leaves behind, as when its process was killed."""


@dataclass(frozen=True, slots=True)
class Record:
    """One call, when it starts and again when it ends.

    Attributes:
        id: of the call; both of its records have it.
        toolset: the toolset's name.
        tool: the tool's present name.
        client: who called; None in a toolset without clients.
        started: when it started, ISO 8601 in UTC to the microsecond, so that it orders rows.
        arguments: as they were sent, secrets replaced; None when they are no JSON.
        outcome: what came of it.
        result: the JSON value that it gave.
        error: the message that the caller got when it failed.
        seconds: how long it took; None while it runs.
        user: who asked, as the caller's token names them; None when nobody is known.
    """

    id: str
    toolset: str
    tool: str
    client: str | None
    started: str
    arguments: Any
    outcome: Outcome = "started"
    result: Any = None
    error: str | None = None
    seconds: float | None = None
    user: str | None = None


class Ledger(Protocol):
    """Where records go."""

    async def write(self, record: Record) -> None:
        """Returns when the record is written.

        Raises:
            LedgerError: it is not.
        """

    def write_soon(self, record: Record) -> None:
        """Writes the record without making the caller wait; a failure is logged."""

    async def check(self) -> None:
        """Returns when records can be written as far as can be known without writing one.

        Raises:
            LedgerError: they cannot.
        """

    async def close(self) -> None:
        """Returns when everything is written that was given before. It can be used again."""
