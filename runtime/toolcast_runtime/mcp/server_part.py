"""What other targets of a toolset add to its MCP server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from ..http.admin import AdminRoute

__all__ = ["ServerPart"]


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

        Args:
            tool_name: the called tool's present name.
            headers: the request's, by their names in lower case.
        """
