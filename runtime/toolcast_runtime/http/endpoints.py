"""Where a server listens and for whom: the settings, with what the environment adds to them.

Bearer tokens come from variables or from files, and are changed without a restart: during a
change a variable or file holds the old and the new one, apart by white space, because a token has
none in it (RFC 6750, section 2.1). A file is what systemd credentials, Docker and Kubernetes
secrets are; it is read again when it changes.
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
    """The tokens that open one endpoint; any of them does.

    Args:
        name: the variable that they come from.
        tokens: those of the variable.
        path: the file that holds them instead.
    """

    def __init__(
        self, name: str, tokens: tuple[str, ...] = (), path: str | None = None
    ) -> None:
        self.name = name
        self._path = path
        self._seen: tuple[int, ...] | None = None
        self._digests = frozenset(map(_digest, tokens))

    @classmethod
    def of(cls, name: str, environment: Mapping[str, str]) -> Tokens | None:
        """Those of a variable; None when nothing is set.

        Raises:
            ValueError: the file cannot be read, has no token, or both are set.
        """
        given = tuple(environment.get(name, "").split())
        path = environment.get(f"{name}_FILE", "").strip()
        if not path:
            return cls(name, given) if given else None
        if given:
            raise ValueError(f"set {name} or {name}_FILE, not both")
        tokens = cls(name, path=path)
        tokens.digests()
        if not tokens._digests:
            raise ValueError(f"the file that {name}_FILE names has no token to read")
        return tokens

    def digests(self) -> frozenset[bytes]:
        """Of the tokens that hold now; none while the file cannot be read."""
        if self._path is not None:
            try:
                seen = os.stat(self._path)
                now = seen.st_ino, seen.st_mtime_ns, seen.st_size
                if now != self._seen:
                    found = frozenset(
                        map(_digest, read_secret_file(self._path).split())
                    )
                    if self._seen is not None:
                        _logger.info("the tokens of %s were read again", self.name)
                    self._digests, self._seen = found, now
            except (OSError, ValueError):
                if self._digests:
                    _logger.error("the file that %s_FILE names is gone", self.name)
                self._digests, self._seen = frozenset(), None
        return self._digests

    def holds(self, token: str) -> bool:
        """Whether it is one of them, in a time that tells nothing of them."""
        given = _digest(token)
        # All are compared, whichever is right.
        return sum(hmac.compare_digest(given, each) for each in self.digests()) > 0


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
        if not is_loopback(host):
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
        if is_loopback(host) or _is_wildcard(host):
            hosts = (*hosts, "127.0.0.1", "localhost", "::1")
        return cls(settings, host, tokens, hosts, issuer)


def tell_endpoints(listening: Listening, origin: str = "") -> None:
    """One line an endpoint.

    Args:
        listening: where, and for whom.
        origin: what the URLs begin with; empty where nobody has told the server.
    """
    for endpoint in listening.settings.endpoints:
        what = "the tools" if endpoint.client is None else f"`{endpoint.client}`"
        variable = endpoint.token_variable
        for_whom = []
        if variable in listening.tokens:
            for_whom.append(f"the token in {variable}")
        if listening.issuer is not None and listening.issuer.opens(endpoint.client):
            for_whom.append(f"tokens of {listening.issuer.issuer}")
        to = f"for {' and '.join(for_whom)}"
        if not for_whom:
            to = f"to whoever asks: {variable} is not set"
        url = origin + endpoint.path
        extra = {"client": endpoint.client, "url": url}
        _logger.info("serves %s at %s %s", what, url, to, extra=extra)


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


def _is_wildcard(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return host == ""


def _digest(token: str) -> bytes:
    """Of one length for every token, so that comparing takes one time."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def _credentials(
    names: tuple[str, str], environment: Mapping[str, str]
) -> tuple[str, str]:
    """Id and secret; raises `ValueError` when one cannot be had."""
    user, password = (load_secret(name, environment) for name in names)
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
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
