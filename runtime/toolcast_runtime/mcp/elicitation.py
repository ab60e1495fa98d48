"""What a client is told and asked in the middle of a call: progress, and what its person says.

A person is asked in the way that the client's era has.

Before 2026-07-28 the server sends a request of its own and waits. Since then the answer to a
call says what is needed, and the client makes the call again with it; what was asked and
answered so far comes back as state, which is sealed (`sealing`).

Source: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation and
/basic/utilities/progress
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from ..core.context import DeclinedError
from ..core.question import Answer, InputRequiredError, Question
from .results import is_before_2026, sendable

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

    from ..core.context import ReportProgress

_logger = logging.getLogger("toolcast")


def asker(
    context: ServerRequestContext[Any, Any],
    responses: Mapping[str, Any] | None,
    state: str | None,
    refusal: str | None,
) -> Asker:
    """Who asks for a request.

    Args:
        context: the request's.
        responses: the answers that it brings.
        state: what was asked and answered before, as this server has written it.
        refusal: why this server cannot ask in more than one request; None when it can.
    """
    if is_before_2026(context.protocol_version):
        return Elicitation(context)
    return RoundTrips(context, responses, state, refusal)


def approved(question: Question) -> Answer:
    """The answer of a client whose own program has asked before it called."""
    return Answer(
        "accept", {question.approval or "": True}, is_confirmed_by_client=True
    )


class Elicitation:
    """Sends `elicitation/create` and waits for its answer."""

    def __init__(self, context: ServerRequestContext[Any, Any]) -> None:
        self._context = context

    async def __call__(self, question: Question) -> Answer:
        """As `AskUser`."""
        session = self._context.session
        if not session.can_send_request:
            raise DeclinedError(
                f"`{question.tool}` has to ask the user first, and over this connection"
                " nobody can be asked: it takes a client of protocol 2026-07-28, one over"
                " stdio, or a session, which a server of one process keeps with a client"
                " that declares `elicitation` with forms; nothing was done"
            )
        _require_forms(self._context, question)
        try:
            result = await session.elicit_form(
                question.message,
                dict(question.schema),
                related_request_id=self._context.request_id,
            )
        except (MCPError, ValidationError) as error:
            _logger.warning("a client did not ask its person: %s", type(error).__name__)
            raise DeclinedError(
                f"`{question.tool}` has to ask the user first, and the client gave no"
                " answer of a person's; nothing was done"
            ) from None
        return Answer(result.action, result.content)

    def result(self) -> None:
        """The call has waited for its answers."""


class RoundTrips:
    """Ends the call with what is needed, and knows the answers when it is made again."""

    is_later = True

    def __init__(
        self,
        context: ServerRequestContext[Any, Any],
        responses: Mapping[str, Any] | None,
        state: str | None,
        refusal: str | None,
    ) -> None:
        self._context = context
        self._responses = responses
        self._state = state
        self._refusal = refusal
        self._earlier: dict[str, Any] | None = None
        self._round = ""
        self._needed: dict[str, Question] = {}
        self._answers: dict[str, Any] = {}

    async def __call__(self, question: Question) -> Answer:
        """As `AskUser`; raises `InputRequiredError` too."""
        earlier = self._read()
        digest = question.digest
        known = earlier["answers"].get(question.name)
        if known is not None and known["question"] == digest:
            self._answers[question.name] = known
            return Answer(known["action"], known["content"], earlier["round"])
        answer = (self._responses or {}).get(question.name)
        # An answer counts for exactly what was shown, and only if it was.
        if answer is not None and earlier["asked"].get(question.name) == digest:
            if not isinstance(answer, types.ElicitResult):
                raise DeclinedError("the answer is none to a question")
            self._answers[question.name] = {
                "question": digest,
                "action": answer.action,
                "content": answer.content,
            }
            return Answer(answer.action, answer.content, earlier["round"])
        _require_forms(self._context, question)
        if self._refusal is not None:
            raise DeclinedError(self._refusal)
        self._round = self._round or secrets.token_hex(16)
        put = partial(self._needed.__setitem__, question.name, question)
        raise InputRequiredError(self._round, put)

    def result(self) -> types.InputRequiredResult | None:
        """What the call answers when it needs more, its state not sealed yet; or None."""
        if not self._needed:
            return None
        state = {
            "round": self._round,
            "asked": {name: q.digest for name, q in self._needed.items()},
            "answers": self._answers,
        }
        requests: dict[str, types.InputRequest] = {
            name: types.ElicitRequest(
                params=types.ElicitRequestFormParams(
                    message=question.message, requested_schema=dict(question.schema)
                )
            )
            for name, question in self._needed.items()
        }
        return types.InputRequiredResult(
            input_requests=requests, request_state=json.dumps(state)
        )

    def _read(self) -> dict[str, Any]:
        """What was asked and answered before, which only this server can have written."""
        if self._earlier is None:
            nothing = {"round": "", "asked": {}, "answers": {}}
            self._earlier = nothing if self._state is None else json.loads(self._state)
        return self._earlier


Asker = Elicitation | RoundTrips


def _require_forms(context: ServerRequestContext[Any, Any], question: Question) -> None:
    """A client says that it can show forms; an empty word means that, too."""
    capabilities = context.session.client_capabilities
    can = None if capabilities is None else capabilities.elicitation
    if can is None or (can.form is None and can.url is not None):
        raise DeclinedError(
            f"`{question.tool}` has to ask the user first, and this client cannot: it has"
            " not declared `elicitation` with forms; nothing was done"
        )


HEARTBEAT_SECONDS = 5.0
"""Without a report, before the last one is sent again: below what clients wait at least."""

_STEP = 1e-6


def asked_for(
    context: ServerRequestContext[Any, Any], has_heartbeat: bool
) -> ProgressNotifications:
    """The notifications of a request that asks for them by its `progressToken`."""
    heartbeat = HEARTBEAT_SECONDS if has_heartbeat else None
    return ProgressNotifications(context.session.report_progress, heartbeat)


class ProgressNotifications:
    """Sends a request's progress notifications.

    A value that is not above the one before, as MCP wants it, is sent as one that is by a
    millionth. So is the heartbeat: to many clients every notification says that the call
    still runs.

    Args:
        send: sends one.
        heartbeat: seconds; None for no heartbeat.
    """

    def __init__(self, send: ReportProgress, heartbeat: float | None) -> None:
        self._send = send
        self._heartbeat = heartbeat
        self._last: tuple[float, float | None, str | None] | None = None
        self._sent = asyncio.Event()
        self._beating: asyncio.Task[None] | None = None

    async def __call__(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """As `ReportProgress`."""
        if self._last is not None and progress <= self._last[0]:
            last = self._last[0]
            progress = round(last + _STEP * max(1.0, abs(last)), 6)
        text = None if message is None else sendable(message)
        self._last = progress, total, text
        self._sent.set()
        await self._send(progress, total, text)

    async def __aenter__(self) -> ProgressNotifications:
        if self._heartbeat is not None:
            self._beating = asyncio.create_task(self._beat(self._heartbeat))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._beating is not None:
            self._beating.cancel()

    async def _beat(self, seconds: float) -> None:
        while True:
            try:
                async with asyncio.timeout(seconds):
                    await self._sent.wait()
                self._sent.clear()
            except TimeoutError:
                try:
                    await self(*(self._last or (0,)))
                except Exception:  # the caller is gone, which ends the call, too
                    return
                self._sent.clear()
