"""Generated servers in an environment without the generator, as in production."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.packaging.environments import Environment, build, make_environment

RUNTIME = ("toolcast-runtime[mcp]",)
REQUESTS: list[dict[str, Any]] = [
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
    {
        "id": 3,
        "method": "tools/call",
        "params": {"name": "count_words", "arguments": {"text": "one two"}},
    },
]


@pytest.fixture(scope="module")
def production(
    wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    """Install `toolcast-runtime[mcp]` and its dependencies."""
    root = tmp_path_factory.mktemp("production")
    return make_environment(root, [wheels["toolcast-runtime"]], RUNTIME)


def call_server(environment: Environment, folder: Path, package: str) -> dict[int, Any]:
    """Return the results of a generated server for the requests, by request id."""
    lines = [json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in REQUESTS]
    module = f"{package}.mcp_server"
    result = environment.run("-m", module, cwd=folder, stdin="".join(lines))
    results = [json.loads(line) for line in result.stdout.splitlines()]
    return {response["id"]: response["result"] for response in results}


@pytest.mark.rows(3)
@pytest.mark.parametrize(
    "module", ["toolcast", "jinja2", "markupsafe", "black", "yaml", "langchain_core"]
)
def test_environment_with_only_the_runtime_has_no_generator_dependencies(
    production: Environment, demo_project: Path, module: str
) -> None:
    result = production.run("-c", f"import {module}", cwd=demo_project, expect=1)
    assert f"No module named '{module}'" in result.stderr


def test_generated_mcp_server_lists_and_calls_tools_with_only_the_runtime_installed(
    production: Environment, demo_project: Path
) -> None:
    results = call_server(production, demo_project, "generated.demo")
    assert [tool["name"] for tool in results[2]["tools"]] == ["count_words"]
    assert results[3]["structuredContent"]["words"] == 2


def test_langchain_module_without_the_runtime_extra_fails_with_the_extra_name(
    production: Environment, demo_project: Path
) -> None:
    code = "import generated.demo.langchain_tools as m; m.get_langchain_tools()"
    result = production.run("-c", code, cwd=demo_project, expect=1)
    assert "toolcast-runtime[langchain]" in result.stderr.splitlines()[-1]


@pytest.mark.slow
def test_generated_project_wheel_serves_its_tools_from_any_folder(
    production: Environment,
    wheels: dict[str, Path],
    demo_project: Path,
    tmp_path: Path,
) -> None:
    """The wheel contains the definitions, so the server does not need the project."""
    folder = tmp_path / "wheel"
    wheel = build(demo_project, folder)
    installed = [wheels["toolcast-runtime"], wheel]
    environment = make_environment(tmp_path / "environment", installed, RUNTIME)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    results = call_server(environment, elsewhere, "generated.demo")
    assert [tool["name"] for tool in results[2]["tools"]] == ["count_words"]
    assert results[3]["structuredContent"]["words"] == 2
    code = "import generated.demo.registry as r; print(r.__file__)"
    result = environment.run("-c", code, cwd=elsewhere)
    assert str(tmp_path / "environment") in result.stdout


@pytest.mark.slow
def test_runtime_core_package_lists_and_calls_a_tool_without_other_runtime_packages(
    wheels: dict[str, Path], demo_project: Path, tmp_path: Path
) -> None:
    """A call succeeds after all packages of the runtime except `core` are deleted."""
    runtime = [wheels["toolcast-runtime"]]
    environment = make_environment(tmp_path, runtime, ["jsonschema-rs"])
    [package] = tmp_path.glob("lib/python*/site-packages/toolcast_runtime")
    for folder in package.iterdir():
        if folder.is_dir() and folder.name != "core":
            shutil.rmtree(folder)
    code = (
        "from generated.demo.registry import call_tool_sync, get_openai_tools_sync\n"
        "print([t['function']['name'] for t in get_openai_tools_sync()])\n"
        "print(call_tool_sync('count_words', {'text': 'one two'}).result['words'])\n"
        "print(call_tool_sync('count_words', {'txt': 'one two'}).error)\n"
    )
    result = environment.run("-c", code, cwd=demo_project)
    names, count, error = result.stdout.split("\n", 2)
    assert (names, count) == ("['count_words']", "2")
    assert "the arguments of `count_words` are not valid" in error
