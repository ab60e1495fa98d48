"""The external server that the toolset kirishima uses, as a running process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from generated.kirishima import registry
from tests.external.servers.http_servers import run_personal_server


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    """Start the external server, and return its URL, which the toolset's variable contains."""
    with run_personal_server() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIRISHIMA_PERSONAL_MCP_URL", server.url)
        yield server.url
        asyncio.run(registry.REGISTRY.close())
