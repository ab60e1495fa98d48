"""Authorization server requests: timeouts, queues and the size of caches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.oauth.test_access_tokens import (
    ISSUER,
    URL,
    FakeIssuer,
    fake_issuer,
    make_key,
    make_server,
    make_tokens,
)
from toolcast_runtime.oauth import access_tokens
from toolcast_runtime.oauth import authorization_server as issuer_module
from toolcast_runtime.oauth.access_tokens import InvalidTokenError
from toolcast_runtime.oauth.authorization_server import (
    AuthorizationServerError,
    RequestLimiter,
    TooManyRequestsError,
)

assert fake_issuer  # Keeps the import of the fixture.


@pytest.fixture
def timeouts(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Expire each timeout immediately; return the used timeouts in seconds."""
    used, timeout = list[float](), asyncio.timeout

    def shorter(seconds: float) -> asyncio.Timeout:
        used.append(seconds)
        return timeout(0.01)

    monkeypatch.setattr(issuer_module.asyncio, "timeout", shorter)
    return used


async def test_introspection_request_times_out_after_five_seconds(
    timeouts: list[float],
) -> None:
    async def ask() -> dict[str, Any]:
        await asyncio.sleep(60)
        return {}

    with pytest.raises(AuthorizationServerError, match=r"^no response within 5 s$"):
        await RequestLimiter().run(b"t", ask)
    assert timeouts == [5.0]


async def test_authorization_server_request_times_out_after_5_s_without_redirects(
    timeouts: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    client_settings: list[Any] = []

    def client(**settings: Any) -> Any:
        client_settings.append((settings["timeout"], settings["follow_redirects"]))
        raise TimeoutError

    monkeypatch.setattr(issuer_module.httpx2, "AsyncClient", client)
    with pytest.raises(
        AuthorizationServerError, match=f"^{ISSUER} cannot be reached: TimeoutError$"
    ):
        await issuer_module.fetch_json(ISSUER)
    assert (timeouts, client_settings) == ([5.0], [(5.0, False)])


async def test_issuer_key_fetch_times_out_after_ten_seconds(
    timeouts: list[float],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fetch(*_: Any) -> Any:
        await asyncio.sleep(60)

    monkeypatch.setattr(issuer_module, "fetch_json", fetch)
    with pytest.raises(AuthorizationServerError, match="cannot be fetched"):
        await make_server().find_keys("one", "ES256")
    assert timeouts == [10.0]
    assert "cannot fetch the keys of the issuer: no response within 10 s" in caplog.text


async def test_tokens_valid_within_the_last_hour_use_a_separate_introspection_queue(
    fake_issuer: FakeIssuer,
) -> None:
    fake_issuer.answer = {"active": True, "aud": URL}
    tokens = make_tokens(introspection=True)
    queues: list[str] = []

    def make_queue(name: str) -> Any:
        async def run(_: bytes, ask: Callable[[], Any]) -> Any:
            queues.append(name)
            return await ask()

        return SimpleNamespace(run=run)

    tokens._known_requests = make_queue("known")
    tokens._other_requests = make_queue("other")
    start = fake_issuer.now
    for elapsed in (0.0, 3_599.0, 3_599.0 + 3_600.0):
        fake_issuer.now = start + elapsed
        await tokens.validate_token("t", URL)
    fake_issuer.answer["aud"] = f"{URL}/x"
    for _ in range(2):
        with pytest.raises(InvalidTokenError, match="another audience"):
            await tokens.validate_token("of another audience", URL)
    assert queues == ["other", "known", "other", "other", "other"]


def test_access_token_cache_keeps_the_ten_thousand_latest_entries(
    fake_issuer: FakeIssuer,
) -> None:
    until = {number.to_bytes(2, "big"): 0.0 for number in range(9_999)}
    access_tokens._remember(until, b"one", 7.0)
    assert (len(until), until[b"one"]) == (10_000, fake_issuer.now + 7)
    access_tokens._remember(until, b"\0\0", 7.0)
    assert len(until) == 10_000
    access_tokens._remember(until, b"two", 7.0)
    assert len(until) == 10_000
    # The oldest entry is removed first.
    assert b"\0\1" not in until and b"\0\0" in until and b"\0\2" in until


@pytest.mark.parametrize(
    ("issuer_name", "error_end"),
    [
        ("https://a.example", ": its metadata has the issuer https://a.example"),
        (f"https://a.example/{'a' * 300}", f"https://a.example/{'a' * 182}"),
        ("http://a.example", " of this issuer"),
        ("", " of this issuer"),
        (7, " of this issuer"),
    ],
)
async def test_authorization_server_metadata_with_another_issuer_raises_an_error(
    fake_issuer: FakeIssuer, issuer_name: Any, error_end: str
) -> None:
    fake_issuer.answer = {"issuer": issuer_name, "jwks_uri": f"{ISSUER}/keys"}
    with pytest.raises(AuthorizationServerError) as refused:
        await make_server(jwks_uri=None).get_introspection_uri()
    assert str(refused.value).endswith(error_end)
    assert fake_issuer.request_count == 2


async def test_introspection_url_is_read_once_from_issuer_metadata_and_must_be_safe(
    fake_issuer: FakeIssuer,
) -> None:
    """Plain HTTP is not safe."""
    url = f"{ISSUER}/introspect"
    fake_issuer.answer = {"issuer": ISSUER, "introspection_endpoint": url}
    server = make_server(jwks_uri=None)
    assert [await server.get_introspection_uri() for _ in range(2)] == [url, url]
    assert fake_issuer.request_count == 1
    for unsafe in ("http://a.example", 7):
        fake_issuer.answer = {"issuer": ISSUER, "introspection_endpoint": unsafe}
        with pytest.raises(
            AuthorizationServerError, match="no valid `introspection_endpoint`"
        ):
            await make_server(jwks_uri=None).get_introspection_uri()
    assert await make_server(introspection_uri="x").get_introspection_uri() == "x"


async def test_issuer_key_lookup_is_refused_if_24_requests_already_wait(
    fake_issuer: FakeIssuer,
) -> None:
    fake_issuer.answer = {"keys": [make_key()]}
    server = make_server()
    for _ in range(24):
        await server._waiting.acquire()
    with pytest.raises(TooManyRequestsError):
        await server.find_keys("one", "ES256")
    server._waiting.release()
    assert await server.find_keys("one", "ES256") is not None
