"""Tokens of an authorization server open the endpoints that their scopes are mapped to."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx
import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from mcp import Client as McpClient
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata
from mcp_types import TextContent
from pydantic import AnyUrl

from tests.oauth.authorization_server import (
    ID,
    SECRET,
    AuthorizationServer,
    authorization_server,
)
from tests.runtime.packages import Package, definition
from toolcast_runtime.access.clients import Client
from toolcast_runtime.http import Endpoint, HttpSettings, OAuth, Scope, SettingsError
from toolcast_runtime.http.app import http_app
from toolcast_runtime.http.settings import Listening
from toolcast_runtime.mcp import McpServer
from toolcast_runtime.registry import Registry

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

PUBLIC = "http://127.0.0.1"
DESK, BACK = f"{PUBLIC}/mcp/", f"{PUBLIC}/mcp/back/"
SCOPES = (
    Scope("shop", clients=("desk",)),
    Scope("money", permissions=("billing",)),
    Scope("back", clients=("back",)),
)
METADATA = f"{PUBLIC}/.well-known/oauth-protected-resource/mcp/"


@pytest.fixture
def issuer() -> Iterator[AuthorizationServer]:
    with authorization_server() as server:
        yield server


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    handlers = "tests.oauth.handlers"
    tools = Package(
        tmp_path,
        definition("who", handler=f"{handlers}:who"),
        definition("refund", handler=f"{handlers}:refund", permission="billing"),
    ).load()
    client = Client("*", permissions=("billing",))
    return Registry(tools, handlers=handlers, clients={"desk": client, "back": client})


def environment(issuer: AuthorizationServer, **more: str) -> dict[str, str]:
    return {"SHOP_PUBLIC_URL": PUBLIC, "SHOP_OAUTH_ISSUER": issuer.url, **more}


class Server:
    """A toolset's application, asked in this process."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def ask(
        self,
        token: str | None,
        method: str = "tools/list",
        path: str = "/mcp/",
        **p: Any,
    ) -> httpx.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": p}
        headers = {"mcp-protocol-version": "2025-11-25"}
        headers["accept"] = "application/json, text/event-stream"
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        return await self.client.post(path, json=body, headers=headers)

    async def tools(self, token: str, path: str = "/mcp/") -> list[str]:
        answer = await self.ask(token, path=path)
        return [tool["name"] for tool in told(answer)["result"]["tools"]]


def told(answer: httpx.Response) -> Any:
    lines = [x[5:] for x in answer.text.splitlines() if x.startswith("data:")]
    return json.loads(next((x for x in lines if x.strip()), answer.text))


@asynccontextmanager
async def serving(
    registry: Registry, given: dict[str, str], **oauth: Any
) -> AsyncIterator[Server]:
    endpoints = (Endpoint("/mcp/", "desk", "DESK"), Endpoint("/mcp/back/", "back", "B"))
    settings = HttpSettings(
        endpoints, "ADMIN", "HOSTS", oauth=OAuth("SHOP", SCOPES, **oauth)
    )
    server = McpServer(registry, name="shop", client="desk", http=settings)
    app = http_app(server, Listening.on(settings, "127.0.0.1", given))
    async with (
        app.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url=PUBLIC
        ) as client,
    ):
        yield Server(client)


def test_a_token_opens_the_endpoint_and_shows_what_its_scopes_permit(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            token = issuer.token(DESK)
            assert await server.tools(token) == ["who"]
            refused = await server.ask(token, "tools/call", name="refund", arguments={})
            assert "Unknown tool: refund" in refused.text
            asked = await server.ask(token, "tools/call", name="who", arguments={})
            text = told(asked)["result"]["content"][0]["text"]
            assert json.loads(text) == {"user": "mia", "issuer": issuer.url}
            more = issuer.token(DESK, scope=..., scp=["shop", "money"], sub="ann")
            assert await server.tools(more) == ["refund", "who"]
            called = await server.ask(more, "tools/call", name="refund", arguments={})
            assert "refunded for ann" in called.text
            assert issuer.asked.count("/keys") == 1

    asyncio.run(works())


def _other_key(issuer: AuthorizationServer) -> str:
    return issuer.token(DESK, key=ec.generate_private_key(ec.SECP256R1()))


def _by_hmac(issuer: AuthorizationServer) -> str:
    return issuer.token(DESK, key="k" * 64, algorithm="HS256")


def _by_rsa(issuer: AuthorizationServer) -> str:
    key = rsa.generate_private_key(65537, 2048)
    return issuer.token(DESK, key=key, algorithm="PS256")


def _unsigned(issuer: AuthorizationServer) -> str:
    return jwt.encode(issuer.claims(DESK), "", algorithm="none")


REFUSED: dict[str, tuple[Callable[[AuthorizationServer], str], str]] = {
    "issuer": (lambda i: i.token(DESK, iss="https://x.example"), "another issuer"),
    "audience": (lambda i: i.token("https://x.example"), "another audience"),
    "another endpoint": (
        lambda i: i.token(BACK, scope="back shop"),
        "another audience",
    ),
    "no audience": (lambda i: i.token(DESK, aud=...), "lacks exp, iss or aud"),
    "key": (_other_key, "signature is wrong"),
    "unknown key": (lambda i: i.token(DESK, headers={"kid": "x"}), "unknown key"),
    "symmetric": (_by_hmac, "algorithm is not taken"),
    "algorithm": (_by_rsa, "algorithm is not taken"),
    "none": (_unsigned, "algorithm is not taken"),
    "expired": (lambda i: i.token(DESK, exp=1_000), "has expired"),
    "never expires": (lambda i: i.token(DESK, exp=...), "lacks exp, iss or aud"),
    "no time": (lambda i: i.token(DESK, exp=float("inf")), "malformed"),
    "not yet": (lambda i: i.token(DESK, nbf=9_999_999_999), "not valid yet"),
    "issued later": (lambda i: i.token(DESK, iat=9_999_999_999), "not valid yet"),
    "kind": (lambda i: i.token(DESK, headers={"typ": "logout+jwt"}), "no access token"),
    "crit": (lambda i: i.token(DESK, headers={"crit": ["x"], "x": 1}), "token"),
    "bound": (lambda i: i.token(DESK, cnf={"jkt": "x"}), "bound to a key"),
    "nobody": (lambda i: i.token(DESK, sub=...), "nobody"),
    "garbage": (lambda i: "gar8age.ba8bage.gar9age", "malformed"),
    "empty": (lambda i: "", "malformed"),
    "huge": (lambda i: "a" * 20_000, "too long"),
}


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
            answer = await server.ask(token)
            assert answer.status_code == 401
            challenge = answer.headers["www-authenticate"]
            assert f'resource_metadata="{METADATA}"' in challenge
            assert 'error="invalid_token"' in challenge
            assert 'scope="shop"' in challenge
            assert why in answer.text
            for part in token.split("."):
                assert not part or part not in caplog.text + answer.text

    with caplog.at_level(logging.DEBUG):
        asyncio.run(works())


def test_without_a_token_or_scope_the_challenge_says_what_to_get(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            nobody = await server.ask(None)
            assert nobody.status_code == 401
            assert nobody.headers["www-authenticate"] == (
                'Bearer realm="shop desk", scope="shop",'
                f' resource_metadata="{METADATA}"'
            )
            short = await server.ask(issuer.token(DESK, scope="money back"))
            assert short.status_code == 403
            challenge = short.headers["www-authenticate"]
            assert 'error="insufficient_scope"' in challenge
            assert 'scope="shop"' in challenge
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
            assert (await server.ask("plain", path="/mcp/back/")).status_code == 401

    asyncio.run(works())


def test_while_keys_cannot_be_fetched_nobody_gets_in(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    async def works() -> None:
        issuer.is_down = True
        async with serving(registry, environment(issuer)) as server:
            answer = await server.ask(issuer.token(DESK))
            assert answer.status_code == 503
            assert answer.headers["retry-after"] == "30"
            many = [server.ask(issuer.token(DESK)) for _ in range(20)]
            assert {a.status_code for a in await asyncio.gather(*many)} == {503}
        # Three places for metadata, asked once and not for each token.
        assert len(issuer.asked) <= 3

    asyncio.run(works())


def test_a_new_key_is_fetched_when_a_token_names_it(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcast_runtime.http.oauth.authorization_server._PAUSE", 0.0)

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
        given = environment(
            issuer, SHOP_OAUTH_CLIENT_ID=ID, SHOP_OAUTH_CLIENT_SECRET=SECRET
        )
        async with serving(registry, given, introspection=True) as server:
            assert await server.tools("good") == ["who"]
            for token in ("other", "unsaid", "old", "odd", "unknown"):
                assert (await server.ask(token)).status_code == 401
            issuer.is_down = True
            assert (await server.ask("good")).status_code == 503

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
        Listening.on(settings, "127.0.0.1", given)


def test_the_sdks_client_logs_in_and_calls(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    class Storage:
        """Keeps what the client has learnt."""

        def __init__(self) -> None:
            self.kept: dict[str, Any] = {}

        async def get_tokens(self) -> Any:
            return self.kept.get("tokens")

        async def set_tokens(self, tokens: Any) -> None:
            self.kept["tokens"] = tokens

        async def get_client_info(self) -> Any:
            return self.kept.get("client")

        async def set_client_info(self, client_info: Any) -> None:
            self.kept["client"] = client_info

    came: dict[str, str] = {}

    async def person(url: str) -> None:
        async with httpx.AsyncClient() as browser:
            answer = await browser.get(url)
            came.update(httpx.URL(answer.headers["location"]).params)

    async def callback() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code=came["code"], state=came["state"])

    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            asgi = server.client._transport
            assert isinstance(asgi, httpx.ASGITransport)
            auth = OAuthClientProvider(
                DESK,
                OAuthClientMetadata(
                    client_name="agent",
                    redirect_uris=[AnyUrl("http://127.0.0.1/back")],
                    token_endpoint_auth_method="none",
                ),
                Storage(),
                redirect_handler=person,
                callback_handler=callback,
            )
            async with (
                httpx2.AsyncClient(
                    auth=auth,
                    mounts={issuer.url: httpx2.AsyncHTTPTransport()},
                    transport=httpx2.ASGITransport(app=asgi.app),
                ) as http,
                McpClient(streamable_http_client(DESK, http_client=http)) as client,
            ):
                result = await client.call_tool("who", {})
            first = result.content[0]
            assert isinstance(first, TextContent)
            assert json.loads(first.text)["user"] == "mia"

    asyncio.run(works())
