"""What a toolset says of the tokens that it takes, with what the environment adds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ASYMMETRIC = frozenset(
    "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA".split()
)
"""The only algorithms: with a shared secret, whoever checks a token can make one."""


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


class Issuer(NamedTuple):
    """The settings with what the environment adds to them.

    Attributes:
        oauth: the toolset's.
        issuer: as tokens name it, character by character.
        public_url: what callers put before an endpoint's path; no slash at its end.
        jwks_uri: None asks the issuer's metadata.
        introspection_uri: so is this.
        credentials: id and secret for introspection, as they are now; raises `ValueError`
            when the file of one cannot be read.
    """

    oauth: OAuth
    issuer: str
    public_url: str
    jwks_uri: str | None
    introspection_uri: str | None
    credentials: Callable[[], tuple[str, str]] | None

    @classmethod
    def of(
        cls, oauth: OAuth, environment: Mapping[str, str]
    ) -> tuple[Issuer, list[str]]:
        """It, and the problems for which it must not be used."""
        problems: list[str] = []

        def url(name: str, otherwise: str | None, what: str = "") -> str | None:
            variable = f"{oauth.variables}_{name}"
            value = environment.get(variable, "").strip() or otherwise
            if value is None and what:
                problems.append(f"OAuth needs {what}: set {variable}")
            elif value is not None and not is_safe_url(value):
                problems.append(
                    f"{variable} must be an https URL without user, query and fragment;"
                    " http is for loopback alone"
                )
            return value

        public = url("PUBLIC_URL", None, "the URL that callers reach the server by")
        issuer = url("OAUTH_ISSUER", oauth.issuer, "the authorization server's issuer")
        jwks = url("OAUTH_JWKS_URI", oauth.jwks_uri)
        asked = url("OAUTH_INTROSPECTION_URI", None)
        credentials = None
        if oauth.introspection:
            begin = f"{oauth.variables}_OAUTH_CLIENT"
            names = f"{begin}_ID", f"{begin}_SECRET"
            credentials = partial(_credentials, names, environment)
            try:
                credentials()
            except ValueError as error:
                problems.append(str(error))
        return (
            cls(
                oauth,
                issuer or "",
                (public or "").rstrip("/"),
                jwks,
                asked,
                credentials,
            ),
            problems,
        )

    @property
    def hosts(self) -> tuple[str, ...]:
        """The host that callers name; none while it is not set up."""
        is_set_up = is_safe_url(self.public_url)
        return (urlsplit(self.public_url).netloc,) if is_set_up else ()

    def opens(self, client: str | None) -> bool:
        """Whether any scope opens the endpoint of a client."""
        return client is None or any(client in s.clients for s in self.oauth.scopes)

    def __repr__(self) -> str:
        return f"Issuer({self.issuer!r})"


def _credentials(
    names: tuple[str, str], environment: Mapping[str, str]
) -> tuple[str, str]:
    """Id and secret; raises `ValueError` when one cannot be had."""
    from ...core.files.regular_file import secret

    user, password = (secret(name, environment) for name in names)
    if user is None or password is None:
        raise ValueError(f"introspection needs {' and '.join(names)}: set both")
    return user, password


def is_safe_url(url: str) -> bool:
    """Whether what comes from there, or is sent there, cannot be changed on its way."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    if not url.isascii() or not url.isprintable() or set(url) & set(' "\\<>'):
        return False
    if not parts.hostname or port == 0 or parts.username is not None:
        return False
    if "?" in url or "#" in url:
        return False
    if parts.scheme == "https":
        return True
    return parts.scheme == "http" and is_loopback(parts.hostname)


def is_loopback(host: str) -> bool:
    """Whether a name or an address is this machine's alone."""
    import ipaddress

    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
