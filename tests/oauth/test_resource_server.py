"""Tokens of an authorization server open the endpoints that their scopes are mapped to."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from mcp_types import TextContent
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.oauth.agent import Browser, agent
from tests.oauth.authorization_server import AuthorizationServer
from tests.oauth.forged import (
    by_hand,
    by_hmac,
    by_public_key,
    by_rsa,
    other_key,
    unsigned,
    with_its_own_key,
)
from tests.oauth.shop import BACK, DESK, METADATA, SCOPES, environment, serving, told
from toolcast_runtime.http import Endpoint, HttpSettings, OAuth, SettingsError
from toolcast_runtime.http.endpoints import ListenSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolcast_runtime import Registry


def test_a_token_opens_the_endpoint_and_shows_what_its_scopes_permit(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            token = issuer.token(DESK)
            assert await server.tools(token) == ["who"]
            assert (await server.call(token, "refund")).status_code == 403
            asked = await server.call(token, "who")
            text = told(asked)["result"]["content"][0]["text"]
            assert json.loads(text) == {"user": "mia", "issuer": issuer.url}
            more = issuer.token(DESK, scope=..., scp=["shop", "money"], sub="ann")
            assert await server.tools(more) == ["refund", "who"]
            called = await server.call(more, "refund")
            assert "refunded for ann" in called.text
            assert issuer.asked.count("/keys") == 1

    asyncio.run(works())


def _now() -> int:
    return int(time.time())


REFUSED: dict[str, tuple[Callable[[AuthorizationServer], str], str]] = {
    "issuer": (lambda i: i.token(DESK, iss="https://x.example"), "another issuer"),
    "audience": (lambda i: i.token("https://x.example"), "another audience"),
    "another endpoint": (
        lambda i: i.token(BACK, scope="back shop"),
        "another audience",
    ),
    "no audience": (lambda i: i.token(DESK, aud=...), "lacks `exp`, `iss` or `aud`"),
    "key": (lambda i: other_key(i, DESK), "signature is not valid"),
    "unknown key": (lambda i: i.token(DESK, headers={"kid": "x"}), "unknown key"),
    "its own key": (lambda i: with_its_own_key(i, DESK), "signature is not valid"),
    "kid of a path": (lambda i: by_hand(i, DESK, {"kid": "../../keys"}), "unknown key"),
    "kid of a number": (lambda i: by_hand(i, DESK, {"kid": 1}), "malformed"),
    "kid of a list": (lambda i: by_hand(i, DESK, {"kid": ["one"]}), "malformed"),
    "public key as secret": (
        lambda i: by_public_key(i, DESK),
        "algorithm is not accepted",
    ),
    "symmetric": (lambda i: by_hmac(i, DESK), "algorithm is not accepted"),
    "algorithm": (lambda i: by_rsa(i, DESK), "algorithm is not accepted"),
    "none": (lambda i: unsigned(i, DESK), "algorithm is not accepted"),
    "expired": (lambda i: i.token(DESK, exp=1_000), "has expired"),
    "never expires": (lambda i: i.token(DESK, exp=...), "lacks `exp`, `iss` or `aud`"),
    "no time": (lambda i: i.token(DESK, exp=float("inf")), "malformed"),
    "not yet": (lambda i: i.token(DESK, nbf=9_999_999_999), "not valid yet"),
    "issued later": (lambda i: i.token(DESK, iat=9_999_999_999), "not valid yet"),
    "kind": (
        lambda i: i.token(DESK, headers={"typ": "logout+jwt"}),
        "not an access token",
    ),
    "crit": (lambda i: i.token(DESK, headers={"crit": ["x"], "x": 1}), "token"),
    "bound": (lambda i: i.token(DESK, cnf={"jkt": "x"}), "bound to a key"),
    "just expired": (lambda i: i.token(DESK, exp=_now() - 40), "has expired"),
    "soon": (lambda i: i.token(DESK, nbf=_now() + 60), "not valid yet"),
    "audience above": (lambda i: i.token("https://shop.example/"), "another audience"),
    "audience as text": (lambda i: i.token(f"{BACK} {DESK}"), "another audience"),
    "issuer with a slash": (lambda i: i.token(DESK, iss=f"{i.url}/"), "another issuer"),
    "several issuers": (
        lambda i: by_hand(i, DESK, {"kid": "one"}, iss=[i.url]),
        "another issuer",
    ),
    "nobody": (lambda i: i.token(DESK, sub=...), "not a printable string"),
    "line end": (
        lambda i: i.token(DESK, sub="mia\nINFO ann"),
        "not a printable string",
    ),
    "no text": (lambda i: i.token(DESK, sub="\ud800"), "not a printable string"),
    "end of text": (lambda i: i.token(DESK, sub="mia\0ann"), "not a printable string"),
    "a number": (lambda i: by_hand(i, DESK, {"kid": "one"}, sub=1), "malformed"),
    "deep": (lambda i: f"{'W1tb' * 4_000}.e30.e30", "malformed"),
    "garbage": (lambda i: "gar8age.ba8bage.gar9age", "malformed"),
    "empty": (lambda i: "", "malformed"),
    "huge": (lambda i: "a" * 20_000, "too long"),
}


@pytest.mark.rows(20)
@pytest.mark.parametrize("case", REFUSED)
def test_a_token_that_is_not_good_here_is_refused(
    case: str,
    registry: Registry,
    issuer: AuthorizationServer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    make, why = REFUSED[case]

    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            token = make(issuer)
            answer = await server.request(token)
            assert answer.status_code == 401
            challenge = answer.headers["www-authenticate"]
            assert f'resource_metadata="{METADATA}"' in challenge
            assert 'error="invalid_token"' in challenge
            assert 'scope="shop"' in challenge
            assert why in answer.text
            assert "/own" not in issuer.asked
            for part in token.split("."):
                assert not part or part not in caplog.text + answer.text

    with caplog.at_level(logging.DEBUG):
        asyncio.run(works())


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": -20},
        {"nbf": 20, "iat": 20},
        {"aud": ["https://other.example", DESK]},
        {"aud": DESK.rstrip("/")},
        {"scope": "openid shop"},
    ],
)
def test_a_good_token_is_taken(
    claims: dict[str, Any], registry: Registry, issuer: AuthorizationServer
) -> None:
    """Clocks are up to 30 seconds apart; further audiences and scopes say nothing here."""
    said: dict[str, Any] = {
        name: _now() + value if isinstance(value, int) else value
        for name, value in claims.items()
    }

    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            assert await server.tools(issuer.token(DESK, **said)) == ["who"]

    asyncio.run(works())


@pytest.mark.parametrize("name", ["access_token", "access%5Ftoken", "x=1&access_token"])
def test_a_token_in_a_url_is_refused(
    name: str,
    registry: Registry,
    issuer: AuthorizationServer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def works() -> None:
        async with serving(registry, environment(issuer, DESK="plain")) as server:
            good = issuer.token(DESK)
            for token in (good, "plain"):
                path = f"/mcp/?{name}={token}"
                for header in (None, good):
                    answer = await server.request(header, path=path)
                    assert answer.status_code == 400
                    challenge = answer.headers["www-authenticate"]
                    assert 'error="invalid_request"' in challenge
            said = [r.getMessage() for r in caplog.records if r.name[:4] == "tool"]
            assert said and good not in "".join(said)

    with caplog.at_level(logging.DEBUG):
        asyncio.run(works())


def test_a_request_to_another_name_is_not_answered(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    """What the public URL names is a host; nothing else is for that."""

    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            headers = {"authorization": f"Bearer {issuer.token(DESK)}"}
            for host in ("evil.example", "shop.example.evil.example", "shop"):
                sent = {**headers, "host": host}
                answer = await server.client.post("/mcp/", json={}, headers=sent)
                assert answer.status_code == 421

    asyncio.run(works())


def test_without_a_token_or_scope_the_challenge_says_what_to_get(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            nobody = await server.request(None)
            assert nobody.status_code == 401
            assert nobody.headers["www-authenticate"] == (
                'Bearer realm="shop desk", scope="shop",'
                f' resource_metadata="{METADATA}"'
            )
            short = await server.request(issuer.token(DESK, scope="money back"))
            assert short.status_code == 403
            challenge = short.headers["www-authenticate"]
            assert 'error="insufficient_scope"' in challenge
            # A client that requests exactly these keeps what its token has.
            assert 'scope="money back shop"' in challenge
            assert f'resource_metadata="{METADATA}"' in challenge

    asyncio.run(works())


@pytest.mark.parametrize(
    ("path", "resource", "scopes"),
    [
        ("", DESK, ["shop", "money"]),
        ("/mcp", DESK, ["shop", "money"]),
        ("/mcp/", DESK, ["shop", "money"]),
        ("/mcp/back/", BACK, ["money", "back"]),
    ],
)
def test_metadata_stands_at_both_well_known_paths(
    registry: Registry,
    issuer: AuthorizationServer,
    path: str,
    resource: str,
    scopes: list[str],
) -> None:
    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            at = f"/.well-known/oauth-protected-resource{path}"
            answer = await server.client.get(at)
        assert answer.json() == {
            "resource": resource,
            "resource_name": "shop",
            "authorization_servers": [issuer.url],
            "scopes_supported": scopes,
            "bearer_methods_supported": ["header"],
        }

    asyncio.run(works())


def test_a_plain_token_stands_beside(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    async def works() -> None:
        given = environment(issuer, DESK="plain")
        async with serving(registry, given) as server:
            assert await server.tools("plain") == ["refund", "who"]
            assert await server.tools(issuer.token(DESK)) == ["who"]
            assert (await server.request("plain", path="/mcp/back/")).status_code == 401

    asyncio.run(works())


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "set SHOP_PUBLIC_URL"),
        ({"SHOP_OAUTH_ISSUER": "http://x.example"}, "must be an https URL"),
        ({"SHOP_PUBLIC_URL": "https://u:p@x.example"}, "must be an https URL"),
        ({"SHOP_PUBLIC_URL": "https://x.example"}, "set SHOP_OAUTH_ISSUER"),
    ],
)
def test_what_is_not_set_up_does_not_start(given: dict[str, str], problem: str) -> None:
    settings = HttpSettings(
        (Endpoint("/mcp/", "desk", "D"),), "A", "H", oauth=OAuth("SHOP", SCOPES)
    )
    with pytest.raises(SettingsError, match=problem):
        ListenSettings.from_environment(settings, "127.0.0.1", given)


@pytest.mark.parametrize("metadata_url", [None, "https://agent.example/client.json"])
def test_the_sdks_client_logs_in_and_calls(
    metadata_url: str | None, registry: Registry, issuer: AuthorizationServer
) -> None:
    """It registers itself, or is known by the URL of its metadata."""
    issuer.takes_client_metadata = metadata_url is not None
    browser = Browser("mia")

    async def works() -> None:
        async with (
            serving(registry, environment(issuer)) as server,
            agent(DESK, browser, app=server.app, metadata_url=metadata_url) as client,
        ):
            result = await client.call_tool("who", {})
        first = result.content[0]
        assert isinstance(first, TextContent)
        assert json.loads(first.text)["user"] == "mia"

    asyncio.run(works())
    (asked,) = browser.asked
    assert asked["resource"] == DESK and asked["scope"] == "shop"
    assert asked["code_challenge_method"] == "S256"
    assert asked["client_id"] == (metadata_url or "program-0")
    assert ("/register" in issuer.asked) is (metadata_url is None)


def test_it_is_found_below_another_application(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    """What is mounted does not get requests for the paths at the host's root."""
    browser = Browser("mia")
    url = "https://shop.example/tools/mcp/"

    async def works() -> None:
        given = environment(issuer, SHOP_PUBLIC_URL="https://shop.example/tools")
        async with serving(registry, given) as server:
            outer = Starlette(routes=[Mount("/tools", server.app)])
            async with agent(url, browser, app=outer) as client:
                listed = await client.list_tools()
                assert [tool.name for tool in listed.tools] == ["who"]
            # As the page says, the outer one hands on what is asked for at its root.
            root = "/.well-known/oauth-protected-resource/tools/mcp/"
            outer.add_route(root, server.app)
            async with httpx.AsyncClient(transport=httpx.ASGITransport(outer)) as one:
                told = await one.get(f"https://shop.example{root}")
                assert told.json()["resource"] == url

    asyncio.run(works())
    assert [page["resource"] for page in browser.asked] == [url]
