"""Whether a token is good for one endpoint, and what it says.

Sources: RFC 9068 (access tokens as JWT), RFC 8725 (good practice), RFC 7662 (introspection).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import jwt

from .authorization_server import AuthorizationServer, NotThere, fetch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .oauth_settings import Issuer

_LONGEST = 16 * 1024
_SKEW = 30
_TYPES = frozenset((None, "jwt", "at+jwt", "application/at+jwt"))


class TokenRefused(Exception):
    """The token is not good here. The text has nothing of it."""


class AccessTokens:
    """Checks the tokens of one authorization server.

    Args:
        issuer: whose tokens are taken.
        server: has the keys, or answers for each token.
    """

    def __init__(self, issuer: Issuer, server: AuthorizationServer) -> None:
        self._issuer = issuer
        self._server = server

    async def claims(self, token: str, audience: str) -> Mapping[str, Any]:
        """What a token says, checked.

        Args:
            audience: the endpoint's URL, which the token must be for.

        Raises:
            TokenRefused: it is not good here.
            NotThere: it cannot be found out.
        """
        if len(token) > _LONGEST:
            raise TokenRefused("the token is too long")
        # With and without the slash at its end it is one endpoint.
        audiences = [audience, audience.rstrip("/")]
        if self._issuer.oauth.introspection:
            claims = await self._introspected(token, audiences)
        else:
            claims = await self._signed(token, audiences)
        if claims.get("cnf") is not None:
            # Nothing here checks that the caller has the key that it is bound to.
            raise TokenRefused("the token is bound to a key")
        return claims

    async def _signed(self, token: str, audiences: list[str]) -> Mapping[str, Any]:
        try:
            head = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise TokenRefused("the token is malformed") from None
        algorithm, kind, number = head.get("alg"), head.get("typ"), head.get("kid")
        if algorithm not in self._issuer.oauth.algorithms:
            raise TokenRefused("the token's algorithm is not taken")
        if "crit" in head:
            raise TokenRefused("the token has a header that must be understood")
        if (kind.lower() if isinstance(kind, str) else kind) not in _TYPES:
            raise TokenRefused("the token is no access token")
        key = await self._server.key(number, algorithm)
        if key is None:
            raise TokenRefused("the token is signed with an unknown key")
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
            raise TokenRefused(_WHY.get(type(error), _MALFORMED)) from None
        except (ValueError, TypeError, OverflowError, RecursionError):
            raise TokenRefused(_MALFORMED) from None
        return found

    async def _introspected(
        self, token: str, audiences: list[str]
    ) -> Mapping[str, Any]:
        uri = await self._server.introspection_uri()
        form = {"token": token, "token_type_hint": "access_token"}
        try:
            credentials = self._issuer.credentials and self._issuer.credentials()
        except ValueError:
            raise NotThere("the credentials for introspection cannot be read") from None
        found = await fetch(uri, form, credentials)
        if found.get("active") is not True:
            raise TokenRefused("the token is not active")
        given = found.get("aud")
        named = given if isinstance(given, list) else [given]
        if not any(each in audiences for each in named if isinstance(each, str)):
            raise TokenRefused(_WHY[jwt.InvalidAudienceError])
        if found.get("iss", self._issuer.issuer) != self._issuer.issuer:
            raise TokenRefused(_WHY[jwt.InvalidIssuerError])
        now = time.time()
        ends, begins = found.get("exp", now), found.get("nbf", now)
        if not all(
            isinstance(each, int | float) and each == each for each in (ends, begins)
        ):
            raise TokenRefused(_MALFORMED)
        if ends + _SKEW < now:
            raise TokenRefused(_WHY[jwt.ExpiredSignatureError])
        if begins - _SKEW > now:
            raise TokenRefused(_WHY[jwt.ImmatureSignatureError])
        if str(found.get("token_type", "bearer")).lower() not in (
            "bearer",
            "access_token",
        ):
            raise TokenRefused("the token is no bearer token")
        return found


_MALFORMED = "the token is malformed"
_WHY: dict[type[Exception], str] = {
    jwt.ExpiredSignatureError: "the token has expired",
    jwt.ImmatureSignatureError: "the token is not valid yet",
    jwt.InvalidAudienceError: "the token is for another audience",
    jwt.InvalidIssuerError: "the token is of another issuer",
    jwt.InvalidSignatureError: "the token's signature is wrong",
    jwt.MissingRequiredClaimError: "the token lacks exp, iss or aud",
}
