"""Ask the user the questions of a call, record them, and validate the answers.

The form of a question must match the schema that MCP allows in an elicitation, which all
supported protocol versions share.
Source: MCP 2026-07-28, client/elicitation: `PrimitiveSchemaDefinition`.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import secrets
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from ..core.calls.worker_threads import run_in_loop
from ..core.context import CALLER, DeclinedError
from ..core.definitions.tool import Tool
from ..core.question import (
    Answer,
    Approvals,
    AskUser,
    InputRequiredError,
    PendingQuestion,
    Question,
)
from ..core.validation.checker import Checker
from .confirmation import escape_message

_logger = logging.getLogger("toolcast")

ANSWER_TIMEOUT_S = 600.0
"""How long a call waits for the user's answer."""
_ROUND_LIFETIME_S = 3600.0
"""How long an unanswered round is stored in memory.

A round is one question with its answer. The request state that contains its ID, which the
client sends back with the answer, expires earlier.
"""


class Questions:
    """Questions of one call to its user.

    Args:
        ask_user: sends a question to the user and returns the answer. If it has a true
            attribute `can_repeat_call`, it may instead raise `InputRequiredError`, which ends the
            call until the client repeats it with the answer.
        get_approvals: returns the store of questions and answers; called on first use.
        tool: the tool that is called.
        client: the client that calls; None in a toolset without clients.
        arguments: the arguments of the call.
        loop: the event loop of the call. The handler may run in a thread or another loop.

    Attributes:
        is_pending: whether the client must repeat the call with an answer.
        unawaited_count: number of questions that a handler created but did not await.
    """

    def __init__(
        self,
        ask_user: AskUser,
        get_approvals: Callable[[], Approvals],
        tool: Tool,
        client: str | None,
        arguments: Mapping[str, Any],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._ask_user = ask_user
        self._get_approvals = get_approvals
        self._tool = tool
        self._client = client
        self._arguments = arguments
        self._question_names: set[str] = set()
        self._claimed_rounds: set[str] = set()
        self._waiting_seconds = 0.0
        self._waiting_count = 0
        self._waiting_since = 0.0
        self._loop = loop
        self.is_pending = False
        self.unawaited_count = 0

    @property
    def waiting_seconds(self) -> float:
        """Seconds that the call has waited for its user so far, in all its questions."""
        if not self._waiting_count:
            return self._waiting_seconds
        return self._waiting_seconds + time.monotonic() - self._waiting_since

    @property
    def is_waiting(self) -> bool:
        """Whether the call is waiting for its user."""
        return self._waiting_count > 0

    def ask_form(
        self, schema: Mapping[str, Any], message: str, name: str | None
    ) -> Coroutine[Any, Any, Mapping[str, Any]]:
        """Ask the user to fill in a form; return an awaitable of the answer's fields.

        The awaitable raises the exceptions of `ask`, and `ValueError` if no client can show
        the form.

        Raises:
            RuntimeError: the caller is not in an event loop.
        """
        if not _is_in_event_loop():
            raise RuntimeError(
                "`ask` must be awaited, which a plain function cannot do: call `ask_sync`"
            )
        self.unawaited_count += 1
        # `_ask_form` reduces the count when it runs, so that a missing `await` is detected.
        if asyncio.get_running_loop() is self._loop:
            return self._ask_form(schema, message, name)
        # A handler runs in the event loop of its dependencies, which may differ from the
        # call's loop. The question is sent in the call's loop.
        return run_in_loop(self._loop, self._ask_form(schema, message, name))

    def ask_form_sync(
        self, schema: Mapping[str, Any], message: str, name: str | None
    ) -> Mapping[str, Any]:
        """Ask like `ask_form`, but block the current thread until the answer arrives.

        Raises:
            RuntimeError: the caller is in an event loop, which would be blocked.
        """
        if _is_in_event_loop():
            raise RuntimeError(
                "`ask_sync` would block the event loop: write `await call.ask(...)`"
            )
        self.unawaited_count += 1
        coroutine = self._ask_form(schema, message, name)
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    async def _ask_form(
        self, schema: Mapping[str, Any], message: str, name: str | None
    ) -> Mapping[str, Any]:
        self.unawaited_count -= 1
        problems = check_form(schema)
        if problems:
            raise ValueError(f"no client can show this form: {'; '.join(problems)}")
        message = escape_message(message)
        name = f"question_{len(self._question_names) + 1}" if name is None else name
        question = Question(name, message, schema, self._tool.name, self._arguments)
        return await self.ask(question, message)

    async def ask(self, question: Question, recorded_message: str) -> Mapping[str, Any]:
        """Ask the user a question; return the content of the accepted, valid answer.

        Args:
            question: the question.
            recorded_message: the message to store. It contains no arguments, because the
                store records them separately, without secrets.

        Raises:
            DeclinedError: the user did not answer, declined, or sent an invalid answer; or
                the question cannot be recorded.
            InputRequiredError: the client must repeat the call with the answer.
            ValueError: the call already has a question with this name.
        """
        if question.name in self._question_names:
            raise ValueError(
                f"the call has two questions with the name `{question.name}`"
            )
        self._question_names.add(question.name)
        round = None
        # If the answer may arrive in a repeated call, `ask_user` determines the round.
        if not getattr(self._ask_user, "can_repeat_call", False):
            round = await self._start_round(question, recorded_message)
        try:
            answer = await self._await_answer(question)
        except InputRequiredError as needed:
            await self._record_question(needed.round, question, recorded_message)
            if needed.is_repeated:
                await self._release_rounds()
            # The question is recorded, so the client may get it now.
            needed.put()
            self.is_pending = True
            raise
        answer = _require_approval(question, answer)
        if answer.round is not None:
            round = answer.round
            await self._claim_round(round)
        elif round is None:
            round = await self._start_round(question, recorded_message)
        problems = []
        if answer.action == "accept":
            problems = Checker(question.schema).problems(answer.content or {})
        await self._record_answer(round, question, answer, is_valid=not problems)
        return _validate_content(question, answer, problems)

    async def _start_round(self, question: Question, recorded_message: str) -> str:
        """Record a question that is answered within this call; return a new round ID."""
        round = secrets.token_hex(16)
        await self._record_question(round, question, recorded_message)
        return round

    async def _await_answer(self, question: Question) -> Answer:
        """Wait for the user's answer; the call's timeout does not run during this time."""
        if not self._waiting_count:
            self._waiting_since = time.monotonic()
        self._waiting_count += 1
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                answer = self._ask_user(question)
                return await answer if inspect.isawaitable(answer) else answer
        except TimeoutError:
            raise DeclinedError(
                "the user did not answer in time; nothing was done"
            ) from None
        finally:
            self._waiting_count -= 1
            if not self._waiting_count:
                self._waiting_seconds += time.monotonic() - self._waiting_since

    async def _claim_round(self, round: str) -> None:
        """Claim a round for this call, unless the call has claimed it already.

        Raises:
            DeclinedError: another call has claimed the round, or it is unknown.
        """
        # Several questions of one request have the same round, which is claimed once.
        if round in self._claimed_rounds:
            return
        with self._decline_on_store_error():
            is_free = await self._get_approvals().claim_round(round)
        if not is_free:
            raise DeclinedError(
                "this answer has already been used, or the server's ledger does not have its"
                " question; call again without the answer, so that the user is asked again"
            )
        self._claimed_rounds.add(round)

    async def _release_rounds(self) -> None:
        """Undo the claims of this call, because the repeated call sends the answers again.

        Without this, the repeated call would be declined: a round can be claimed only once.
        """
        with self._decline_on_store_error():
            for round in self._claimed_rounds:
                await self._get_approvals().release_round(round)

    async def _record_question(
        self, round: str, question: Question, message: str
    ) -> None:
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        record = PendingQuestion(
            round,
            question.name,
            self._tool.name,
            self._client,
            CALLER.get().user,
            message,
            self._arguments,
            self._tool.parameters,
            now,
        )
        with self._decline_on_store_error():
            await self._get_approvals().record_question(record)

    async def _record_answer(
        self, round: str, question: Question, answer: Answer, *, is_valid: bool
    ) -> None:
        action: str = "client" if answer.is_confirmed_by_client else answer.action
        if not is_valid:
            action = "invalid"
        with self._decline_on_store_error():
            await self._get_approvals().record_answer(round, question.name, action)

    @contextmanager
    def _decline_on_store_error(self) -> Iterator[None]:
        """Raise `DeclinedError` if the store fails in the block, and log the error.

        No call continues with an unrecorded question or answer.
        """
        try:
            yield
        except OSError:
            _logger.exception(
                "cannot record a question of the tool %s", self._tool.name
            )
            raise DeclinedError(
                "the user cannot be asked: questions must be recorded, and the ledger cannot"
                " be written; nothing was done; the log has the details"
            ) from None


class ApprovalsInMemory:
    """In-memory store of unclaimed rounds, for a server with a single process.

    It does not store the questions and answers themselves.
    """

    def __init__(self) -> None:
        self._open: dict[str, float] = {}

    async def record_question(self, asked: PendingQuestion) -> None:
        """Store the round of a question; drop the rounds older than `_ROUND_LIFETIME_S`."""
        now = time.monotonic()
        # The dict is ordered from the oldest to the newest round, so the loop can stop at the
        # first recent round.
        for round, since in list(self._open.items()):
            if now - since < _ROUND_LIFETIME_S:
                break
            del self._open[round]
        self._open.setdefault(asked.round, now)

    async def claim_round(self, round: str) -> bool:
        """Claim a round; return False if it is unknown or already claimed."""
        return self._open.pop(round, None) is not None

    async def release_round(self, round: str) -> None:
        """Undo a claim; the round's lifetime starts again."""
        self._open[round] = time.monotonic()

    async def record_answer(self, round: str, question: str, action: str) -> None:
        """Do nothing: answers are not stored."""


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _require_approval(question: Question, answer: Answer) -> Answer:
    """Return the answer, changed to `decline` if the user sent the form without approval.

    Applies only to questions with an approval field whose answer is false.
    """
    if question.approval is None or answer.action != "accept":
        return answer
    is_refused = (answer.content or {}).get(question.approval) is False
    return replace(answer, action="decline", content=None) if is_refused else answer


def _validate_content(
    question: Question, answer: Answer, problems: Sequence[str] = ()
) -> Mapping[str, Any]:
    """Return the fields of an accepted answer that the question's schema declares.

    Raises:
        DeclinedError: the answer is not accepted, or its content is invalid.
    """
    if answer.action == "cancel":
        raise DeclinedError("the user closed the question; nothing was done", "cancel")
    if answer.action != "accept":
        raise DeclinedError("the user declined; nothing was done", "decline")
    content = {} if answer.content is None else answer.content
    if question.approval is not None and content.get(question.approval) is not True:
        problems = problems or [f"`{question.approval}` is not true"]
    if problems:
        raise DeclinedError(
            f"the user's answer does not match the form: {'; '.join(problems)}"
        )
    fields = question.schema["properties"]
    return {name: value for name, value in content.items() if name in fields}


_STRINGS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
_TITLED_OPTIONS = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "required": ["const", "title"],
        "additionalProperties": False,
        "properties": {"const": {"type": "string"}, "title": {"type": "string"}},
    },
}
_COUNT = {"type": "integer", "minimum": 0}
_NUMBER = {"type": "number"}


def _field_schema(
    kind: str | list[str], required: tuple[str, ...] = (), **keywords: Any
) -> Any:
    """Return a JSON Schema that validates the schema of one form field.

    Args:
        kind: the allowed value of `type`, or several.
        required: the keywords that are required in addition to `type`.
        keywords: the schema of each allowed keyword, besides `title` and `description`.
    """
    types = [kind] if isinstance(kind, str) else kind
    texts = {"title": {"type": "string"}, "description": {"type": "string"}}
    return {
        "type": "object",
        "required": ["type", *required],
        "additionalProperties": False,
        "properties": {"type": {"enum": types}, **texts, **keywords},
    }


def _strict_object_schema(**properties: Any) -> Any:
    """Return the schema of an object that requires these properties and allows no others."""
    return {
        "type": "object",
        "required": [*properties],
        "additionalProperties": False,
        "properties": properties,
    }


_STRING_DEFAULT: dict[str, Any] = {"default": {"type": "string"}}
_FIELDS = [
    _field_schema("boolean", default={"type": "boolean"}),
    _field_schema(
        ["number", "integer"], minimum=_NUMBER, maximum=_NUMBER, default=_NUMBER
    ),
    _field_schema(
        "string",
        minLength=_COUNT,
        maxLength=_COUNT,
        format={"enum": ["email", "uri", "date", "date-time"]},
        **_STRING_DEFAULT,
    ),
    _field_schema(
        "string", ("enum",), enum=_STRINGS, enumNames=_STRINGS, **_STRING_DEFAULT
    ),
    _field_schema("string", ("oneOf",), oneOf=_TITLED_OPTIONS, **_STRING_DEFAULT),
    _field_schema(
        "array",
        ("items",),
        items={
            "anyOf": [
                _strict_object_schema(type={"const": "string"}, enum=_STRINGS),
                _strict_object_schema(anyOf=_TITLED_OPTIONS),
            ]
        },
        minItems=_COUNT,
        maxItems=_COUNT,
        default={"type": "array"},
    ),
]
_FORM = {
    "type": "object",
    "required": ["type", "properties"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string"},
        "type": {"const": "object"},
        "properties": {
            "type": "object",
            "additionalProperties": {"anyOf": _FIELDS},
        },
        "required": {"type": "array", "items": {"type": "string"}},
    },
}


def check_form(schema: Mapping[str, Any]) -> list[str]:
    """Return a message for each part of a form's schema that MCP does not allow.

    The list is empty if MCP clients can show the form.
    """
    return _form_checker().problems(schema)


@cache
def _form_checker() -> Checker:
    return Checker(_FORM)
