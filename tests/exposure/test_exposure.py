"""Exposure of each tool: reasons why clients or targets do not have it."""

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
        {"internal": "", "copilot": "", "external": "only for internal and copilot"},
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
    return load(os.fspath(project.root))


def load(root: str) -> Workspace:
    """Load a workspace without findings."""
    workspace, findings = load_workspace(root)
    assert not findings, findings
    assert workspace is not None, findings
    return workspace


@pytest.mark.parametrize("tool", EXPECTED)
def test_exposure_has_reason_for_each_client(workspace: Workspace, tool: str) -> None:
    """Reasons are empty if the client or target has the tool."""
    assert build_exposures(workspace, workspace.toolsets[0])[tool] == EXPECTED[tool]


def test_tool_excluded_from_a_target_is_excluded_from_dependent_targets(
    make_project: Callable[..., Any],
) -> None:
    exclusions = "exclusions: [{tool: ping, target: registry, reason: Not yet.}]\n"
    tools = {"ping": f"{PING}cli: {{keyword: ping}}\n"}
    project = make_project(tools, toolset=f"targets: {{mcp: {{}}}}\n{exclusions}")
    workspace = load(os.fspath(project.root))
    assert build_exposures(workspace, workspace.toolsets[0])["ping"].targets == {
        "registry": "Not yet.",
        "mcp": "not in registry, which mcp needs: Not yet.",
    }
