"""Requests to an authorization server: its metadata, its keys and token introspection.

The requests have limits of size and time, and follow no redirects. Requires `httpx2`, which is
a dependency of `mcp`.

Sources: RFC 7662 (introspection), RFC 8414 and OpenID Connect Discovery 1.0 (metadata), RFC 7517
(keys).
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from ..http.endpoints import Issuer, is_safe_url

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from ssl import SSLContext

    _SendRequest = Callable[[], Awaitable[dict[str, Any]]]

_MAX_RESPONSE_BYTES = 256 * 1024
"""Maximum size of a response of the authorization server."""
_REQUEST_TIMEOUT_S = 5.0
"""Timeout of a request to the authorization server, including the wait for other requests."""
_KEY_REFRESH_INTERVAL_S = 300.0
"""Age of the keys at which they are fetched again."""
_MAX_KEY_AGE_S = 3_600.0
"""Age up to which keys stay valid while they cannot be fetched again."""
_MIN_FETCH_INTERVAL_S = 30.0
"""Minimum time between two attempts to fetch the keys."""
_KEYS_TIMEOUT_S = 10.0
"""Timeout for fetching the keys, including the metadata that contains their URL."""
_MAX_KEYS = 100
"""Maximum number of keys of the authorization server that are read."""
_MAX_URL_CHARACTERS = 200
"""Maximum length of a URL in a message."""
_MAX_CONCURRENT_REQUESTS = 8
"""Maximum number of concurrent introspection requests."""
_MAX_PENDING_REQUESTS = 24
"""Maximum number of pending introspection requests, and of callers that wait for keys."""
_MAX_CANDIDATE_KEYS = 10
"""Maximum number of keys that are tried for one token.

Each try costs the verification of a signature.
"""
_RSA: tuple[str, frozenset[str | None]] = ("RSA", frozenset())
_KEY_TYPES: dict[str, tuple[str, frozenset[str | None]]] = {
    **dict.fromkeys("RS256 RS384 RS512 PS256 PS384 PS512".split(), _RSA),
    "ES256": ("EC", frozenset({"P-256"})),
    "ES384": ("EC", frozenset({"P-384"})),
    "ES512": ("EC", frozenset({"P-521"})),
    "EdDSA": ("OKP", frozenset({"Ed25519", "Ed448"})),
}
"""The key type and curves (`kty`, `crv`) of each supported algorithm (RFC 7518, RFC 8037).

Symmetric algorithms are missing: with a shared secret, each verifier could also issue tokens.
"""
_logger = logging.getLogger("toolcast.http")


class AuthorizationServerError(Exception):
    """Failure of a request to the authorization server; tokens cannot be validated."""

    retry_after = "30"


class TooManyRequestsError(AuthorizationServerError):
    """Rejection without a request, because too many callers wait for the server."""

    retry_after = "1"


class RequestLimiter:
    """Limiter of introspection requests: one per token, 8 at a time, 24 pending.

    Callers with the same token share a request. It is cancelled when all of them have left.
    """

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(_MAX_CONCURRENT_REQUESTS)
        self._requests: dict[bytes, asyncio.Task[dict[str, Any]]] = {}
        self._callers = Counter[bytes]()

    async def run(self, token_digest: bytes, send: _SendRequest) -> dict[str, Any]:
        """Return the response to the request about a token; send it if none is pending.

        Raises:
            AuthorizationServerError: the server did not send a valid response.
            TooManyRequestsError: too many requests are pending, so none was sent.
        """
        if token_digest not in self._requests:
            if len(self._requests) >= _MAX_PENDING_REQUESTS:
                raise TooManyRequestsError(
                    "too many requests wait for the authorization server"
                )
            task = asyncio.create_task(self._send_in_turn(send))
            self._requests[token_digest] = task
        request = self._requests[token_digest]
        self._callers[token_digest] += 1
        try:
            return await asyncio.shield(request)
        finally:
            self._callers[token_digest] -= 1
            if not self._callers[token_digest]:
                # The last caller has received the response, or all callers have disconnected.
                del self._callers[token_digest], self._requests[token_digest]
                request.cancel()

    async def _send_in_turn(self, send: _SendRequest) -> dict[str, Any]:
        try:
            async with asyncio.timeout(_REQUEST_TIMEOUT_S), self._slots:
                return await send()
        except TimeoutError:
            raise AuthorizationServerError(
                f"no response within {_REQUEST_TIMEOUT_S:g} s"
            ) from None


class AuthorizationServer:
    """Client of an authorization server for its keys, metadata and introspection.

    The keys are fetched again after five minutes, or if a token names an unknown key; but at
    most once in 30 seconds, so that forged tokens cannot cause many requests. If fetching
    fails, the previous keys stay valid for an hour. While keys are fetched, only callers with
    an unknown key wait.
    """

    def __init__(self, issuer: Issuer) -> None:
        self._issuer = issuer
        self._metadata: Mapping[str, Any] | None = None
        self._keys: list[dict[str, Any]] = []
        self._fetched_at = self._attempted_at = float("-inf")
        self._refresh: asyncio.Task[None] | None = None
        self._waiting = asyncio.Semaphore(_MAX_PENDING_REQUESTS)

    async def find_keys(self, key_id: str | None, algorithm: str) -> list[PyJWK]:
        """Return the keys that may have signed a token, at most ten.

        A key must fit the algorithm. If both the token and the key have an id, the ids must
        be equal; an id is optional in both (RFC 7517, section 4.5; RFC 7515, section 4.1.4).

        Args:
            key_id: the id (`kid`) in the token's header; None if it has none.
            algorithm: the algorithm (`alg`) in the token's header.

        Raises:
            AuthorizationServerError: the keys cannot be fetched.
        """
        age = time.monotonic() - self._fetched_at
        is_known = age <= _MAX_KEY_AGE_S and self._has_key(key_id)
        if age > _KEY_REFRESH_INTERVAL_S or not is_known:
            await self._refresh_keys(is_known=is_known)
        if time.monotonic() - self._fetched_at > _MAX_KEY_AGE_S:
            raise AuthorizationServerError(
                "the keys of the authorization server cannot be fetched"
            )
        groups = [self._keys]
        if key_id is not None:
            # Try keys without an id only if no fitting key has the id of the token.
            groups = [
                [entry for entry in self._keys if entry.get("kid") == kid]
                for kid in (key_id, None)
            ]
        for entries in groups:
            keys = (_build_key(entry, algorithm) for entry in entries)
            fitting = list(islice((key for key in keys if key), _MAX_CANDIDATE_KEYS))
            if fitting:
                return fitting
        return []

    async def find_renewed_keys(
        self, key_id: str | None, algorithm: str
    ) -> list[PyJWK]:
        """Return the keys for a token that none of the known keys signed.

        Fetches the keys again; returns none if they are unchanged, or were fetched in the
        last 30 seconds. Without ids, only this shows that the issuer has replaced a key.

        Raises:
            AuthorizationServerError: too many callers wait for the keys.
        """
        previous_keys = self._keys
        await self._refresh_keys(is_known=False)
        if self._keys == previous_keys:
            return []
        return await self.find_keys(key_id, algorithm)

    def _has_key(self, key_id: str | None) -> bool:
        return any(key_id in (None, entry.get("kid")) for entry in self._keys)

    async def introspect(self, token: str) -> dict[str, Any]:
        """Return the authorization server's response about a token (RFC 7662).

        Raises:
            AuthorizationServerError: the server gave no valid response, or the credentials
                for it cannot be read.
        """
        uri = await self.get_introspection_uri()
        form = {"token": token, "token_type_hint": "access_token"}
        try:
            credentials = self._issuer.credentials and self._issuer.credentials()
        except ValueError:
            raise AuthorizationServerError(
                "cannot read the credentials for introspection"
            ) from None
        return await fetch_json(uri, form, credentials)

    async def get_introspection_uri(self) -> str:
        """Return the URL for introspection, from the settings or the metadata.

        Raises:
            AuthorizationServerError: the metadata cannot be fetched or has no such URL.
        """
        return self._issuer.introspection_uri or await self._get_endpoint(
            "introspection_endpoint"
        )

    async def _refresh_keys(self, *, is_known: bool) -> None:
        """Fetch the keys, unless they were fetched in the last 30 seconds.

        If a fetch is running, wait for its end, except if the caller's key is known.
        """
        if self._refresh is not None and not self._refresh.done():
            if is_known:
                return
        elif time.monotonic() - self._attempted_at < _MIN_FETCH_INTERVAL_S:
            return
        else:
            self._attempted_at = time.monotonic()
            self._refresh = asyncio.create_task(self._fetch_keys())
        if self._waiting.locked():
            raise TooManyRequestsError(
                "too many callers wait for the keys of the authorization server"
            )
        async with self._waiting:
            # Shield the task: a caller that disconnects must not cancel the fetch for others.
            await asyncio.shield(self._refresh)

    async def _fetch_keys(self) -> None:
        try:
            async with asyncio.timeout(_KEYS_TIMEOUT_S):
                uri = self._issuer.jwks_uri or await self._get_endpoint("jwks_uri")
                self._keys = _parse_keys(await fetch_json(uri))
        except (AuthorizationServerError, TimeoutError) as error:
            reason = str(error) or f"no response within {_KEYS_TIMEOUT_S:g} s"
            _logger.error("cannot fetch the keys of the issuer: %s", reason)
        else:
            self._fetched_at = time.monotonic()

    async def _get_endpoint(self, name: str) -> str:
        if self._metadata is None:
            self._metadata = await self._discover_metadata()
        uri = self._metadata.get(name)
        if not isinstance(uri, str) or not is_safe_url(uri):
            self._metadata = None
            raise AuthorizationServerError(
                f"the metadata of the issuer has no valid `{name}`"
            )
        return uri

    async def _discover_metadata(self) -> Mapping[str, Any]:
        issuer = self._issuer.issuer
        parts = urlsplit(issuer)
        origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
        openid = "/.well-known/openid-configuration"
        mismatch = ""
        for url in dict.fromkeys(
            (
                f"{origin}/.well-known/oauth-authorization-server{path}",
                f"{origin}{openid}{path}",
                f"{origin}{path}{openid}",
            )
        ):
            try:
                metadata = await fetch_json(url)
            except AuthorizationServerError:
                continue
            # Use the metadata only if its `issuer` is the expected one (RFC 8414, section 3.3).
            published_issuer = metadata.get("issuer")
            if published_issuer == issuer:
                return metadata
            if isinstance(published_issuer, str) and is_safe_url(published_issuer):
                name = published_issuer[:_MAX_URL_CHARACTERS]
                mismatch = f": its metadata has the issuer {name}"
        raise AuthorizationServerError(
            f"{issuer} does not publish metadata of this issuer{mismatch}"
        )


def _parse_keys(key_set: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the usable entries of a JSON Web Key Set (RFC 7517)."""
    entries = key_set.get("keys")
    if not isinstance(entries, list):
        raise AuthorizationServerError(
            "the key set of the authorization server has no array `keys`"
        )
    usable = [
        entry
        for entry in entries[:_MAX_KEYS]
        if isinstance(entry, dict)
        and entry.get("use") in (None, "sig")
        and isinstance(entry.get("kid"), str | None)
        and any(_build_key(entry, algorithm) for algorithm in _KEY_TYPES)
    ]
    if not usable:
        raise AuthorizationServerError(
            "the key set of the authorization server has no supported key"
        )
    return usable


def _build_key(entry: Mapping[str, Any], algorithm: str) -> PyJWK | None:
    """Return a key for an algorithm; None if the entry is invalid or for another one.

    An entry without `alg` is valid for each algorithm of its type (RFC 7517, section 4.4).
    """
    key_type, curves = _KEY_TYPES[algorithm]
    has_type = entry.get("kty") == key_type and (
        key_type == "RSA" or entry.get("crv") in curves
    )
    if not has_type or entry.get("alg") not in (None, algorithm):
        return None
    # Reject a published private key: everybody can sign tokens with it.
    if "d" in entry:
        return None
    try:
        return PyJWK(dict(entry), algorithm)
    except (PyJWTError, ValueError, TypeError, KeyError, NotImplementedError):
        return None


async def fetch_json(
    url: str,
    form: Mapping[str, str] | None = None,
    credentials: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """Return the JSON object in the response to GET, or to POST if there is a form.

    Raises:
        AuthorizationServerError: there is no response with the status 200 and a JSON object.
            The message contains no part of the form, the credentials or the response.
    """
    try:
        async with (
            asyncio.timeout(_REQUEST_TIMEOUT_S),
            httpx2.AsyncClient(
                verify=_get_ssl_context(),
                timeout=_REQUEST_TIMEOUT_S,
                follow_redirects=False,
            ) as client,
            client.stream(
                "GET" if form is None else "POST",
                url,
                data=form,
                auth=credentials,
                # Request no compression, so that the limit on received bytes also limits the
                # size of the body.
                headers={"accept": "application/json", "accept-encoding": "identity"},
            ) as response,
        ):
            if response.status_code != 200:
                status = response.status_code
                raise AuthorizationServerError(f"{url} returned HTTP status {status}")
            body = bytearray()
            async for part in response.aiter_raw():
                body += part
                if len(body) > _MAX_RESPONSE_BYTES:
                    raise AuthorizationServerError(
                        f"the response of {url} exceeds {_MAX_RESPONSE_BYTES} bytes"
                    )
    except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise AuthorizationServerError(
            f"{url} cannot be reached: {type(error).__name__}"
        ) from None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise AuthorizationServerError(f"the response of {url} is not a JSON object")
    return value


@cache
def _get_ssl_context() -> SSLContext:
    """Return the shared SSL context.

    Loading the certificates for each request would be slower than the request itself.
    """
    return httpx2.create_ssl_context()
