"""Asks the person in front of an MCP client, in the way that its era has.

Before 2026-07-28 the server sends a request of its own and waits. Since then the answer to a
call says what is needed, and the client makes the call again with it; what was asked and
answered so far comes back as state, which is sealed (`sealing`).

Source: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from ...core.context import Declined
from ...core.question import Answer, InputNeeded, Question
from .results import is_before_2026

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

_logger = logging.getLogger("toolcast")


class Asker(Protocol):
    """Asks the person in front of a client."""

    async def __call__(self, question: Question) -> Answer:
        """As `AskPerson`."""

    def result(self) -> types.InputRequiredResult | None:
        """What the call answers when it needs more; None when it does not."""


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
    return Answer("accept", {question.approval or "": True}, is_clients=True)


class Elicitation:
    """Sends `elicitation/create` and waits for its answer."""

    def __init__(self, context: ServerRequestContext[Any, Any]) -> None:
        self._context = context

    async def __call__(self, question: Question) -> Answer:
        """As `AskPerson`."""
        session = self._context.session
        if not session.can_send_request:
            raise Declined(
                f"`{question.tool}` has to ask a person first, and over this connection"
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
            raise Declined(
                f"`{question.tool}` has to ask a person first, and the client gave no"
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
        """As `AskPerson`; raises `InputNeeded` too."""
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
                raise Declined("the answer is none to a question")
            self._answers[question.name] = {
                "question": digest,
                "action": answer.action,
                "content": answer.content,
            }
            return Answer(answer.action, answer.content, earlier["round"])
        _require_forms(self._context, question)
        if self._refusal is not None:
            raise Declined(self._refusal)
        self._round = self._round or secrets.token_hex(16)
        put = partial(self._needed.__setitem__, question.name, question)
        raise InputNeeded(self._round, put)

    def result(self) -> types.InputRequiredResult | None:
        """As `Asker`; its state is not sealed yet."""
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


def _require_forms(context: ServerRequestContext[Any, Any], question: Question) -> None:
    """A client says that it can show forms; an empty word means that, too."""
    capabilities = context.session.client_capabilities
    can = None if capabilities is None else capabilities.elicitation
    if can is None or (can.form is None and can.url is not None):
        raise Declined(
            f"`{question.tool}` has to ask a person first, and this client cannot: it has"
            " not declared `elicitation` with forms; nothing was done"
        )
