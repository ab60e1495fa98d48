"""What a toolset says of its HTTP server, and what paths for administrators are.

Light: a program that serves stdio imports this module, too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_MEBIBYTE = 1024 * 1024


class SettingsError(Exception):
    """The server cannot be started as it is set up; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where one client is served.

    Attributes:
        path: the path of its MCP endpoint.
        client: the client; None in a toolset without clients.
        token_variable: the environment variable that its bearer token comes from.
        client_confirms: its own program asks a person where a tool has a `confirm`.
    """

    path: str
    client: str | None
    token_variable: str
    client_confirms: bool = False


class Scope(NamedTuple):
    """What a scope of the authorization server gives here.

    Attributes:
        name: as tokens carry it.
        clients: whose endpoints it opens.
        permissions: of the client's permissions, those that it gives.
    """

    name: str
    clients: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()


class OAuth(NamedTuple):
    """Whose tokens are taken, and what they open.

    Attributes:
        variables: what the names of environment variables begin with: `_PUBLIC_URL`,
            `_OAUTH_ISSUER`, `_OAUTH_JWKS_URI`, `_OAUTH_INTROSPECTION_URI`,
            `_OAUTH_CLIENT_ID` and `_OAUTH_CLIENT_SECRET` (each or with `_FILE`).
        scopes: in the order in which they are told; in a toolset without clients each
            opens its one endpoint.
        issuer: the authorization server; the variable goes before it.
        jwks_uri: where its keys are; None asks its metadata.
        introspection: asks the authorization server for each token, instead of keys.
        algorithms: those that tokens may be signed with.
    """

    variables: str
    scopes: tuple[Scope, ...]
    issuer: str | None = None
    jwks_uri: str | None = None
    introspection: bool = False
    algorithms: tuple[str, ...] = ("RS256", "ES256")


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """How a toolset is served over HTTP.

    Attributes:
        endpoints: one a client.
        admin_variable: the environment variable of the administrator's bearer
            token. Without a value the paths for administrators are closed.
        hosts_variable: the environment variable with further allowed hosts, separated by
            commas.
        allowed_hosts: names that requests may be sent to, as `name`, `name:port` or `*`.
        allowed_origins: origins of web pages that may send requests, besides those of
            the allowed hosts.
        headers: names of the headers that handlers may ask for, of each request.
        max_body: bytes of the largest request.
        oauth: whose tokens are taken besides; None for nobody's.
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
    """What an administrator asks.

    Attributes:
        body: the request's JSON; None when its body is empty.
    """

    body: Any = None


@dataclass(frozen=True, slots=True)
class AdminAnswer:
    """What an administrator gets: a JSON value and the status."""

    value: Any
    status: int = 200


@dataclass(frozen=True, slots=True)
class AdminRoute:
    """One path for administrators.

    Attributes:
        method: the HTTP method.
        path: the whole path.
        answer: does the work. The text of what it raises stays in the log.
    """

    method: str
    path: str
    answer: Callable[[AdminRequest], Awaitable[AdminAnswer]] = field(repr=False)
