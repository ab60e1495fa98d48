"""Event streams of running calls while an ASGI server shuts down."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from sse_starlette.sse import AppStatus

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_lock = threading.Lock()
_running = 0


class FinishedStreams:
    """ASGI application whose event streams are completed when the server shuts down.

    The MCP SDK answers calls of the handshake versions with event streams of sse-starlette.
    That package changes uvicorn's signal handler and cancels all streams of the process at
    SIGTERM, which suits endless streams; a call's stream ends with the call. So this
    application switches the cancellation off while requests run, with the functions that
    sse-starlette 3.5 has for it, and on again afterwards: other streams of the process then
    end, at the latest half a second later.

    Args:
        app: the application that answers the requests.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and keep its response from being cancelled."""
        _count(1)
        try:
            await self._app(scope, receive, send)
        finally:
            _count(-1)


def _count(change: int) -> None:
    global _running
    # Lock the counter: several event loops in threads of one process may run applications.
    with _lock:
        _running += change
        if _running:
            AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]
        else:
            AppStatus.enable_automatic_graceful_drain_mode()  # type: ignore[no-untyped-call]
