"""What the authorization server does wrong opens nothing, and holds nobody up for long."""

from __future__ import annotations

import asyncio
import logging
import time
import zlib
from base64 import b64encode
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from tests.oauth.authorization_server import ID, SECRET, AuthorizationServer
from tests.oauth.shop import BACK, DESK, SCOPES, environment, serving
from toolcast_runtime.http import Endpoint, HttpSettings, OAuth, SettingsError
from toolcast_runtime.http.endpoints import ListenSettings
from toolcast_runtime.oauth import authorization_server as asking

if TYPE_CHECKING:
    from pathlib import Path

    from toolcast_runtime import Registry

METADATA = "/.well-known/oauth-authorization-server"
MANY = b'{"keys": [' + b" " * 300_000 + b"]}"
FAULTS: dict[str, tuple[str, int, Any]] = {
    "huge": ("/keys", 200, MANY),
    "no JSON": ("/keys", 200, b"<html>"),
    "deep JSON": ("/keys", 200, b"[" * 100_000),
    "no object": ("/keys", 200, []),
    "no list": ("/keys", 200, {"keys": {"one": {}}}),
    "no key": ("/keys", 200, {"keys": []}),
    "a key without algorithm": (
        "/keys",
        200,
        {"keys": [{"kty": "EC", "kid": "one", "alg": "none"}]},
    ),
    "odd keys": ("/keys", 200, {"keys": [1, None, {}, {"kty": "EC", "kid": "one"}]}),
    "a secret as a key": (
        "/keys",
        200,
        {"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "one", "alg": "HS256"}]},
    ),
    "elsewhere": ("/keys", 302, "http://127.0.0.1:9/keys"),
    "metadata elsewhere": (METADATA, 302, "http://127.0.0.1:9/"),
    "from another issuer": (METADATA, 200, {"issuer": "https://x.example"}),
}


def with_introspection(issuer: AuthorizationServer, **more: str) -> dict[str, str]:
    said = {"SHOP_OAUTH_CLIENT_ID": ID, "SHOP_OAUTH_CLIENT_SECRET": SECRET}
    return environment(issuer, **{k: v for k, v in {**said, **more}.items() if v})


async def test_what_is_packed_is_not_unpacked(
    issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some hundred bytes may be as many megabytes then."""
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        packed = zlib.compress(b'{"keys": [' + b" " * 10_000_000 + b"]}")
        packing = {"content-encoding": "deflate"}
        stream = httpx2.ByteStream(packed)
        return httpx2.Response(200, headers=packing, stream=stream)

    client = partial(httpx2.AsyncClient, transport=httpx2.MockTransport(answer))
    monkeypatch.setattr(httpx2, "AsyncClient", client)
    with pytest.raises(asking.AuthorizationServerError, match="is not a JSON object"):
        await asking.fetch_json(issuer.url)
    assert asked[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("fault", FAULTS)
def test_keys_that_are_not_right_open_nothing(
    fault: str, registry: Registry, issuer: AuthorizationServer
) -> None:
    path, status, value = FAULTS[fault]
    issuer.answers[path] = status, value

    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            answer = await server.request(issuer.token(DESK))
            assert answer.status_code == 503
            assert answer.headers["retry-after"] == "30"

    asyncio.run(works())


def test_an_issuer_that_is_written_otherwise_is_named(
    registry: Registry, issuer: AuthorizationServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Some end with a slash, and tokens name them so."""
    given = environment(issuer)
    given["SHOP_OAUTH_ISSUER"] += "/"

    async def works() -> None:
        async with serving(registry, given) as server:
            token = issuer.token(DESK, iss=f"{issuer.url}/")
            assert (await server.request(token)).status_code == 503

    asyncio.run(works())
    found = f"{issuer.url}/ does not publish metadata of this issuer: its metadata has the issuer"
    assert f"{found} {issuer.url}" in caplog.text


@pytest.mark.parametrize("named", [None, 7, "", "not an address", "http://a.example"])
def test_what_is_no_issuer_is_not_told(
    registry: Registry,
    issuer: AuthorizationServer,
    caplog: pytest.LogCaptureFixture,
    named: object,
) -> None:
    issuer.answers[METADATA] = 200, {"issuer": named}

    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            assert (await server.request(issuer.token(DESK))).status_code == 503

    asyncio.run(works())
    assert "does not publish metadata of this issuer" in caplog.text
    assert "what is there" not in caplog.text


def test_keys_over_plain_http_from_another_host_are_not_fetched(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    value = {"issuer": issuer.url, "jwks_uri": "http://keys.example/keys"}
    issuer.answers[METADATA] = 200, value

    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            assert (await server.request(issuer.token(DESK))).status_code == 503

    asyncio.run(works())


def test_while_keys_cannot_be_fetched_nobody_gets_in(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    async def works() -> None:
        issuer.is_down = True
        async with serving(registry, environment(issuer)) as server:
            answer = await server.request(issuer.token(DESK))
            assert answer.status_code == 503
            assert answer.headers["retry-after"] == "30"
            many = [server.request(issuer.token(DESK)) for _ in range(20)]
            assert {a.status_code for a in await asyncio.gather(*many)} == {503}
        # Three places for metadata, asked once and not for each token.
        assert len(issuer.asked) <= 3

    asyncio.run(works())


def test_a_new_key_is_fetched_when_a_token_names_it(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "toolcast_runtime.oauth.authorization_server._MIN_FETCH_INTERVAL_S", 0.0
    )

    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            assert await server.tools(issuer.token(DESK)) == ["who"]
            key = issuer.keys["two"] = ec.generate_private_key(ec.SECP256R1())
            token = issuer.token(DESK, key=key, headers={"kid": "two"})
            assert await server.tools(token) == ["who"]
            assert issuer.asked.count("/keys") == 2

    asyncio.run(works())


def test_the_authorization_server_is_asked_for_each_token(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    good = {**issuer.claims(DESK), "active": True, "iss": issuer.url}
    issuer.active = {
        "good": good,
        "other": {**good, "aud": BACK},
        "unsaid": {k: v for k, v in good.items() if k != "aud"},
        "old": {**good, "exp": 1_000},
        "odd": {**good, "active": "true"},
    }

    async def works() -> None:
        given = with_introspection(issuer)
        async with serving(registry, given, introspection=True) as server:
            assert await server.tools("good") == ["who"]
            for token in ("other", "unsaid", "old", "odd", "unknown"):
                assert (await server.request(token)).status_code == 401
            issuer.is_down = True
            assert (await server.request("good")).status_code == 503

    asyncio.run(works())


async def _until(condition: Any) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


def test_a_caller_who_goes_away_does_not_end_what_others_wait_for(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    """Whoever did it every half a minute would keep everybody out."""
    issuer.seconds = 0.1

    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            odd = issuer.token(DESK, headers={"kid": "odd"})
            gone = asyncio.create_task(server.request(odd))
            await _until(lambda: issuer.asked)
            gone.cancel()
            assert await server.tools(issuer.token(DESK)) == ["who"]

    asyncio.run(works())


@pytest.mark.slow
def test_slow_keys_hold_nobody_up_who_has_a_known_one(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_KEY_REFRESH_INTERVAL_S", 0.0)
    monkeypatch.setattr(asking, "_MIN_FETCH_INTERVAL_S", 0.0)
    monkeypatch.setattr(asking, "_REQUEST_TIMEOUT_S", 0.8)

    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            token = issuer.token(DESK)
            assert await server.tools(token) == ["who"]
            issuer.seconds = 1.0
            asked = len(issuer.asked)
            odd = issuer.token(DESK, headers={"kid": "odd"})
            waits = asyncio.create_task(server.request(odd))
            await _until(lambda: len(issuer.asked) > asked)
            began = time.monotonic()
            assert await server.tools(token) == ["who"]
            assert time.monotonic() - began < 0.6
            # It took too long; the keys from before hold.
            assert (await waits).status_code == 401
            assert await server.tools(token) == ["who"]

    asyncio.run(works())


def test_tokens_of_nobodys_make_no_requests(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            assert await server.tools(issuer.token(DESK)) == ["who"]
            flood = [
                server.request(issuer.token(DESK, headers={"kid": f"kid {number}"}))
                for number in range(50)
            ]
            assert {each.status_code for each in await asyncio.gather(*flood)} == {401}
            assert await server.tools(issuer.token(DESK)) == ["who"]
        assert issuer.asked.count("/keys") == 1

    asyncio.run(works())


def test_a_key_that_the_issuer_takes_back_holds_no_longer(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_MIN_FETCH_INTERVAL_S", 0.0)

    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            stolen = issuer.token(DESK)
            assert await server.tools(stolen) == ["who"]
            issuer.keys["two"] = ec.generate_private_key(ec.SECP256R1())
            del issuer.keys["one"]
            monkeypatch.setattr(asking, "_KEY_REFRESH_INTERVAL_S", 0.0)
            refused = await server.request(stolen)
            assert refused.status_code == 401 and "unknown key" in refused.text

    asyncio.run(works())


def test_keys_of_long_ago_hold_no_longer(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_MIN_FETCH_INTERVAL_S", 0.0)
    monkeypatch.setattr(asking, "_KEY_REFRESH_INTERVAL_S", 0.0)

    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            token = issuer.token(DESK)
            assert await server.tools(token) == ["who"]
            issuer.is_down = True
            assert await server.tools(token) == ["who"]
            monkeypatch.setattr(asking, "_MAX_KEY_AGE_S", 0.0)
            assert (await server.request(token)).status_code == 503
            issuer.is_down = False
            monkeypatch.setattr(asking, "_MAX_KEY_AGE_S", 60.0)
            assert await server.tools(token) == ["who"]

    asyncio.run(works())


def test_a_revoked_token_is_refused_at_once(
    registry: Registry, issuer: AuthorizationServer, caplog: pytest.LogCaptureFixture
) -> None:
    token = "opaque-token-of-mia"
    issuer.active = {token: {**issuer.claims(DESK), "active": True}}

    async def works() -> None:
        given = with_introspection(issuer)
        async with serving(registry, given, introspection=True) as server:
            assert await server.tools(token) == ["who"]
            issuer.active[token]["active"] = False
            assert (await server.request(token)).status_code == 401

    with caplog.at_level(logging.DEBUG):
        asyncio.run(works())
    basic = b64encode(f"{ID}:{SECRET}".encode()).decode()
    assert "rejected a token: the token is not active" in caplog.text
    assert not any(secret in caplog.text for secret in (token, SECRET, basic))


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({"exp": -20}, 200),
        ({"exp": -40}, 401),
        ({"nbf": 20}, 200),
        ({"nbf": 40}, 401),
        ({"exp": ...}, 200),
        ({"exp": "soon"}, 401),
        ({"iss": "https://x.example"}, 401),
        ({"token_type": "DPoP"}, 401),
        ({"cnf": {"jkt": "x"}}, 401),
        ({"sub": ...}, 401),
        ({"scope": "openid"}, 403),
        ({"scope": "openid  shop "}, 200),
        ({"scope": "openid\u00a0shop"}, 403),
        ({"scope": "openid\tshop"}, 403),
    ],
)
def test_what_introspection_says_is_checked(
    claims: dict[str, Any],
    status: int,
    registry: Registry,
    issuer: AuthorizationServer,
) -> None:
    said: dict[str, Any] = {
        name: int(time.time()) + value if isinstance(value, int) else value
        for name, value in claims.items()
    }
    told = {**issuer.claims(DESK), "active": True, **said}
    issuer.active["good"] = {k: v for k, v in told.items() if v is not ...}

    async def works() -> None:
        given = with_introspection(issuer)
        async with serving(registry, given, introspection=True) as server:
            assert (await server.request("good")).status_code == status

    asyncio.run(works())


def test_the_secret_is_in_a_file_that_changes(
    registry: Registry, issuer: AuthorizationServer, tmp_path: Path
) -> None:
    issuer.active = {"good": {**issuer.claims(DESK), "active": True}}
    file = tmp_path / "secret"
    file.write_text("old\n")

    async def works() -> None:
        more = {"SHOP_OAUTH_CLIENT_SECRET": "", "SHOP_OAUTH_CLIENT_SECRET_FILE": file}
        given = with_introspection(issuer, **{k: str(v) for k, v in more.items()})
        async with serving(registry, given, introspection=True) as server:
            assert (await server.request("good")).status_code == 503
            file.write_text(f"{SECRET}\n")
            assert (await server.request("good")).status_code == 200
            file.unlink()
            assert (await server.request("good")).status_code == 503

    asyncio.run(works())


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"ID": "a"}, "introspection needs S_OAUTH_CLIENT_ID and S_OAUTH"),
        ({"ID": "a", "SECRET": "b", "SECRET_FILE": "/x"}, "SECRET_FILE, not both"),
        (
            {"ID": "a", "SECRET_FILE": "/nowhere/at/all"},
            "SECRET_FILE names is empty",
        ),
        ({"ID": "a", "SECRET_FILE": "/dev/null"}, "SECRET_FILE names"),
    ],
)
def test_credentials_that_cannot_be_meant_do_not_start(
    more: dict[str, str], problem: str
) -> None:
    given = {f"S_OAUTH_CLIENT_{name}": value for name, value in more.items()}
    given |= {
        "S_PUBLIC_URL": "https://x.example",
        "S_OAUTH_ISSUER": "https://y.example",
    }
    oauth = OAuth("S", SCOPES, introspection=True)
    settings = HttpSettings((Endpoint("/mcp/", "desk", "D"),), "A", "H", oauth=oauth)
    with pytest.raises(SettingsError, match=problem):
        ListenSettings.from_environment(settings, "127.0.0.1", given)
