"""Faulty, slow or unreachable authorization servers: tokens are refused, others not delayed."""

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
from tests.oauth.shop import BACK, DESK, SCOPES, make_environment, run_shop
from tests.waiting import wait_until_async
from toolcast_runtime.http import Endpoint, HttpSettings, OAuth, SettingsError
from toolcast_runtime.http.endpoints import ListenSettings
from toolcast_runtime.oauth import authorization_server as issuer_module

if TYPE_CHECKING:
    from pathlib import Path

    from toolcast_runtime import Registry

METADATA = "/.well-known/oauth-authorization-server"
LARGE_KEY_SET = b'{"keys": [' + b" " * 300_000 + b"]}"
FAULTS: dict[str, tuple[str, int, Any]] = {
    "huge": ("/keys", 200, LARGE_KEY_SET),
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
    "redirect": ("/keys", 302, "http://127.0.0.1:9/keys"),
    "redirect of metadata": (METADATA, 302, "http://127.0.0.1:9/"),
    "from another issuer": (METADATA, 200, {"issuer": "https://x.example"}),
}


def make_introspection_settings(
    issuer: AuthorizationServer, **variables: str
) -> dict[str, str]:
    """Return the environment of a shop that uses introspection; empty values are removed."""
    credentials = {"SHOP_OAUTH_CLIENT_ID": ID, "SHOP_OAUTH_CLIENT_SECRET": SECRET}
    values = {k: v for k, v in {**credentials, **variables}.items() if v}
    return make_environment(issuer, **values)


async def test_compressed_authorization_server_response_is_rejected(
    issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few hundred bytes could decompress to as many megabytes."""
    requests: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        packed = zlib.compress(b'{"keys": [' + b" " * 10_000_000 + b"]}")
        packing = {"content-encoding": "deflate"}
        stream = httpx2.ByteStream(packed)
        return httpx2.Response(200, headers=packing, stream=stream)

    client = partial(httpx2.AsyncClient, transport=httpx2.MockTransport(answer))
    monkeypatch.setattr(httpx2, "AsyncClient", client)
    with pytest.raises(
        issuer_module.AuthorizationServerError, match="is not a JSON object"
    ):
        await issuer_module.fetch_json(issuer.url)
    assert requests[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("fault", FAULTS)
async def test_access_tokens_get_503_if_the_issuer_has_invalid_keys_or_metadata(
    fault: str, registry: Registry, issuer: AuthorizationServer
) -> None:
    path, status, value = FAULTS[fault]
    issuer.answers[path] = status, value
    async with run_shop(registry, make_environment(issuer)) as server:
        answer = await server.request(issuer.token(DESK))
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "30"


async def test_log_contains_the_metadata_issuer_if_it_differs_from_the_setting(
    registry: Registry, issuer: AuthorizationServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Some issuers end with a slash."""
    environment = make_environment(issuer)
    environment["SHOP_OAUTH_ISSUER"] += "/"
    async with run_shop(registry, environment) as server:
        token = issuer.token(DESK, iss=f"{issuer.url}/")
        assert (await server.request(token)).status_code == 503
    problem = f"{issuer.url}/ does not publish metadata of this issuer: its metadata has the issuer"
    assert f"{problem} {issuer.url}" in caplog.text


@pytest.mark.parametrize(
    "metadata_issuer", [None, 7, "", "not an address", "http://a.example"]
)
async def test_invalid_issuer_value_in_authorization_server_metadata_is_not_logged(
    registry: Registry,
    issuer: AuthorizationServer,
    caplog: pytest.LogCaptureFixture,
    metadata_issuer: object,
) -> None:
    issuer.answers[METADATA] = 200, {"issuer": metadata_issuer}
    async with run_shop(registry, make_environment(issuer)) as server:
        assert (await server.request(issuer.token(DESK))).status_code == 503
    assert "does not publish metadata of this issuer" in caplog.text
    assert "what is there" not in caplog.text


async def test_issuer_keys_at_a_plain_http_url_on_another_host_are_not_fetched(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    value = {"issuer": issuer.url, "jwks_uri": "http://keys.example/keys"}
    issuer.answers[METADATA] = 200, value
    async with run_shop(registry, make_environment(issuer)) as server:
        assert (await server.request(issuer.token(DESK))).status_code == 503


async def test_access_tokens_get_503_while_the_issuer_keys_cannot_be_fetched(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    """Metadata is requested once and not for each token."""
    issuer.is_down = True
    async with run_shop(registry, make_environment(issuer)) as server:
        answer = await server.request(issuer.token(DESK))
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "30"
        many = [server.request(issuer.token(DESK)) for _ in range(20)]
        assert {a.status_code for a in await asyncio.gather(*many)} == {503}
    # Metadata has three possible paths.
    assert len(issuer.requests) <= 3


async def test_issuer_keys_are_fetched_again_for_a_token_with_a_new_key_id(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "toolcast_runtime.oauth.authorization_server._MIN_FETCH_INTERVAL_S", 0.0
    )
    async with run_shop(registry, make_environment(issuer)) as server:
        assert await server.list_tools(issuer.token(DESK)) == ["who"]
        key = issuer.keys["two"] = ec.generate_private_key(ec.SECP256R1())
        token = issuer.token(DESK, key=key, headers={"kid": "two"})
        assert await server.list_tools(token) == ["who"]
        assert issuer.requests.count("/keys") == 2


async def test_introspection_accepts_only_active_current_tokens_for_the_audience(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    """A server error is answered with 503."""
    good = {**issuer.claims(DESK), "active": True, "iss": issuer.url}
    issuer.active = {
        "good": good,
        "other": {**good, "aud": BACK},
        "no audience": {k: v for k, v in good.items() if k != "aud"},
        "old": {**good, "exp": 1_000},
        "odd": {**good, "active": "true"},
    }
    environment = make_introspection_settings(issuer)
    async with run_shop(registry, environment, introspection=True) as server:
        assert await server.list_tools("good") == ["who"]
        for token in ("other", "no audience", "old", "odd", "unknown"):
            assert (await server.request(token)).status_code == 401
        issuer.is_down = True
        assert (await server.request("good")).status_code == 503


async def test_cancelled_request_does_not_cancel_the_issuer_key_fetch_for_others(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    issuer.seconds = 0.1
    async with run_shop(registry, make_environment(issuer)) as server:
        odd = issuer.token(DESK, headers={"kid": "odd"})
        cancelled = asyncio.create_task(server.request(odd))
        await wait_until_async(lambda: issuer.requests)
        cancelled.cancel()
        assert await server.list_tools(issuer.token(DESK)) == ["who"]


@pytest.mark.slow
async def test_access_tokens_with_a_cached_key_do_not_wait_for_a_slow_key_fetch(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issuer_module, "_KEY_REFRESH_INTERVAL_S", 0.0)
    monkeypatch.setattr(issuer_module, "_MIN_FETCH_INTERVAL_S", 0.0)
    monkeypatch.setattr(issuer_module, "_REQUEST_TIMEOUT_S", 3.0)
    async with run_shop(registry, make_environment(issuer)) as server:
        token = issuer.token(DESK)
        assert await server.list_tools(token) == ["who"]
        issuer.seconds = 3.5
        count = len(issuer.requests)
        odd = issuer.token(DESK, headers={"kid": "odd"})
        waits = asyncio.create_task(server.request(odd))
        await wait_until_async(lambda: len(issuer.requests) > count)
        assert await server.list_tools(token) == ["who"]
        assert not waits.done()
        # The fetch times out, and the known keys stay valid.
        assert (await waits).status_code == 401
        assert await server.list_tools(token) == ["who"]


async def test_50_access_tokens_with_unknown_key_ids_cause_no_further_key_fetch(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    async with run_shop(registry, make_environment(issuer)) as server:
        assert await server.list_tools(issuer.token(DESK)) == ["who"]
        requests = [
            server.request(issuer.token(DESK, headers={"kid": f"kid {number}"}))
            for number in range(50)
        ]
        assert {
            response.status_code for response in await asyncio.gather(*requests)
        } == {401}
        assert await server.list_tools(issuer.token(DESK)) == ["who"]
    assert issuer.requests.count("/keys") == 1


async def test_access_token_signed_with_a_key_that_the_issuer_removed_is_refused(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issuer_module, "_MIN_FETCH_INTERVAL_S", 0.0)
    async with run_shop(registry, make_environment(issuer)) as server:
        stolen = issuer.token(DESK)
        assert await server.list_tools(stolen) == ["who"]
        issuer.keys["two"] = ec.generate_private_key(ec.SECP256R1())
        del issuer.keys["one"]
        monkeypatch.setattr(issuer_module, "_KEY_REFRESH_INTERVAL_S", 0.0)
        refused = await server.request(stolen)
        assert refused.status_code == 401 and "unknown key" in refused.text


async def test_cached_issuer_keys_expire_after_their_maximum_age_if_fetching_fails(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issuer_module, "_MIN_FETCH_INTERVAL_S", 0.0)
    monkeypatch.setattr(issuer_module, "_KEY_REFRESH_INTERVAL_S", 0.0)
    async with run_shop(registry, make_environment(issuer)) as server:
        token = issuer.token(DESK)
        assert await server.list_tools(token) == ["who"]
        issuer.is_down = True
        assert await server.list_tools(token) == ["who"]
        monkeypatch.setattr(issuer_module, "_MAX_KEY_AGE_S", 0.0)
        assert (await server.request(token)).status_code == 503
        issuer.is_down = False
        monkeypatch.setattr(issuer_module, "_MAX_KEY_AGE_S", 60.0)
        assert await server.list_tools(token) == ["who"]


async def test_revoked_access_token_is_refused_at_the_next_request(
    registry: Registry, issuer: AuthorizationServer, caplog: pytest.LogCaptureFixture
) -> None:
    """The log contains neither the token nor the client's secret."""
    token = "opaque-token-of-mia"
    issuer.active = {token: {**issuer.claims(DESK), "active": True}}
    caplog.set_level(logging.DEBUG)
    environment = make_introspection_settings(issuer)
    async with run_shop(registry, environment, introspection=True) as server:
        assert await server.list_tools(token) == ["who"]
        issuer.active[token]["active"] = False
        assert (await server.request(token)).status_code == 401
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
async def test_introspected_token_with_invalid_claims_or_scopes_gets_401_or_403(
    claims: dict[str, Any], status: int, registry: Registry, issuer: AuthorizationServer
) -> None:
    values: dict[str, Any] = {
        name: int(time.time()) + value if isinstance(value, int) else value
        for name, value in claims.items()
    }
    response = {**issuer.claims(DESK), "active": True, **values}
    issuer.active["good"] = {k: v for k, v in response.items() if v is not ...}
    environment = make_introspection_settings(issuer)
    async with run_shop(registry, environment, introspection=True) as server:
        assert (await server.request("good")).status_code == status


async def test_changed_introspection_client_secret_file_is_read_without_a_restart(
    registry: Registry, issuer: AuthorizationServer, tmp_path: Path
) -> None:
    issuer.active = {"good": {**issuer.claims(DESK), "active": True}}
    file = tmp_path / "secret"
    file.write_text("old\n")
    more = {"SHOP_OAUTH_CLIENT_SECRET": "", "SHOP_OAUTH_CLIENT_SECRET_FILE": file}
    environment = make_introspection_settings(
        issuer, **{k: str(v) for k, v in more.items()}
    )
    async with run_shop(registry, environment, introspection=True) as server:
        assert (await server.request("good")).status_code == 503
        file.write_text(f"{SECRET}\n")
        assert (await server.request("good")).status_code == 200
        file.unlink()
        assert (await server.request("good")).status_code == 503


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"ID": "a"}, "introspection needs S_OAUTH_CLIENT_ID and S_OAUTH"),
        ({"ID": "a", "SECRET": "b", "SECRET_FILE": "/x"}, "SECRET_FILE, not both"),
        ({"ID": "a", "SECRET_FILE": "/nowhere/at/all"}, "SECRET_FILE names is empty"),
        ({"ID": "a", "SECRET_FILE": "/dev/null"}, "SECRET_FILE names"),
    ],
)
def test_missing_or_conflicting_introspection_credentials_are_refused(
    more: dict[str, str], problem: str
) -> None:
    environment = {f"S_OAUTH_CLIENT_{name}": value for name, value in more.items()}
    environment |= {
        "S_PUBLIC_URL": "https://x.example",
        "S_OAUTH_ISSUER": "https://y.example",
    }
    oauth = OAuth("S", SCOPES, introspection=True)
    settings = HttpSettings((Endpoint("/mcp/", "desk", "D"),), "A", "H", oauth=oauth)
    with pytest.raises(SettingsError, match=problem):
        ListenSettings.from_environment(settings, "127.0.0.1", environment)
