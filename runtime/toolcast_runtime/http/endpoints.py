"""Combine HTTP settings with the environment: tokens, hosts and issuer.

Bearer tokens come from environment variables or from files (systemd credentials, Docker or
Kubernetes secrets). A variable or file may contain several tokens, separated by white space,
which no token contains (RFC 6750, section 2.1); so the old and the new one are both valid
during a rotation. A changed file is read again without a restart.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple
from urllib.parse import urlsplit

from ..core.safe_file import load_secret, read_secret_file
from .settings import HttpSettings, OAuth, SettingsError

_logger = logging.getLogger("toolcast.http")


class Tokens:
    """Valid bearer tokens of one endpoint.

    Args:
        name: the environment variable of the tokens.
        tokens: the tokens in the variable.
        path: the file that contains the tokens instead.
    """

    def __init__(
        self, name: str, tokens: tuple[str, ...] = (), path: str | None = None
    ) -> None:
        self.name = name
        self._path = path
        self._last_stat: tuple[int, ...] | None = None
        self._digests = frozenset(map(_digest, tokens))

    @classmethod
    def from_environment(
        cls, name: str, environment: Mapping[str, str]
    ) -> Tokens | None:
        """Return the tokens in the variables `name` or `name_FILE`; None if unset.

        Raises:
            ValueError: the file cannot be read, contains no token, or both variables are set.
        """
        values = tuple(environment.get(name, "").split())
        path = environment.get(f"{name}_FILE", "").strip()
        if not path:
            return cls(name, values) if values else None
        if values:
            raise ValueError(f"set {name} or {name}_FILE, not both")
        tokens = cls(name, path=path)
        tokens.get_digests()
        if not tokens._digests:
            raise ValueError(f"the file in {name}_FILE cannot be read or has no token")
        return tokens

    def get_digests(self) -> frozenset[bytes]:
        """Return the digests of the valid tokens; none while the file cannot be read.

        Reads the file again if it has changed.
        """
        if self._path is not None:
            try:
                status = os.stat(self._path)
                stat = status.st_ino, status.st_mtime_ns, status.st_size
                if stat != self._last_stat:
                    tokens = read_secret_file(self._path).split()
                    if self._last_stat is not None:
                        _logger.info("reloaded the tokens of %s", self.name)
                    self._digests = frozenset(map(_digest, tokens))
                    self._last_stat = stat
            except (OSError, ValueError):
                # Accept no tokens while their file cannot be read.
                if self._digests:
                    _logger.error("cannot read the file in %s_FILE", self.name)
                self._digests, self._last_stat = frozenset(), None
        return self._digests

    def contains(self, token: str) -> bool:
        """Return whether a token is valid, in a time that does not depend on the tokens."""
        digest = _digest(token)
        # Use `sum`, which compares with every token: `any` would stop at the first match, and
        # its duration would reveal the position.
        matches = sum(hmac.compare_digest(digest, d) for d in self.get_digests())
        return matches > 0


class Issuer(NamedTuple):
    """The authorization server: the OAuth settings, completed by the environment.

    Attributes:
        oauth: the toolset's OAuth settings.
        issuer: the issuer URL, which must equal the `iss` of tokens exactly.
        public_url: the URL under which clients reach the server, without a trailing slash.
        jwks_uri: the URL of the issuer's keys; None reads it from the issuer's metadata.
        introspection_uri: the URL for introspection; None reads it from the metadata.
        credentials: a function that returns the current client id and secret for
            introspection, and raises `ValueError` if a file with them cannot be read; None
            without introspection.
    """

    oauth: OAuth
    issuer: str
    public_url: str
    jwks_uri: str | None
    introspection_uri: str | None
    credentials: Callable[[], tuple[str, str]] | None

    @classmethod
    def from_environment(
        cls, oauth: OAuth, environment: Mapping[str, str]
    ) -> tuple[Issuer, list[str]]:
        """Return the issuer and a list of problems; do not use it if there are any."""
        problems: list[str] = []

        def read_url(name: str, default: str | None, purpose: str = "") -> str | None:
            """Read a URL from the environment; it is required if it has a purpose text."""
            variable = f"{oauth.variables}_{name}"
            value = environment.get(variable, "").strip() or default
            if value is None and purpose:
                problems.append(f"OAuth needs {purpose}: set {variable}")
            elif value is not None and not is_safe_url(value):
                problems.append(
                    f"{variable} must be an https URL without user, query and fragment;"
                    " http is allowed only for loopback addresses"
                )
            return value

        public_url = read_url("PUBLIC_URL", None, "the server's public URL")
        issuer = read_url(
            "OAUTH_ISSUER", oauth.issuer, "the authorization server's URL"
        )
        jwks_uri = read_url("OAUTH_JWKS_URI", oauth.jwks_uri)
        introspection_uri = read_url("OAUTH_INTROSPECTION_URI", None)
        credentials = None
        if oauth.introspection:
            prefix = f"{oauth.variables}_OAUTH_CLIENT"
            names = f"{prefix}_ID", f"{prefix}_SECRET"
            credentials = partial(_read_credentials, names, environment)
            try:
                credentials()
            except ValueError as error:
                problems.append(str(error))
        built = cls(
            oauth,
            issuer or "",
            (public_url or "").rstrip("/"),
            jwks_uri,
            introspection_uri,
            credentials,
        )
        return built, problems

    @property
    def hosts(self) -> tuple[str, ...]:
        """The host of the public URL; empty if the URL is not valid."""
        is_valid = is_safe_url(self.public_url)
        return (urlsplit(self.public_url).netloc,) if is_valid else ()

    def has_scope_for(self, client: str | None) -> bool:
        """Return whether any scope grants access to a client's endpoint."""
        return client is None or any(client in s.clients for s in self.oauth.scopes)

    def __repr__(self) -> str:
        return f"Issuer({self.issuer!r})"


@dataclass(frozen=True, slots=True)
class ListenSettings:
    """HTTP settings, completed by the environment and the command line.

    Attributes:
        settings: the toolset's settings.
        host: the address that the server listens on.
        tokens: the tokens by environment variable, for each variable that has any.
        hosts: all allowed hosts.
        issuer: the authorization server; None without OAuth.
    """

    settings: HttpSettings
    host: str = "127.0.0.1"
    tokens: Mapping[str, Tokens] = field(default_factory=dict, repr=False)
    hosts: tuple[str, ...] = ()
    issuer: Issuer | None = None

    @classmethod
    def from_environment(
        cls,
        settings: HttpSettings,
        host: str,
        environment: Mapping[str, str] = os.environ,
    ) -> ListenSettings:
        """Return the complete settings for an address to listen on.

        Raises:
            SettingsError: the address is not a loopback address and a token or the allowed
                hosts are missing; or two variables contain the same token, a file with
                tokens cannot be read, or the OAuth settings are incomplete.
        """
        names = [endpoint.token_variable for endpoint in settings.endpoints]
        problems: list[str] = []
        tokens = {}
        for name in (*names, settings.admin_variable):
            try:
                variable_tokens = Tokens.from_environment(name, environment)
            except ValueError as error:
                problems.append(str(error))
            else:
                if variable_tokens is not None:
                    tokens[name] = variable_tokens
        added_hosts = environment.get(settings.hosts_variable, "").split(",")
        hosts = (
            *settings.allowed_hosts,
            *(added.strip() for added in added_hosts if added.strip()),
        )
        problems += _find_shared_tokens(tokens)
        issuer = None
        if settings.oauth is not None:
            issuer, oauth_problems = Issuer.from_environment(
                settings.oauth, environment
            )
            problems += oauth_problems
            # Allow the public URL's host, because clients send it in the header `Host`.
            hosts = (*hosts, *issuer.hosts)
        if not is_loopback(host):
            missing = [
                endpoint.token_variable
                for endpoint in settings.endpoints
                if endpoint.token_variable not in tokens
                and (issuer is None or not issuer.has_scope_for(endpoint.client))
            ]
            if missing:
                problems.append(
                    f"`{host}` is not a loopback address, so every client needs a token:"
                    f" set {', '.join(missing)}"
                )
            if not hosts and _is_wildcard(host):
                problems.append(
                    f"`{host}` listens on all addresses, so the host names that clients use"
                    f" must be declared: set {settings.hosts_variable}"
                )
        if problems:
            raise SettingsError("; ".join(problems))
        # A wildcard address such as 0.0.0.0 is not a host that clients use.
        if not _is_wildcard(host):
            hosts = (*hosts, host)
        # Clients on the same machine may use any name of the loopback interface.
        if is_loopback(host) or _is_wildcard(host):
            hosts = (*hosts, "127.0.0.1", "localhost", "::1")
        return cls(settings, host, tokens, hosts, issuer)


def log_endpoints(listening: ListenSettings, origin: str = "") -> None:
    """Log one line per endpoint: its URL, and the tokens that it accepts.

    Args:
        listening: the server's settings.
        origin: the scheme, host and port of the URLs; empty if the server does not know them.
    """
    issuer = listening.issuer
    for endpoint in listening.settings.endpoints:
        served = "the tools" if endpoint.client is None else f"`{endpoint.client}`"
        variable = endpoint.token_variable
        accepted = []
        if variable in listening.tokens:
            accepted.append(f"the token in {variable}")
        if issuer is not None and issuer.has_scope_for(endpoint.client):
            accepted.append(f"tokens of {issuer.issuer}")
        access = f"with {' or '.join(accepted)}"
        if not accepted:
            access = f"without authentication: {variable} is not set"
        url = origin + endpoint.path
        extra = {"client": endpoint.client, "url": url}
        _logger.info("serving %s at %s %s", served, url, access, extra=extra)


def _find_shared_tokens(tokens: Mapping[str, Tokens]) -> list[str]:
    """Return a problem for each token that two variables contain.

    Such a token would give the client of one endpoint access to the other endpoint.
    """
    first_names: dict[bytes, str] = {}
    problems = []
    for name, variable_tokens in tokens.items():
        digests = variable_tokens.get_digests()
        others = {first_names.setdefault(digest, name) for digest in digests}
        for other in sorted(others - {name}):
            problems.append(
                f"{other} and {name} contain the same token: use a different one for each"
            )
    return problems


def _is_wildcard(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return host == ""


def _digest(token: str) -> bytes:
    """Return a token's hash, whose fixed length lets comparisons take equal time."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def _read_credentials(
    names: tuple[str, str], environment: Mapping[str, str]
) -> tuple[str, str]:
    """Return the client id and secret from variables, or from the files they name.

    Raises:
        ValueError: either is not set, or its file cannot be read.
    """
    client_id, client_secret = (load_secret(name, environment) for name in names)
    if client_id is None or client_secret is None:
        raise ValueError(f"introspection needs {' and '.join(names)}: set both")
    return client_id, client_secret


def is_safe_url(url: str) -> bool:
    """Return whether a URL is https, or http to a loopback address, and well formed.

    A user, a query and a fragment are not allowed.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    if not url.isascii() or not url.isprintable() or set(url) & set(' "\\<>'):
        return False
    if not parts.hostname or port == 0 or parts.username is not None:
        return False
    # Search the text, because `urlsplit` returns "" for an empty query and for a missing one.
    if "?" in url or "#" in url:
        return False
    if parts.scheme == "https":
        return True
    return parts.scheme == "http" and is_loopback(parts.hostname)


def is_loopback(host: str) -> bool:
    """Return whether a host is `localhost` or a loopback address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
