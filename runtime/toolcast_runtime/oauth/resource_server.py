"""The endpoints of a server that tokens of its authorization server open.

Sources: RFC 6750, RFC 9728, https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
"""

from __future__ import annotations

import logging
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.responses import JSONResponse

from ..core.context import Caller, calling_as
from ..http.request_limits import put_back, read_message, refusal
from ..mcp.sdk_server import IDENTITY
from .access_tokens import (
    AccessTokens,
    AuthorizationServer,
    AuthorizationServerError,
    InvalidTokenError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ..http.endpoints import Issuer
    from ..http.settings import Endpoint
    from ..mcp.toolset_server import ToolsetServer

WELL_KNOWN = "/.well-known/oauth-protected-resource"

_logger = logging.getLogger("toolcast.http")


class ResourceServer:
    """Finds out who asks, and whether the endpoint is open to them.

    Args:
        issuer: whose tokens are taken.
        tokens: checks them.
        path: the endpoint's.
        client: the endpoint's; None in a toolset without clients.
        title: what people may be told that they log in to.
    """

    def __init__(
        self,
        issuer: Issuer,
        tokens: AccessTokens,
        path: str,
        client: str | None,
        title: str,
    ) -> None:
        self._issuer = issuer
        self._tokens = tokens
        self.resource = f"{issuer.public_url}{path}"
        scopes = issuer.oauth.scopes
        self._given = {
            s.name: frozenset(s.permissions)
            for s in scopes
            if client is None or not s.clients or client in s.clients
        }
        self._opening = tuple(
            s.name for s in scopes if client is None or client in s.clients
        )
        self._title = title
        public = urlsplit(self.resource)
        at = f"{WELL_KNOWN}{public.path}"
        self.metadata_paths = tuple(
            dict.fromkeys(
                form
                for each in (at, f"{WELL_KNOWN}{path}")
                for form in (each, each.rstrip("/"))
            )
        )
        # Below what callers put before each path: there a mounted application is reached, too.
        self._metadata_url = f"{issuer.public_url}{WELL_KNOWN}{path}"

    def challenge(
        self, realm: str, scopes: Iterable[str] | None = None, **more: str
    ) -> str:
        """What a 401 or 403 tells a client to do, for `WWW-Authenticate`."""
        scope = " ".join(self._opening if scopes is None else scopes)
        said = {"realm": realm, **more, "scope": scope}
        said["resource_metadata"] = self._metadata_url
        return "Bearer " + ", ".join(f'{key}="{said[key]}"' for key in said)

    async def refusal(self, token: str, scope: Scope, realm: str) -> Response | None:
        """Why the token does not open the endpoint; None when it does.

        Then the request's scope has the `Caller`.
        """
        try:
            claims = await self._tokens.claims(token, self.resource)
            caller, held = self._caller(claims)
        except InvalidTokenError as refused:
            why = str(refused)
            self._tell("%s refuses a token: %s", scope["path"], why)
            asked = self.challenge(realm, error="invalid_token", error_description=why)
            return refusal(401, why, {"www-authenticate": asked})
        except AuthorizationServerError as error:
            self._tell("no token can be checked: %s", str(error), level=logging.ERROR)
            late = "tokens cannot be checked at present"
            return refusal(503, late, {"retry-after": error.retry_after})
        if not held.intersection(self._opening):
            why = "the token lacks a scope for this endpoint"
            self._tell("%s refuses a token: %s", scope["path"], why)
            asked = self.challenge(
                realm, error="insufficient_scope", error_description=why
            )
            return refusal(403, why, {"www-authenticate": asked})
        scope[IDENTITY] = caller
        # The SDK keeps sessions and sealed states apart by it; the token itself it needs not.
        scope["user"] = AuthenticatedUser(
            AccessToken(
                token="",
                client_id=caller.program or "",
                scopes=sorted(held),
                subject=caller.user,
                claims={"iss": self._issuer.issuer},
            )
        )
        return None

    def _tell(self, text: str, *words: str, level: int = logging.INFO) -> None:
        """Logs what anybody can bring about, once a second for each reason."""
        _logger.log(level, text, *words, extra={"kind": (id(self), words[-1])})

    def gives(self, permission: str) -> bool:
        """Whether a scope gives a permission at this endpoint."""
        return any(permission in given for given in self._given.values())

    def has_more_than(self, caller: Caller) -> bool:
        """Whether another token could give more than the caller's does."""
        has = caller.permissions
        return has is not None and any(not g <= has for g in self._given.values())

    def refusal_without(self, permission: str, scope: Scope, realm: str) -> Response:
        """Asks a caller who was let in for the scope that gives a permission.

        Clients of the older era ask for exactly what they are told to: what opened the endpoint
        for them stands beside it. Of several scopes the one that gives least is named.
        """
        giving = [name for name, given in self._given.items() if permission in given]
        least = min(giving, key=lambda name: len(self._given[name]))
        held = [s for s in self._opening if s in scope["user"].scopes and s != least]
        why = f"the call needs the scope {least}"
        _logger.info("%s refuses a call: %s", scope["path"], why)
        asked = self.challenge(
            realm, (*held, least), error="insufficient_scope", error_description=why
        )
        return refusal(403, why, {"www-authenticate": asked})

    def _caller(self, claims: Mapping[str, Any]) -> tuple[Caller, frozenset[str]]:
        user = claims.get("sub")
        # It gets into logs and ledgers, whose texts have neither line ends nor surrogates.
        if not isinstance(user, str) or not user or not user.isprintable():
            raise InvalidTokenError("the token names nobody in `sub`")
        held = _scopes(claims)
        permissions = frozenset[str]().union(
            *(self._given[name] for name in held if name in self._given)
        )
        told = MappingProxyType({**claims})
        return Caller(user=user, claims=told, permissions=permissions), held

    async def metadata(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Which authorization server the endpoint believes; for everybody."""
        if scope["method"] not in ("GET", "HEAD"):
            error = refusal(405, "the method is not taken here", {"allow": "GET"})
            await error(scope, receive, send)
            return
        value = {
            "resource": self.resource,
            "resource_name": self._title,
            "authorization_servers": [self._issuer.issuer],
            "scopes_supported": list(self._given),
            "bearer_methods_supported": ["header"],
        }
        open_ = {
            "access-control-allow-origin": "*",
            "cache-control": "public, max-age=300",
        }
        await JSONResponse(value, headers=open_)(scope, receive, send)


def opened_by(
    issuer: Issuer, server: ToolsetServer, endpoints: Iterable[Endpoint]
) -> dict[str, ResourceServer]:
    """By path; a client that no scope names is not there."""
    tokens = AccessTokens(issuer, AuthorizationServer(issuer))
    return {
        endpoint.path: ResourceServer(
            issuer, tokens, endpoint.path, endpoint.client, server.title or server.name
        )
        for endpoint in endpoints
        if issuer.opens(endpoint.client)
    }


def metadata_at(opened: Iterable[ResourceServer]) -> dict[str, ASGIApp]:
    """What is told at each well-known path; at the root, of the first endpoint."""
    apps: dict[str, ASGIApp] = {}
    for each in opened:
        apps.setdefault(WELL_KNOWN, each.metadata)
        apps.update(dict.fromkeys(each.metadata_paths, each.metadata))
    return apps


def _scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    """Those of `scope` (RFC 9068) or `scp` (as Okta and Entra write it).

    Spaces part them, and nothing else does (RFC 6749, 3.3).
    """
    held: list[str] = []
    for name in ("scope", "scp"):
        given = claims.get(name)
        if isinstance(given, str):
            held += given.split(" ")
        elif isinstance(given, list):
            held += [each for each in given if isinstance(each, str)]
    return frozenset(held)


def stepping_up(
    app: ASGIApp,
    oauth: ResourceServer,
    served: ToolsetServer,
    client: str | None,
    realm: str,
) -> ASGIApp:
    """Asks for a further scope where a call needs one that the caller's token does not have.

    It is told before the call is begun, because the answer to one begins with 200. A tool that
    no scope would give the endpoint's client is unknown, as it is in every list.

    Args:
        app: answers every other request.
        oauth: has let the caller in.
        served: has the tools.
        client: the endpoint's.
        realm: the name that a refusal gives to the endpoint.

    Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization,
    "Runtime Insufficient Scope Errors".
    """

    async def lacking(name: str | None, caller: Caller) -> str | None:
        """The permission that the caller lacks for a tool of the client's; None for none."""
        if name is None:
            return None
        with calling_as(caller._replace(permissions=None)):
            found = await served.find(name, client)
        needed = None if found is None else found.tool.permission
        if needed is None or needed in (caller.permissions or ()):
            return None
        return needed if oauth.gives(needed) else None

    async def answering(scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope.get(IDENTITY)
        if caller is not None and oauth.has_more_than(caller):
            body = (await receive()).get("body", b"")
            receive = put_back(body, receive)
            needed = await lacking(_tool_called(body, served), caller)
            if needed is not None:
                await oauth.refusal_without(needed, scope, realm)(scope, receive, send)
                return
        await app(scope, receive, send)

    return answering


def _tool_called(body: bytes, served: ToolsetServer) -> str | None:
    """The name of the tool that a `tools/call` means; None for other requests."""
    if b"tools/call" not in body:
        return None
    message = read_message(body)
    if message.get("method") != "tools/call":
        return None
    params = message.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    if params and isinstance(name, str) and served.search:
        from ..mcp.tool_search import meant

        name, *_ = meant(name, params.get("arguments"))
    return name if isinstance(name, str) else None
