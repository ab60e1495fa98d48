"""Run the shop's application in this process, behind OAuth."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx

from tests.http.serving import rpc
from toolcast_runtime.http import Endpoint, HttpSettings, OAuth, Scope
from toolcast_runtime.http.app import build_http_app
from toolcast_runtime.http.endpoints import ListenSettings
from toolcast_runtime.mcp import McpServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp

    from tests.oauth.authorization_server import AuthorizationServer
    from toolcast_runtime import Registry

PUBLIC = "https://shop.example"
DESK, BACK = f"{PUBLIC}/mcp/", f"{PUBLIC}/mcp/back/"
SCOPES = (
    Scope("shop", clients=("desk",)),
    Scope("money", permissions=("billing",)),
    Scope("back", clients=("back",)),
)
METADATA = f"{PUBLIC}/.well-known/oauth-protected-resource/mcp/"


def make_environment(issuer: AuthorizationServer, **variables: str) -> dict[str, str]:
    """Return the environment of a shop that trusts an issuer."""
    return {"SHOP_PUBLIC_URL": PUBLIC, "SHOP_OAUTH_ISSUER": issuer.url, **variables}


class Server:
    """A toolset's application in this process, with an HTTP client for it."""

    def __init__(self, app: ASGIApp, client: httpx.AsyncClient) -> None:
        self.app = app
        self.client = client

    async def request(
        self,
        token: str | None,
        method: str = "tools/list",
        path: str = "/mcp/",
        modern: bool = False,
        **params: Any,
    ) -> httpx.Response:
        """Send a JSON-RPC request with a bearer token."""
        body, head = rpc(method, params, modern=modern)
        if token is not None:
            head["authorization"] = f"Bearer {token}"
        return await self.client.post(path, content=body, headers=head)

    async def call(
        self, token: str, tool: str, arguments: Any = None, **options: Any
    ) -> httpx.Response:
        """Call a tool; `options` are those of `request` and further params."""
        options.update(name=tool, arguments=arguments or {})
        return await self.request(token, "tools/call", **options)

    async def list_tools(self, token: str, path: str = "/mcp/") -> list[str]:
        """Return the names of the tools that a token's caller can list."""
        answer = await self.request(token, path=path)
        return [tool["name"] for tool in parse_response(answer)["result"]["tools"]]


def parse_response(answer: httpx.Response) -> Any:
    """Return the JSON-RPC message of a response."""
    lines = [x[5:] for x in answer.text.splitlines() if x.startswith("data:")]
    return json.loads(next((x for x in lines if x.strip()), answer.text))


@asynccontextmanager
async def run_shop(
    registry: Registry,
    environment: dict[str, str],
    *,
    server: dict[str, Any] | None = None,
    **oauth: Any,
) -> AsyncIterator[Server]:
    """Run the shop with an environment, server arguments and OAuth settings."""
    endpoints = (Endpoint("/mcp/", "desk", "DESK"), Endpoint("/mcp/back/", "back", "B"))
    settings = HttpSettings(
        endpoints, "ADMIN", "HOSTS", oauth=OAuth("SHOP", **{"scopes": SCOPES, **oauth})
    )
    server_options = server or {}
    served = McpServer(
        registry, name="shop", client="desk", http=settings, **server_options
    )
    app = build_http_app(
        served, ListenSettings.from_environment(settings, "127.0.0.1", environment)
    )
    async with (
        app.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url=PUBLIC
        ) as client,
    ):
        yield Server(app, client)
