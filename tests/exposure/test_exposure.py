"""Who gets a tool and where, and why not."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from toolcast.model.loading import load_workspace
from toolcast.model.model import Workspace
from toolcast.targets.exposure import Exposure, build_exposures

PING = "summary: Answer.\nparameters: {type: object}\n"
TOOLSET = """\
permissions: {write: Change things.}
clients:
  internal: {allow: "*", permissions: [write]}
  copilot: {allow: [ping, hidden], deny: [hidden]}
  external: {allow: "*"}
targets: {cli: {}, mcp: {}}
exclusions: [{tool: hidden, target: mcp, reason: Never over MCP.}]
"""
TOOLS = {
    "ping": f"{PING}clients: [internal, copilot]\ncli: {{keyword: ping}}\n",
    "hidden": f"{PING}cli: {{keyword: null, reason: A secret.}}\n",
    "store": f"{PING}permission: write\ncli: {{keyword: store}}\n",
    "unsaid": f"{PING}clients: []\ncli: {{keyword: unsaid}}\n",
}
EXPECTED = {
    "ping": Exposure(
        {
            "internal": "",
            "copilot": "",
            "external": "only for internal and copilot",
        },
        {"registry": "", "mcp": "", "cli": ""},
    ),
    "hidden": Exposure(
        {"internal": "", "copilot": "`deny` of copilot lists it", "external": ""},
        {"registry": "", "mcp": "Never over MCP.", "cli": "A secret."},
    ),
    "store": Exposure(
        {
            "internal": "",
            "copilot": "copilot does not have the permission write",
            "external": "external does not have the permission write",
        },
        {"registry": "", "mcp": "", "cli": ""},
    ),
    "unsaid": Exposure(
        dict.fromkeys(("internal", "copilot", "external"), "for no client"),
        {"registry": "", "mcp": "", "cli": ""},
    ),
}


@pytest.fixture
def workspace(make_project: Callable[..., Any]) -> Workspace:
    project = make_project(TOOLS, toolset=TOOLSET)
    return loaded(os.fspath(project.root))


def loaded(root: str) -> Workspace:
    workspace, findings = load_workspace(root)
    assert not findings, findings
    assert workspace is not None, findings
    return workspace


@pytest.mark.parametrize("tool", EXPECTED)
def test_each_reason(workspace: Workspace, tool: str) -> None:
    assert build_exposures(workspace, workspace.toolsets[0])[tool] == EXPECTED[tool]


def test_a_tool_out_of_a_target_is_out_of_those_that_need_it(
    make_project: Callable[..., Any],
) -> None:
    exclude = "exclusions: [{tool: ping, target: registry, reason: Not yet.}]\n"
    tools = {"ping": f"{PING}cli: {{keyword: ping}}\n"}
    project = make_project(tools, toolset=f"targets: {{mcp: {{}}}}\n{exclude}")
    workspace = loaded(os.fspath(project.root))
    assert build_exposures(workspace, workspace.toolsets[0])["ping"].targets == {
        "registry": "Not yet.",
        "mcp": "not in registry, which mcp needs: Not yet.",
    }
