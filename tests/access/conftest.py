"""The external server that kirishima's toolset names, running."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from generated.kirishima import registry
from tests.external.servers.running import HttpServer


@pytest.fixture(scope="module")
def personal() -> Iterator[str]:
    """The external server; gives its URL, which the toolset's variable holds."""
    server = HttpServer.started()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIRISHIMA_PERSONAL_MCP_URL", server.url)
        yield server.url
        asyncio.run(registry.REGISTRY.close())
        server.end()
