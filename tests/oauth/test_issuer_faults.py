"""Faulty, slow or unreachable authorization servers: tokens are refused, others not delayed."""

from __future__ import annotations

import asyncio
import logging
import zlib
from base64 import b64encode
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from tests.oauth.authorization_server import ID, SECRET, AuthorizationServer
from tests.oauth.shop import DESK, SCOPES, make_environment, run_shop
from tests.waiting import wait_until_async
from toolcast_runtime.http import Endpoint, HttpSettings, OAuth, SettingsError
from toolcast_runtime.http.endpoints import ListenSettings
from toolcast_runtime.oauth import authorization_server as issuer_module

if TYPE_CHECKING:
    from pathlib import Path

    from toolcast_runtime import Registry

METADATA = "/.well-known/oauth-authorization-server"
FAULTS: dict[str, tuple[str, int, Any]] = {
    "deep JSON": ("/keys", 200, b"[" * 100_000),
    "odd keys": ("/keys", 200, {"keys": [1, None, {}, {"kty": "EC", "kid": "one"}]}),
    "redirect of metadata": (METADATA, 302, "http://127.0.0.1:9/"),
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
        issuer.is_down = True
        assert (await server.request("another")).status_code == 503
    basic = b64encode(f"{ID}:{SECRET}".encode()).decode()
    assert "rejected a token: the token is not active" in caplog.text
    assert not any(secret in caplog.text for secret in (token, SECRET, basic))


async def test_introspected_token_scopes_are_separated_only_by_spaces(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    environment = make_introspection_settings(issuer)
    async with run_shop(registry, environment, introspection=True) as server:
        for scope, status in (
            ("a  shop ", 200),
            ("a\u00a0shop", 403),
            ("a\tshop", 403),
        ):
            issuer.active["t"] = {**issuer.claims(DESK, scope=scope), "active": True}
            assert (await server.request("t")).status_code == status


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
