"""Login, registration and tokens with the third-party server `oidc-provider`."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from mcp.shared.auth import OAuthClientInformationFull
from mcp_types import TextContent

from tests.external.third_party_setup import find_installed
from tests.oauth.agent import Browser, run_agent
from tests.oauth.shop import DESK, PUBLIC, SCOPES, run_shop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolcast_runtime import Registry

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(
        find_installed() is None, reason="not set up: make test-servers"
    ),
]
BACK = "http://127.0.0.1/back"


@contextmanager
def run_oidc_provider(token_format: str) -> Iterator[str]:
    """Start the server with a token format and yield the issuer's URL."""
    tools = find_installed()
    assert tools is not None
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        issuer = f"http://127.0.0.1:{probe.getsockname()[1]}"
    script = str(Path(__file__).with_name("oidc_provider.mjs"))
    command = [tools.node, script, tools.oidc_provider, issuer, token_format]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "listens\n"
        try:
            yield issuer
        finally:
            process.kill()


class ConsentingBrowser(Browser):
    """A browser that fills in each page and consents to each request."""

    async def open(self, url: str) -> None:
        self.requests.append(dict(httpx2.URL(url).params))
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(url)
            while True:
                if answer.is_redirect:
                    to = answer.url.join(answer.headers["location"])
                    if str(to).startswith(BACK):
                        self._redirect_params = dict(to.params)
                        return
                    answer = await browser.get(to)
                    continue
                to, prompt = (
                    re.findall(pattern, answer.text)[0]
                    for pattern in ('action="([^"]+)"', 'name="prompt" value="(\\w+)"')
                )
                filled = {"prompt": prompt, "login": self.login, "password": "any"}
                answer = await browser.post(answer.url.join(to), data=filled)


async def register_client(issuer: str) -> OAuthClientInformationFull:
    """Register a client that may request every scope.

    A client that the SDK registers may request only the endpoint's scopes.
    """
    metadata = {
        "redirect_uris": [BACK],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    }
    async with httpx2.AsyncClient() as client:
        answer = await client.post(f"{issuer}/reg", json=metadata)
    return OAuthClientInformationFull.model_validate(answer.json())


@pytest.mark.parametrize("token_format", ["jwt", "opaque"])
def test_user_logs_in_with_oidc_provider_and_consents_to_a_scope_for_a_call(
    token_format: str, registry: Registry
) -> None:
    async def run(issuer: str) -> None:
        environment = {
            "SHOP_PUBLIC_URL": PUBLIC,
            "SHOP_OAUTH_ISSUER": issuer,
            "SHOP_OAUTH_CLIENT_ID": "shop",
            "SHOP_OAUTH_CLIENT_SECRET": "secret",
        }
        introspection = token_format == "opaque"
        async with run_shop(
            registry, environment, scopes=SCOPES, introspection=introspection
        ) as server:
            new = ConsentingBrowser("ann")
            async with run_agent(DESK, new, app=server.app) as client:
                listed = await client.list_tools()
                assert [tool.name for tool in listed.tools] == ["who"]
            mia = ConsentingBrowser("mia")
            mia.client = await register_client(issuer)
            async with run_agent(DESK, mia, app=server.app) as client:
                result = await client.call_tool("who")
                assert isinstance(result.content[0], TextContent)
                expected = {"user": "mia", "issuer": issuer}
                assert json.loads(result.content[0].text) == expected
                result = await client.call_tool("refund")
                assert isinstance(result.content[0], TextContent)
                assert result.content[0].text == "refunded for mia"
                listed = await client.list_tools()
                assert [tool.name for tool in listed.tools] == ["refund", "who"]
            requested = [set(page["scope"].split()) for page in mia.requests]
            assert [scopes & {"shop", "money"} for scopes in requested] == [
                {"shop"},
                {"shop", "money"},
            ]
            assert {page["resource"] for page in mia.requests} == {DESK}

    with run_oidc_provider(token_format) as issuer:
        asyncio.run(run(issuer))
