"""Asks for a further scope where a call needs one that the caller's token does not have.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization, "Runtime
Insufficient Scope Errors".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.context import Caller, calling_as
from ..http.guard import put_back, read_message
from ..mcp.sdk_server import IDENTITY

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ..mcp.toolset_server import ToolsetServer
    from .resource_server import ResourceServer


class StepUp:
    """An ASGI application in front of an endpoint.

    It is told before the call is begun, because the answer to one begins with 200. A tool that
    no scope would give the endpoint's client is unknown, as it is in every list.

    Args:
        app: answers every other request.
        oauth: has let the caller in.
        served: has the tools.
        client: the endpoint's.
        realm: the name that a refusal gives to the endpoint.
    """

    def __init__(
        self,
        app: ASGIApp,
        oauth: ResourceServer,
        served: ToolsetServer,
        client: str | None,
        realm: str,
    ) -> None:
        self._app = app
        self._oauth = oauth
        self._served = served
        self._client = client
        self._realm = realm

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope.get(IDENTITY)
        if caller is not None and self._oauth.has_more_than(caller):
            body = (await receive()).get("body", b"")
            receive = put_back(body, receive)
            needed = await self._needed(_tool_called(body), caller)
            if needed is not None:
                refused = self._oauth.refusal_without(needed, scope, self._realm)
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _needed(self, name: str | None, caller: Caller) -> str | None:
        """The permission that the caller lacks for a tool of the client's; None for none."""
        if name is None:
            return None
        with calling_as(caller._replace(permissions=None)):
            found = await self._served.find(name, self._client)
        needed = None if found is None else found.tool.permission
        if needed is None or needed in (caller.permissions or ()):
            return None
        return needed if self._oauth.gives(needed) else None


def _tool_called(body: bytes) -> str | None:
    """The name in a `tools/call`; None for other requests."""
    if b"tools/call" not in body:
        return None
    message = read_message(body)
    if message.get("method") != "tools/call":
        return None
    params = message.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    return name if isinstance(name, str) else None
