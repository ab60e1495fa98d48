"""A generated server with the extension's part, without the generator."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.commands.run_module import run
from tests.packaging.conftest import demo_project, wheels
from tests.packaging.environments import Environment, make_environment
from tests.packaging.test_runtime_alone import RUNTIME, call_server

__all__ = ["demo_project", "wheels"]

TOOLSET = """\

letta:
  on_start: true
  server: {url: "http://127.0.0.1:9/mcp/"}
  agents: {keeper: {id: agent-1}}
targets: {mcp: {}, registry: {}, letta: {}}
"""


@pytest.fixture(scope="module")
def project(demo_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate a project that lists the extension."""
    root = tmp_path_factory.mktemp("extended") / "project"
    shutil.copytree(demo_project, root, ignore=shutil.ignore_patterns("generated"))
    with (root / "toolcast.yaml").open("a", encoding="utf-8") as stream:
        stream.write("extensions: [letta]\n")
    toolset = root / "specs/demo/toolset.yaml"
    text = toolset.read_text(encoding="utf-8").partition("\ntargets:")[0]
    toolset.write_text(text + TOOLSET, encoding="utf-8")
    tool = root / "specs/demo/count_words.yaml"
    with tool.open("a", encoding="utf-8") as stream:
        stream.write("letta: {attached: true}\n")
    run(root, "toolcast", "generate")
    return root


@pytest.fixture(scope="module")
def production(
    wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    """Install `toolcast-letta` and its dependencies into an environment."""
    root = tmp_path_factory.mktemp("production")
    built = [wheels["toolcast-runtime"], wheels["toolcast-letta"]]
    return make_environment(root, built, [*RUNTIME, "letta-client"])


@pytest.mark.slow
def test_generated_mcp_server_with_letta_runs_without_the_toolcast_package(
    production: Environment, project: Path
) -> None:
    missing = production.run("-c", "import toolcast", cwd=project, expect=1)
    assert "No module named 'toolcast'" in missing.stderr
    answers = call_server(production, project, "generated.demo")
    assert [tool["name"] for tool in answers[2]["tools"]] == ["count_words"]
    assert answers[3]["structuredContent"]["words"] == 2


def test_generated_letta_module_has_the_declared_server_url_and_tools(
    production: Environment, project: Path
) -> None:
    code = """\
import json
from generated.demo.letta import LETTA
desired = LETTA.desired_state({})
print(json.dumps([
    desired.server_url, desired.canonical, len(LETTA.admin_routes), len(LETTA.background_tasks),
    LETTA.guard("count_words", {"x-agent-id": "agent-1"}),
]))
"""
    done = production.run("-c", code, cwd=project)
    assert json.loads(done.stdout) == [
        "http://127.0.0.1:9/mcp/",
        ["count_words"],
        1,
        1,
        None,
    ]


@pytest.mark.slow
def test_generated_letta_module_import_error_names_the_missing_toolcast_letta(
    wheels: dict[str, Path], project: Path, tmp_path: Path
) -> None:
    plain_environment = make_environment(
        tmp_path / "plain", [wheels["toolcast-runtime"]], RUNTIME
    )
    done = plain_environment.run(
        "-c", "import generated.demo.letta", cwd=project, expect=1
    )
    assert "pip install toolcast-letta" in done.stderr.splitlines()[-1]
