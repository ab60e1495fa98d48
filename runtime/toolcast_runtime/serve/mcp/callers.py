"""Tells what runs for a request who asks, and with which request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...core.context import CALLER, Caller

if TYPE_CHECKING:
    from mcp.server.context import (
        CallNext,
        HandlerResult,
        ServerMiddleware,
        ServerRequestContext,
    )

IDENTITY = "toolcast.caller"
"""The key of an ASGI scope with the `Caller` that a token was found to be of."""

CALLED = "toolcast.called"
"""The key of an ASGI scope whose request has called a tool, which the log has a line of."""

_SESSION = "mcp-session-id"


def told_who_asks(headers: Sequence[str]) -> ServerMiddleware[Any]:
    """The middleware that sets `CALLER` while a request is answered.

    What the transport has found out is read from the request itself: the task that answers
    a request of a session was begun by an earlier one.

    Args:
        headers: the names of headers that handlers may ask for.
    """
    names = tuple(name.lower() for name in headers)

    async def told(
        ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        token = CALLER.set(_caller(ctx, names))
        try:
            return await call_next(ctx)
        finally:
            CALLER.reset(token)

    return told


def _caller(ctx: ServerRequestContext[Any, Any], names: Sequence[str]) -> Caller:
    request = ctx.request
    if request is None:
        return Caller(request_id=ctx.request_id)
    known: Caller = request.scope.get(IDENTITY, Caller())
    sent: Mapping[str, str] = request.headers
    return known._replace(
        request_id=ctx.request_id,
        session=sent.get(_SESSION),
        headers={name: sent[name] for name in names if name in sent},
    )
