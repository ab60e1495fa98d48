"""Progress notifications and questions to the user during a request.

The mechanism of questions depends on the protocol version. With a handshake version (up to
2025-11-25) the server sends a request of its own and waits for the response. With 2026-07-28 the call returns
a result that requires input, and the client repeats the call with the user's answer. The questions
and answers so far travel as sealed state (`make_sealer`).

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
from .results import escape_surrogates, is_handshake_version

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

    from ..core.context import ReportProgress

_logger = logging.getLogger("toolcast")


def make_asker(
    context: ServerRequestContext[Any, Any],
    responses: Mapping[str, Any] | None,
    state: str | None,
    refusal: str | None,
) -> Asker:
    """Return the `AskUser` for a request, by the client's protocol version.

    Args:
        context: the context of the request.
        responses: the user's answers that the request contains.
        state: the questions and answers so far, as this server wrote them.
        refusal: why this server cannot ask in more than one request; None if it can.
    """
    if is_handshake_version(context.protocol_version):
        return Elicitation(context)
    return RoundTrips(context, responses, state, refusal)


def confirm_by_client(question: Question) -> Answer:
    """Return an accepted answer for a client whose own program asked its user to approve."""
    return Answer(
        "accept", {question.approval or "": True}, is_confirmed_by_client=True
    )


class Elicitation:
    """Questions by an `elicitation/create` request to the client, for handshake versions."""

    def __init__(self, context: ServerRequestContext[Any, Any]) -> None:
        self._context = context

    async def __call__(self, question: Question) -> Answer:
        """Ask the user, as an `AskUser`."""
        session = self._context.session
        if not session.can_send_request:
            raise DeclinedError(
                f"`{question.tool}` has to ask the user first, and no user can be asked over"
                " this connection; nothing was done; help: use a client with protocol"
                " 2026-07-28, a client over stdio, or a server of one process with a"
                " client that declares `elicitation` with forms"
            )
        _require_forms(self._context, question)
        try:
            result = await session.elicit_form(
                question.message,
                dict(question.schema),
                related_request_id=self._context.request_id,
            )
        except (MCPError, ValidationError) as error:
            _logger.warning("a client did not ask its user: %s", type(error).__name__)
            raise DeclinedError(
                f"`{question.tool}` has to ask the user first, and the client did not return"
                " the user's answer; nothing was done"
            ) from None
        return Answer(result.action, result.content)

    def build_result(self) -> None:
        """Return None: the tool's own result is sent.

        `__call__` awaited the user's answer, so the client need not repeat the call.
        """


class RoundTrips:
    """Questions by a result that ends the call; the client repeats it with the answer."""

    can_repeat_call = True

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
        self._loaded_state: dict[str, Any] | None = None
        self._round = ""
        self._pending: dict[str, Question] = {}
        self._answers: dict[str, Any] = {}

    async def __call__(self, question: Question) -> Answer:
        """Ask the user, as an `AskUser`.

        Raises:
            InputRequiredError: the call must end with the question.
        """
        state = self._load_state()
        digest = question.digest
        earlier_answer = state["answers"].get(question.name)
        if earlier_answer is not None and earlier_answer["question"] == digest:
            self._answers[question.name] = earlier_answer
            return Answer(
                earlier_answer["action"], earlier_answer["content"], state["round"]
            )
        response = (self._responses or {}).get(question.name)
        # Accept an answer only if this question, with the same content, was asked before: the
        # sealed state contains its digest.
        if response is not None and state["asked"].get(question.name) == digest:
            if not isinstance(response, types.ElicitResult):
                raise DeclinedError("the response is not an answer to a question")
            self._answers[question.name] = {
                "question": digest,
                "action": response.action,
                "content": response.content,
            }
            return Answer(response.action, response.content, state["round"])
        _require_forms(self._context, question)
        if self._refusal is not None:
            raise DeclinedError(self._refusal)
        self._round = self._round or secrets.token_hex(16)
        put = partial(self._pending.__setitem__, question.name, question)
        raise InputRequiredError(self._round, put)

    def build_result(self) -> types.InputRequiredResult | None:
        """Return the result that requires the user's input, unsealed; None if none is needed."""
        if not self._pending:
            return None
        state = {
            "round": self._round,
            "asked": {
                name: question.digest for name, question in self._pending.items()
            },
            "answers": self._answers,
        }
        requests: dict[str, types.InputRequest] = {
            name: types.ElicitRequest(
                params=types.ElicitRequestFormParams(
                    message=question.message, requested_schema=dict(question.schema)
                )
            )
            for name, question in self._pending.items()
        }
        return types.InputRequiredResult(
            input_requests=requests, request_state=json.dumps(state)
        )

    def _load_state(self) -> dict[str, Any]:
        if self._loaded_state is None:
            if self._state is None:
                self._loaded_state = {"round": "", "asked": {}, "answers": {}}
            else:
                # The state needs no validation: its seal proves that this server wrote it.
                self._loaded_state = json.loads(self._state)
        return self._loaded_state


Asker = Elicitation | RoundTrips


def _require_forms(context: ServerRequestContext[Any, Any], question: Question) -> None:
    """Raise if the client cannot show forms; an empty `elicitation` object declares forms."""
    capabilities = context.session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    if elicitation is None or (
        elicitation.form is None and elicitation.url is not None
    ):
        raise DeclinedError(
            f"`{question.tool}` has to ask the user first, and this client cannot ask: it"
            " does not declare `elicitation` with forms; nothing was done"
        )


HEARTBEAT_INTERVAL_S = 5.0
"""Interval at which the last report is repeated; below the timeouts of all known clients."""

_PROGRESS_STEP = 1e-6


def make_progress_notifications(
    context: ServerRequestContext[Any, Any], has_heartbeat: bool
) -> ProgressNotifications:
    """Return the notifications of a request that has a `progressToken`."""
    heartbeat = HEARTBEAT_INTERVAL_S if has_heartbeat else None
    return ProgressNotifications(context.session.report_progress, heartbeat)


class ProgressNotifications:
    """Progress notifications of a request, with an optional heartbeat.

    MCP requires each value to be greater than the previous one. A smaller or equal value is
    replaced by one slightly above the previous value. The heartbeat repeats the last report with
    such a value, because many clients reset their timeout at each notification.

    Args:
        send: sends a notification.
        heartbeat: interval in seconds; None for no heartbeat.
    """

    def __init__(self, send: ReportProgress, heartbeat: float | None) -> None:
        self._send = send
        self._heartbeat = heartbeat
        self._last: tuple[float, float | None, str | None] | None = None
        self._sent = asyncio.Event()
        self._heartbeat_task: asyncio.Task[None] | None = None

    async def __call__(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Send a progress report, as a `ReportProgress`."""
        if self._last is not None and progress <= self._last[0]:
            last = self._last[0]
            progress = round(last + _PROGRESS_STEP * max(1.0, abs(last)), 6)
        text = None if message is None else escape_surrogates(message)
        self._last = progress, total, text
        self._sent.set()
        await self._send(progress, total, text)

    async def __aenter__(self) -> ProgressNotifications:
        if self._heartbeat is not None:
            self._heartbeat_task = asyncio.create_task(
                self._send_heartbeats(self._heartbeat)
            )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._heartbeat_task is not None:
            self._heartbeat_task.cancel()

    async def _send_heartbeats(self, interval: float) -> None:
        while True:
            try:
                async with asyncio.timeout(interval):
                    await self._sent.wait()
                self._sent.clear()
            except TimeoutError:
                try:
                    await self(*(self._last or (0,)))
                except Exception:
                    # The client has disconnected; the server cancels the call by itself.
                    return
                self._sent.clear()
