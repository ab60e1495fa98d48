"""Endpoints that accept the access tokens of an authorization server.

Sources: RFC 6750, RFC 9728, https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
"""

from __future__ import annotations

import logging
import re
import weakref
from itertools import accumulate, compress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.responses import JSONResponse

from ..core.context import Caller, calling_as
from ..http.request_limits import error_response, parse_message, replay_body
from ..mcp.sdk_server import CALLER_KEY
from .access_tokens import AccessTokens, InvalidTokenError
from .authorization_server import AuthorizationServer, AuthorizationServerError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ..http.endpoints import Issuer
    from ..http.settings import Endpoint
    from ..mcp.toolset_server import ToolsetServer

WELL_KNOWN = "/.well-known/oauth-protected-resource"
"""The path prefix of protected resource metadata (RFC 9728, section 3)."""

_logger = logging.getLogger("toolcast.http")

_SCOPE = re.compile(r"[!#-\[\]-~]+")
"""A scope that a challenge can contain (RFC 6749, section 3.3)."""
_MAX_TOKEN_SCOPE_CHARACTERS = 2_000
"""Maximum length of a token's scopes in a challenge, which must fit into one header."""


class ResourceServer:
    """OAuth resource server of one endpoint; identifies callers by their tokens.

    Args:
        issuer: the issuer of the tokens.
        tokens: the validator of tokens.
        path: the path of the endpoint.
        client: the client of the endpoint; None in a toolset without clients.
        title: the name of the resource that a login page may show.
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
        self._permissions = {
            s.name: frozenset(s.permissions)
            for s in scopes
            if client is None or not s.clients or client in s.clients
        }
        self._access_scopes = tuple(
            s.name for s in scopes if client is None or client in s.clients
        )
        self._title = title
        # Serve the metadata at two paths: where RFC 9728 expects it, with the well-known part
        # before the whole path, and below the public URL, for an application mounted there.
        paths = f"{WELL_KNOWN}{urlsplit(self.resource).path}", f"{WELL_KNOWN}{path}"
        self.metadata_paths = tuple(
            dict.fromkeys(
                variant
                for metadata_path in paths
                for variant in (metadata_path, metadata_path.rstrip("/"))
            )
        )
        self._metadata_url = f"{issuer.public_url}{WELL_KNOWN}{path}"

    def build_challenge(
        self, realm: str, scopes: Iterable[str] | None = None, **more: str
    ) -> str:
        """Return the value of `WWW-Authenticate` for a 401 or 403.

        Args:
            realm: the realm of the endpoint.
            scopes: the scopes to request; None for those that grant access.
            more: further parameters, such as `error`.
        """
        scope = " ".join(self._access_scopes if scopes is None else scopes)
        values = {"realm": realm, **more, "scope": scope}
        values["resource_metadata"] = self._metadata_url
        return "Bearer " + ", ".join(f'{key}="{values[key]}"' for key in values)

    async def check_token(
        self, token: str, scope: Scope, realm: str
    ) -> Response | None:
        """Return the error response for a token, or None if it grants access.

        If it does, the `Caller` is stored in the request's scope.
        """
        try:
            claims = await self._tokens.validate_token(token, self.resource)
            caller, token_scopes = self._build_caller(claims)
        except InvalidTokenError as error:
            reason = str(error)
            self._log_limited("%s rejected a token: %s", scope["path"], reason)
            challenge = self.build_challenge(
                realm, error="invalid_token", error_description=reason
            )
            return error_response(401, reason, {"www-authenticate": challenge})
        except AuthorizationServerError as error:
            self._log_limited(
                "cannot validate tokens: %s", str(error), level=logging.ERROR
            )
            message = "the server cannot validate tokens at present; try again later"
            return error_response(503, message, {"retry-after": error.retry_after})
        if not token_scopes.intersection(self._access_scopes):
            reason = "the token lacks a scope for this endpoint"
            self._log_limited("%s rejected a token: %s", scope["path"], reason)
            scopes = self._add_token_scopes(self._access_scopes, token_scopes)
            challenge = self.build_challenge(
                realm, scopes, error="insufficient_scope", error_description=reason
            )
            return error_response(403, reason, {"www-authenticate": challenge})
        scope[CALLER_KEY] = caller
        # The SDK binds sessions and request states to the user in the scope. It does not need
        # the token, which is left empty.
        scope["user"] = AuthenticatedUser(
            AccessToken(
                token="",
                client_id=caller.program or "",
                scopes=sorted(token_scopes),
                subject=caller.user,
                claims={"iss": self._issuer.issuer},
            )
        )
        return None

    def _log_limited(self, text: str, *values: str, level: int = logging.INFO) -> None:
        """Log an event that any caller can cause.

        The rate limit is one record per second for each last value.
        """
        _logger.log(
            level, text, *values, extra={"kind": (weakref.ref(self), values[-1])}
        )

    def can_grant(self, permission: str) -> bool:
        """Return whether any scope grants a permission at this endpoint."""
        return any(
            permission in permissions for permissions in self._permissions.values()
        )

    def can_grant_more(self, caller: Caller) -> bool:
        """Return whether any scope grants a permission that the caller lacks."""
        if caller.permissions is None:
            return False
        return any(
            not permissions <= caller.permissions
            for permissions in self._permissions.values()
        )

    def build_scope_error(self, permission: str, scope: Scope, realm: str) -> Response:
        """Return the 403 that requests the scope for a missing permission.

        If several scopes grant the permission, the one with the fewest permissions is
        requested. Clients with a handshake protocol version request exactly the scopes in the
        response, so it also contains those of the token.
        """
        granting = [
            name
            for name, permissions in self._permissions.items()
            if permission in permissions
        ]
        needed = min(granting, key=lambda name: len(self._permissions[name]))
        reason = f"the call needs the scope {needed}"
        _logger.info("%s rejected a call: %s", scope["path"], reason)
        challenge = self.build_challenge(
            realm,
            self._add_token_scopes((needed,), scope["user"].scopes),
            error="insufficient_scope",
            error_description=reason,
        )
        return error_response(403, reason, {"www-authenticate": challenge})

    def _add_token_scopes(
        self, needed: Sequence[str], token_scopes: Collection[str]
    ) -> list[str]:
        """Return the scopes of a token that a header can contain, and the needed scopes."""
        own = sorted(s for s in token_scopes if _SCOPE.fullmatch(s) and s not in needed)
        # Put the scopes of this server first, so that the limit removes other scopes.
        own.sort(key=lambda name: name not in self._permissions)
        lengths = accumulate(len(name) + 1 for name in own)
        selectors = (length <= _MAX_TOKEN_SCOPE_CHARACTERS for length in lengths)
        return [*compress(own, selectors), *needed]

    def _build_caller(self, claims: Mapping[str, Any]) -> tuple[Caller, frozenset[str]]:
        """Return the caller and the scopes of a token."""
        user = claims.get("sub")
        # Require a printable user: line breaks and surrogates would corrupt logs and ledgers.
        if not isinstance(user, str) or not user or not user.isprintable():
            raise InvalidTokenError("the token's `sub` is not a printable string")
        token_scopes = _parse_scopes(claims)
        permissions = frozenset[str]().union(
            *(self._permissions[s] for s in token_scopes if s in self._permissions)
        )
        read_only_claims = MappingProxyType({**claims})
        caller = Caller(user=user, claims=read_only_claims, permissions=permissions)
        return caller, token_scopes

    async def answer_metadata(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the protected resource metadata, which is public."""
        if scope["method"] not in ("GET", "HEAD"):
            message = "this path does not support the method"
            error = error_response(405, message, {"allow": "GET"})
            await error(scope, receive, send)
            return
        value = {
            "resource": self.resource,
            "resource_name": self._title,
            "authorization_servers": [self._issuer.issuer],
            "scopes_supported": list(self._permissions),
            "bearer_methods_supported": ["header"],
        }
        # Let every web page read the public metadata, because some clients run in browsers.
        headers = {
            "access-control-allow-origin": "*",
            "cache-control": "public, max-age=300",
        }
        await JSONResponse(value, headers=headers)(scope, receive, send)


def build_resource_servers(
    issuer: Issuer, server: ToolsetServer, endpoints: Iterable[Endpoint]
) -> dict[str, ResourceServer]:
    """Return the resource servers, by path, of endpoints that a scope grants."""
    tokens = AccessTokens(issuer, AuthorizationServer(issuer))
    return {
        endpoint.path: ResourceServer(
            issuer, tokens, endpoint.path, endpoint.client, server.title or server.name
        )
        for endpoint in endpoints
        if issuer.has_scope_for(endpoint.client)
    }


def build_metadata_apps(servers: Iterable[ResourceServer]) -> dict[str, ASGIApp]:
    """Return the applications for metadata by well-known path.

    The path without a suffix answers with the metadata of the first endpoint.
    """
    apps: dict[str, ASGIApp] = {}
    for server in servers:
        apps.setdefault(WELL_KNOWN, server.answer_metadata)
        apps.update(dict.fromkeys(server.metadata_paths, server.answer_metadata))
    return apps


def _parse_scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    """Return the scopes in `scope` (RFC 9068) and in `scp` (Okta and Entra).

    Only spaces separate scopes (RFC 6749, section 3.3).
    """
    scopes: list[str] = []
    for name in ("scope", "scp"):
        value = claims.get(name)
        if isinstance(value, str):
            scopes += value.split(" ")
        elif isinstance(value, list):
            scopes += [scope for scope in value if isinstance(scope, str)]
    return frozenset(scopes)


def require_scopes(
    app: ASGIApp,
    oauth: ResourceServer,
    served: ToolsetServer,
    client: str | None,
    realm: str,
) -> ASGIApp:
    """Wrap an endpoint: answer with 403 if a call needs a scope that the token lacks.

    This is checked before the call starts, because the response to a call begins with the
    status 200. A tool is treated as unknown, as in lists, if no scope grants its permission.

    Args:
        app: the application for all other requests.
        oauth: the resource server of the endpoint, which has identified the caller.
        served: the tools.
        client: the client of the endpoint.
        realm: the realm in `WWW-Authenticate`.

    Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization,
    "Runtime Insufficient Scope Errors".
    """

    async def find_missing_permission(name: str | None, caller: Caller) -> str | None:
        """Return the permission that a tool needs and the caller's token lacks.

        The result is None if nothing is missing, or if no scope of the authorization server
        can grant the permission.
        """
        if name is None:
            return None
        # With `permissions=None` the search includes tools for which the caller's token lacks
        # the permission.
        with calling_as(caller._replace(permissions=None)):
            match = await served.find(name, client)
        permission = None if match is None else match.tool.permission
        if permission is None or permission in (caller.permissions or ()):
            return None
        return permission if oauth.can_grant(permission) else None

    async def wrapped_app(scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope.get(CALLER_KEY)
        if caller is not None and oauth.can_grant_more(caller):
            body = (await receive()).get("body", b"")
            receive = replay_body(body, receive)
            tool_name = _find_called_tool(body, served)
            permission = await find_missing_permission(tool_name, caller)
            if permission is not None:
                error = oauth.build_scope_error(permission, scope, realm)
                await error(scope, receive, send)
                return
        await app(scope, receive, send)

    return wrapped_app


def _find_called_tool(body: bytes, served: ToolsetServer) -> str | None:
    """Return the name of the tool that a `tools/call` calls; None for other requests.

    If the call goes through tool search, this is the name of the tool that it selects.
    """
    if b"tools/call" not in body:
        return None
    message = parse_message(body)
    if message.get("method") != "tools/call":
        return None
    params = message.get("params")
    if not isinstance(params, dict):
        return None
    name = params.get("name")
    if isinstance(name, str) and served.search:
        from ..mcp.tool_search import unwrap_search_call

        name, *_ = unwrap_search_call(name, params.get("arguments"))
    return name if isinstance(name, str) else None
