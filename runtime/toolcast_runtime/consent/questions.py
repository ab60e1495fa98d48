"""The questions of one call: asked of a person, recorded, and their answers checked.

A form has to be one that clients can show: what MCP allows in an elicitation, in both eras.
Source: MCP 2026-07-28, client/elicitation: `PrimitiveSchemaDefinition`.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import secrets
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
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
    Asked,
    AskUser,
    InputRequiredError,
    Question,
)
from ..core.validation.checker import Checker
from .confirmation import readable

_logger = logging.getLogger("toolcast")

ANSWER_TIMEOUT_S = 600.0
"""Time that the user has to answer while the call waits."""
_KEPT_SECONDS = 3600.0
"""How long a round is remembered in memory; sealed state is refused long before."""


class Questions:
    """The questions of one call.

    Args:
        person: asks the person who is in front of this surface; one that is `is_later` may
            end the call with the question, by `InputRequiredError`.
        approvals: where questions and answers are kept, found when it is first needed.
        tool: the tool that is called.
        client: who calls.
        arguments: of the call.
        loop: where the call runs; its handler may be in a thread, or in another loop.

    Attributes:
        is_pending: the call has to be made again, with an answer.
        unawaited: questions that a handler began to put, and did not wait for.
    """

    def __init__(
        self,
        person: AskUser,
        approvals: Callable[[], Approvals],
        tool: Tool,
        client: str | None,
        arguments: Mapping[str, Any],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._person = person
        self._approvals = approvals
        self._tool = tool
        self._client = client
        self._arguments = arguments
        self._names: set[str] = set()
        self._taken: set[str] = set()
        self._waited = 0.0
        self._waiting = 0
        self._waiting_since = 0.0
        self._loop = loop
        self.is_pending = False
        self.unawaited = 0

    @property
    def waited(self) -> float:
        """Seconds in which the call waited for a person, so far."""
        now = time.monotonic()
        return self._waited + (now - self._waiting_since if self._waiting else 0.0)

    @property
    def is_waiting(self) -> bool:
        """Whether the call waits for a person now."""
        return self._waiting > 0

    def form(
        self, schema: Mapping[str, Any], message: str, name: str | None
    ) -> Coroutine[Any, Any, Mapping[str, Any]]:
        """The fields that a person filled in, to be awaited.

        Raises: as `ask`.
            ValueError: no client can show such a form, or two questions have one name.
            RuntimeError: no event loop runs here.
        """
        if not _has_loop():
            raise RuntimeError(
                "a plain function has to wait for the answer: `ask_sync`"
            )
        self.unawaited += 1
        if asyncio.get_running_loop() is self._loop:
            return self._form(schema, message, name)
        # What the tool uses may be of another loop than its caller, and so the handler.
        return run_in_loop(self._loop, self._form(schema, message, name))

    def form_sync(
        self, schema: Mapping[str, Any], message: str, name: str | None
    ) -> Mapping[str, Any]:
        """The same for a thread beside the call's event loop."""
        if _has_loop():
            raise RuntimeError(
                "an async function does not wait here: `await call.ask(...)`"
            )
        self.unawaited += 1
        asking = self._form(schema, message, name)
        return asyncio.run_coroutine_threadsafe(asking, self._loop).result()

    async def _form(
        self, schema: Mapping[str, Any], message: str, name: str | None
    ) -> Mapping[str, Any]:
        self.unawaited -= 1
        problems = problems_with_form(schema)
        if problems:
            raise ValueError(f"no client can show this form: {'; '.join(problems)}")
        message = readable(message)
        name = f"question_{len(self._names) + 1}" if name is None else name
        question = Question(name, message, schema, self._tool.name, self._arguments)
        return await self.ask(question, message)

    async def ask(self, question: Question, kept: str) -> Mapping[str, Any]:
        """The content of an accepted answer that its schema allows.

        Args:
            question: what the person is asked.
            kept: what is recorded of its message.

        Raises:
            DeclinedError: there is no such answer.
            InputRequiredError: the call has to be made again, with an answer.
        """
        if question.name in self._names:
            raise ValueError(f"two questions of one call are called `{question.name}`")
        self._names.add(question.name)
        round = None
        if not getattr(self._person, "is_later", False):
            round = await self._begun(question, kept)
        try:
            answer = await self._said(question)
        except InputRequiredError as needed:
            await self._kept(needed.round, question, kept)
            if needed.is_repeated:
                await self._give_back()
            needed.put()
            self.is_pending = True
            raise
        answer = _judged(question, answer)
        if answer.round is not None:
            round = answer.round
            await self._take(round)
        elif round is None:
            round = await self._begun(question, kept)
        await self._recorded(round, question, answer)
        return _content(question, answer)

    async def _begun(self, question: Question, kept: str) -> str:
        """The round of a question that is answered within the call."""
        round = secrets.token_hex(16)
        await self._kept(round, question, kept)
        return round

    async def _said(self, question: Question) -> Answer:
        """The answer of the person, for whom the call's own time stands still."""
        if not self._waiting:
            self._waiting_since = time.monotonic()
        self._waiting += 1
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                answer = self._person(question)
                return await answer if inspect.isawaitable(answer) else answer
        except TimeoutError:
            raise DeclinedError("nobody answered in time; nothing was done") from None
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._waited += time.monotonic() - self._waiting_since

    async def _take(self, round: str) -> None:
        if round in self._taken:
            return
        with self._recording():
            is_free = await self._approvals().claim_round(round)
        if not is_free:
            raise DeclinedError(
                "this answer was used already, and each counts once, or its question is"
                " in no ledger that this server has; call again without it, so that the"
                " person is asked again"
            )
        self._taken.add(round)

    async def _give_back(self) -> None:
        """Nothing was done with the answers yet, and the call will bring them again."""
        with self._recording():
            for round in self._taken:
                await self._approvals().release_round(round)

    async def _kept(self, round: str, question: Question, message: str) -> None:
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        asked = Asked(
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
        with self._recording():
            await self._approvals().record_question(asked)

    async def _recorded(self, round: str, question: Question, answer: Answer) -> None:
        said = "client" if answer.is_confirmed_by_client else answer.action
        with self._recording():
            await self._approvals().record_answer(round, question.name, said)

    @contextmanager
    def _recording(self) -> Iterator[None]:
        """What is done with the approvals; nothing goes on when they cannot be kept."""
        try:
            yield
        except OSError:
            _logger.exception("a question of %s is refused", self._tool.name)
            raise DeclinedError(
                "nobody can be asked: questions are recorded, and the ledger cannot be"
                " written; the log says why"
            ) from None


class ApprovalsInMemory:
    """What was asked of one process, which is enough where no other gets its requests."""

    def __init__(self) -> None:
        self._open: dict[str, float] = {}

    async def record_question(self, asked: Asked) -> None:
        """As of `Approvals`."""
        now = time.monotonic()
        for round, since in list(self._open.items()):
            if now - since < _KEPT_SECONDS:
                break
            del self._open[round]
        self._open.setdefault(asked.round, now)

    async def claim_round(self, round: str) -> bool:
        """As of `Approvals`."""
        return self._open.pop(round, None) is not None

    async def release_round(self, round: str) -> None:
        """As of `Approvals`."""
        self._open[round] = time.monotonic()

    async def record_answer(self, round: str, question: str, action: str) -> None:
        """As of `Approvals`."""


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _judged(question: Question, answer: Answer) -> Answer:
    """The answer; one that was sent without its yes is none."""
    if question.approval is None or answer.action != "accept":
        return answer
    is_yes = (answer.content or {}).get(question.approval) is True
    return answer if is_yes else replace(answer, action="decline", content=None)


def _content(question: Question, answer: Answer) -> Mapping[str, Any]:
    if answer.action == "cancel":
        raise DeclinedError("the person closed the question; nothing was done")
    if answer.action != "accept":
        raise DeclinedError("the person declined; nothing was done")
    content = {} if answer.content is None else answer.content
    problems = Checker(question.schema).problems(content)
    if problems:
        raise DeclinedError(
            f"the answer is not what was asked for: {'; '.join(problems)}"
        )
    asked = question.schema["properties"]
    return {name: value for name, value in content.items() if name in asked}


_TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
_TITLED = {
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


def _field(kind: str | list[str], required: tuple[str, ...] = (), **more: Any) -> Any:
    types = [kind] if isinstance(kind, str) else kind
    words = {"title": {"type": "string"}, "description": {"type": "string"}}
    return {
        "type": "object",
        "required": ["type", *required],
        "additionalProperties": False,
        "properties": {"type": {"enum": types}, **words, **more},
    }


def _chosen(**items: Any) -> Any:
    return {
        "type": "object",
        "required": [*items],
        "additionalProperties": False,
        "properties": items,
    }


_ONE: dict[str, Any] = {"default": {"type": "string"}}
_FIELDS = [
    _field("boolean", default={"type": "boolean"}),
    _field(["number", "integer"], minimum=_NUMBER, maximum=_NUMBER, default=_NUMBER),
    _field(
        "string",
        minLength=_COUNT,
        maxLength=_COUNT,
        format={"enum": ["email", "uri", "date", "date-time"]},
        **_ONE,
    ),
    _field("string", ("enum",), enum=_TEXTS, enumNames=_TEXTS, **_ONE),
    _field("string", ("oneOf",), oneOf=_TITLED, **_ONE),
    _field(
        "array",
        ("items",),
        items={
            "anyOf": [
                _chosen(type={"const": "string"}, enum=_TEXTS),
                _chosen(anyOf=_TITLED),
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


def problems_with_form(schema: Mapping[str, Any]) -> list[str]:
    """Why no client can show a form of this schema; empty when each can."""
    return _checker().problems(schema)


@cache
def _checker() -> Checker:
    return Checker(_FORM)
