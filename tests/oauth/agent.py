"""Run the official SDK's client with its OAuth flow and a simulated browser."""

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

__all__ = ["Browser", "run_agent"]


class Browser:
    """A browser in which a user logs in; it also stores the client's tokens.

    Attributes:
        login: the name of the user.
        requests: the query of each page that the client opened.
    """

    def __init__(self, login: str) -> None:
        self.login = login
        self.requests: list[dict[str, str]] = []
        self.tokens: Any = None
        self.client: Any = None
        self._redirect_params: dict[str, str] = {}

    async def open(self, url: str) -> None:
        """Open the authorization page and log in."""
        page = httpx2.URL(url)
        self.requests.append(dict(page.params))
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(page.copy_add_param("login", self.login))
        self._redirect_params = dict(httpx2.URL(answer.headers["location"]).params)

    async def get_redirect_result(self) -> AuthorizationCodeResult:
        """Return the parameters of the redirect back to the client."""
        return AuthorizationCodeResult(**self._redirect_params)

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


@asynccontextmanager
async def run_agent(
    url: str,
    browser: Browser,
    *,
    app: ASGIApp | None = None,
    metadata_url: str | None = None,
    **more: Any,
) -> AsyncIterator[Client]:
    """Connect a client that knows only an endpoint's URL.

    Args:
        url: the endpoint.
        browser: where the user logs in.
        app: the application that answers instead of the server at the URL.
        metadata_url: the URL of the client's metadata, instead of a registration.
        more: options of the SDK's client.
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
        callback_handler=browser.get_redirect_result,
        client_metadata_url=metadata_url,
    )
    origin = str(httpx2.URL(url).join("/")).rstrip("/")
    inner = None if app is None else {origin: httpx2.ASGITransport(app=app)}
    async with (
        httpx2.AsyncClient(auth=auth, mounts=inner, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), **more) as client,
    ):
        yield client
