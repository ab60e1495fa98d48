"""The content of links that handlers returned, until it is read or over."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from ..calls.tool_response import ToolError
from .content_blocks import resource_contents
from .link_limits import LinkLimits

__all__ = ["KeptContent"]


class KeptContent:
    """What links of one client lead to.

    A URI is made here and cannot be guessed, so that nothing that a caller says leads
    anywhere but to what a handler gave for this client.

    Args:
        toolset: the host part of the URIs.
        limits: how long and how much.
        clock: the time in seconds.
    """

    def __init__(
        self,
        toolset: str,
        limits: LinkLimits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._toolset = toolset
        self._limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, int, dict[str, Any]]] = {}
        self._bytes = 0

    def keep(self, name: str, content: str | bytes, mime_type: str | None) -> str:
        """Keeps content; the value is its URI.

        Raises:
            ToolError: it alone is more than is kept.
        """
        size = len(content.encode() if isinstance(content, str) else content)
        if size > self._limits.bytes:
            raise ToolError(
                f"`{name}` has {size} bytes, and {self._limits.bytes} are kept for links"
            )
        host = quote(self._toolset, safe="")
        token = secrets.token_urlsafe(24)
        uri = f"kept://{host}/{token}/{quote(name, safe='')}"
        contents = resource_contents(uri, content, mime_type)
        with self._lock:
            self._drop_all_over(size)
            self._kept[uri] = (self._clock() + self._limits.seconds, size, contents)
            self._bytes += size
        return uri

    def contents(self, uri: str) -> dict[str, Any] | None:
        """What a URI leads to; None when that is nothing, or over."""
        with self._lock:
            self._drop_all_over(0)
            kept = self._kept.get(uri)
        return None if kept is None else kept[2]

    def _drop_all_over(self, room: int) -> None:
        """Drops what is too old, and the oldest until there is room."""
        now = self._clock()
        for uri, (end, size, _) in list(self._kept.items()):
            if end > now and self._bytes + room <= self._limits.bytes:
                return
            del self._kept[uri]
            self._bytes -= size
