"""What a running call knows of itself, for handlers that ask."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "CALL_GUARD",
    "CURRENT_CALL",
    "CallContext",
    "CallGuard",
    "CallOutcome",
    "ReportProgress",
    "current_call",
]

CallOutcome = Literal["ok", "error", "invalid", "timeout", "cancelled"]
"""What came of a call; `invalid`: its arguments were refused."""

ReportProgress = Callable[[float, float | None, str | None], Awaitable[None]]
"""`(progress, total, message)`, sent to the caller if it asked for progress."""


CallGuard = Callable[[str], str | None]
"""Why a tool of a name may not be called now; None when it may."""

CALL_GUARD: ContextVar[CallGuard | None] = ContextVar("call_guard", default=None)
"""Holds for a request and for every call that its handler makes in its own context."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """One call.

    Attributes:
        tool: the tool's name.
        client: who calls; None in a toolset without clients.
        report_progress: tells the caller how far the call is; None when it did not ask.
    """

    tool: str
    client: str | None = None
    report_progress: ReportProgress | None = None

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Reports progress; does nothing when the caller did not ask for it."""
        if self.report_progress is not None:
            await self.report_progress(progress, total, message)


CURRENT_CALL: ContextVar[CallContext] = ContextVar("current_tool_call")


def current_call() -> CallContext:
    """The call that the running handler serves.

    Raises:
        LookupError: no call is running here.
    """
    return CURRENT_CALL.get()
