"""The shop's application, asked in this process."""

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


def environment(issuer: AuthorizationServer, **more: str) -> dict[str, str]:
    return {"SHOP_PUBLIC_URL": PUBLIC, "SHOP_OAUTH_ISSUER": issuer.url, **more}


class Server:
    """A toolset's application, asked in this process."""

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
        body, head = rpc(method, params, modern=modern)
        head["accept"] = "application/json, text/event-stream"
        head["content-type"] = "application/json"
        if token is not None:
            head["authorization"] = f"Bearer {token}"
        return await self.client.post(path, content=body, headers=head)

    async def call(
        self, token: str, tool: str, arguments: Any = None, **more: Any
    ) -> httpx.Response:
        more.update(name=tool, arguments=arguments or {})
        return await self.request(token, "tools/call", **more)

    async def tools(self, token: str, path: str = "/mcp/") -> list[str]:
        answer = await self.request(token, path=path)
        return [tool["name"] for tool in told(answer)["result"]["tools"]]


def told(answer: httpx.Response) -> Any:
    lines = [x[5:] for x in answer.text.splitlines() if x.startswith("data:")]
    return json.loads(next((x for x in lines if x.strip()), answer.text))


@asynccontextmanager
async def serving(
    registry: Registry,
    given: dict[str, str],
    *,
    server: dict[str, Any] | None = None,
    **oauth: Any,
) -> AsyncIterator[Server]:
    endpoints = (Endpoint("/mcp/", "desk", "DESK"), Endpoint("/mcp/back/", "back", "B"))
    settings = HttpSettings(
        endpoints, "ADMIN", "HOSTS", oauth=OAuth("SHOP", **{"scopes": SCOPES, **oauth})
    )
    more = server or {}
    served = McpServer(registry, name="shop", client="desk", http=settings, **more)
    app = build_http_app(
        served, ListenSettings.from_environment(settings, "127.0.0.1", given)
    )
    async with (
        app.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url=PUBLIC
        ) as client,
    ):
        yield Server(app, client)
