"""Validate OAuth access tokens, by the issuer's keys or by introspection.

Requests to the authorization server have limits of size and time, and follow no redirects.
Requires `httpx2`, which is a dependency of `mcp`.

Sources: RFC 9068 (access tokens as JWT), RFC 8725 (good practice), RFC 7662 (introspection),
RFC 8414, OpenID Connect Discovery 1.0, RFC 7517 (keys).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
import jwt
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from ..http.endpoints import Issuer, is_safe_url

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from ssl import SSLContext

    _SendRequest = Callable[[], Awaitable[dict[str, Any]]]

_MAX_RESPONSE_BYTES = 256 * 1024
"""Size of a response of the authorization server."""
_REQUEST_TIMEOUT_S = 5.0
"""Time of one request to the authorization server, including the wait for other requests."""
_KEY_REFRESH_INTERVAL_S = 300.0
"""Age of the keys at which they are fetched again."""
_MAX_KEY_AGE_S = 3_600.0
"""Age up to which keys stay valid while they cannot be fetched again."""
_MIN_FETCH_INTERVAL_S = 30.0
"""Time between two attempts to fetch the keys."""
_KEYS_TIMEOUT_S = 10.0
"""Time to fetch the keys, including the metadata that contains their URL."""
_MAX_KEYS = 100
"""Keys of the authorization server that are read."""
_MAX_URL_CHARACTERS = 200
"""Characters of a URL in a message."""
_MAX_TOKEN_CHARACTERS = 16 * 1024
"""Length of an access token."""
_CLOCK_SKEW_S = 30
"""Tolerated difference between the clocks of this server and the issuer."""
_MAX_CONCURRENT_REQUESTS = 8
"""Introspection requests that are sent at a time."""
_MAX_PENDING_REQUESTS = 24
"""Introspection requests, or callers that wait for keys, before further ones are rejected."""
_INACTIVE_CACHE_S = 10.0
"""Time for which a token is rejected without a request after it was inactive."""
_ACTIVE_CACHE_S = 3_600.0
"""Time for which a token that was active does not wait behind unknown tokens."""
_MAX_CACHED_TOKENS = 10_000
"""Tokens whose last state is stored, for each of the two states."""
_TOKEN_TYPES = frozenset(("jwt", "at+jwt", "application/at+jwt"))
"""The accepted values of `typ` in the header of a JWT, in lower case."""
_ASYMMETRIC_ALGORITHMS = frozenset(
    "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA".split()
)
"""The supported algorithms. With a shared secret, each verifier could also issue tokens."""
_logger = logging.getLogger("toolcast.http")


class AuthorizationServerError(Exception):
    """The authorization server did not respond as expected, so tokens cannot be checked."""

    retry_after = "30"


class TooManyRequestsError(AuthorizationServerError):
    """No request was sent, because too many callers wait for the authorization server."""

    retry_after = "1"


class RequestLimiter:
    """Limits the introspection requests: one per token, 8 at a time, 24 in total.

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
    """The keys and endpoints of an authorization server.

    The keys are fetched again after five minutes, or if a token names an unknown key; but at
    most once in 30 seconds, so that forged tokens cannot cause many requests. If fetching
    fails, the previous keys stay valid for an hour. While keys are fetched, only callers with
    an unknown key wait.
    """

    def __init__(self, issuer: Issuer) -> None:
        self._issuer = issuer
        self._metadata: Mapping[str, Any] | None = None
        self._keys: dict[str | None, PyJWK] = {}
        self._fetched_at = self._attempted_at = float("-inf")
        self._refresh: asyncio.Task[None] | None = None
        self._waiting = asyncio.Semaphore(_MAX_PENDING_REQUESTS)

    async def get_key(self, key_id: str | None, algorithm: str) -> PyJWK | None:
        """Return the key with an id; None if it does not exist or has another algorithm.

        Raises:
            AuthorizationServerError: the keys cannot be fetched.
        """
        age = time.monotonic() - self._fetched_at
        is_known = age <= _MAX_KEY_AGE_S and key_id in self._keys
        if age > _KEY_REFRESH_INTERVAL_S or not is_known:
            await self._refresh_keys(is_known=is_known)
        if time.monotonic() - self._fetched_at > _MAX_KEY_AGE_S:
            raise AuthorizationServerError(
                "the keys of the authorization server cannot be fetched"
            )
        key = self._keys.get(key_id)
        return key if key is not None and key.algorithm_name == algorithm else None

    async def get_introspection_uri(self) -> str:
        """Return the URL for introspection, from the settings or the metadata.

        Raises:
            AuthorizationServerError: the metadata cannot be fetched or has no such URL.
        """
        return self._issuer.introspection_uri or await self._get_endpoint(
            "introspection_endpoint"
        )

    async def _refresh_keys(self, *, is_known: bool) -> None:
        """Fetch the keys, or wait for a fetch that runs unless the caller's key is known."""
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
            # A caller that disconnects must not cancel the fetch for the others.
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
            # Metadata of another issuer must not be used (RFC 8414, section 3.3).
            published_issuer = metadata.get("issuer")
            if published_issuer == issuer:
                return metadata
            if isinstance(published_issuer, str) and is_safe_url(published_issuer):
                name = published_issuer[:_MAX_URL_CHARACTERS]
                mismatch = f": its metadata has the issuer {name}"
        raise AuthorizationServerError(
            f"{issuer} does not publish metadata of this issuer{mismatch}"
        )


def _parse_keys(key_set: Mapping[str, Any]) -> dict[str | None, PyJWK]:
    """Return the keys of a JSON Web Key Set by id, without unsupported keys."""
    entries = key_set.get("keys")
    if not isinstance(entries, list):
        raise AuthorizationServerError(
            "the key set of the authorization server has no array `keys`"
        )
    keys: dict[str | None, PyJWK] = {}
    for entry in entries[:_MAX_KEYS]:
        if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
            continue
        key_id = entry.get("kid")
        if key_id is not None and not isinstance(key_id, str):
            continue
        try:
            key = PyJWK(entry)
        except (PyJWTError, ValueError, TypeError, KeyError, NotImplementedError):
            continue
        if key.algorithm_name in _ASYMMETRIC_ALGORITHMS:
            keys[key_id] = key
    if not keys:
        raise AuthorizationServerError(
            "the key set of the authorization server has no supported key"
        )
    return keys


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
                # Without compression, the size of the body is limited by the bytes read.
                headers={"accept": "application/json", "accept-encoding": "identity"},
            ) as response,
        ):
            if response.status_code != 200:
                status = response.status_code
                raise AuthorizationServerError(
                    f"{url} answered with the status {status}"
                )
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


class InvalidTokenError(Exception):
    """The access token is not valid here; the message contains no part of the token."""


class AccessTokens:
    """Validates the access tokens of one authorization server.

    Args:
        issuer: the issuer of the tokens.
        server: the authorization server, for its keys or for introspection.
    """

    def __init__(self, issuer: Issuer, server: AuthorizationServer) -> None:
        self._issuer = issuer
        self._server = server
        # By token digest, the time until which the last state of a token is used.
        self._inactive_until: dict[bytes, float] = {}
        self._active_until: dict[bytes, float] = {}
        # Two limiters, so that many unknown tokens do not delay tokens that were active.
        self._known_requests, self._other_requests = RequestLimiter(), RequestLimiter()

    async def validate_token(self, token: str, audience: str) -> Mapping[str, Any]:
        """Return the claims of a token after validating it.

        Args:
            token: the access token.
            audience: the endpoint's URL, which the token must be issued for.

        Raises:
            InvalidTokenError: the token is not valid for the endpoint.
            AuthorizationServerError: the token cannot be validated at present.
        """
        if len(token) > _MAX_TOKEN_CHARACTERS:
            raise InvalidTokenError("the token is too long")
        # An endpoint's path with and without a trailing slash is the same endpoint.
        audiences = [audience, audience.rstrip("/")]
        if self._issuer.oauth.introspection:
            claims = await self._introspect(token, audiences)
        else:
            claims = await self._validate_jwt(token, audiences)
        if claims.get("cnf") is not None:
            # A bound token needs a proof of possession, which this server does not check.
            raise InvalidTokenError(
                "the token is bound to a key, which is not supported"
            )
        return claims

    async def _validate_jwt(
        self, token: str, audiences: list[str]
    ) -> Mapping[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise InvalidTokenError("the token is malformed") from None
        algorithm, token_type = header.get("alg"), header.get("typ")
        if algorithm not in self._issuer.oauth.algorithms:
            raise InvalidTokenError("the token's algorithm is not accepted")
        if "crit" in header:
            raise InvalidTokenError("the token's header `crit` is not supported")
        if token_type is not None and str(token_type).lower() not in _TOKEN_TYPES:
            raise InvalidTokenError("the token is not an access token")
        key = await self._server.get_key(header.get("kid"), algorithm)
        if key is None:
            raise InvalidTokenError("the token is signed with an unknown key")
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=audiences,
                issuer=self._issuer.issuer,
                leeway=_CLOCK_SKEW_S,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWTError as error:
            raise InvalidTokenError(_REASONS.get(type(error), _MALFORMED)) from None
        except (ValueError, TypeError, OverflowError, RecursionError):
            raise InvalidTokenError(_MALFORMED) from None
        return claims

    async def _introspect(self, token: str, audiences: list[str]) -> Mapping[str, Any]:
        async def send_request() -> dict[str, Any]:
            uri = await self._server.get_introspection_uri()
            form = {"token": token, "token_type_hint": "access_token"}
            try:
                credentials = self._issuer.credentials and self._issuer.credentials()
            except ValueError:
                raise AuthorizationServerError(
                    "cannot read the credentials for introspection"
                ) from None
            return await fetch_json(uri, form, credentials)

        digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        now = time.monotonic()
        if self._inactive_until.get(digest, now) > now:
            raise InvalidTokenError(_INACTIVE)
        is_known = self._active_until.get(digest, now) > now
        limiter = self._known_requests if is_known else self._other_requests
        claims = await limiter.run(digest, send_request)
        if claims.get("active") is not True:
            _remember(self._inactive_until, digest, _INACTIVE_CACHE_S)
            raise InvalidTokenError(_INACTIVE)
        self._validate_introspected(claims, audiences)
        _remember(self._active_until, digest, _ACTIVE_CACHE_S)
        return claims

    def _validate_introspected(
        self, claims: Mapping[str, Any], audiences: list[str]
    ) -> None:
        """Raise `InvalidTokenError` if an active token is not valid for the audiences."""
        audience = claims.get("aud")
        named_audiences = audience if isinstance(audience, list) else [audience]
        # Comparing only strings: a list may contain values of any JSON type.
        if not any(isinstance(a, str) and a in audiences for a in named_audiences):
            raise InvalidTokenError(_REASONS[jwt.InvalidAudienceError])
        if claims.get("iss", self._issuer.issuer) != self._issuer.issuer:
            raise InvalidTokenError(_REASONS[jwt.InvalidIssuerError])
        now = time.time()
        expires, not_before = claims.get("exp", now), claims.get("nbf", now)
        for timestamp in (expires, not_before):
            is_nan = timestamp != timestamp
            if not isinstance(timestamp, int | float) or is_nan:
                raise InvalidTokenError(_MALFORMED)
        if expires + _CLOCK_SKEW_S < now:
            raise InvalidTokenError(_REASONS[jwt.ExpiredSignatureError])
        if not_before - _CLOCK_SKEW_S > now:
            raise InvalidTokenError(_REASONS[jwt.ImmatureSignatureError])
        token_type = str(claims.get("token_type", "bearer")).lower()
        # RFC 6749's type, or the value of `token_type_hint`.
        if token_type not in ("bearer", "access_token"):
            raise InvalidTokenError("the token is not a bearer token")


def _remember(until: dict[bytes, float], digest: bytes, seconds: float) -> None:
    """Store until when a token's state is used; drop the oldest of over 10,000."""
    until.pop(digest, None)
    until[digest] = time.monotonic() + seconds
    if len(until) > _MAX_CACHED_TOKENS:
        del until[next(iter(until))]


_MALFORMED = "the token is malformed"
_INACTIVE = "the token is not active"
_REASONS: dict[type[Exception], str] = {
    jwt.ExpiredSignatureError: "the token has expired",
    jwt.ImmatureSignatureError: "the token is not valid yet",
    jwt.InvalidAudienceError: "the token is for another audience",
    jwt.InvalidIssuerError: "the token is from another issuer",
    jwt.InvalidSignatureError: "the token's signature is not valid",
    jwt.MissingRequiredClaimError: "the token lacks `exp`, `iss` or `aud`",
}
"""The messages for the exceptions of PyJWT."""
