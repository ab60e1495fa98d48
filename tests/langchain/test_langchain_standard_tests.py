"""Every wrapper of every toolset passes LangChain's own standard tests.

One of each toolset at once, the others with what takes long.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.tools import BaseTool
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from tests.repository import own_project
from toolcast.model.loading import load_workspace
from toolcast.model.model import Toolset, ToolSpec

# Where the example would wait for somebody who never comes.
AT_ONCE = {"wait_for_message": {"timeout_secs": 0}}


def wrapped_tools() -> Iterator[tuple[Toolset, ToolSpec, str | None]]:
    """Every tool with a wrapper, and a client that may have it."""
    workspace = load_workspace(str(own_project())).workspace
    assert workspace is not None
    for toolset in workspace.toolsets:
        for tool in toolset.list_target_tools("langchain"):
            clients = [c.name for c in toolset.clients if toolset.is_offered(tool, c)]
            assert clients or not toolset.clients, f"nobody may call {tool.name}"
            yield toolset, tool, clients[0] if clients else None


def standard_tests(
    kind: type, toolset: str, tool: ToolSpec, client: Any, *, is_first: bool
) -> type:
    """The standard tests of a kind for one tool, with the spec's first example."""
    arguments = dict(tool.examples[0].arguments) if tool.examples else {}
    arguments = AT_ONCE.get(tool.name, arguments)

    def wrapper(self: object) -> BaseTool:
        module = importlib.import_module(f"generated.{toolset}.langchain_tools")
        made: BaseTool = module.get_langchain_tool(tool.name, client)
        return made

    members = {
        "tool_constructor": property(wrapper),
        "tool_invoke_params_example": property(lambda self: dict(arguments)),
        "pytestmark": [] if is_first else [pytest.mark.slow],
    }
    return type(f"Test_{toolset}_{tool.name}_{kind.__name__}", (kind,), members)


_seen: set[str] = set()
for toolset, tool, client in wrapped_tools():
    for kind in (ToolsUnitTests, ToolsIntegrationTests):
        first = toolset.name not in _seen
        made = standard_tests(kind, toolset.name, tool, client, is_first=first)
        globals()[made.__name__] = made
    _seen.add(toolset.name)
# Only the classes made of them are for pytest to collect.
del kind, made, ToolsUnitTests, ToolsIntegrationTests
