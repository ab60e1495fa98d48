"""Access of web pages to the server (CORS).

A browser lets a page read a response, or send JSON, only if the server names the page's origin.

Source: https://fetch.spec.whatwg.org/#http-cors-protocol
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.middleware.cors import CORSMiddleware

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from .request_limits import AllowedHosts

_EXPOSED_HEADERS = (
    "mcp-session-id",
    "mcp-protocol-version",
    "www-authenticate",
    "retry-after",
)
"""Response headers that pages may read, in addition to those that browsers always allow.

MCP clients in pages need the session id, and the challenge to find the authorization server.
"""


class CrossOriginAccess(CORSMiddleware):
    """Middleware that answers preflight requests and adds CORS headers for allowed pages.

    It wraps the checks of the token, because a preflight request contains none, and because
    pages must be able to read why a request was rejected. Requests of other pages are passed on
    without headers, so that the application rejects them.

    Args:
        app: the application with all paths.
        hosts: the hosts and origins that the server accepts.
    """

    def __init__(self, app: ASGIApp, hosts: AllowedHosts) -> None:
        super().__init__(
            app,
            allow_methods=("GET", "POST", "DELETE"),
            # Allow every requested header, because MCP's headers depend on the protocol version
            # and the tool.
            allow_headers=("*",),
            expose_headers=_EXPOSED_HEADERS,
        )
        # Browsers ask for it before a public page calls a server on the user's network. Not an
        # argument, because Starlette has it only since 0.51.
        self.allow_private_network = True
        self._hosts = hosts

    def is_allowed_origin(self, origin: str) -> bool:
        """Return whether pages of an origin may use the server."""
        return self._hosts.allows_page(origin)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight request, or add the headers to the application's response."""
        origins = [value for name, value in scope["headers"] if name == b"origin"]
        is_allowed = len(origins) == 1 and self.is_allowed_origin(
            origins[0].decode("latin-1")
        )
        if is_allowed:
            await super().__call__(scope, receive, send)
        else:
            await self.app(scope, receive, send)
