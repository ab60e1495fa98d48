"""How far a call is: reports from any thread, sent one after the other."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import threading
from functools import partial

from ..context import NOT_SENT, ReportProgress, Sent

_logger = logging.getLogger("toolcast")

_PATIENCE_SECONDS = 1.0
"""How long the last report of a call may keep its answer waiting."""


class Reports:
    """The reports of one call, made and left in its loop.

    Nobody who reports has to wait: while one report is being sent, the newest of the later
    ones is kept and the others are dropped. After the call nothing is sent.
    """

    def __init__(self, send: ReportProgress) -> None:
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._newest: tuple[float, float | None, str | None] | None = None
        self._made = 0
        self._sent = 0
        self._is_woken = False
        self._is_over = False
        self._sender: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    def report(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> Sent:
        """Hands a report over; from any thread.

        Raises:
            ValueError: a number is infinite or none.
            TypeError: it is no number, or the message is no text.
        """
        progress = _number(progress)
        total = None if total is None else _number(total)
        if not (message is None or isinstance(message, str)):
            raise TypeError("the message is a text")
        with self._lock:
            if self._is_over:
                return NOT_SENT
            self._newest = progress, total, message
            self._made += 1
            number, is_woken = self._made, self._is_woken
            self._is_woken = True
        if not is_woken:
            # The loop may have ended while a thread ran on.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._wake)
        return Sent(partial(self._until, number))

    async def __aenter__(self) -> Reports:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._lock:
            self._is_over = True
        if kind is None:
            self._wake()
            if self._sender is not None:
                await asyncio.wait({self._sender}, timeout=_PATIENCE_SECONDS)
        if self._sender is not None:
            self._sender.cancel()
        self._tell()

    def _wake(self) -> None:
        """In the loop: somebody sends what there is."""
        self._is_woken = False
        if self._sender is None and self._newest is not None:
            self._sender = asyncio.create_task(self._send_all())

    async def _send_all(self) -> None:
        try:
            while True:
                with self._lock:
                    report, self._newest = self._newest, None
                    number = self._made
                if report is None:
                    break
                await self._send(*report)
                self._sent = number
                self._tell()
        except Exception:
            # Whoever is told is not there any more, or is at fault: the call goes on.
            _logger.warning("the progress of a call cannot be sent", exc_info=True)
            with self._lock:
                self._is_over = True
        finally:
            self._sender = None
            self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _until(self, number: int) -> None:
        if asyncio.get_running_loop() is self._loop:
            while self._sent < number and not self._is_over:
                await self._changed.wait()


def _number(value: float) -> float:
    """The value as JSON has it, which a client takes for a number."""
    if isinstance(value, bool | str | bytes):
        raise TypeError("`progress` and `total` are numbers")
    with contextlib.suppress(OverflowError):  # an integer that no float can hold
        if math.isfinite(number := float(value)):
            return value if type(value) is int else number
    raise ValueError("`progress` and `total` are finite numbers")
