"""Access tokens: introspection, signatures, keys, caching and limits of responses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from toolcast_runtime.http import OAuth
from toolcast_runtime.http.endpoints import Issuer
from toolcast_runtime.oauth import access_tokens
from toolcast_runtime.oauth import authorization_server as issuer_module
from toolcast_runtime.oauth.access_tokens import AccessTokens, InvalidTokenError
from toolcast_runtime.oauth.authorization_server import (
    AuthorizationServer,
    AuthorizationServerError,
    RequestLimiter,
    TooManyRequestsError,
)

URL = "https://shop.example/mcp"
ISSUER = "https://login.example"
PRIVATE = ec.generate_private_key(ec.SECP256R1())
PUBLIC = ECAlgorithm.to_jwk(PRIVATE.public_key(), as_dict=True)


@dataclass
class FakeIssuer:
    """A fake clock and authorization server with a fixed response."""

    now: float = 1_000_000.0
    answer: Any = None
    request_count: int = 0

    async def fetch(self, *_: Any) -> dict[str, Any]:
        self.request_count += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        answer: dict[str, Any] = self.answer
        return answer


@pytest.fixture
def fake_issuer(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeIssuer]:
    """Replace the package's clock and requests by those of a fake issuer."""
    fake_issuer = FakeIssuer()
    clock = SimpleNamespace(
        monotonic=lambda: fake_issuer.now, time=lambda: fake_issuer.now
    )
    monkeypatch.setattr(issuer_module, "time", clock)
    monkeypatch.setattr(access_tokens, "time", clock)
    monkeypatch.setattr(issuer_module, "fetch_json", fake_issuer.fetch)
    yield fake_issuer


def make_tokens(**settings: Any) -> AccessTokens:
    oauth = OAuth("SHOP", (), **settings)
    url = f"{ISSUER}/at"
    issuer = Issuer(oauth, ISSUER, "https://shop.example", url, url, None)
    return AccessTokens(issuer, AuthorizationServer(issuer))


def make_key(number: Any = "one", **others: Any) -> dict[str, Any]:
    return {**PUBLIC, "kid": number, "alg": "ES256", **others}


def sign_token(
    fake_issuer: FakeIssuer, kind: Any = "at+jwt", number: str = "one", **more: Any
) -> str:
    now = int(fake_issuer.now)
    claims = {"iss": ISSUER, "aud": URL, "exp": now + 60, **more}
    headers = {"kid": number, "typ": kind}
    kept = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(kept, PRIVATE, "ES256", headers)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({}, None),
        ({"active": False}, "the token is not active"),
        ({"active": 1}, "the token is not active"),
        ({"aud": [f"{URL}x", URL]}, None),
        ({"aud": [1, f"{URL}x"]}, "the token is for another audience"),
        ({"aud": None}, "the token is for another audience"),
        ({"iss": ISSUER}, None),
        ({"iss": f"{ISSUER}/"}, "the token is from another issuer"),
        ({"exp": 999_970}, None),
        ({"exp": 999_969.9}, "the token has expired"),
        ({"nbf": 1_000_030}, None),
        ({"nbf": 1_000_030.1}, "the token is not valid yet"),
        ({"exp": "soon"}, "the token is malformed"),
        ({"exp": float("nan")}, "the token is malformed"),
        ({"nbf": []}, "the token is malformed"),
        ({"token_type": "Bearer"}, None),
        ({"token_type": "access_token"}, None),
        ({"token_type": "DPoP"}, "the token is not a bearer token"),
        ({"cnf": {"jkt": "x"}}, "the token is bound to a key, which is not supported"),
        ({"cnf": None}, None),
    ],
)
async def test_oauth_introspection_response_with_an_invalid_field_is_rejected(
    fake_issuer: FakeIssuer, answer: dict[str, Any], problem: str | None
) -> None:
    """Activity, audience, issuer, times, token type and key binding must be valid."""
    fake_issuer.answer = {"active": True, "aud": URL, **answer}
    tokens = make_tokens(introspection=True)
    if problem is None:
        assert await tokens.validate_token("t", URL) == fake_issuer.answer
        assert await tokens.validate_token("t", f"{URL}/") == fake_issuer.answer
    else:
        with pytest.raises(InvalidTokenError, match=f"^{problem}$"):
            await tokens.validate_token("t", URL)


@pytest.mark.parametrize(("length", "count"), [(16 * 1024, 1), (16 * 1024 + 1, 0)])
async def test_access_token_over_16_kibibytes_is_refused_without_introspection(
    fake_issuer: FakeIssuer, length: int, count: int
) -> None:
    fake_issuer.answer = {"active": False}
    with pytest.raises(InvalidTokenError):
        await make_tokens(introspection=True).validate_token("t" * length, URL)
    assert fake_issuer.request_count == count


async def test_inactive_access_token_is_introspected_again_after_ten_seconds(
    fake_issuer: FakeIssuer,
) -> None:
    fake_issuer.answer = {"active": False}
    tokens = make_tokens(introspection=True)
    for later, count in ((0.0, 1), (9.9, 1), (10.0, 2)):
        fake_issuer.now = 1_000_000.0 + later
        with pytest.raises(InvalidTokenError, match="not active"):
            await tokens.validate_token("t", URL)
        assert fake_issuer.request_count == count
    with pytest.raises(InvalidTokenError, match="not active"):
        await tokens.validate_token("another", URL)
    assert fake_issuer.request_count == 3


@pytest.mark.parametrize(
    ("kind", "more", "problem"),
    [
        ("at+jwt", {}, None),
        ("JWT", {}, None),
        ("application/at+jwt", {}, None),
        (None, {}, None),
        ("id+jwt", {}, "the token is not an access token"),
        ("jwt", {"exp": 999_971}, None),
        ("jwt", {"exp": None}, "the token lacks `exp`, `iss` or `aud`"),
        ("jwt", {"aud": None}, "the token lacks `exp`, `iss` or `aud`"),
        ("jwt", {"iss": "https://x.example"}, "the token is from another issuer"),
        ("jwt", {"aud": f"{URL}/"}, "the token is for another audience"),
        ("jwt", {"cnf": {}}, "the token is bound to a key, which is not supported"),
    ],
)
async def test_jwt_access_token_with_invalid_type_or_claims_is_rejected(
    monkeypatch: pytest.MonkeyPatch, kind: Any, more: dict[str, Any], problem: Any
) -> None:
    """Access tokens need `exp`, `iss` and `aud`, and must not be bound to a key."""
    import time

    fake_issuer = FakeIssuer(now=time.time(), answer={"keys": [make_key()]})
    monkeypatch.setattr(issuer_module, "fetch_json", fake_issuer.fetch)
    if more.get("exp"):
        more = {"exp": int(fake_issuer.now) - 25}
    token = sign_token(fake_issuer, kind, **more)
    if problem is None:
        assert (await make_tokens().validate_token(token, URL))["aud"] == URL
    else:
        with pytest.raises(InvalidTokenError, match=f"^{problem}$"):
            await make_tokens().validate_token(token, URL)


def make_server(**issuer: Any) -> AuthorizationServer:
    settings = {"jwks_uri": f"{ISSUER}/keys", "introspection_uri": None}
    settings |= {"credentials": None, **issuer}
    return AuthorizationServer(Issuer(OAuth("SHOP", ()), ISSUER, URL, **settings))


async def test_issuer_keys_are_replaced_after_5_minutes(
    fake_issuer: FakeIssuer,
) -> None:
    fake_issuer.answer = {"keys": [make_key()]}
    server = make_server()
    for later, count in ((0, 1), (300, 1), (301, 2), (601, 2), (602, 3)):
        fake_issuer.now = 1_000_000.0 + later
        assert await server.find_keys("one", "ES256")
        assert fake_issuer.request_count == count
    fake_issuer.answer = {"keys": [make_key("two")]}
    fake_issuer.now += 301
    assert not await server.find_keys("one", "ES256")
    assert await server.find_keys("two", "ES256")


async def test_unknown_key_id_refetches_issuer_keys_at_most_every_30_seconds(
    fake_issuer: FakeIssuer,
) -> None:
    fake_issuer.answer = {"keys": [make_key()]}
    server = make_server()
    assert not await server.find_keys("one", "ES384")
    for later, count in ((0, 1), (29, 1), (30, 2), (59, 2), (60, 3)):
        fake_issuer.now = 1_000_000.0 + later
        assert not await server.find_keys("two", "ES256")
        assert fake_issuer.request_count == count
    fake_issuer.answer = {"keys": [make_key("two")]}
    fake_issuer.now += 30
    assert await server.find_keys("two", "ES256")


async def test_parallel_tokens_signed_by_a_new_issuer_key_wait_for_one_fetch(
    fake_issuer: FakeIssuer,
) -> None:
    fake_issuer.answer = {"keys": [make_key()]}
    server = make_server()
    await server.find_keys("one", "ES256")
    fake_issuer.answer = {"keys": [make_key(use="sig")]}
    fake_issuer.now += 30
    finding = [server.find_renewed_keys("one", "ES256") for _ in range(3)]
    assert [len(keys) for keys in await asyncio.gather(*finding)] == [1, 1, 1]
    assert fake_issuer.request_count == 2


async def test_cached_issuer_keys_are_used_for_an_hour_while_fetching_fails(
    fake_issuer: FakeIssuer,
) -> None:
    fake_issuer.answer = {"keys": [make_key()]}
    server = make_server()
    assert await server.find_keys("one", "ES256")
    fake_issuer.answer = AuthorizationServerError("gone")
    fake_issuer.now += 3_600
    assert await server.find_keys("one", "ES256")
    fake_issuer.now += 1
    with pytest.raises(AuthorizationServerError, match="the keys of the auth"):
        await server.find_keys("one", "ES256")
    fake_issuer.answer = {"keys": [make_key()]}
    fake_issuer.now += 30
    assert await server.find_keys("one", "ES256")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([make_key(n) for n in ("one", "one", "two")], {None: 3, "one": 2, "two": 1}),
        ([make_key(None)], {None: 1, "one": 1, "two": 1, "x": 1}),
        ([make_key(None), make_key("one")], {None: 2, "one": 1, "two": 1, "x": 1}),
        ([make_key("one", use="sig")], {None: 1, "one": 1}),
        (
            [make_key("one"), make_key("two", use="enc"), make_key(3), 4],
            {None: 1, "one": 1},
        ),
        ([make_key("one", alg="ES384"), make_key("two")], {None: 1, "two": 1}),
        (
            [make_key("one"), {"kty": "oct", "k": "YQ", "kid": "x", "alg": "HS256"}],
            {None: 1, "one": 1},
        ),
        ([1] * 99 + [make_key("one"), make_key("two")], {None: 1, "one": 1}),
        ([make_key(None)] * 100, {None: 10, "one": 10, "two": 10, "x": 10}),
    ],
)
async def test_find_keys_returns_issuer_keys_that_match_id_and_algorithm(
    fake_issuer: FakeIssuer, keys: list[Any], expected: dict[str | None, int]
) -> None:
    """Keys without an id match every id; at most ten of the first hundred are returned."""
    fake_issuer.answer = {"keys": keys}
    server = make_server()
    for key_id in (None, "one", "two", "x"):
        candidates = await server.find_keys(key_id, "ES256")
        assert len(candidates) == expected.get(key_id, 0)


@pytest.mark.parametrize(
    "answer",
    [
        {"keys": {"one": make_key()}},
        {"keys": []},
        {},
        {"keys": [1] * 100 + [make_key()]},
    ],
)
async def test_issuer_key_set_without_usable_keys_raises_an_error(
    fake_issuer: FakeIssuer, answer: dict[str, Any]
) -> None:
    fake_issuer.answer = answer
    with pytest.raises(AuthorizationServerError):
        await make_server().find_keys("one", "ES256")


async def test_introspection_limiter_runs_8_requests_and_refuses_above_24() -> None:
    """Requests with the same key share one response."""
    limiter, started = RequestLimiter(), list[int]()
    done = asyncio.Event()

    def ask(number: int) -> Callable[[], Any]:
        async def answer() -> dict[str, Any]:
            started.append(number)
            await done.wait()
            return {"number": number}

        return answer

    waiting = [asyncio.create_task(limiter.run(bytes([n]), ask(n))) for n in range(24)]
    again = asyncio.create_task(limiter.run(bytes([0]), ask(99)))
    while len(started) < 8:
        await asyncio.sleep(0)
    for _ in range(9):
        await asyncio.sleep(0)
    assert started == [*range(8)]
    with pytest.raises(TooManyRequestsError) as refused:
        await limiter.run(b"one more", ask(24))
    assert (refused.value.retry_after, AuthorizationServerError.retry_after) == (
        "1",
        "30",
    )
    done.set()
    answers = await asyncio.gather(*waiting, again)
    assert [answer["number"] for answer in answers] == [*range(24), 0]
    assert await limiter.run(bytes([0]), ask(99)) == {"number": 99}


@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        (200, b'{"a": 1}', None),
        (200, b" " * (256 * 1024 - 2) + b"{}", None),
        (200, b" " * (256 * 1024 - 1) + b"{}", "exceeds 262144 bytes"),
        (201, b"{}", "returned HTTP status 201"),
        (302, b"{}", "returned HTTP status 302"),
        (200, b"[]", "is not a JSON object"),
        (200, b"{", "is not a JSON object"),
    ],
)
async def test_authorization_server_response_must_be_a_json_object_up_to_256_kibibytes(
    monkeypatch: pytest.MonkeyPatch, status: int, body: bytes, problem: str | None
) -> None:
    """Redirects are not followed."""
    sent: list[httpx2.Request] = []

    async def streamed() -> AsyncIterator[bytes]:
        yield body

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(status, content=streamed(), headers={"location": "/o"})

    made = httpx2.AsyncClient

    def client(**settings: Any) -> httpx2.AsyncClient:
        return made(**settings, transport=httpx2.MockTransport(answer))

    monkeypatch.setattr(issuer_module.httpx2, "AsyncClient", client)
    for form in (None, {"token": "t"}):
        if problem is None:
            assert await issuer_module.fetch_json(
                ISSUER, form, ("id", "s")
            ) == json.loads(body)
        else:
            with pytest.raises(AuthorizationServerError, match=problem):
                await issuer_module.fetch_json(ISSUER, form)
    assert [request.method for request in sent] == ["GET", "POST"]
    assert sent[0].headers["accept-encoding"] == "identity"
