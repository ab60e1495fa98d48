"""What is taken of an authorization server's answers, second by second and at each limit."""

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
from toolcast_runtime.oauth import authorization_server as asking
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
class World:
    """A clock, and an authorization server that answers what it is told to."""

    now: float = 1_000_000.0
    answer: Any = None
    asked: int = 0

    async def fetch(self, *_: Any) -> dict[str, Any]:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        found: dict[str, Any] = self.answer
        return found


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    world = World()
    clock = SimpleNamespace(monotonic=lambda: world.now, time=lambda: world.now)
    monkeypatch.setattr(asking, "time", clock)
    monkeypatch.setattr(access_tokens, "time", clock)
    monkeypatch.setattr(asking, "fetch_json", world.fetch)
    yield world


def _tokens(**settings: Any) -> AccessTokens:
    oauth = OAuth("SHOP", (), **settings)
    at = f"{ISSUER}/at"
    issuer = Issuer(oauth, ISSUER, "https://shop.example", at, at, None)
    return AccessTokens(issuer, AuthorizationServer(issuer))


def _key(number: Any = "one", **others: Any) -> dict[str, Any]:
    return {**PUBLIC, "kid": number, "alg": "ES256", **others}


def _signed(
    world: World, kind: Any = "at+jwt", number: str = "one", **more: Any
) -> str:
    now = int(world.now)
    said = {"iss": ISSUER, "aud": URL, "exp": now + 60, **more}
    headers = {"kid": number, "typ": kind}
    kept = {name: value for name, value in said.items() if value is not None}
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
async def test_an_answer_about_a_token_is_checked(
    world: World, answer: dict[str, Any], problem: str | None
) -> None:
    world.answer = {"active": True, "aud": URL, **answer}
    tokens = _tokens(introspection=True)
    if problem is None:
        assert await tokens.validate_token("t", URL) == world.answer
        assert await tokens.validate_token("t", f"{URL}/") == world.answer
    else:
        with pytest.raises(InvalidTokenError, match=f"^{problem}$"):
            await tokens.validate_token("t", URL)


@pytest.mark.parametrize(("length", "asked"), [(16 * 1024, 1), (16 * 1024 + 1, 0)])
async def test_a_token_has_16_kibibytes_at_most(
    world: World, length: int, asked: int
) -> None:
    world.answer = {"active": False}
    with pytest.raises(InvalidTokenError):
        await _tokens(introspection=True).validate_token("t" * length, URL)
    assert world.asked == asked


async def test_an_inactive_token_is_asked_for_again_after_ten_seconds(
    world: World,
) -> None:
    world.answer = {"active": False}
    tokens = _tokens(introspection=True)
    for later, asked in ((0.0, 1), (9.9, 1), (10.0, 2)):
        world.now = 1_000_000.0 + later
        with pytest.raises(InvalidTokenError, match="not active"):
            await tokens.validate_token("t", URL)
        assert world.asked == asked


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
async def test_a_signed_token_is_checked(
    monkeypatch: pytest.MonkeyPatch, kind: Any, more: dict[str, Any], problem: Any
) -> None:
    import time

    world = World(now=time.time(), answer={"keys": [_key()]})
    monkeypatch.setattr(asking, "fetch_json", world.fetch)
    if more.get("exp"):
        more = {"exp": int(world.now) - 25}
    token = _signed(world, kind, **more)
    if problem is None:
        assert (await _tokens().validate_token(token, URL))["aud"] == URL
    else:
        with pytest.raises(InvalidTokenError, match=f"^{problem}$"):
            await _tokens().validate_token(token, URL)


def _server() -> AuthorizationServer:
    at = f"{ISSUER}/keys"
    return AuthorizationServer(Issuer(OAuth("SHOP", ()), ISSUER, URL, at, None, None))


async def test_keys_are_fetched_again_after_five_minutes(world: World) -> None:
    world.answer = {"keys": [_key()]}
    server = _server()
    for later, asked in ((0, 1), (300, 1), (301, 2), (601, 2), (602, 3)):
        world.now = 1_000_000.0 + later
        assert await server.find_keys("one", "ES256")
        assert world.asked == asked


async def test_for_an_unknown_key_they_are_fetched_once_in_30_seconds(
    world: World,
) -> None:
    world.answer = {"keys": [_key()]}
    server = _server()
    assert not await server.find_keys("one", "ES384")
    for later, asked in ((0, 1), (29, 1), (30, 2), (59, 2), (60, 3)):
        world.now = 1_000_000.0 + later
        assert not await server.find_keys("two", "ES256")
        assert world.asked == asked


async def test_keys_that_cannot_be_fetched_hold_for_an_hour(world: World) -> None:
    world.answer = {"keys": [_key()]}
    server = _server()
    assert await server.find_keys("one", "ES256")
    world.answer = AuthorizationServerError("gone")
    world.now += 3_600
    assert await server.find_keys("one", "ES256")
    world.now += 1
    with pytest.raises(
        AuthorizationServerError, match="the keys of the authorization server"
    ):
        await server.find_keys("one", "ES256")
    world.answer = {"keys": [_key()]}
    world.now += 30
    assert await server.find_keys("one", "ES256")


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ([_key("one"), _key("two")], {None: 2, "one": 1, "two": 1}),
        ([_key("one"), _key("one"), _key("two")], {None: 3, "one": 2, "two": 1}),
        ([_key(None)], {None: 1, "one": 1, "two": 1, "x": 1}),
        ([_key(None), _key("one")], {None: 2, "one": 1, "two": 1, "x": 1}),
        ([_key("one", use="sig")], {None: 1, "one": 1}),
        ([_key("one"), _key("two", use="enc"), _key(3), 4], {None: 1, "one": 1}),
        ([_key("one", alg="ES384"), _key("two")], {None: 1, "two": 1}),
        (
            [_key("one"), {"kty": "oct", "k": "YQ", "kid": "x", "alg": "HS256"}],
            {None: 1, "one": 1},
        ),
        ([1] * 99 + [_key("one"), _key("two")], {None: 1, "one": 1}),
        ([_key(None)] * 100, {None: 10, "one": 10, "two": 10, "x": 10}),
    ],
)
async def test_find_keys_matches_id_and_algorithm(
    world: World, keys: list[Any], found: dict[str | None, int]
) -> None:
    world.answer = {"keys": keys}
    server = _server()
    for key_id in (None, "one", "two", "x"):
        candidates = await server.find_keys(key_id, "ES256")
        assert len(candidates) == found.get(key_id, 0)


@pytest.mark.parametrize(
    "answer",
    [{"keys": {"one": _key()}}, {"keys": []}, {}, {"keys": [1] * 100 + [_key()]}],
)
async def test_no_keys_open_nothing(world: World, answer: dict[str, Any]) -> None:
    world.answer = answer
    with pytest.raises(AuthorizationServerError):
        await _server().find_keys("one", "ES256")


async def test_eight_questions_are_asked_at_once_and_24_wait() -> None:
    questions, asked = RequestLimiter(), list[int]()
    done = asyncio.Event()

    def ask(number: int) -> Callable[[], Any]:
        async def answer() -> dict[str, Any]:
            asked.append(number)
            await done.wait()
            return {"number": number}

        return answer

    waiting = [
        asyncio.create_task(questions.run(bytes([n]), ask(n))) for n in range(24)
    ]
    again = asyncio.create_task(questions.run(bytes([0]), ask(99)))
    while len(asked) < 8:
        await asyncio.sleep(0)
    for _ in range(9):
        await asyncio.sleep(0)
    assert asked == [*range(8)]
    with pytest.raises(TooManyRequestsError) as refused:
        await questions.run(b"one more", ask(24))
    assert (refused.value.retry_after, AuthorizationServerError.retry_after) == (
        "1",
        "30",
    )
    done.set()
    answers = await asyncio.gather(*waiting, again)
    assert [one["number"] for one in answers] == [*range(24), 0]
    assert await questions.run(bytes([0]), ask(99)) == {"number": 99}


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
async def test_an_answer_is_a_small_object(
    monkeypatch: pytest.MonkeyPatch, status: int, body: bytes, problem: str | None
) -> None:
    sent: list[httpx2.Request] = []

    async def streamed() -> AsyncIterator[bytes]:
        yield body

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(status, content=streamed(), headers={"location": "/o"})

    made = httpx2.AsyncClient

    def client(**settings: Any) -> httpx2.AsyncClient:
        return made(**settings, transport=httpx2.MockTransport(answer))

    monkeypatch.setattr(asking.httpx2, "AsyncClient", client)
    for form in (None, {"token": "t"}):
        if problem is None:
            assert await asking.fetch_json(ISSUER, form, ("id", "s")) == json.loads(
                body
            )
        else:
            with pytest.raises(AuthorizationServerError, match=problem):
                await asking.fetch_json(ISSUER, form)
    assert [request.method for request in sent] == ["GET", "POST"]
    assert sent[0].headers["accept-encoding"] == "identity"
