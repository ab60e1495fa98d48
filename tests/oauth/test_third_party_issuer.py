"""An authorization server that others wrote: its pages, its registration and its tokens."""

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
from tests.oauth.agent import Browser, agent
from tests.oauth.shop import DESK, PUBLIC, SCOPES, serving

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
def oidc_provider(token_format: str) -> Iterator[str]:
    """The issuer's URL."""
    there = find_installed()
    assert there is not None
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        issuer = f"http://127.0.0.1:{probe.getsockname()[1]}"
    script = str(Path(__file__).with_name("oidc_provider.mjs"))
    words = [there.node, script, there.oidc_provider, issuer, token_format]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "listens\n"
        try:
            yield issuer
        finally:
            process.kill()


class Person(Browser):
    """Fills in each page that comes, and agrees to everything."""

    async def open(self, url: str) -> None:
        self.asked.append(dict(httpx2.URL(url).params))
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(url)
            while True:
                if answer.is_redirect:
                    to = answer.url.join(answer.headers["location"])
                    if str(to).startswith(BACK):
                        self._came = dict(to.params)
                        return
                    answer = await browser.get(to)
                    continue
                to, prompt = (
                    re.findall(pattern, answer.text)[0]
                    for pattern in ('action="([^"]+)"', 'name="prompt" value="(\\w+)"')
                )
                filled = {"prompt": prompt, "login": self.login, "password": "any"}
                answer = await browser.post(answer.url.join(to), data=filled)


async def registered(issuer: str) -> OAuthClientInformationFull:
    """A client that may ask for every scope, as whoever registers one by hand makes it.

    One that the SDK registers may ask for those that opened the endpoint, and no others.
    """
    told = {
        "redirect_uris": [BACK],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    }
    async with httpx2.AsyncClient() as client:
        answer = await client.post(f"{issuer}/reg", json=told)
    return OAuthClientInformationFull.model_validate(answer.json())


@pytest.mark.parametrize("token_format", ["jwt", "opaque"])
def test_a_person_logs_in_and_agrees_to_more(
    token_format: str, registry: Registry
) -> None:
    async def works(issuer: str) -> None:
        given = {
            "SHOP_PUBLIC_URL": PUBLIC,
            "SHOP_OAUTH_ISSUER": issuer,
            "SHOP_OAUTH_CLIENT_ID": "shop",
            "SHOP_OAUTH_CLIENT_SECRET": "secret",
        }
        asks = token_format == "opaque"
        async with serving(
            registry, given, scopes=SCOPES, introspection=asks
        ) as server:
            new = Person("ann")
            async with agent(DESK, new, app=server.app) as client:
                listed = await client.list_tools()
                assert [tool.name for tool in listed.tools] == ["who"]
            mia = Person("mia")
            mia.client = await registered(issuer)
            async with agent(DESK, mia, app=server.app) as client:
                done = await client.call_tool("who")
                assert isinstance(done.content[0], TextContent)
                said = {"user": "mia", "issuer": issuer}
                assert json.loads(done.content[0].text) == said
                done = await client.call_tool("refund")
                assert isinstance(done.content[0], TextContent)
                assert done.content[0].text == "refunded for mia"
                listed = await client.list_tools()
                assert [tool.name for tool in listed.tools] == ["refund", "who"]
            asked = [set(one["scope"].split()) for one in mia.asked]
            assert [scopes & {"shop", "money"} for scopes in asked] == [
                {"shop"},
                {"shop", "money"},
            ]
            assert {one["resource"] for one in mia.asked} == {DESK}

    with oidc_provider(token_format) as issuer:
        asyncio.run(works(issuer))
