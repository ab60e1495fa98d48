"""What a toolset says of its HTTP server; secrets and names of hosts come from outside."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..oauth.oauth_settings import Issuer, OAuth
from .tokens import Tokens

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
        approves: its own program asks a person where a tool has a `confirm`.
    """

    path: str
    client: str | None
    token_variable: str
    approves: bool = False


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
class Listening:
    """The settings with what the environment and the command line add to them.

    Attributes:
        settings: the toolset's.
        host: the address that the server listens on.
        tokens: the tokens of each variable that has any.
        hosts: all allowed hosts.
        issuer: the authorization server; None where there is none.
    """

    settings: HttpSettings
    host: str = "127.0.0.1"
    tokens: Mapping[str, Tokens] = field(default_factory=dict, repr=False)
    hosts: tuple[str, ...] = ()
    issuer: Issuer | None = None

    @classmethod
    def on(
        cls,
        settings: HttpSettings,
        host: str,
        environment: Mapping[str, str] = os.environ,
    ) -> Listening:
        """What the server needs to listen on an address.

        Raises:
            SettingsError: beyond loopback a token or the allowed hosts are missing, two
                variables hold the same token, a file of tokens cannot be read, or OAuth
                is not set up.
        """
        names = [endpoint.token_variable for endpoint in settings.endpoints]
        problems: list[str] = []
        tokens = {}
        for name in (*names, settings.admin_variable):
            try:
                found = Tokens.of(name, environment)
            except ValueError as error:
                problems.append(str(error))
            else:
                tokens.update({} if found is None else {name: found})
        more = environment.get(settings.hosts_variable, "").split(",")
        hosts = (*settings.allowed_hosts, *(h.strip() for h in more if h.strip()))
        problems += _same_tokens(tokens)
        issuer = None
        if settings.oauth is not None:
            issuer, wrong = Issuer.of(settings.oauth, environment)
            problems += wrong
            # What callers put before a path is a name that they use.
            hosts = (*hosts, *issuer.hosts)
        if not _is_loopback(host):
            missing = [
                endpoint.token_variable
                for endpoint in settings.endpoints
                if endpoint.token_variable not in tokens
                and (issuer is None or not issuer.opens(endpoint.client))
            ]
            if missing:
                problems.append(
                    f"beyond loopback every client needs a token: set {', '.join(missing)}"
                )
            if not hosts and _is_wildcard(host):
                problems.append(
                    f"at every address of this machine ({host}) it needs the names that"
                    f" clients use: set {settings.hosts_variable}"
                )
        if problems:
            raise SettingsError("; ".join(problems))
        if not _is_wildcard(host):
            hosts = (*hosts, host)
        if _is_loopback(host) or _is_wildcard(host):
            hosts = (*hosts, "127.0.0.1", "localhost", "::1")
        return cls(settings, host, tokens, hosts, issuer)


def _same_tokens(tokens: Mapping[str, Tokens]) -> list[str]:
    """A token that two have would open the one's endpoint to the other."""
    first: dict[bytes, str] = {}
    problems = []
    for name, held in tokens.items():
        others = {first.setdefault(digest, name) for digest in held.digests()}
        for other in sorted(others - {name}):
            problems.append(
                f"{other} and {name} hold the same token; give each its own"
            )
    return problems


def _is_loopback(host: str) -> bool:
    import ipaddress

    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_wildcard(host: str) -> bool:
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return host == ""
