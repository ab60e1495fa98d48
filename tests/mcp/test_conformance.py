"""Generated servers against the official conformance suite and the MCP Inspector."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.mcp.node_setup import NodeTools, find_node_tools, run_inspector
from tests.mcp.projects import generate_project
from tests.mcp.servers import LEGACY, MODERN, HttpServer, http_server
from tests.repository import TOOLSETS

pytestmark = pytest.mark.node

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

# Scenarios that apply to servers of both protocol versions. Omitted are those that require
# sampling, subscriptions or tasks.
SCENARIOS_IN_BOTH_VERSIONS = """
    tools-list tools-call-simple-text tools-call-image tools-call-audio
    tools-call-embedded-resource tools-call-mixed-content tools-call-error
    tools-call-with-progress json-schema-2020-12 dns-rebinding-protection
    resources-list resources-read-text resources-read-binary resources-templates-read
    prompts-list prompts-get-simple prompts-get-with-args prompts-get-embedded-resource
    prompts-get-with-image completion-complete
""".split()
LEGACY_SCENARIOS = """
    server-initialize ping tools-call-elicitation elicitation-sep1034-defaults
    elicitation-sep1330-enums logging-set-level tools-call-with-logging
""".split()
# For handshake versions, `server-sse-multiple-streams` tests `GET` streams, which the server
# does not support.
MODERN_SCENARIOS = """
    http-header-validation server-sse-multiple-streams
    http-custom-header-server-validation caching sep-2164-resource-not-found
    input-required-result-basic-elicitation input-required-result-request-state
    input-required-result-multi-round input-required-result-missing-input-response
    input-required-result-non-tool-request input-required-result-result-type
    input-required-result-unsupported-methods input-required-result-tampered-state
    input-required-result-validate-input
""".split()
SCENARIOS = [
    *((LEGACY, name) for name in (*SCENARIOS_IN_BOTH_VERSIONS, *LEGACY_SCENARIOS)),
    *((MODERN, name) for name in (*SCENARIOS_IN_BOTH_VERSIONS, *MODERN_SCENARIOS)),
]
# Check counts of the extension's scenarios, which belong to no protocol version.
SKILLS_SCENARIOS = {"enumeration": 31, "manifest": 5, "directory": 6}
# Scenarios that require more than elicitation, such as sampling: see `everything/mcp_server.py`.
SDK_SCENARIOS = """
    server-stateless input-required-result-basic-sampling
    input-required-result-basic-list-roots input-required-result-multiple-input-requests
    input-required-result-capability-check input-required-result-ignore-extra-params
""".split()
# Tools that scenarios expect in the list.
LISTED_TOOLS = ["json_schema_2020_12_tool", "test_header"]


@pytest.fixture(scope="module")
def node() -> NodeTools:
    """Return the commands of the installed Node.js programs."""
    tools = find_node_tools()
    if tools is None:
        pytest.skip("the Node.js clients are not set up: make test-node does it")
    return tools


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate a project with the specs in `conformance/`."""
    root = tmp_path_factory.mktemp("conformance")
    shutil.copytree(HERE / "conformance", root, dirs_exist_ok=True)
    generate_project(root)
    return root


@pytest.fixture(scope="module")
def server(node: NodeTools, root: Path) -> Iterator[HttpServer]:
    """Serve the project's toolset."""
    with http_server(root, "generated.conformance") as started:
        yield started


@pytest.fixture(scope="module")
def sdk_server(node: NodeTools, root: Path) -> Iterator[HttpServer]:
    """Serve features of the SDK that the runtime does not support."""
    with http_server(root, "everything") as started:
        yield started


@pytest.fixture(scope="module")
def search_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate a project with tool search, except for `LISTED_TOOLS`, and a budget."""
    root = tmp_path_factory.mktemp("searched")
    shutil.copytree(HERE / "conformance", root, dirs_exist_ok=True)
    specs = root / "specs" / "conformance"
    for path in specs.glob("*.yaml"):
        fields = "result: {budget: {tokens: 2000}}\n"
        if path.stem in LISTED_TOOLS:
            fields += "always: true\n"
        text = path.read_text("utf-8")
        if path.stem == "toolset":
            text, fields = text.replace("mcp: {", "mcp: { search: true,"), ""
        path.write_text(text + fields, "utf-8")
    generate_project(root)
    return root


@pytest.fixture(scope="module")
def search_server(node: NodeTools, search_project: Path) -> Iterator[HttpServer]:
    with http_server(search_project, "generated.conformance") as started:
        yield started


def test_mcp_inspector_calls_an_unlisted_tool_through_the_tool_search_tools(
    node: NodeTools, search_project: Path
) -> None:
    command = [sys.executable, "-m", "generated.conformance.mcp_server"]

    def request(*arguments: str) -> Any:
        options = ("--method", *arguments, *command)
        return run_inspector(node.inspector, search_project, *options)

    names = [tool["name"] for tool in request("tools/list")["tools"]]
    assert names == [*LISTED_TOOLS, "search_tools", "call_found_tool"]

    def call_tool(tool: str, argument: str) -> str:
        # `--tool-arg` accepts several values, so an option must follow it.
        arguments = ("tools/call", "--tool-arg", argument, "--tool-name", tool)
        text: str = request(*arguments)["content"][0]["text"]
        return text

    matches = json.loads(call_tool("search_tools", "query=answers with text"))
    assert "test_simple_text" in [tool["name"] for tool in matches["tools"]]
    text = call_tool("call_found_tool", "name=test_simple_text")
    assert text.startswith("This is a simple text")


@pytest.mark.parametrize("server_fixture", ["server", "search_server"])
@pytest.mark.parametrize(("revision", "scenario"), SCENARIOS)
def test_generated_mcp_server_passes_each_official_conformance_suite_scenario(
    node: NodeTools,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    server_fixture: str,
    revision: str,
    scenario: str,
) -> None:
    server = request.getfixturevalue(server_fixture)
    run_scenario(node, server, tmp_path, revision, scenario)


@pytest.mark.parametrize("scenario", SDK_SCENARIOS)
def test_generated_mcp_server_with_own_sdk_handlers_passes_conformance_scenarios(
    node: NodeTools, sdk_server: HttpServer, tmp_path: Path, scenario: str
) -> None:
    run_scenario(node, sdk_server, tmp_path, MODERN, scenario)


@pytest.mark.parametrize("part", SKILLS_SCENARIOS)
def test_generated_mcp_server_passes_the_skills_extension_conformance_scenarios(
    node: NodeTools, server: HttpServer, tmp_path: Path, part: str
) -> None:
    name = f"sep-2640-skills-{part}"
    checks = run_scenario(node, server, tmp_path, MODERN, name, "--force")
    relevant = [check for check in checks if check["id"].startswith("sep-2640")]
    expected = ["SUCCESS"] * SKILLS_SCENARIOS[part]
    assert [check["status"] for check in relevant] == expected


def test_every_scored_mcp_conformance_suite_scenario_is_run(node: NodeTools) -> None:
    """Scenarios that the conformance suite scores are all in this module's tables."""
    suite = Path(node.conformance[1]).parents[1]
    text = (suite / "requirements" / f"{MODERN}.yaml").read_text(encoding="utf-8")
    scored = yaml.safe_load(text)["server"]

    assert len(scored) == 37
    run = {*SCENARIOS_IN_BOTH_VERSIONS, *MODERN_SCENARIOS, *SDK_SCENARIOS}
    assert set(scored) <= run


@pytest.mark.parametrize("revision", [LEGACY, MODERN])
def test_docs_page_for_mcp_states_the_actual_conformance_suite_results(
    node: NodeTools, server: HttpServer, tmp_path: Path, revision: str
) -> None:
    """`docs/targets/mcp.md` has the number of passed checks and the failed checks."""
    page = (ROOT / "docs/targets/mcp.md").read_text(encoding="utf-8")
    section = " ".join(page.rpartition("## Conformance")[2].split())
    run = subprocess.run(
        [*node.conformance, "server", "--url", server.url, "--spec-version", revision],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    passed, failed = map(
        int, re.findall(r"Total: (\d+) passed, (\d+) failed", run.stdout)[0]
    )
    assert f"{passed} of {passed + failed} checks of {revision}" in section
    documented = re.findall(r"\| `([\w-]+)` \|", section) if revision == LEGACY else []
    assert re.findall(r"✗ ([\w-]+):", run.stdout) == documented


def run_scenario(
    node: NodeTools,
    server: HttpServer,
    tmp_path: Path,
    revision: str,
    scenario: str,
    *extra_options: str,
) -> list[dict[str, Any]]:
    """Run a scenario, assert that it passes, and return its checks."""
    options = ["--scenario", scenario, "--spec-version", revision, *extra_options]
    output = ["--output-dir", str(tmp_path)]
    run = subprocess.run(
        [*node.conformance, "server", "--url", server.url, *options, *output],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    output_text = run.stdout + run.stderr + server.log
    assert run.returncode == 0, output_text
    (path,) = tmp_path.rglob("checks.json")
    checks: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    statuses = {check["status"] for check in checks}
    assert {"SUCCESS"} <= statuses <= {"SUCCESS", "INFO", "SKIPPED"}, output_text
    return checks


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_mcp_inspector_lists_every_tool_in_the_repositorys_toolsets(
    node: NodeTools, toolset: str
) -> None:
    command = [sys.executable, "-m", f"generated.{toolset}.mcp_server"]
    options = ("--method", "tools/list", *command)
    result = run_inspector(node.inspector, ROOT, *options)
    folder = ROOT / "generated" / toolset / "tools"
    names = [
        json.loads(path.read_text())["mcp"]["name"] for path in folder.glob("*.json")
    ]
    assert sorted(tool["name"] for tool in result["tools"]) == sorted(names)


def test_skills_ref_validator_accepts_all_generated_skills(node: NodeTools) -> None:
    paths = sorted((ROOT / "generated").glob("*/*/*/SKILL.md"))
    assert len(paths) > 3
    for path in paths:
        command = [*node.skills_ref, "validate", str(path.parent)]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
