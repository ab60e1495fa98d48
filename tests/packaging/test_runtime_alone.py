"""A generated server where the generator is not installed: what production has."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.packaging.environments import Environment, build, environment

RUNTIME = (
    "jsonschema-rs",
    "mcp",
    "uvicorn",
    "python-json-logger",
)
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
    """`toolcast-runtime[mcp]` and what that requires."""
    root = tmp_path_factory.mktemp("production")
    return environment(root, [wheels["toolcast-runtime"]], RUNTIME)


def serve(place: Environment, folder: Path, package: str) -> dict[int, dict[str, Any]]:
    """What a server answers to the requests, by their ids."""
    given = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in REQUESTS)
    done = place.run("-m", f"{package}.mcp_server", cwd=folder, given=given)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {answer["id"]: answer["result"] for answer in answers}


@pytest.mark.rows(3)
@pytest.mark.parametrize(
    "module", ["toolcast", "jinja2", "markupsafe", "black", "yaml", "langchain_core"]
)
def test_what_only_a_developer_needs_is_not_there(
    production: Environment, laid_out: Path, module: str
) -> None:
    done = production.run("-c", f"import {module}", cwd=laid_out, expect=1)
    assert f"No module named '{module}'" in done.stderr


def test_the_server_lists_and_calls(production: Environment, laid_out: Path) -> None:
    answers = serve(production, laid_out, "generated.demo")
    assert [tool["name"] for tool in answers[2]["tools"]] == ["count_words"]
    assert answers[3]["structuredContent"]["words"] == 2


def test_a_target_whose_extra_is_missing_says_so(
    production: Environment, laid_out: Path
) -> None:
    code = "import generated.demo.langchain_tools as m; m.get_langchain_tools()"
    done = production.run("-c", code, cwd=laid_out, expect=1)
    assert "toolcast-runtime[langchain]" in done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_a_project_is_installed_as_a_wheel(
    production: Environment,
    wheels: dict[str, Path],
    laid_out: Path,
    tmp_path: Path,
) -> None:
    """The definitions come with it, so that it lists its tools wherever it is started."""
    folder = tmp_path / "wheel"
    wheel = build(laid_out, folder)
    installed = [wheels["toolcast-runtime"], wheel]
    place = environment(tmp_path / "environment", installed, RUNTIME)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    answers = serve(place, elsewhere, "generated.demo")
    assert [tool["name"] for tool in answers[2]["tools"]] == ["count_words"]
    assert answers[3]["structuredContent"]["words"] == 2
    code = "import generated.demo.registry as r; print(r.__file__)"
    assert str(tmp_path / "environment") in place.run("-c", code, cwd=elsewhere).stdout


@pytest.mark.slow
def test_the_core_alone_calls_a_tool(
    wheels: dict[str, Path], laid_out: Path, tmp_path: Path
) -> None:
    """Every package but `core` may be deleted: a call needs none of them."""
    place = environment(tmp_path, [wheels["toolcast-runtime"]], ["jsonschema-rs"])
    [package] = tmp_path.glob("lib/python*/site-packages/toolcast_runtime")
    for part in package.iterdir():
        if part.is_dir() and part.name != "core":
            shutil.rmtree(part)
    code = (
        "from generated.demo.registry import call_tool_sync, get_openai_tools_sync\n"
        "print([t['function']['name'] for t in get_openai_tools_sync()])\n"
        "print(call_tool_sync('count_words', {'text': 'one two'}).result['words'])\n"
        "print(call_tool_sync('count_words', {'txt': 'one two'}).error)\n"
    )
    done = place.run("-c", code, cwd=laid_out)
    listed, words, error = done.stdout.split("\n", 2)
    assert (listed, words) == ("['count_words']", "2")
    assert "the arguments of `count_words` are not valid" in error
