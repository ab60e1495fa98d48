"""The official SDK's client with its own OAuth, and a person with a browser."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata
from pydantic import AnyUrl

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp

__all__ = ["Browser", "agent"]


class Browser:
    """In which a person logs in; it also keeps what the client has learnt.

    Attributes:
        login: who the person is.
        asked: the query of each page that the client opened.
    """

    def __init__(self, login: str) -> None:
        self.login = login
        self.asked: list[dict[str, str]] = []
        self.tokens: Any = None
        self.client: Any = None
        self._came: dict[str, str] = {}

    async def open(self, url: str) -> None:
        page = httpx2.URL(url)
        self.asked.append(dict(page.params))
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(page.copy_add_param("login", self.login))
        self._came = dict(httpx2.URL(answer.headers["location"]).params)

    async def back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**self._came)

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


@asynccontextmanager
async def agent(
    url: str,
    browser: Browser,
    *,
    app: ASGIApp | None = None,
    metadata_url: str | None = None,
    **more: Any,
) -> AsyncIterator[Client]:
    """A client of an endpoint that knows nothing but its URL.

    Args:
        url: the endpoint.
        browser: where its person logs in.
        app: answers instead of what listens at the URL's address.
        metadata_url: where the client is described, instead of registering it.
        more: for the SDK's client.
    """
    auth = OAuthClientProvider(
        url,
        OAuthClientMetadata(
            client_name="agent",
            redirect_uris=[AnyUrl("http://127.0.0.1/back")],
            token_endpoint_auth_method="none",
        ),
        browser,
        redirect_handler=browser.open,
        callback_handler=browser.back,
        client_metadata_url=metadata_url,
    )
    origin = str(httpx2.URL(url).join("/")).rstrip("/")
    inner = None if app is None else {origin: httpx2.ASGITransport(app=app)}
    async with (
        httpx2.AsyncClient(auth=auth, mounts=inner, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), **more) as client,
    ):
        yield client
