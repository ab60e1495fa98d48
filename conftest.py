"""pytest configuration for runs without this repository's extensions.

If an extension is not installed, pytest skips the snapshot tests of each toolset that uses its
fields: their servers import the extension. Tests in `tests/` check the other toolsets.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import forked_servers
from tests.repository import OMITTED_TOOLSETS, needs_all
from toolcast_runtime.testing import generated_tests
from toolcast_runtime.testing.generated_package import (
    exchange_tools_list,
    request_tools_list,
)

collect_ignore = [f"generated/{name}" for name in OMITTED_TOOLSETS]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the check of generated files if an extension is not installed.

    `toolcast check` fails unless every extension that the project lists is installed.
    """
    for item in items:
        if item.name == "test_toolcast_check_passes":
            item.add_marker(needs_all)


def _request_tools_list(command: Sequence[str], folder: Path, version: str) -> bytes:
    """Return the `tools/list` array of a server that starts as a fork.

    Only the servers of one toolset start as a new interpreter, as they do for users: a fork
    does not import the MCP SDK again.
    """
    if "generated.molecule.mcp_server" in command:
        return request_tools_list(command, folder, version)
    server = forked_servers.start(folder, *command[1:], env=os.environ)
    try:
        return exchange_tools_list(server, version)
    finally:
        server.kill()
        server.communicate()


generated_tests.request_tools_list = _request_tools_list
