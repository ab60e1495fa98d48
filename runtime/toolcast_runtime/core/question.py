"""Questions of a call to the user, the user's answers, and the store for both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Action = Literal["accept", "decline", "cancel"]
"""The actions of an MCP elicitation. Source: MCP 2026-07-28, client/elicitation."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the user.

    Attributes:
        name: distinguishes the question from the others of the call.
        message: the text that the user reads.
        schema: the JSON Schema of the answer, a form with plain fields.
        tool: the tool that is called.
        arguments: the arguments of the call.
        approval: the form field that must be true to confirm the call; None if every
            accepted answer is valid.
    """

    name: str
    message: str
    schema: Mapping[str, Any]
    tool: str
    arguments: Mapping[str, Any] = field(repr=False)
    approval: str | None = None

    @property
    def digest(self) -> str:
        """Hash of the question's message and schema, the tool, and all arguments.

        An answer with another digest belongs to another question, even if the message shows
        only part of the arguments.
        """
        content = [self.message, self.schema, self.tool, self.arguments]
        text = json.dumps(content, sort_keys=True, default=_to_json)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def _to_json(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else repr(value)


@dataclass(frozen=True, slots=True)
class Answer:
    """A user's answer to a question.

    Attributes:
        action: `accept` if the user answered; `decline` or `cancel` if not.
        content: the fields of the form, if the answer is accepted.
        round: the round of the earlier request in which the question was asked; None if it
            was asked in this request.
        is_confirmed_by_client: whether the client's program reports that its user confirmed
            the call.
    """

    action: Action
    content: Mapping[str, Any] | None = None
    round: str | None = None
    is_confirmed_by_client: bool = False


AskUser = Callable[[Question], Awaitable[Answer] | Answer]
"""Asks the user; raises `DeclinedError` if no user can be asked."""


class InputRequiredError(BaseException):
    """Signal that a call must end; the client repeats the call with the user's answer.

    A `BaseException`, so that no `except Exception` of a handler catches it.

    Attributes:
        round: the key under which the question is stored until the answer arrives.
        put: called when the question is stored; the user may be asked from then on.
        is_repeated: whether the answers of earlier rounds must be sent again, each with its
            own round.
    """

    def __init__(
        self, round: str, put: Callable[[], None], *, is_repeated: bool = False
    ) -> None:
        super().__init__("the user has to answer a question first")
        self.round = round
        self.put = put
        self.is_repeated = is_repeated


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """The record of a question that was sent to a user.

    Attributes:
        round: the key of the questions of one request in the store.
        question: the question's name.
        tool: the tool that is called.
        client: the client that calls; None in a toolset without clients.
        user: the user on whose behalf the tool is called; None if unknown.
        message: the message of the question, without the arguments.
        arguments: the arguments of the call. They may contain secrets: a store replaces
            those before it writes the arguments.
        parameters: the arguments' JSON Schema, which marks secrets.
        asked: when the question was sent, ISO 8601 in UTC.
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
    """A store of questions and answers. Each method raises `OSError` if the store fails."""

    async def record_question(self, asked: PendingQuestion) -> None:
        """Store a question that is sent to a user."""

    async def claim_round(self, round: str) -> bool:
        """Claim a round for one repeated call; return False if unknown or already claimed.

        If several processes claim a round at the same time, only one of them gets True.
        """

    async def release_round(self, round: str) -> None:
        """Undo a claim, for a call that ended without any effect."""

    async def record_answer(self, round: str, question: str, action: str) -> None:
        """Store the answer to a question of a round.

        The action is `client` if the client's program reported the user's confirmation.
        """
