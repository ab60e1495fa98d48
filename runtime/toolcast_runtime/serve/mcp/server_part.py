"""What other targets of a toolset add to its MCP server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from ..http.settings import AdminRoute


class ServerPart(Protocol):
    """What one target adds to the toolset's server over HTTP."""

    @property
    def admin_routes(self) -> Sequence[AdminRoute]:
        """Paths for administrators."""

    @property
    def started(self) -> Sequence[Callable[[], Awaitable[None]]]:
        """What runs beside the requests once the server answers."""

    def guard(self, tool_name: str, headers: Mapping[str, str]) -> str | None:
        """Why a call over HTTP is refused; None when it is not.

        It is asked for each call of a client, and for those that a handler makes through
        the registry meanwhile, in the same context: in its own task or thread, or in one
        that it starts with a copy of its context.

        Args:
            tool_name: the called tool's present name.
            headers: the request's, by their names in lower case.
        """
