"""Keys of an issuer: selection by id and algorithm, and repeated fetches."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from tests.oauth.test_access_tokens import ISSUER, URL, FakeIssuer
from tests.oauth.test_access_tokens import fake_issuer as fake_issuer
from toolcast_runtime.http import OAuth
from toolcast_runtime.http.endpoints import Issuer
from toolcast_runtime.oauth.access_tokens import AccessTokens, InvalidTokenError
from toolcast_runtime.oauth.authorization_server import AuthorizationServer

RSA_1, RSA_2 = (rsa.generate_private_key(65537, 2048) for _ in range(2))
EC_KEY = ec.generate_private_key(ec.SECP256R1())
EC_384 = ec.generate_private_key(ec.SECP384R1())
ED_KEY = ed25519.Ed25519PrivateKey.generate()
ED_448 = ed448.Ed448PrivateKey.generate()


def to_jwk(key: Any, **members: Any) -> dict[str, Any]:
    """Return the public JWK of a private key with further members."""
    if isinstance(key, rsa.RSAPrivateKey):
        entry = RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    elif isinstance(key, ec.EllipticCurvePrivateKey):
        entry = ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
    else:
        entry = OKPAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return {**entry, **members}


# The algorithm, the private key, the token's `kid`, and the issuer's key set.
ACCEPTED: dict[str, tuple[str, Any, str | None, list[dict[str, Any]]]] = {
    "no id in the token": ("RS256", RSA_1, None, [to_jwk(RSA_1, kid="a")]),
    "no id in the key": ("RS256", RSA_1, "a", [to_jwk(RSA_1)]),
    "no id in both, second key": ("RS256", RSA_2, None, [to_jwk(RSA_1), to_jwk(RSA_2)]),
    "two keys of one id": (
        "ES256",
        EC_KEY,
        "a",
        [to_jwk(RSA_1, kid="a"), to_jwk(EC_KEY, kid="a")],
    ),
    "RS512 without alg": ("RS512", RSA_1, "a", [to_jwk(RSA_1, kid="a")]),
    "EdDSA without alg": ("EdDSA", ED_KEY, "a", [to_jwk(ED_KEY, kid="a")]),
    "ES256 without alg": ("ES256", EC_KEY, None, [to_jwk(ED_KEY), to_jwk(EC_KEY)]),
    "another curve first": ("ES384", EC_384, None, [to_jwk(EC_KEY), to_jwk(EC_384)]),
    "Ed448 after Ed25519": ("EdDSA", ED_448, None, [to_jwk(ED_KEY), to_jwk(ED_448)]),
    "RSA-OAEP first": (
        "RS256",
        RSA_1,
        None,
        [to_jwk(RSA_2, alg="RSA-OAEP"), to_jwk(RSA_1)],
    ),
    "two keys of one id and type": (
        "RS512",
        RSA_2,
        "a",
        [to_jwk(key, kid="a") for key in (RSA_1, RSA_2)],
    ),
    "the key with the id is of another type": (
        "RS256",
        RSA_1,
        "a",
        [to_jwk(EC_KEY, kid="a"), to_jwk(RSA_1)],
    ),
    "the key with the id is for another alg": (
        "PS256",
        RSA_1,
        "a",
        [to_jwk(RSA_2, kid="a", alg="RS256"), to_jwk(RSA_1)],
    ),
    "alg is null": ("RS256", RSA_1, "a", [to_jwk(RSA_1, alg=None)]),
    "use is null": ("RS256", RSA_1, "a", [to_jwk(RSA_1, use=None)]),
    "key_ops": ("RS256", RSA_1, "a", [to_jwk(RSA_1, key_ops=["verify"])]),
    "unknown members": ("RS256", RSA_1, None, [to_jwk(RSA_1, x={}, exp=1)]),
}
REJECTED: dict[str, tuple[str, Any, str | None, list[dict[str, Any]]]] = {
    "alg of the key differs": (
        "PS256",
        RSA_1,
        "a",
        [to_jwk(RSA_1, kid="a", alg="RS256")],
    ),
    "another id": ("RS256", RSA_1, "b", [to_jwk(RSA_1, kid="a")]),
    "another key without an id": ("RS256", RSA_1, "a", [to_jwk(RSA_2)]),
    "another key type": ("RS256", RSA_1, "a", [to_jwk(EC_KEY, kid="a")]),
    "for encryption": ("RS256", RSA_1, None, [to_jwk(RSA_1, use="enc"), to_jwk(RSA_2)]),
    "a published private key": (
        "RS256",
        RSA_1,
        "a",
        [
            {**RSAAlgorithm.to_jwk(RSA_1, as_dict=True), "kid": "a"},
            to_jwk(RSA_2),
        ],
    ),
}
ALGORITHMS = ("RS256", "RS512", "PS256", "ES256", "ES384", "EdDSA")


CLAIMS = {"iss": ISSUER, "aud": URL, "exp": 9_999_999_999}


def make_validator() -> AccessTokens:
    oauth = OAuth("SHOP", (), algorithms=ALGORITHMS)
    issuer = Issuer(oauth, ISSUER, URL, f"{ISSUER}/keys", None, None)
    return AccessTokens(issuer, AuthorizationServer(issuer))


def sign_token(algorithm: str, key: Any, key_id: str | None) -> str:
    headers = {"kid": key_id} if key_id else {}
    return jwt.encode(CLAIMS, key, algorithm=algorithm, headers=headers)


@pytest.mark.parametrize("name", [*ACCEPTED, *REJECTED])
async def test_access_token_is_validated_with_each_issuer_key_matching_its_id_and_algorithm(
    fake_issuer: FakeIssuer, name: str
) -> None:
    algorithm, key, key_id, keys = (ACCEPTED | REJECTED)[name]
    fake_issuer.answer = {"keys": keys}
    token, tokens = sign_token(algorithm, key, key_id), make_validator()
    if name in ACCEPTED:
        assert await tokens.validate_token(token, URL) == CLAIMS
    else:
        with pytest.raises(InvalidTokenError, match=r"unknown key|signature"):
            await tokens.validate_token(token, URL)


# The `kid` of the token and of the replaced key.
@pytest.mark.parametrize(
    ("key_id", "published_id"), [(None, None), (None, "a"), ("a", None), ("a", "a")]
)
async def test_replaced_issuer_key_with_the_same_or_no_id_is_fetched_after_30_seconds(
    fake_issuer: FakeIssuer, key_id: str | None, published_id: str | None
) -> None:
    old, new = RSA_1, RSA_2
    fake_issuer.answer = {"keys": [to_jwk(old, kid=published_id)]}
    tokens = make_validator()
    assert await tokens.validate_token(sign_token("RS256", old, key_id), URL) == CLAIMS
    fake_issuer.answer = {"keys": [to_jwk(new, kid=published_id)]}
    token = sign_token("RS256", new, key_id)
    with pytest.raises(InvalidTokenError, match="signature is not valid"):
        await tokens.validate_token(token, URL)
    assert fake_issuer.request_count == 1, "the keys were fetched just now"
    fake_issuer.now += 31
    assert await tokens.validate_token(token, URL) == CLAIMS
    with pytest.raises(InvalidTokenError, match="signature is not valid"):
        await tokens.validate_token(sign_token("RS256", old, key_id), URL)
    assert fake_issuer.request_count == 2


async def test_tokens_with_forged_signatures_fetch_issuer_keys_once_in_30_seconds(
    fake_issuer: FakeIssuer,
) -> None:
    fake_issuer.answer = {"keys": [to_jwk(RSA_1)]}
    tokens = make_validator()
    forged = sign_token("RS256", RSA_2, None)
    for _ in range(100):
        with pytest.raises(InvalidTokenError, match="signature is not valid"):
            await tokens.validate_token(forged, URL)
        fake_issuer.now += 1
    assert fake_issuer.request_count == 4
