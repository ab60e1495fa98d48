"""Calls over a pipe that are answered without the SDK's dispatch.

A call that asks for nothing but a tool and its arguments, in a session that the SDK has opened
and has served a call in, needs none of what the dispatch is for: it begins where its line is
read, and if it need not wait its answer is written in the same turn of the loop. Whatever is
anything more is the SDK's. The handler is the one that the SDK calls, parameters and result are
checked against the SDK's models, and what cancels a call or ends the session is kept.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from typing import TYPE_CHECKING, Any

from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import (
    cancelled_request_id_from_params,
    handler_exception_to_error_data,
)
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCResponse,
)
from mcp_types.methods import serialize_server_result
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from ..calls.eager_task import start
from ..calls.tracing import is_traced
from .stdio_writing import Outgoing

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp_types import JSONRPCNotification, JSONRPCRequest, RequestId

__all__ = ["DirectCalls"]

_logger = logging.getLogger("toolcast")

_METHOD = "tools/call"
_PLAIN = {"name", "arguments"}
_CLOSED = "the client has left"
_PATIENCE = 2.0
"""Seconds that a handler may take to give up."""


class _Session:
    """What a handler finds for a caller that wants to know of no progress."""

    @staticmethod
    async def report_progress(*progress: Any) -> None:
        """Tells nobody."""


class _Context:
    """What a handler is told of a call."""

    __slots__ = ("protocol_version",)

    request = None
    session = _Session()

    def __init__(self, protocol_version: str) -> None:
        self.protocol_version = protocol_version


class DirectCalls:
    """The calls of one connection that are answered here.

    Args:
        server: whose handler of `tools/call` is called; its context has no request, no
            progress token and a protocol version, and nothing else. The connection's first
            request has been read.
        outgoing: where answers go.
    """

    def __init__(self, server: Server[Any], outgoing: Outgoing) -> None:
        entry = server.get_request_handler(_METHOD)
        if entry is None:
            raise ValueError("the server calls no tools")
        self._handler, self._params = entry.handler, entry.params_type
        self._outgoing = outgoing
        self._context: _Context | None = None
        self._is_opened_again = False
        self._running: dict[RequestId, asyncio.Task[None]] = {}
        self._given_up: set[asyncio.Task[None]] = set()
        # A call must not find what another one has set.
        self._variables = contextvars.copy_context()
        server.middleware.append(self._learn)

    def take(self, request: JSONRPCRequest) -> bool:
        """Begins a call, and answers it when it need not wait; False when it is the SDK's."""
        if request.method != _METHOD:
            # Another handshake may change the revision; no client has a reason for one.
            self._is_opened_again |= request.method == "initialize"
            return False
        number = coerce_request_id(request.id)
        if (
            self._context is None
            or self._is_opened_again
            or not request.params
            or not request.params.keys() <= _PLAIN
            or number in self._running
            or self._outgoing.is_behind
            or is_traced()
        ):
            return False
        try:
            params = self._params.model_validate(request.params, by_name=False)
        except ValidationError:
            return False
        variables = self._variables.copy()
        given = self._answer(request.id, params, self._context)
        started = variables.run(start, given)
        if isinstance(started, asyncio.Task):
            self._running[number] = started
            started.add_done_callback(self._ended)
        return True

    def forget(self, notification: JSONRPCNotification) -> None:
        """Gives up the call that a notification cancels, if it is one of these."""
        if notification.method == "notifications/cancelled":
            number = cancelled_request_id_from_params(notification.params)
            if number is not None:
                task = self._running.pop(coerce_request_id(number), None)
                if task is not None:
                    self._given_up.add(task)
                    task.cancel()

    async def close(self) -> None:
        """Gives up what still runs, and answers as the SDK does."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel(_CLOSED)
        if tasks:
            await asyncio.wait(tasks, timeout=_PATIENCE)

    async def _learn(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Sees which revision the session speaks, from a call that the SDK serves."""
        result = await call_next(ctx)
        if (
            ctx.method == _METHOD
            and ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
        ):
            self._context = _Context(ctx.protocol_version)
        return result

    async def _answer(
        self, number: RequestId, params: BaseModel, context: _Context
    ) -> None:
        """Calls the tool and sends what came of it, unless the client gave it up."""
        answer: JSONRPCResponse | JSONRPCError
        try:
            result = await self._handler(context, params)  # type: ignore[arg-type]  # see _Context
            answer = JSONRPCResponse(
                jsonrpc="2.0", id=number, result=_sent(result, context.protocol_version)
            )
        except asyncio.CancelledError as error:
            if error.args != (_CLOSED,):
                raise
            closed = ErrorData(code=CONNECTION_CLOSED, message="Connection closed")
            answer = JSONRPCError(jsonrpc="2.0", id=number, error=closed)
        except Exception as error:
            answer = JSONRPCError(jsonrpc="2.0", id=number, error=_told(error))
        # What goes on after it was cancelled is not answered all the same.
        if not self._given_up or asyncio.current_task() not in self._given_up:
            self._outgoing.answer(answer)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._given_up.discard(task)
        for number, other in list(self._running.items()):
            if other is task:
                del self._running[number]


def _sent(result: Any, revision: str) -> dict[str, Any]:
    """The result as the SDK sends it in a revision.

    Raises:
        MCPError: it is none that can be sent.
    """
    if isinstance(result, BaseModel):
        result = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    try:
        return serialize_server_result(_METHOD, revision, result)
    except ValidationError:
        _logger.exception("the handler of %s returned an invalid result", _METHOD)
        text = "Handler returned an invalid result"
        raise MCPError(code=INTERNAL_ERROR, message=text) from None


def _told(error: Exception) -> ErrorData:
    """What the SDK says of an exception."""
    known = handler_exception_to_error_data(error)
    if known is not None:
        return known
    _logger.error("the handler of %s failed", _METHOD, exc_info=error)
    return ErrorData(code=0, message=str(error))
