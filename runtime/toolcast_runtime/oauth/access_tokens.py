"""Whether a token is good for one endpoint, by what its authorization server publishes or says.

That server is asked for few bytes, in a short time, without redirects. Needs `httpx2`, which
comes with `mcp`.

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

    _Ask = Callable[[], Awaitable[dict[str, Any]]]

_MAX_RESPONSE_BYTES = 256 * 1024
"""Size of a response of the authorization server."""
_SECONDS = 5.0
_FRESH = 300.0
_MAX_KEY_AGE_S = 3_600.0
_PAUSE = 30.0
_KEYS_TIMEOUT_S = 10.0
_MAX_KEYS = 100
"""Keys of the authorization server that are read."""
_MAX_URL_CHARACTERS = 200
"""Characters of a URL in a message."""
_MAX_TOKEN_CHARACTERS = 16 * 1024
"""Length of an access token."""
_SKEW = 30
_AT_ONCE = 8
_MAX_REQUESTS = 24
_REFUSED_SECONDS = 10.0
_KNOWN_SECONDS = 3_600.0
_MAX_CACHED_TOKENS = 10_000
_TYPES = frozenset(("jwt", "at+jwt", "application/at+jwt"))
_ASYMMETRIC = frozenset(
    "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA".split()
)
"""The only algorithms: with a shared secret, whoever checks a token can make one."""
_logger = logging.getLogger("toolcast.http")


class AuthorizationServerError(Exception):
    """Authorization server without a valid response, so that tokens cannot be checked."""

    retry_after = "30"


class TooManyRequestsError(AuthorizationServerError):
    """Request not sent, because too many wait for the authorization server."""

    retry_after = "1"


class Questions:
    """Few are asked at once, and one for each token; a few more wait, and further ones do not.

    What nobody waits for any more is not asked any further.
    """

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._asked: dict[bytes, asyncio.Task[dict[str, Any]]] = {}
        self._callers = Counter[bytes]()

    async def answer(self, about: bytes, ask: _Ask) -> dict[str, Any]:
        """What is answered to a question about a token.

        Raises:
            AuthorizationServerError: there is no answer; `TooManyRequestsError`, it was not asked.
        """
        if about not in self._asked:
            if len(self._asked) >= _MAX_REQUESTS:
                raise TooManyRequestsError(
                    "too many questions wait for the authorization server"
                )
            self._asked[about] = asyncio.create_task(self._in_turn(ask))
        asked = self._asked[about]
        self._callers[about] += 1
        try:
            return await asyncio.shield(asked)
        finally:
            self._callers[about] -= 1
            if not self._callers[about]:
                del self._callers[about], self._asked[about]
                asked.cancel()

    async def _in_turn(self, ask: _Ask) -> dict[str, Any]:
        try:
            async with asyncio.timeout(_SECONDS), self._turns:
                return await ask()
        except TimeoutError:
            raise AuthorizationServerError(f"no answer within {_SECONDS:g} s") from None


class AuthorizationServer:
    """Asked when something is needed, and not for each token.

    Keys are fetched again after five minutes, and for a key that is unknown, at most once in
    30 seconds: tokens of nobody's must not make requests. While they cannot be fetched, those of
    the last hour hold, and while they are, nobody waits for a key that is known.
    """

    def __init__(self, issuer: Issuer) -> None:
        self._issuer = issuer
        self._metadata: Mapping[str, Any] | None = None
        self._keys: dict[str | None, PyJWK] = {}
        self._fetched = self._tried = float("-inf")
        self._renewal: asyncio.Task[None] | None = None
        self._line = asyncio.Semaphore(_MAX_REQUESTS)

    async def key(self, number: str | None, algorithm: str) -> PyJWK | None:
        """The key of an id; None when the server has no such key for the algorithm.

        Raises:
            AuthorizationServerError: the keys are not to be had.
        """
        age = time.monotonic() - self._fetched
        is_known = age <= _MAX_KEY_AGE_S and number in self._keys
        if age > _FRESH or not is_known:
            await self._renewed(is_known=is_known)
        if time.monotonic() - self._fetched > _MAX_KEY_AGE_S:
            raise AuthorizationServerError(
                "the keys of the authorization server are not to be had"
            )
        key = self._keys.get(number)
        return key if key is not None and key.algorithm_name == algorithm else None

    async def introspection_uri(self) -> str:
        """Where tokens are asked for.

        Raises:
            AuthorizationServerError: the server does not say.
        """
        return self._issuer.introspection_uri or await self._address(
            "introspection_endpoint"
        )

    async def _renewed(self, *, is_known: bool) -> None:
        """Fetches the keys, or waits for who does; not for a key that is known."""
        if self._renewal is not None and not self._renewal.done():
            if is_known:
                return
        elif time.monotonic() - self._tried < _PAUSE:
            return
        else:
            self._tried = time.monotonic()
            self._renewal = asyncio.create_task(self._renew())
        if self._line.locked():
            raise TooManyRequestsError(
                "too many wait for the keys of the authorization server"
            )
        async with self._line:
            # A caller who goes away does not end what others wait for.
            await asyncio.shield(self._renewal)

    async def _renew(self) -> None:
        try:
            async with asyncio.timeout(_KEYS_TIMEOUT_S):
                uri = self._issuer.jwks_uri or await self._address("jwks_uri")
                self._keys = _keys(await fetch(uri))
        except (AuthorizationServerError, TimeoutError) as error:
            why = str(error) or f"no answer within {_KEYS_TIMEOUT_S:g} s"
            _logger.error("the keys of the issuer cannot be fetched: %s", why)
        else:
            self._fetched = time.monotonic()

    async def _address(self, name: str) -> str:
        if self._metadata is None:
            self._metadata = await self._discovered()
        uri = self._metadata.get(name)
        if not isinstance(uri, str) or not is_safe_url(uri):
            self._metadata = None
            raise AuthorizationServerError(
                f"the metadata of the issuer has no usable `{name}`"
            )
        return uri

    async def _discovered(self) -> Mapping[str, Any]:
        issuer = self._issuer.issuer
        parts = urlsplit(issuer)
        origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
        openid = "/.well-known/openid-configuration"
        another = ""
        for url in dict.fromkeys(
            (
                f"{origin}/.well-known/oauth-authorization-server{path}",
                f"{origin}{openid}{path}",
                f"{origin}{path}{openid}",
            )
        ):
            try:
                found = await fetch(url)
            except AuthorizationServerError:
                continue
            # Who speaks for another issuer is not asked for keys.
            if found.get("issuer") == issuer:
                return found
            named = found.get("issuer")
            if isinstance(named, str) and is_safe_url(named):
                another = f": what is there is of {named[:_MAX_URL_CHARACTERS]}"
        raise AuthorizationServerError(
            f"{issuer} publishes no metadata of its own{another}"
        )


def _keys(found: Mapping[str, Any]) -> dict[str | None, PyJWK]:
    """The keys by id, of which those that are not understood are left out."""
    listed = found.get("keys")
    if not isinstance(listed, list):
        raise AuthorizationServerError(
            "the authorization server publishes no list of keys"
        )
    keys: dict[str | None, PyJWK] = {}
    for entry in listed[:_MAX_KEYS]:
        if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
            continue
        number = entry.get("kid")
        if number is not None and not isinstance(number, str):
            continue
        try:
            key = PyJWK(entry)
        except (PyJWTError, ValueError, TypeError, KeyError, NotImplementedError):
            continue
        if key.algorithm_name in _ASYMMETRIC:
            keys[number] = key
    if not keys:
        raise AuthorizationServerError(
            "the authorization server publishes no key that can be used"
        )
    return keys


async def fetch(
    url: str,
    form: Mapping[str, str] | None = None,
    credentials: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """The JSON object at an address; with a form, what is answered to it.

    Raises:
        AuthorizationServerError: it is not to be had. The text has nothing that was sent or received.
    """
    try:
        async with (
            asyncio.timeout(_SECONDS),
            httpx2.AsyncClient(
                verify=_trusted(), timeout=_SECONDS, follow_redirects=False
            ) as client,
            client.stream(
                "GET" if form is None else "POST",
                url,
                data=form,
                auth=credentials,
                # What is packed is small on the wire and may be anything when unpacked.
                headers={"accept": "application/json", "accept-encoding": "identity"},
            ) as response,
        ):
            if response.status_code != 200:
                raise AuthorizationServerError(f"{url} answers {response.status_code}")
            body = bytearray()
            async for part in response.aiter_raw():
                body += part
                if len(body) > _MAX_RESPONSE_BYTES:
                    raise AuthorizationServerError(
                        f"{url} answers more than {_MAX_RESPONSE_BYTES} bytes"
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
        raise AuthorizationServerError(f"{url} answers no JSON object")
    return value


@cache
def _trusted() -> SSLContext:
    """Whose certificates hold; reading them for each request takes longer than the request."""
    return httpx2.create_ssl_context()


class InvalidTokenError(Exception):
    """Access token that is not valid here; the message contains no part of the token."""


class AccessTokens:
    """Checks the tokens of one authorization server.

    Args:
        issuer: whose tokens are taken.
        server: has the keys, or answers for each token.
    """

    def __init__(self, issuer: Issuer, server: AuthorizationServer) -> None:
        self._issuer = issuer
        self._server = server
        # Until when digests of tokens count as inactive, or as of somebody known, who does not
        # wait behind others.
        self._refused, self._known = dict[bytes, float](), dict[bytes, float]()
        self._of_known, self._of_others = Questions(), Questions()

    async def claims(self, token: str, audience: str) -> Mapping[str, Any]:
        """What a token says, checked.

        Args:
            audience: the endpoint's URL, which the token must be for.

        Raises:
            InvalidTokenError: it is not good here.
            AuthorizationServerError: it cannot be found out.
        """
        if len(token) > _MAX_TOKEN_CHARACTERS:
            raise InvalidTokenError("the token is too long")
        # With and without the slash at its end it is one endpoint.
        audiences = [audience, audience.rstrip("/")]
        if self._issuer.oauth.introspection:
            claims = await self._introspected(token, audiences)
        else:
            claims = await self._signed(token, audiences)
        if claims.get("cnf") is not None:
            # Nothing here checks that the caller has the key that it is bound to.
            raise InvalidTokenError("the token is bound to a key")
        return claims

    async def _signed(self, token: str, audiences: list[str]) -> Mapping[str, Any]:
        try:
            head = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise InvalidTokenError("the token is malformed") from None
        algorithm, kind, number = head.get("alg"), head.get("typ"), head.get("kid")
        if algorithm not in self._issuer.oauth.algorithms:
            raise InvalidTokenError("the token's algorithm is not taken")
        if "crit" in head:
            raise InvalidTokenError("the token has a header that must be understood")
        if kind is not None and str(kind).lower() not in _TYPES:
            raise InvalidTokenError("the token is no access token")
        key = await self._server.key(number, algorithm)
        if key is None:
            raise InvalidTokenError("the token is signed with an unknown key")
        try:
            found: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=audiences,
                issuer=self._issuer.issuer,
                leeway=_SKEW,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWTError as error:
            raise InvalidTokenError(_WHY.get(type(error), _MALFORMED)) from None
        except (ValueError, TypeError, OverflowError, RecursionError):
            raise InvalidTokenError(_MALFORMED) from None
        return found

    async def _introspected(
        self, token: str, audiences: list[str]
    ) -> Mapping[str, Any]:
        async def ask() -> dict[str, Any]:
            uri = await self._server.introspection_uri()
            form = {"token": token, "token_type_hint": "access_token"}
            try:
                credentials = self._issuer.credentials and self._issuer.credentials()
            except ValueError:
                raise AuthorizationServerError(
                    "credentials for introspection cannot be read"
                ) from None
            return await fetch(uri, form, credentials)

        digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        now = time.monotonic()
        if self._refused.get(digest, now) > now:
            raise InvalidTokenError(_INACTIVE)
        is_known = self._known.get(digest, now) > now
        lane = self._of_known if is_known else self._of_others
        found = await lane.answer(digest, ask)
        if found.get("active") is not True:
            _remember(self._refused, digest, _REFUSED_SECONDS)
            raise InvalidTokenError(_INACTIVE)
        given = found.get("aud")
        named = given if isinstance(given, list) else [given]
        if not any(each in audiences for each in named if isinstance(each, str)):
            raise InvalidTokenError(_WHY[jwt.InvalidAudienceError])
        if found.get("iss", self._issuer.issuer) != self._issuer.issuer:
            raise InvalidTokenError(_WHY[jwt.InvalidIssuerError])
        now = time.time()
        ends, begins = found.get("exp", now), found.get("nbf", now)
        if not all(
            isinstance(each, int | float) and each == each for each in (ends, begins)
        ):
            raise InvalidTokenError(_MALFORMED)
        if ends + _SKEW < now:
            raise InvalidTokenError(_WHY[jwt.ExpiredSignatureError])
        if begins - _SKEW > now:
            raise InvalidTokenError(_WHY[jwt.ImmatureSignatureError])
        if str(found.get("token_type", "bearer")).lower() not in (
            "bearer",
            "access_token",
        ):
            raise InvalidTokenError("the token is no bearer token")
        _remember(self._known, digest, _KNOWN_SECONDS)
        return found


def _remember(until: dict[bytes, float], digest: bytes, seconds: float) -> None:
    """Among the latest ones."""
    until.pop(digest, None)
    until[digest] = time.monotonic() + seconds
    if len(until) > _MAX_CACHED_TOKENS:
        del until[next(iter(until))]


_MALFORMED = "the token is malformed"
_INACTIVE = "the token is not active"
_WHY: dict[type[Exception], str] = {
    jwt.ExpiredSignatureError: "the token has expired",
    jwt.ImmatureSignatureError: "the token is not valid yet",
    jwt.InvalidAudienceError: "the token is for another audience",
    jwt.InvalidIssuerError: "the token is of another issuer",
    jwt.InvalidSignatureError: "the token's signature is wrong",
    jwt.MissingRequiredClaimError: "the token lacks exp, iss or aud",
}
