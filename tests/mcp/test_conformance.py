"""The official conformance suite and the Inspector against generated servers."""

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

from tests.mcp.node_setup import NodeTools, installed
from tests.mcp.projects import generate_project
from tests.mcp.servers import LEGACY, MODERN, HttpServer, http_server
from tests.repository import TOOLSETS

pytestmark = pytest.mark.node

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

# The scenarios that apply to a server of tools alone. Those left out ask for prompts,
# resources, completion, logging or tasks.
IN_BOTH_ERAS = (
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "json-schema-2020-12",
    "dns-rebinding-protection",
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "completion-complete",
)
SCENARIOS = [
    *((LEGACY, name) for name in IN_BOTH_ERAS),
    *((LEGACY, name) for name in ("server-initialize", "ping")),
    *(
        (LEGACY, name)
        for name in (
            "tools-call-elicitation",
            "elicitation-sep1034-defaults",
            "elicitation-sep1330-enums",
            "logging-set-level",
            "tools-call-with-logging",
        )
    ),
    *((MODERN, name) for name in IN_BOTH_ERAS),
    (MODERN, "http-header-validation"),
    # In the older era it is about `GET` streams, which the server does not have.
    (MODERN, "server-sse-multiple-streams"),
    (MODERN, "http-custom-header-server-validation"),
    (MODERN, "caching"),
    (MODERN, "sep-2164-resource-not-found"),
    *(
        (MODERN, f"input-required-result-{name}")
        for name in (
            "basic-elicitation",
            "request-state",
            "multi-round",
            "missing-input-response",
            "non-tool-request",
            "result-type",
            "unsupported-methods",
            "tampered-state",
            "validate-input",
        )
    ),
]
# Scenarios of an extension are of no revision; each with the number of its checks.
SKILLS = {"enumeration": 31, "manifest": 5, "directory": 6}
# What asks for more than a question to a person, sampling for one: see `everything/mcp_server.py`.
BEYOND_TOOLS = [
    (MODERN, "server-stateless"),
    *(
        (MODERN, f"input-required-result-{name}")
        for name in (
            "basic-sampling",
            "basic-list-roots",
            "multiple-input-requests",
            "capability-check",
            "ignore-extra-params",
        )
    ),
]


# What scenarios look for in the list.
LISTED = ["json_schema_2020_12_tool", "test_header"]


@pytest.fixture(scope="module")
def node() -> NodeTools:
    tools = installed()
    if tools is None:
        pytest.skip("the Node.js clients are not set up: make test-node does it")
    return tools


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project in `conformance/`, generated."""
    root = tmp_path_factory.mktemp("conformance")
    shutil.copytree(HERE / "conformance", root, dirs_exist_ok=True)
    generate_project(root)
    return root


@pytest.fixture(scope="module")
def server(node: NodeTools, root: Path) -> Iterator[HttpServer]:
    """The server of its specs."""
    with http_server(root, "generated.conformance") as started:
        yield started


@pytest.fixture(scope="module")
def server_with_more(node: NodeTools, root: Path) -> Iterator[HttpServer]:
    """The same with what the runtime does not have."""
    with http_server(root, "everything") as started:
        yield started


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with its tools searched for, but for one, and results within a budget."""
    root = tmp_path_factory.mktemp("searched")
    shutil.copytree(HERE / "conformance", root, dirs_exist_ok=True)
    specs = root / "specs" / "conformance"
    for path in specs.glob("*.yaml"):
        more = "result: {budget: {tokens: 2000}}\n"
        if path.stem in LISTED:
            more += "always: true\n"
        text = path.read_text("utf-8")
        if path.stem == "toolset":
            text, more = text.replace("mcp: {", "mcp: { search: true,"), ""
        path.write_text(text + more, "utf-8")
    generate_project(root)
    return root


@pytest.fixture(scope="module")
def searched_server(node: NodeTools, searched: Path) -> Iterator[HttpServer]:
    with http_server(searched, "generated.conformance") as started:
        yield started


def test_inspector_calls_a_tool_that_is_not_listed(
    node: NodeTools, searched: Path
) -> None:
    command = [sys.executable, "-m", "generated.conformance.mcp_server"]
    words = ["--cli", "--format", "json", "--method"]

    def answer(*said: str) -> dict[str, Any]:
        run = subprocess.run(
            [*node.inspector, *words, *said, *command],
            capture_output=True,
            text=True,
            cwd=searched,
        )
        assert run.returncode == 0, run.stderr
        value: dict[str, Any] = json.loads(run.stdout)
        return value.get("result", value)

    listed = [tool["name"] for tool in answer("tools/list")["tools"]]
    assert listed == [*LISTED, "search_tools", "call_found_tool"]

    def called(tool: str, argument: str) -> str:
        # What stands behind an argument is taken for one more, unless it is an option.
        words = ("tools/call", "--tool-arg", argument, "--tool-name", tool)
        text: str = answer(*words)["content"][0]["text"]
        return text

    found = json.loads(called("search_tools", "query=answers with text"))
    assert "test_simple_text" in [tool["name"] for tool in found["tools"]]
    text = called("call_found_tool", "name=test_simple_text")
    assert text.startswith("This is a simple text")


@pytest.mark.parametrize("served", ["server", "searched_server"])
@pytest.mark.parametrize(("revision", "scenario"), SCENARIOS)
def test_scenario_of_the_conformance_suite_passes(
    node: NodeTools,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    served: str,
    revision: str,
    scenario: str,
) -> None:
    passes(node, request.getfixturevalue(served), tmp_path, revision, scenario)


@pytest.mark.parametrize(("revision", "scenario"), BEYOND_TOOLS)
def test_scenario_passes_where_a_server_adds_to_the_sdks(
    node: NodeTools,
    server_with_more: HttpServer,
    tmp_path: Path,
    revision: str,
    scenario: str,
) -> None:
    passes(node, server_with_more, tmp_path, revision, scenario)


@pytest.mark.parametrize("part", SKILLS)
def test_scenario_of_the_skills_extension_passes(
    node: NodeTools, server: HttpServer, tmp_path: Path, part: str
) -> None:
    name = f"sep-2640-skills-{part}"

    checks = passes(node, server, tmp_path, MODERN, name, "--force")

    own = [check for check in checks if check["id"].startswith("sep-2640")]
    assert [check["status"] for check in own] == ["SUCCESS"] * SKILLS[part]


def test_every_scored_scenario_is_tried(node: NodeTools) -> None:
    suite = Path(node.conformance[1]).parents[1]
    text = (suite / "requirements" / f"{MODERN}.yaml").read_text(encoding="utf-8")
    scored = yaml.safe_load(text)["server"]

    assert len(scored) == 37
    assert set(scored) <= {
        name for era, name in (*SCENARIOS, *BEYOND_TOOLS) if era == MODERN
    }


@pytest.mark.parametrize("revision", [LEGACY, MODERN])
def test_the_page_says_which_checks_are_not_met(
    node: NodeTools, server: HttpServer, tmp_path: Path, revision: str
) -> None:
    page = (ROOT / "docs/targets/mcp.md").read_text(encoding="utf-8")
    words = " ".join(page.rpartition("## Conformance")[2].split())
    run = subprocess.run(
        [*node.conformance, "server", "--url", server.url, "--spec-version", revision],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    met, not_met = map(
        int, re.findall(r"Total: (\d+) passed, (\d+) failed", run.stdout)[0]
    )
    assert f"{met} of {met + not_met} checks of {revision}" in words
    told = re.findall(r"\| `([\w-]+)` \|", words) if revision == LEGACY else []
    assert re.findall(r"✗ ([\w-]+):", run.stdout) == told


def passes(
    node: NodeTools,
    server: HttpServer,
    tmp_path: Path,
    revision: str,
    scenario: str,
    *more: str,
) -> list[dict[str, Any]]:
    """Runs a scenario, holds it to pass, and gives its checks."""
    options = ["--scenario", scenario, "--spec-version", revision, *more]
    output = ["--output-dir", str(tmp_path)]
    run = subprocess.run(
        [*node.conformance, "server", "--url", server.url, *options, *output],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    said = run.stdout + run.stderr + server.log
    assert run.returncode == 0, said
    (path,) = tmp_path.rglob("checks.json")
    checks: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    assert {check["status"] for check in checks} <= {"SUCCESS", "INFO", "SKIPPED"}, said
    assert any(check["status"] == "SUCCESS" for check in checks), said
    return checks


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_inspector_lists_every_tool(node: NodeTools, toolset: str) -> None:
    options = ["--cli", "--method", "tools/list", "--format", "json"]
    command = [sys.executable, "-m", f"generated.{toolset}.mcp_server"]
    run = subprocess.run(
        [*node.inspector, *options, *command], capture_output=True, text=True, cwd=ROOT
    )
    assert run.returncode == 0, run.stderr
    listed = json.loads(run.stdout)
    listed = listed.get("result", listed)
    folder = ROOT / "generated" / toolset / "tools"
    names = [
        json.loads(path.read_text())["mcp"]["name"] for path in folder.glob("*.json")
    ]
    assert sorted(tool["name"] for tool in listed["tools"]) == sorted(names)


def test_the_validator_for_node_takes_every_skill(node: NodeTools) -> None:
    paths = sorted((ROOT / "generated").glob("*/*/*/SKILL.md"))
    assert len(paths) > 3
    for path in paths:
        command = [*node.skills_ref, "validate", str(path.parent)]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
