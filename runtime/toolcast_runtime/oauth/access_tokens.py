"""Validate OAuth access tokens, by the issuer's keys or by introspection.

Sources: RFC 9068 (access tokens as JWT), RFC 8725 (good practice), RFC 7662 (introspection).
"""

from __future__ import annotations

import hashlib
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import jwt

from .authorization_server import AuthorizationServer, RequestLimiter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jwt import PyJWK

    from ..http.endpoints import Issuer

_MAX_TOKEN_CHARACTERS = 16 * 1024
"""Maximum length of an access token."""
_CLOCK_SKEW_S = 30
"""Tolerated difference between the clocks of this server and the issuer."""
_INACTIVE_CACHE_S = 10.0
"""Time for which a token is rejected without a request after it was inactive."""
_ACTIVE_CACHE_S = 3_600.0
"""Time for which a token that was active does not wait behind unknown tokens."""
_MAX_CACHED_TOKENS = 10_000
"""Maximum number of tokens whose last state (active or inactive) is stored."""
_TOKEN_TYPES = frozenset(("jwt", "at+jwt", "application/at+jwt"))
"""The accepted values of `typ` in the header of a JWT, in lower case."""


class InvalidTokenError(Exception):
    """Access token that an endpoint rejects; the message contains no part of the token."""


class AccessTokens:
    """Validator of access tokens of one authorization server.

    Args:
        issuer: the issuer of the tokens.
        server: the authorization server, for its keys or for introspection.
    """

    def __init__(self, issuer: Issuer, server: AuthorizationServer) -> None:
        self._issuer = issuer
        self._server = server
        # Keys are digests of tokens; values are times of `time.monotonic` until which the last
        # state of the token is used.
        self._inactive_until: dict[bytes, float] = {}
        self._active_until: dict[bytes, float] = {}
        # Use separate limiters, so that many unknown tokens do not delay tokens that were
        # active before.
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
        # Accept the audience with and without a trailing slash, which name the same endpoint.
        audiences = [audience, audience.rstrip("/")]
        if self._issuer.oauth.introspection:
            claims = await self._introspect(token, audiences)
        else:
            claims = await self._validate_jwt(token, audiences)
        if claims.get("cnf") is not None:
            # Reject a token with `cnf`: it is bound to a key, and this server does not check
            # the proof of possession that such tokens need.
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
        reason = "the token is signed with an unknown key"
        for find_keys in (self._server.find_keys, self._server.find_renewed_keys):
            for key in await find_keys(header.get("kid"), algorithm):
                try:
                    return self._decode(token, key, algorithm, audiences)
                except jwt.InvalidSignatureError:
                    # Try the next key: if tokens and keys have no ids, only the signature
                    # shows which key was used.
                    reason = _REASONS[jwt.InvalidSignatureError]
                except jwt.PyJWTError as error:
                    message = _REASONS.get(type(error), _MALFORMED)
                    raise InvalidTokenError(message) from None
                except (ValueError, TypeError, OverflowError, RecursionError):
                    raise InvalidTokenError(_MALFORMED) from None
        raise InvalidTokenError(reason)

    def _decode(
        self, token: str, key: PyJWK, algorithm: str, audiences: list[str]
    ) -> Mapping[str, Any]:
        """Return the claims of a JWT.

        Raises:
            jwt.PyJWTError: the token is not valid.
        """
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            audience=audiences,
            issuer=self._issuer.issuer,
            leeway=_CLOCK_SKEW_S,
            options={"require": ["exp", "iss", "aud"]},
        )
        return claims

    async def _introspect(self, token: str, audiences: list[str]) -> Mapping[str, Any]:
        digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        now = time.monotonic()
        if self._inactive_until.get(digest, now) > now:
            raise InvalidTokenError(_INACTIVE)
        is_known = self._active_until.get(digest, now) > now
        limiter = self._known_requests if is_known else self._other_requests
        claims = await limiter.run(digest, partial(self._server.introspect, token))
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
        # Compare only strings, because the list may contain values of any JSON type.
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
        # Accept the type of RFC 6749 (`Bearer`), or the value of the request's
        # `token_type_hint`, which some servers return.
        if token_type not in ("bearer", "access_token"):
            raise InvalidTokenError("the token is not a bearer token")


def _remember(until: dict[bytes, float], digest: bytes, seconds: float) -> None:
    """Store a token's state for some seconds; drop the oldest entry above the limit."""
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
