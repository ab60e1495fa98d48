"""The tests of an endpoint that toolsets share, against the definitions of all of them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ...core.validation.protocol import REVISIONS
from .mcp_wire import raw_tools_list
from .snapshot_tests import GeneratedPackage, same, same_tools


def endpoint_tests(mcp_server: ModuleType) -> type:
    """The class of tests of an endpoint's package, for pytest to collect.

    Args:
        mcp_server: the package's module of that name.
    """
    server = mcp_server.SERVER
    module = mcp_server.__name__
    root = Path(mcp_server.__file__ or "").parents[module.count(".")]
    packages = [
        GeneratedPackage(import_module(f"{one.registry.package}.registry"))
        for one in server.toolsets
    ]
    each_client = pytest.mark.parametrize("client", server.registry.clients or (None,))
    each_revision = pytest.mark.parametrize("revision", REVISIONS)

    def of(client: str | None) -> list[GeneratedPackage]:
        return [one for one in packages if client in one.clients]

    class TestEndpoint:
        @each_client
        @each_revision
        def test_mcp_tools_list_is_exact(
            self, client: str | None, revision: str
        ) -> None:
            command = ["-m", module, "--local-tools", "--no-lifespan"]
            command += [] if client is None else ["--client", client]
            expected: dict[str, Any] = {}
            for one in of(client):
                expected |= one.spelled_of(one.offered(client, "mcp"))
            listed = raw_tools_list(command, root, revision)
            before_2026 = revision != REVISIONS[-1]
            what = f"tools/list for {client}"
            same_tools(what, listed, expected, before_2026=before_2026)

        @each_client
        def test_resources_and_prompts_are_the_definitions(
            self, client: str | None
        ) -> None:
            shown = {
                "mcp_resources": [one.definition for one in server.resources(client)],
                "mcp_prompts": [one.definition for one in server.prompts(client)],
            }
            for folder, live in shown.items():
                expected = [d for one in of(client) for d in one.offers(folder, client)]
                same(f"{folder} of {client}", live, expected)

    return TestEndpoint
