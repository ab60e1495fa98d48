"""How long an authorization server is waited for, and how much is remembered of its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.oauth.test_access_tokens import ISSUER, URL, World, _key, _tokens, world
from toolcast_runtime.http import OAuth
from toolcast_runtime.http.endpoints import Issuer
from toolcast_runtime.oauth import access_tokens
from toolcast_runtime.oauth import authorization_server as asking
from toolcast_runtime.oauth.authorization_server import (
    AuthorizationServer,
    AuthorizationServerError,
    RequestLimiter,
    TooManyRequestsError,
)

assert world  # the fixture


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that are given for something, of which nobody waits for more than a moment."""
    found, timeout = list[float](), asyncio.timeout

    def shorter(seconds: float) -> asyncio.Timeout:
        found.append(seconds)
        return timeout(0.01)

    monkeypatch.setattr(asking.asyncio, "timeout", shorter)
    return found


def _server(**issuer: Any) -> AuthorizationServer:
    told = {"jwks_uri": f"{ISSUER}/keys", "introspection_uri": None}
    told |= {"credentials": None, **issuer}
    return AuthorizationServer(Issuer(OAuth("SHOP", ()), ISSUER, URL, **told))


async def test_a_question_has_five_seconds(given: list[float]) -> None:
    async def ask() -> dict[str, Any]:
        await asyncio.sleep(60)
        return {}

    with pytest.raises(AuthorizationServerError, match=r"^no response within 5 s$"):
        await RequestLimiter().run(b"t", ask)
    assert given == [5.0]


async def test_an_answer_that_is_not_given_away_has_five_seconds(
    given: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def client(**settings: Any) -> Any:
        made.append((settings["timeout"], settings["follow_redirects"]))
        raise TimeoutError

    monkeypatch.setattr(asking.httpx2, "AsyncClient", client)
    with pytest.raises(
        AuthorizationServerError, match=f"^{ISSUER} cannot be reached: TimeoutError$"
    ):
        await asking.fetch_json(ISSUER)
    assert (given, made) == ([5.0], [(5.0, False)])


async def test_keys_have_ten_seconds(
    given: list[float],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fetch(*_: Any) -> Any:
        await asyncio.sleep(60)

    monkeypatch.setattr(asking, "fetch_json", fetch)
    with pytest.raises(AuthorizationServerError, match="cannot be fetched"):
        await _server().find_keys("one", "ES256")
    assert given == [10.0]
    assert "cannot fetch the keys of the issuer: no response within 10 s" in caplog.text


async def test_who_was_known_within_the_hour_does_not_wait_behind_others(
    world: World,
) -> None:
    world.answer = {"active": True, "aud": URL}
    tokens = _tokens(introspection=True)
    asked: list[str] = []

    def lane(name: str) -> Any:
        async def run(_: bytes, ask: Callable[[], Any]) -> Any:
            asked.append(name)
            return await ask()

        return SimpleNamespace(run=run)

    tokens._known_requests, tokens._other_requests = lane("known"), lane("other")
    start = world.now
    for later in (0.0, 3_599.0, 3_599.0 + 3_600.0):
        world.now = start + later
        await tokens.validate_token("t", URL)
    assert asked == ["other", "known", "other"]


def test_the_latest_ten_thousand_are_remembered(world: World) -> None:
    until = {number.to_bytes(2, "big"): 0.0 for number in range(9_999)}
    access_tokens._remember(until, b"one", 7.0)
    assert (len(until), until[b"one"]) == (10_000, world.now + 7)
    access_tokens._remember(until, b"\0\0", 7.0)
    assert len(until) == 10_000
    access_tokens._remember(until, b"two", 7.0)
    assert len(until) == 10_000
    # The first is the one that was not seen for longest.
    assert b"\0\1" not in until and b"\0\0" in until and b"\0\2" in until


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("https://a.example", ": its metadata has the issuer https://a.example"),
        (f"https://a.example/{'a' * 300}", f"https://a.example/{'a' * 182}"),
        ("http://a.example", " of this issuer"),
        (7, " of this issuer"),
    ],
)
async def test_an_issuer_of_another_name_is_not_asked(
    world: World, named: Any, told: str
) -> None:
    world.answer = {"issuer": named, "jwks_uri": f"{ISSUER}/keys"}
    with pytest.raises(AuthorizationServerError) as refused:
        await _server(jwks_uri=None).get_introspection_uri()
    assert str(refused.value).endswith(told)
    assert world.asked == 2


async def test_metadata_says_where_to_ask(world: World) -> None:
    at = f"{ISSUER}/introspect"
    world.answer = {"issuer": ISSUER, "introspection_endpoint": at}
    server = _server(jwks_uri=None)
    assert [await server.get_introspection_uri() for _ in range(2)] == [at, at]
    assert world.asked == 1
    for unsafe in ("http://a.example", 7):
        world.answer = {"issuer": ISSUER, "introspection_endpoint": unsafe}
        with pytest.raises(
            AuthorizationServerError, match="no valid `introspection_endpoint`"
        ):
            await _server(jwks_uri=None).get_introspection_uri()
    assert await _server(introspection_uri="x").get_introspection_uri() == "x"


async def test_twenty_four_wait_for_keys(world: World) -> None:
    world.answer = {"keys": [_key()]}
    server = _server()
    for _ in range(24):
        await server._waiting.acquire()
    with pytest.raises(TooManyRequestsError):
        await server.find_keys("one", "ES256")
    server._waiting.release()
    assert await server.find_keys("one", "ES256") is not None
