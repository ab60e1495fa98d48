"""The external server that the toolset kirishima uses, as a running process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from generated.kirishima import registry
from tests.external.servers.running import HttpServer


@pytest.fixture(scope="module")
def personal_server_url() -> Iterator[str]:
    """URL of the running external server, which the toolset's variable contains."""
    server = HttpServer.started()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIRISHIMA_PERSONAL_MCP_URL", server.url)
        yield server.url
        asyncio.run(registry.REGISTRY.close())
        server.end()
