"""Tokens that an attacker makes, with what everybody knows of the issuer."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

if TYPE_CHECKING:
    from tests.oauth.authorization_server import AuthorizationServer

__all__ = [
    "by_hand",
    "by_hmac",
    "by_public_key",
    "by_rsa",
    "other_key",
    "unsigned",
    "with_its_own_key",
]


def other_key(issuer: AuthorizationServer, audience: str) -> str:
    return issuer.token(audience, key=ec.generate_private_key(ec.SECP256R1()))


def by_hmac(issuer: AuthorizationServer, audience: str) -> str:
    return issuer.token(audience, key="k" * 64, algorithm="HS256")


def _part(value: Any) -> bytes:
    return urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")


def by_public_key(issuer: AuthorizationServer, audience: str) -> str:
    """HS256 whose secret is the issuer's public key, which everybody has (RFC 8725, 2.1)."""
    public = issuer.keys["one"].public_key()
    kind = serialization.PublicFormat.SubjectPublicKeyInfo
    secret = public.public_bytes(serialization.Encoding.PEM, kind)
    head = {"alg": "HS256", "typ": "at+jwt", "kid": "one"}
    signed = _part(head) + b"." + _part(issuer.claims(audience))
    mac = urlsafe_b64encode(hmac.digest(secret, signed, "sha256")).rstrip(b"=")
    return f"{signed.decode()}.{mac.decode()}"


def by_hand(
    issuer: AuthorizationServer, audience: str, head: Any, **claims: Any
) -> str:
    """As no library writes it, and yet signed by the issuer."""
    signed = (
        _part({"alg": "ES256", **head})
        + b"."
        + _part(issuer.claims(audience, **claims))
    )
    algorithm = jwt.get_algorithm_by_name("ES256")
    signature = urlsafe_b64encode(algorithm.sign(signed, issuer.keys["one"]))
    return f"{signed.decode()}.{signature.rstrip(b'=').decode()}"


def with_its_own_key(issuer: AuthorizationServer, audience: str) -> str:
    """The token brings the key that it is signed with, and an address of such keys."""
    key = ec.generate_private_key(ec.SECP256R1())
    jwk = jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
    more = {"jwk": jwk, "jku": f"{issuer.url}/own", "x5u": f"{issuer.url}/own"}
    return issuer.token(audience, key=key, headers=more)


def by_rsa(issuer: AuthorizationServer, audience: str) -> str:
    key = rsa.generate_private_key(65537, 2048)
    return issuer.token(audience, key=key, algorithm="PS256")


def unsigned(issuer: AuthorizationServer, audience: str) -> str:
    return jwt.encode(issuer.claims(audience), "", algorithm="none")
