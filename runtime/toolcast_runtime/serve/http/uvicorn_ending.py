"""Lets uvicorn's processes end as asked: with what is open closed, and 0.

By itself uvicorn raises a signal again when it has served, which ends the process by it: nothing
of `atexit` runs, and whoever asked for the end is told of a failure.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING

from ...core.toolset_settings import LifespanError
from ..stdio.ending import CLOSING_SECONDS, SIGNALS, START_FAILED, Ending

if TYPE_CHECKING:
    import socket

    import uvicorn
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ...core.registry.registry import Registry


def ending_app(app: ASGIApp, ending: Ending, registry: Registry) -> ASGIApp:
    """The application, whose start takes the signals from the uvicorn server that runs it.

    It is ready when the toolset's lifespan has started; the application ends that.
    """

    async def started(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            # While it serves, uvicorn has its server's own method for a handler.
            server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
            if server is not None:
                _stop_listening_first(server)
            loop = asyncio.get_running_loop()
            starting = asyncio.ensure_future(registry.__aenter__())

            def stop() -> None:
                if server is not None:
                    server.should_exit = True
                with contextlib.suppress(RuntimeError):  # The loop has ended.
                    loop.call_soon_threadsafe(starting.cancel)

            ending.take_signals(stop)
            await asyncio.wait({starting})
            try:
                if not starting.cancelled():
                    starting.result()
            except LifespanError as error:
                # Said here: what fails in the application itself is told as a traceback.
                text = str(error)
                await send({"type": "lifespan.startup.failed", "message": text})
                return
        await app(scope, receive, send)

    return started


def _stop_listening_first(server: uvicorn.Server) -> None:
    """Of a worker nobody makes the server but uvicorn, so that it cannot be of a class of ours."""
    from .connections import stop_listening

    shutdown = server.shutdown

    async def stopped(sockets: list[socket.socket] | None = None) -> None:
        await stop_listening(server)
        await shutdown(sockets)

    server.shutdown = stopped  # type: ignore[method-assign]


def supervise(config: uvicorn.Config, listener: socket.socket, grace: int) -> None:
    """Serves in several processes until a signal ends them all.

    A worker that is still there when the grace period and the time for closing are over is
    killed; by then everything but its `atexit` was closed.

    Raises:
        SystemExit: a worker could not be started; it has said why.
    """
    from uvicorn.supervisors import Multiprocess

    class Supervisor(Multiprocess):
        def terminate_all(self) -> None:
            for number in SIGNALS:
                signal.signal(number, self._end_at_once)
            super().terminate_all()
            # Or the system would take connections that nobody answers.
            for each in self.sockets:
                each.close()
            timer = threading.Timer(grace + CLOSING_SECONDS, self._kill_all)
            timer.daemon = True
            timer.start()

        def _end_at_once(self, number: int, frame: FrameType | None) -> None:
            self._kill_all()
            os._exit(128 + number)

        def _kill_all(self) -> None:
            for process in self.processes:
                process.kill()

    supervisor = Supervisor(config, [listener])
    supervisor.run()
    if any(process.exitcode == START_FAILED for process in supervisor.processes):
        raise SystemExit(START_FAILED)
