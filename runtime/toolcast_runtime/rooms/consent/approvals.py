"""What was asked and answered, and that each answer lets one call happen."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

KEPT_SECONDS = 3600.0
"""How long a round is remembered in memory; sealed state is refused long before."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that is put to a person.

    Attributes:
        round: what the questions of one request are kept under.
        question: the question's name.
        tool: the tool that is called.
        client: the program that calls; None in a toolset without clients.
        user: who asked for the call; None when nobody is known.
        message: what is asked, without the arguments.
        arguments: of the call, secrets replaced.
        asked: when, ISO 8601 in UTC.
    """

    round: str
    question: str
    tool: str
    client: str | None
    user: str | None
    message: str
    arguments: Any
    asked: str


class Approvals(Protocol):
    """Where questions and answers are kept. Each method raises `OSError` when it cannot."""

    async def begin(self, asked: Asked) -> None:
        """Keeps a question that is put to a person."""

    async def take(self, round: str) -> bool:
        """Whether a round is known and was not taken; from now on it is.

        Of any number of processes that ask at once, one gets True.
        """

    async def give_back(self, round: str) -> None:
        """Lets a round be taken again, by who took it and did nothing."""

    async def answered(self, round: str, question: str, action: str) -> None:
        """Keeps the answer to a question of a round; `client` for the word of its program."""


class ApprovalsInMemory:
    """The same for one process, which is enough where no other gets its requests."""

    def __init__(self) -> None:
        self._open: dict[str, float] = {}

    async def begin(self, asked: Asked) -> None:
        """As of `Approvals`."""
        now = time.monotonic()
        for round, since in list(self._open.items()):
            if now - since < KEPT_SECONDS:
                break
            del self._open[round]
        self._open.setdefault(asked.round, now)

    async def take(self, round: str) -> bool:
        """As of `Approvals`."""
        return self._open.pop(round, None) is not None

    async def give_back(self, round: str) -> None:
        """As of `Approvals`."""
        self._open[round] = time.monotonic()

    async def answered(self, round: str, question: str, action: str) -> None:
        """As of `Approvals`."""
