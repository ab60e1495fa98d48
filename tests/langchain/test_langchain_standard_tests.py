"""LangChain's standard tests for the tools of every toolset.

Only the first tool of each toolset is not marked `slow`.
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

# The example of the spec would wait for a message that never arrives.
REPLACED_ARGUMENTS = {"wait_for_message": {"timeout_secs": 0}}


def list_langchain_tools() -> Iterator[tuple[Toolset, ToolSpec, str | None]]:
    """Yield every tool with a LangChain target, and a client that may call it."""
    workspace = load_workspace(str(own_project())).workspace
    assert workspace is not None
    for toolset in workspace.toolsets:
        for tool in toolset.list_target_tools("langchain"):
            clients = [c.name for c in toolset.clients if toolset.is_offered(tool, c)]
            assert clients or not toolset.clients, f"no client may call {tool.name}"
            yield toolset, tool, clients[0] if clients else None


def make_test_class(
    kind: type, toolset: str, tool: ToolSpec, client: Any, *, is_first: bool
) -> type:
    """Return a class of standard tests for a tool, with the spec's first example."""
    arguments = dict(tool.examples[0].arguments) if tool.examples else {}
    arguments = REPLACED_ARGUMENTS.get(tool.name, arguments)

    def make_tool(self: object) -> BaseTool:
        module = importlib.import_module(f"generated.{toolset}.langchain_tools")
        langchain_tool: BaseTool = module.get_langchain_tool(tool.name, client)
        return langchain_tool

    members = {
        "tool_constructor": property(make_tool),
        "tool_invoke_params_example": property(lambda self: dict(arguments)),
        "pytestmark": [] if is_first else [pytest.mark.slow],
    }
    return type(f"Test_{toolset}_{tool.name}_{kind.__name__}", (kind,), members)


_toolsets: set[str] = set()
for toolset, tool, client in list_langchain_tools():
    for kind in (ToolsUnitTests, ToolsIntegrationTests):
        is_first = toolset.name not in _toolsets
        test_class = make_test_class(
            kind, toolset.name, tool, client, is_first=is_first
        )
        globals()[test_class.__name__] = test_class
    _toolsets.add(toolset.name)
# Pytest must collect only the generated classes.
del kind, test_class, ToolsUnitTests, ToolsIntegrationTests
