"""What a call asks a person, and what the person says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Action = Literal["accept", "decline", "cancel"]
"""As MCP has them. Source: MCP 2026-07-28, client/elicitation."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked.

    Attributes:
        name: tells it from the other questions of the call.
        message: what the person reads.
        schema: the JSON Schema of the answer, a form of plain fields.
        tool: the tool that is called.
        arguments: the arguments of the call.
        approval: the field that has to be true for a yes; None where any answer is one.
    """

    name: str
    message: str
    schema: Mapping[str, Any]
    tool: str
    arguments: Mapping[str, Any] = field(repr=False)
    approval: str | None = None

    @property
    def digest(self) -> str:
        """Tells whether an answer is one to exactly this, also to what was left out of it."""
        asked = [self.message, self.schema, self.tool, self.arguments]
        shown = json.dumps(asked, sort_keys=True, default=_plain)
        return hashlib.sha256(shown.encode()).hexdigest()[:32]


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else repr(value)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said.

    Attributes:
        action: `accept` for an answer; `decline` and `cancel` for none.
        content: the fields of the form, where it was accepted.
        round: the round of an earlier request in which it was asked; None when the person
            was asked just now.
        is_clients: the client's program says that a person said so.
    """

    action: Action
    content: Mapping[str, Any] | None = None
    round: str | None = None
    is_clients: bool = False


AskPerson = Callable[[Question], Awaitable[Answer] | Answer]
"""Asks the person in front of a surface; raises `DeclinedError` where nobody can be asked."""


class InputRequiredError(BaseException):
    """Signal that the call ends here and is repeated with the user's answer.

    A BaseException, so that `except Exception` in a handler does not catch it.

    Attributes:
        round: under which the question is kept until then.
        put: called when it is kept: now the person may be asked.
        is_repeated: the call's earlier answers come again, each of its own round.
    """

    def __init__(
        self, round: str, put: Callable[[], None], *, is_repeated: bool = False
    ) -> None:
        super().__init__("a person has to answer first")
        self.round = round
        self.put = put
        self.is_repeated = is_repeated


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
        arguments: of the call, secrets among them: whoever keeps them replaces those.
        parameters: their JSON Schema, which marks what is secret.
        asked: when, ISO 8601 in UTC.
    """

    round: str
    question: str
    tool: str
    client: str | None
    user: str | None
    message: str
    arguments: Any = field(repr=False)
    parameters: Any = field(repr=False)
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
