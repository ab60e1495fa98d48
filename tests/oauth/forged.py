"""Build the tokens that an attacker can forge from an issuer's public data."""

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
    "sign_by_hand",
    "sign_with_public_key",
    "sign_with_rsa",
    "sign_with_other_key",
    "make_unsigned",
    "sign_with_embedded_key",
]


def sign_with_other_key(issuer: AuthorizationServer, audience: str) -> str:
    return issuer.token(audience, key=ec.generate_private_key(ec.SECP256R1()))


def _part(value: Any) -> bytes:
    return urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")


def sign_with_public_key(issuer: AuthorizationServer, audience: str) -> str:
    """Sign with HS256 and the issuer's public key as the secret (RFC 8725, section 2.1)."""
    public = issuer.keys["one"].public_key()
    kind = serialization.PublicFormat.SubjectPublicKeyInfo
    secret = public.public_bytes(serialization.Encoding.PEM, kind)
    head = {"alg": "HS256", "typ": "at+jwt", "kid": "one"}
    signed = _part(head) + b"." + _part(issuer.claims(audience))
    mac = urlsafe_b64encode(hmac.digest(secret, signed, "sha256")).rstrip(b"=")
    return f"{signed.decode()}.{mac.decode()}"


def sign_by_hand(
    issuer: AuthorizationServer, audience: str, head: Any, **claims: Any
) -> str:
    """Sign with the issuer's key a header and claims that no library would write."""
    signed = (
        _part({"alg": "ES256", **head})
        + b"."
        + _part(issuer.claims(audience, **claims))
    )
    algorithm = jwt.get_algorithm_by_name("ES256")
    signature = urlsafe_b64encode(algorithm.sign(signed, issuer.keys["one"]))
    return f"{signed.decode()}.{signature.rstrip(b'=').decode()}"


def sign_with_embedded_key(issuer: AuthorizationServer, audience: str) -> str:
    """Sign with a key that the token itself contains, next to URLs of such keys."""
    key = ec.generate_private_key(ec.SECP256R1())
    jwk = jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
    more = {"jwk": jwk, "jku": f"{issuer.url}/own", "x5u": f"{issuer.url}/own"}
    return issuer.token(audience, key=key, headers=more)


def sign_with_rsa(issuer: AuthorizationServer, audience: str) -> str:
    key = rsa.generate_private_key(65537, 2048)
    return issuer.token(audience, key=key, algorithm="PS256")


def make_unsigned(issuer: AuthorizationServer, audience: str) -> str:
    return jwt.encode(issuer.claims(audience), "", algorithm="none")
