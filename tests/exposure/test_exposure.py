"""Exposure of each tool: reasons why clients or targets do not have it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from tests.conftest import Project
from toolcast.model.endpoints import list_endpoints
from toolcast.model.loading import load_workspace
from toolcast.targets.exposure import Exposure, build_exposures

Make = Callable[..., Project]
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


def load_exposures(project: Project) -> Mapping[str, Exposure]:
    """Return the exposures of a project without findings."""
    workspace, findings = load_workspace(os.fspath(project.root))
    assert workspace is not None and not findings, findings
    return build_exposures(workspace, workspace.toolsets[0])


def test_exposure_has_the_exclusion_reason_for_each_client_and_target(
    make_project: Make,
) -> None:
    """Reasons are empty if the client or target has the tool."""
    assert load_exposures(make_project(TOOLS, toolset=TOOLSET)) == EXPECTED


def test_tool_excluded_from_a_target_is_excluded_from_targets_that_require_that_target(
    make_project: Make,
) -> None:
    exclusions = "exclusions: [{tool: ping, target: registry, reason: Not yet.}]\n"
    tools = {"ping": f"{PING}cli: {{keyword: ping}}\n"}
    project = make_project(tools, toolset=f"targets: {{mcp: {{}}}}\n{exclusions}")
    assert load_exposures(project)["ping"].targets == {
        "registry": "Not yet.",
        "mcp": "not in registry, which mcp needs: Not yet.",
    }


def test_toolset_has_an_endpoint_per_client_or_one_at_mcp_without_clients(
    make_project: Make,
) -> None:
    clients = "clients: {a: {client_confirms: true}, b b: {path: /b/}, c: {}}\n"
    for toolset, endpoints in (
        ("targets: {mcp: {}}\n", [(None, "/mcp/", "TOY_TOKEN", False)]),
        (
            f"{clients}targets: {{mcp: {{client: c}}}}\n",
            [
                ("a", "/mcp/a/", "TOY_TOKEN_A", True),
                ("b b", "/b/", "TOY_TOKEN_B_B", False),
                ("c", "/mcp/", "TOY_TOKEN_C", False),
            ],
        ),
    ):
        project = make_project({"ping": PING}, toolset=toolset)
        workspace, _ = load_workspace(os.fspath(project.root))
        assert workspace is not None
        assert list(list_endpoints(workspace.toolsets[0])) == endpoints
