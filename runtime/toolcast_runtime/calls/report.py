"""One report of how far a call is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any

__all__ = ["NOT_SENT", "ReportProgress", "Sent"]

ReportProgress = Callable[[float, float | None, str | None], Awaitable[None]]
"""`(progress, total, message)`, sent to the caller if it asked for progress."""


class Sent:
    """What becomes of a report. It may be awaited, in the call's loop, and need not be."""

    __slots__ = ("_until_sent",)

    def __init__(self, until_sent: Callable[[], Awaitable[None]] | None = None) -> None:
        self._until_sent = until_sent

    def __await__(self) -> Generator[Any, Any, None]:
        """Goes on when the report, or a newer one, was sent, or none is sent any more."""
        if self._until_sent is not None:
            yield from self._until_sent().__await__()


NOT_SENT = Sent()
