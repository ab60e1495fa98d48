"""The content of links that handlers returned, until it is read or over."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from ...core.context import ToolError
from ...core.toolset_settings import LinkLimits
from .content_blocks import resource_contents

_MOST = 1_000
"""Links of one client, however little they lead to."""
_LONGEST_NAME = 100
"""Of a name's characters, in a URI."""


class KeptContent:
    """What links of one client lead to.

    A URI is made here and cannot be guessed, so that nothing that a caller says leads
    anywhere but to what a handler gave for this client. Where users are known, it leads the one
    alone there who made the call.

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
        self._kept: dict[str, tuple[float, int, dict[str, Any], str | None]] = {}
        self._bytes = 0

    def keep(
        self, user: str | None, name: str, content: str | bytes, mime_type: str | None
    ) -> str:
        """Keeps content for a user, or for whom nobody knows; the value is its URI.

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
        uri = f"kept://{host}/{token}/{quote(name[:_LONGEST_NAME], safe='')}"
        contents = resource_contents(uri, content, mime_type)
        with self._lock:
            self._make_room(size)
            end = self._clock() + self._limits.seconds
            self._kept[uri] = (end, size, contents, user)
            self._bytes += size
        return uri

    def contents(self, user: str | None, uri: str) -> dict[str, Any] | None:
        """What a URI leads a user to; None when that is nothing, or over."""
        with self._lock:
            kept = self._kept.get(uri)
            if kept is None or kept[0] <= self._clock() or kept[3] != user:
                return None
        return kept[2]

    def _make_room(self, room: int) -> None:
        """Drops what is too old, and the oldest until there is room for one more."""
        now = self._clock()
        for uri, (end, size, _, _) in list(self._kept.items()):
            has_room = self._bytes + room <= self._limits.bytes
            if end > now and has_room and len(self._kept) < _MOST:
                return
            del self._kept[uri]
            self._bytes -= size
