"""Settings of a toolset's HTTP server, and the types of its administration routes.

Programs that serve only stdio import this module too, so it must not import a web framework.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_MEBIBYTE = 1024 * 1024


class SettingsError(Exception):
    """Settings with which the server cannot start; the message states how to fix them."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The MCP endpoint of one client.

    Attributes:
        path: the URL path of the endpoint.
        client: the client's name; None in a toolset without clients.
        token_variable: the environment variable that contains the bearer token.
        client_confirms: whether the client's own program asks the user to confirm the call of a
            tool with `confirm`, so that the server does not.
    """

    path: str
    client: str | None
    token_variable: str
    client_confirms: bool = False


class Scope(NamedTuple):
    """An OAuth scope, with the endpoints and permissions that it grants.

    Attributes:
        name: the scope as it appears in access tokens.
        clients: the clients whose endpoints accept a token with this scope.
        permissions: the permissions that a token with this scope has; a permission that the
            client itself lacks has no effect.
    """

    name: str
    clients: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()


class OAuth(NamedTuple):
    """Settings for OAuth access tokens.

    Attributes:
        variables: the prefix of the environment variables `_PUBLIC_URL`, `_OAUTH_ISSUER`,
            `_OAUTH_JWKS_URI`, `_OAUTH_INTROSPECTION_URI`, `_OAUTH_CLIENT_ID` and
            `_OAUTH_CLIENT_SECRET`. The last two may also end in `_FILE`.
        scopes: the scopes, in the order in which the metadata lists them. In a toolset
            without clients each scope grants access to the only endpoint.
        issuer: the issuer URL of the authorization server; the environment variable
            overrides it.
        jwks_uri: the URL of the issuer's keys; None reads it from the issuer's metadata.
        introspection: whether each token is validated by a request to the authorization
            server (RFC 7662) instead of by the issuer's keys.
        algorithms: the signature algorithms that tokens may use.
    """

    variables: str
    scopes: tuple[Scope, ...]
    issuer: str | None = None
    jwks_uri: str | None = None
    introspection: bool = False
    algorithms: tuple[str, ...] = ("RS256", "ES256")


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Settings of a toolset's HTTP server.

    Attributes:
        endpoints: the endpoints, one per client.
        admin_variable: the environment variable with the administrator's bearer token. If
            it is not set, administration routes answer 404.
        hosts_variable: the environment variable with additional allowed hosts, separated by
            commas.
        allowed_hosts: the values of the `Host` header that are accepted, as `name`,
            `name:port` or `*`.
        allowed_origins: the origins of web pages that may send requests, in addition to
            those of the allowed hosts.
        headers: the names of the request headers that handlers can read.
        max_body: the maximum size of a request's body in bytes.
        oauth: the settings for OAuth access tokens; None accepts only the tokens of the
            environment variables.
    """

    endpoints: tuple[Endpoint, ...]
    admin_variable: str
    hosts_variable: str
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    max_body: int = 4 * _MEBIBYTE
    oauth: OAuth | None = None


@dataclass(frozen=True, slots=True)
class AdminRequest:
    """A request to an administration route.

    Attributes:
        body: the parsed JSON body; None if the body is empty.
    """

    body: Any = None


@dataclass(frozen=True, slots=True)
class AdminAnswer:
    """The response of an administration route: a JSON value and an HTTP status."""

    value: Any
    status: int = 200


@dataclass(frozen=True, slots=True)
class AdminRoute:
    """An administration route.

    Attributes:
        method: the HTTP method.
        path: the complete URL path.
        answer: the function that handles a request. Exceptions are logged; the response
            does not contain their message.
    """

    method: str
    path: str
    answer: Callable[[AdminRequest], Awaitable[AdminAnswer]] = field(repr=False)
