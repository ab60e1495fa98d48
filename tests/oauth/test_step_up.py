"""Step-up authorization: a call is refused with the scope that would permit it, if any."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from tests.oauth.agent import Browser, run_agent
from tests.oauth.shop import (
    BACK,
    DESK,
    PUBLIC,
    make_environment,
    parse_response,
    run_shop,
)
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.core.access import Client
from toolcast_runtime.http import Scope
from toolcast_runtime.mcp import McpServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.oauth.authorization_server import AuthorizationServer

SCOPES = (
    Scope("shop", clients=("desk",)),
    Scope("all", permissions=("billing", "stock", "erasing")),
    Scope("money", permissions=("billing",)),
    Scope("store", clients=("back",), permissions=("stock",)),
    Scope("back", clients=("back",)),
)
HANDLERS = "tests.oauth.handlers"
LINKS = "shop https://api.example/auth/a?b=1 money"


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """Return a registry with tools that require permissions or another client."""
    refund = {"handler": f"{HANDLERS}:refund", "permission": "billing"}
    tools = Package(
        tmp_path,
        definition("who", handler=f"{HANDLERS}:who"),
        definition("refund", renamed_from=["pay_back"], **refund),
        definition("restricted", **refund),
        definition("back_only", clients=["back"], **refund),
        definition("erase", handler=f"{HANDLERS}:refund", permission="erasing"),
        definition("count", handler=f"{HANDLERS}:who", permission="stock"),
    ).load()
    permissions = ("billing", "stock")
    desk = Client("*", deny=("restricted",), permissions=("billing",))
    clients = {"desk": desk, "back": Client("*", permissions=permissions)}
    return Registry(tools, handlers=HANDLERS, clients=clients)


@pytest.mark.parametrize("modern", [False, True])
async def test_tool_call_without_permission_is_refused_with_the_missing_oauth_scope(
    modern: bool, registry: Registry, issuer: AuthorizationServer
) -> None:
    async with run_shop(registry, make_environment(issuer), scopes=SCOPES) as server:
        token = issuer.token(DESK)
        assert await server.list_tools(token) == ["who"]
        for name in ("refund", "pay_back"):
            refused = await server.call(token, name, modern=modern)
            assert refused.status_code == 403
            # `money` grants fewer permissions than `all`; the token's scope is kept.
            assert refused.headers["www-authenticate"] == (
                'Bearer realm="shop desk", error="insufficient_scope",'
                ' error_description="the call needs the scope money",'
                ' scope="shop money", resource_metadata='
                f'"{PUBLIC}/.well-known/oauth-protected-resource/mcp/"'
            )
        more = issuer.token(DESK, scope="shop money")
        done = await server.call(more, "refund", modern=modern)
        assert done.status_code == 200 and "refunded for mia" in done.text
        back = issuer.token(BACK, scope="store")
        options = {"path": "/mcp/back/", "modern": modern}
        refused = await server.call(back, "refund", **options)
        assert 'scope="store money"' in refused.headers["www-authenticate"]


@pytest.mark.parametrize(
    ("claims", "requested"),
    [
        ({"scope": ["shop", "read"]}, "shop read money"),
        ({"scope": ..., "scp": ["shop", "read"]}, "shop read money"),
        ({"scope": "shop read", "scp": "store"}, "shop read store money"),
        ({"scope": "shop", "scp": [1, None, ["x"], "read", "read"]}, "shop read money"),
        ({"scope": ["shop", "a b", "c\nX: 1", "d\t", "", "e\r"]}, "shop money"),
        ({"scope": 'shop a"b c\\\\d \u00e9'}, "shop money"),
        ({"scope": "shop MONEY Money"}, "shop MONEY Money money"),
        ({"scope": "openid shop offline_access"}, "shop offline_access openid money"),
        ({"scope": ["shop", "https://api.example/auth/a?b=1"]}, LINKS),
        ({"scope": f"{'x' * 3_000} shop {'y' * 3_000}"}, "shop money"),
    ],
)
async def test_step_up_challenge_includes_scopes_from_scope_and_scp_claims(
    claims: Any, requested: str, registry: Registry, issuer: AuthorizationServer
) -> None:
    """Clients of handshake versions request exactly these; invalid scopes are omitted."""
    async with run_shop(registry, make_environment(issuer), scopes=SCOPES) as server:
        token = issuer.token(DESK, **claims)
        refused = await server.call(token, "refund", modern=False)
        assert f' scope="{requested}"' in refused.headers["www-authenticate"]


@pytest.mark.parametrize("length", [1, 1_000])
async def test_step_up_challenge_with_many_scopes_has_under_2500_characters(
    length: int, registry: Registry, issuer: AuthorizationServer
) -> None:
    """Proxies and clients reject headers of more than 4 to 16 kB."""
    more = [f"{'x' * length}{number}" for number in range(2_000 // length)]

    async with run_shop(registry, make_environment(issuer), scopes=SCOPES) as server:
        token = issuer.token(DESK, scope=" ".join(["shop", *more]))
        refused = await server.call(token, "refund", modern=False)
        challenge = refused.headers["www-authenticate"]
        assert len(challenge) < 2_500
        assert ' scope="shop x' in challenge and " money" in challenge


@pytest.mark.parametrize("modern", [False, True])
async def test_calling_a_tool_that_no_oauth_scope_grants_gets_an_unknown_tool_error(
    modern: bool, registry: Registry, issuer: AuthorizationServer
) -> None:
    async with run_shop(registry, make_environment(issuer), scopes=SCOPES) as server:
        for name, reason in (
            ("nothing", "the tool does not exist"),
            ("restricted", "the client's access denies it"),
            ("back_only", "it belongs to another client"),
            ("erase", "a scope grants its permission, but the client does not have it"),
            ("count", "only another client has its permission"),
        ):
            for scope in ("shop", "shop money", "shop all"):
                token = issuer.token(DESK, scope=scope)
                refused = await server.call(token, name, modern=modern)
                assert "www-authenticate" not in refused.headers, reason
                assert parse_response(refused)["error"] == {
                    "code": -32602,
                    "message": f"Unknown tool: {name}",
                }


async def test_step_up_on_a_shared_endpoint_requests_the_tools_toolset_scope(
    tmp_path: Path, registry: Registry, issuer: AuthorizationServer
) -> None:
    """The permissions of the client in another toolset do not count."""
    lend = definition("lend", handler=f"{HANDLERS}:refund", permission="stock")
    give = definition("give", handler=f"{HANDLERS}:refund", permission="billing")
    clients = {"desk": Client("*", permissions=("stock",)), "back": Client("*")}
    library = Registry(
        Package(tmp_path, lend, give).load(), handlers=HANDLERS, clients=clients
    )
    toolsets = {"shop": registry, "library": library}
    servers = tuple(
        McpServer(member, name=name, client="desk") for name, member in toolsets.items()
    )
    both = Registry.combine("both", [*toolsets.values()])
    environment = make_environment(issuer)
    options = {"member_servers": servers}
    async with run_shop(both, environment, server=options, scopes=SCOPES) as server:
        token = issuer.token(DESK)
        assert await server.list_tools(token) == ["who"]
        for name, scope in (("refund", "money"), ("lend", "all")):
            refused = await server.call(token, name)
            challenge = refused.headers["www-authenticate"]
            assert f'scope="shop {scope}"' in challenge
        for name in ("give", "count", "erase"):
            assert f"Unknown tool: {name}" in (await server.call(token, name)).text
        done = await server.call(issuer.token(DESK, scope="shop all"), "lend")
        assert "refunded for mia" in done.text


@pytest.mark.parametrize("search", [False, True])
async def test_request_body_that_is_no_valid_tool_call_gets_no_scope_challenge(
    registry: Registry, issuer: AuthorizationServer, search: bool
) -> None:
    bodies = {
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [': 400,
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}': 200,
        b'[{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}]': 400,
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":'
        b' {"name": ["refund"]}}': 200,
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params":'
        b' {"_meta": {"is": "tools/call", "name": "refund"}}}': 200,
    }
    environment, options = make_environment(issuer), {"search": search}
    async with run_shop(registry, environment, server=options, scopes=SCOPES) as server:
        headers = {
            "authorization": f"Bearer {issuer.token(DESK)}",
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            "mcp-protocol-version": "2025-11-25",
        }
        for body, status in bodies.items():
            sent = await server.client.post("/mcp/", content=body, headers=headers)
            assert sent.status_code == status, (body, sent.text)


@pytest.mark.parametrize(
    "mode", ["auto", pytest.param("legacy", marks=pytest.mark.slow)]
)
def test_mcp_sdk_client_requests_the_missing_scope_and_repeats_the_tool_call(
    mode: str, registry: Registry, issuer: AuthorizationServer
) -> None:
    browser = Browser("mia")

    async def run() -> str:
        async with (
            run_shop(registry, make_environment(issuer), scopes=SCOPES) as server,
            run_agent(DESK, browser, app=server.app, mode=mode) as client,
        ):
            assert [tool.name for tool in (await client.list_tools()).tools] == ["who"]
            done = (await client.call_tool("refund", {})).content[0]
            listed = await client.list_tools(cache_mode="bypass")
            assert [tool.name for tool in listed.tools] == ["refund", "who"]
            assert isinstance(done, TextContent)
            return done.text

    assert asyncio.run(run()) == "refunded for mia"
    assert [page["scope"] for page in browser.requests] == ["shop", "shop money"]


async def test_mcp_sdk_client_requests_an_oauth_scope_that_is_not_granted_only_once(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    issuer.people["mia"] = {"scope": "shop"}
    browser = Browser("mia")
    async with (
        run_shop(registry, make_environment(issuer), scopes=SCOPES) as server,
        run_agent(DESK, browser, app=server.app) as client,
    ):
        with pytest.raises(MCPError, match="the call needs the scope money"):
            await client.call_tool("refund", {})
    assert len(browser.requests) == 2


@pytest.mark.parametrize("modern", [False, True])
async def test_tool_called_by_call_found_tool_without_permission_gets_403_with_its_scope(
    modern: bool, registry: Registry, issuer: AuthorizationServer
) -> None:
    environment = make_environment(issuer)
    more = {"search": True}
    async with run_shop(registry, environment, server=more, scopes=SCOPES) as server:
        token = issuer.token(DESK)

        async def call_by_search(tool: str, by: str = token) -> httpx.Response:
            found = {"name": tool}
            return await server.call(by, "call_found_tool", found, modern=modern)

        assert await server.list_tools(token) == ["search_tools", "call_found_tool"]
        refused = await call_by_search("refund")
        assert refused.status_code == 403
        assert 'scope="shop money"' in refused.headers["www-authenticate"]
        for name in ("restricted", "back_only", "call_found_tool"):
            assert f"Unknown tool: {name}" in (await call_by_search(name)).text
        broader_token = issuer.token(DESK, scope="shop money")
        done = await call_by_search("refund", broader_token)
        assert "refunded for mia" in done.text
        query = {"query": "refund the order"}
        for by, expected in ((token, set()), (broader_token, {"refund"})):
            found = await server.call(by, "search_tools", query, modern=modern)
            text = parse_response(found)["result"]["content"][0]["text"]
            assert {tool["name"] for tool in json.loads(text)["tools"]} == expected
