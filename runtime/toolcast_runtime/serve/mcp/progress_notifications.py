"""The progress notifications of one request: each above the one before, and a heartbeat.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/progress
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from .results import sendable

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

    from ...core.context import ReportProgress

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
