"""OAuth resource server: token validation, scopes, challenges, metadata and client login."""

from __future__ import annotations

import json
import logging
import time
from itertools import product
from typing import TYPE_CHECKING

import httpx
import pytest
from mcp_types import TextContent
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.oauth.agent import Browser, run_agent
from tests.oauth.authorization_server import AuthorizationServer
from tests.oauth.forged import (
    make_unsigned,
    sign_by_hand,
    sign_with_embedded_key,
    sign_with_other_key,
    sign_with_public_key,
    sign_with_rsa,
)
from tests.oauth.shop import (
    BACK,
    DESK,
    METADATA,
    make_environment,
    parse_response,
    run_shop,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolcast_runtime import Registry


async def test_access_token_can_list_and_call_the_tools_that_its_scopes_permit(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    """The keys of the issuer are fetched once."""
    async with run_shop(registry, make_environment(issuer)) as server:
        token = issuer.token(DESK)
        assert await server.list_tools(token) == ["who"]
        assert (await server.call(token, "refund")).status_code == 403
        response = await server.call(token, "who")
        text = parse_response(response)["result"]["content"][0]["text"]
        assert json.loads(text) == {"user": "mia", "issuer": issuer.url}
        more = issuer.token(DESK, scope=..., scp=["shop", "money"], sub="ann")
        assert await server.list_tools(more) == ["refund", "who"]
        called = await server.call(more, "refund")
        assert "refunded for ann" in called.text
        assert issuer.requests.count("/keys") == 1


REFUSED: dict[str, tuple[Callable[[AuthorizationServer], str], str]] = {
    "another endpoint": (
        lambda i: i.token(BACK, scope="back shop"),
        "another audience",
    ),
    "key": (lambda i: sign_with_other_key(i, DESK), "signature is not valid"),
    "embedded key": (
        lambda i: sign_with_embedded_key(i, DESK),
        "signature is not valid",
    ),
    "path as kid": (
        lambda i: sign_by_hand(i, DESK, {"kid": "../../keys"}),
        "unknown key",
    ),
    "number as kid": (lambda i: sign_by_hand(i, DESK, {"kid": 1}), "malformed"),
    "public key as secret": (
        lambda i: sign_with_public_key(i, DESK),
        "algorithm is not accepted",
    ),
    "algorithm": (lambda i: sign_with_rsa(i, DESK), "algorithm is not accepted"),
    "none": (lambda i: make_unsigned(i, DESK), "algorithm is not accepted"),
    "infinite time": (lambda i: i.token(DESK, exp=float("inf")), "malformed"),
    "issued later": (lambda i: i.token(DESK, iat=9_999_999_999), "not valid yet"),
    "crit": (lambda i: i.token(DESK, headers={"crit": ["x"], "x": 1}), "token"),
    "just expired": (lambda i: i.token(DESK, exp=time.time() - 40), "has expired"),
    "valid soon": (lambda i: i.token(DESK, nbf=time.time() + 60), "not valid yet"),
    "parent audience": (lambda i: i.token("https://shop.example/"), "another audience"),
    "audience as text": (lambda i: i.token(f"{BACK} {DESK}"), "another audience"),
    "issuer with a slash": (lambda i: i.token(DESK, iss=f"{i.url}/"), "another issuer"),
    "several issuers": (
        lambda i: sign_by_hand(i, DESK, {"kid": "one"}, iss=[i.url]),
        "another issuer",
    ),
    "surrogate in user": (
        lambda i: i.token(DESK, sub="\ud800"),
        "not a printable string",
    ),
    "nested header": (lambda i: f"{'W1tb' * 4_000}.e30.e30", "malformed"),
    "huge": (lambda i: "a" * 20_000, "too long"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_invalid_access_token_is_refused_with_a_challenge_and_not_logged(
    case: str,
    registry: Registry,
    issuer: AuthorizationServer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    make, reason = REFUSED[case]
    caplog.set_level(logging.DEBUG)
    async with run_shop(registry, make_environment(issuer)) as server:
        token = make(issuer)
        answer = await server.request(token)
        assert answer.status_code == 401
        challenge = answer.headers["www-authenticate"]
        assert f'resource_metadata="{METADATA}"' in challenge
        assert 'error="invalid_token"' in challenge
        assert 'scope="shop"' in challenge
        assert reason in answer.text
        assert "/own" not in issuer.requests
        for part in token.split("."):
            assert not part or part not in caplog.text + answer.text


async def test_access_token_with_clock_skew_or_an_additional_audience_is_accepted(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    """Accept times that deviate by 20 seconds, within the clock skew of 30 seconds."""
    soon = int(time.time()) + 20
    async with run_shop(registry, make_environment(issuer)) as server:
        for claims in (
            {"nbf": soon, "iat": soon},
            {"aud": ["https://other.example", DESK]},
            {"aud": DESK.rstrip("/")},
        ):
            assert await server.list_tools(issuer.token(DESK, **claims)) == ["who"]


async def test_access_token_in_the_url_is_refused_and_not_logged(
    registry: Registry, issuer: AuthorizationServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with run_shop(registry, make_environment(issuer, DESK="plain")) as server:
        good = issuer.token(DESK)
        for name in ("access_token", "access%5Ftoken", "x=1&access_token"):
            for token, header in product((good, "plain"), (None, good)):
                path = f"/mcp/?{name}={token}"
                answer = await server.request(header, path=path)
                assert answer.status_code == 400
                challenge = answer.headers["www-authenticate"]
                assert 'error="invalid_request"' in challenge
        messages = [r.getMessage() for r in caplog.records if r.name[:4] == "tool"]
        assert messages and good not in "".join(messages)


async def test_oauth_request_with_a_host_other_than_the_public_url_is_refused(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    async with run_shop(registry, make_environment(issuer)) as server:
        headers = {"authorization": f"Bearer {issuer.token(DESK)}"}
        for host in ("evil.example", "shop.example.evil.example", "shop"):
            sent = {**headers, "host": host}
            answer = await server.client.post("/mcp/", json={}, headers=sent)
            assert answer.status_code == 421


async def test_www_authenticate_challenge_has_the_required_scope_and_metadata_url(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    async with run_shop(registry, make_environment(issuer)) as server:
        no_token = await server.request(None)
        assert no_token.status_code == 401
        assert no_token.headers["www-authenticate"] == (
            f'Bearer realm="shop desk", scope="shop", resource_metadata="{METADATA}"'
        )
        wrong_scope = await server.request(issuer.token(DESK, scope="money back"))
        assert wrong_scope.status_code == 403
        challenge = wrong_scope.headers["www-authenticate"]
        assert 'error="insufficient_scope"' in challenge
        # A client that requests exactly these scopes keeps those of its token.
        assert 'scope="money back shop"' in challenge
        assert f'resource_metadata="{METADATA}"' in challenge


async def test_protected_resource_metadata_has_the_endpoints_scopes_and_issuer(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    """It is published at the root path and at each endpoint's path."""
    async with run_shop(registry, make_environment(issuer)) as server:
        for path, resource, scopes in (
            ("", DESK, ["shop", "money"]),
            ("/mcp", DESK, ["shop", "money"]),
            ("/mcp/", DESK, ["shop", "money"]),
            ("/mcp/back/", BACK, ["money", "back"]),
        ):
            location = f"/.well-known/oauth-protected-resource{path}"
            assert (await server.client.get(location)).json() == {
                "resource": resource,
                "resource_name": "shop",
                "authorization_servers": [issuer.url],
                "scopes_supported": scopes,
                "bearer_methods_supported": ["header"],
            }


async def test_plain_bearer_token_is_accepted_next_to_oauth_access_tokens(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    environment = make_environment(issuer, DESK="plain")
    async with run_shop(registry, environment) as server:
        assert await server.list_tools("plain") == ["refund", "who"]
        assert await server.list_tools(issuer.token(DESK)) == ["who"]
        assert (await server.request("plain", path="/mcp/back/")).status_code == 401


@pytest.mark.parametrize("metadata_url", [None, "https://agent.example/client.json"])
async def test_mcp_sdk_client_logs_in_with_oauth_and_calls_a_tool(
    metadata_url: str | None, registry: Registry, issuer: AuthorizationServer
) -> None:
    """The client registers, or its id is the URL of its metadata."""
    issuer.takes_client_metadata = metadata_url is not None
    browser = Browser("mia")
    async with (
        run_shop(registry, make_environment(issuer)) as server,
        run_agent(DESK, browser, app=server.app, metadata_url=metadata_url) as client,
    ):
        result = await client.call_tool("who", {})
    first = result.content[0]
    assert isinstance(first, TextContent)
    assert json.loads(first.text)["user"] == "mia"
    (page,) = browser.requests
    assert page["resource"] == DESK and page["scope"] == "shop"
    assert page["code_challenge_method"] == "S256"
    assert page["client_id"] == (metadata_url or "program-0")
    assert ("/register" in issuer.requests) is (metadata_url is None)


async def test_mcp_sdk_client_logs_in_with_oauth_to_a_mounted_application(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    """A mounted application receives no requests for paths at the host's root."""
    browser = Browser("mia")
    url = "https://shop.example/tools/mcp/"
    environment = make_environment(issuer, SHOP_PUBLIC_URL="https://shop.example/tools")
    async with run_shop(registry, environment) as server:
        outer = Starlette(routes=[Mount("/tools", server.app)])
        async with run_agent(url, browser, app=outer) as client:
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == ["who"]
        # By the documentation, the outer application must route this path.
        root = "/.well-known/oauth-protected-resource/tools/mcp/"
        outer.add_route(root, server.app)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(outer)) as http:
            metadata = await http.get(f"https://shop.example{root}")
            assert metadata.json()["resource"] == url
    assert [page["resource"] for page in browser.requests] == [url]
