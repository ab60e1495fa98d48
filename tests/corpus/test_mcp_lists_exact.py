"""Real tool lists are served unchanged after import and generation, over stdio and HTTP.

Lists are equal if values, key order and number spelling are the same; missing, empty and null
values differ.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import black
import pytest

from tests.corpus.imported import import_lists
from tests.corpus.nasty_lists import NASTY_LISTS
from tests.forked import ForkServer, start_fork_server
from tests.mcp.projects import generate_project
from tests.mcp.servers import ERAS, encode_requests, http_server
from toolcast.parsing.exact_json import encode_exact, read_json
from toolcast_runtime.core.definitions.tool import module_name

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MODE = black.Mode(target_versions={black.TargetVersion.PY311})


def _read_lists() -> dict[str, str]:
    """Return the JSON text of every list by toolset name."""
    extra = os.environ.get("TOOLCAST_CORPUS")
    folders = [HERE / "mcp", HERE / "snapshots", *([Path(extra)] if extra else [])]
    paths = [path for folder in folders for path in sorted(folder.glob("*.json"))]
    texts = {_to_name(path.stem): path.read_text(encoding="utf-8") for path in paths}
    return {**texts, **NASTY_LISTS}


def _to_name(stem: str) -> str:
    return re.sub(r"[^a-z0-9_]", "_", stem.lower())


LISTS = _read_lists()


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate a project with a toolset for each tool list."""
    root = tmp_path_factory.mktemp("lists")
    import_lists(root, LISTS)
    generate_project(root)
    return root


# Each needs its own server process; the fast suite has one nasty list.
_SLOW_NAMES = ("server_everything", *[*NASTY_LISTS][1:])
HTTP_LISTS = [
    pytest.param(name, marks=[pytest.mark.slow] if name in _SLOW_NAMES else [])
    for name in ("notion_mcp_server", "server_everything", *NASTY_LISTS)
]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    preloaded = ("toolcast_runtime.http", "toolcast_runtime.mcp.sdk_server")
    with start_fork_server(tmp_path_factory.mktemp("streams"), *preloaded) as running:
        yield running


@pytest.mark.rows(4)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", LISTS)
def test_generated_stdio_server_lists_the_imported_mcp_tools_unchanged(
    workspace: Path, servers: ForkServer, name: str, era: str
) -> None:
    requests = encode_requests(era, ("tools/list", {}))
    result = servers.run(workspace, f"generated.{name}.mcp_server", input=requests)
    assert result.returncode == 0, result.stderr
    _assert_same_tools(result.stdout.splitlines()[-1], LISTS[name], era)


@pytest.mark.parametrize("name", HTTP_LISTS)
def test_generated_http_server_lists_the_imported_mcp_tools_unchanged(
    workspace: Path, name: str
) -> None:
    with http_server(workspace, f"generated.{name}") as server:
        for era in ERAS:
            answer = server.raw(era, "tools/list").decode()
            _assert_same_tools(answer, LISTS[name], era)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if number else ())
        for number, name in enumerate(LISTS)
    ],
)
def test_python_generated_from_imported_mcp_lists_is_formatted_like_black(
    workspace: Path, name: str
) -> None:
    for path in sorted((workspace / "generated" / name).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        assert black.format_str(source, mode=MODE) == source, path


@pytest.mark.slow
def test_generated_tool_modules_pass_the_projects_ruff_and_mypy_settings(
    workspace: Path, mypy_cache: str
) -> None:
    """Three lists suffice; the server modules are checked with the repository's own."""
    names = ("server_everything", "mcp_server_sqlite", "nasty_keys")
    folders = [f"generated/{name}/tools" for name in names]
    shutil.copy(ROOT / "pyproject.toml", workspace)
    for command in (["ruff", "check"], ["mypy", "--cache-dir", mypy_cache]):
        run = subprocess.run(
            [sys.executable, "-m", *command, *folders],
            cwd=workspace,
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.slow
def test_generated_stdio_server_lists_1271_imported_tools_unchanged(
    tmp_path: Path, servers: ForkServer
) -> None:
    tool_list = [
        tool for text in LISTS.values() for tool in _get_tool_list(_read_exact(text))
    ]
    tools: dict[str, Mapping[str, Any]] = {}
    for copy in itertools.count(1):
        for tool in tool_list:
            name = f"{tool['name'][:120]}_{copy}"
            if len(tools) < 1_271:
                tools.setdefault(module_name(name), {**tool, "name": name})
        if len(tools) == 1_271:
            break
    source = encode_exact({"tools": [*tools.values()]})
    import_lists(tmp_path, {"many": source})
    generate_project(tmp_path)
    for era in ERAS:
        requests = encode_requests(era, ("tools/list", {}))
        result = servers.run(tmp_path, "generated.many.mcp_server", input=requests)
        actual = _encode_tools(read_json(result.stdout.splitlines()[-1])[0]["result"])
        expected = _encode_tools(json.loads(source), era)
        assert _parse_tools(actual) == _parse_tools(expected)


def _parse_tools(tools: Iterator[tuple[str, str]]) -> list[str]:
    return [json.dumps(json.loads(text)) for _, text in tools]


def _assert_same_tools(answer: str, source: str, era: str) -> None:
    """Compare tool by tool, so that pytest shows a short difference."""
    # Specs normalize numbers that YAML versions read differently: `1E2` is written as 100.0.
    read = json.loads if source == NASTY_LISTS["nasty_numbers"] else _read_exact
    actual = list(_encode_tools(read(answer)["result"]))
    expected = list(_encode_tools(read(source), era))
    assert [name for name, _ in actual] == [name for name, _ in expected], era
    for actual_tool, expected_tool in zip(actual, expected, strict=True):
        assert actual_tool == expected_tool, era


def _get_tool_list(value: Any) -> list[Mapping[str, Any]]:
    tools: list[Mapping[str, Any]] = (
        value if isinstance(value, list) else value["tools"]
    )
    return tools


def _encode_tools(value: Any, era: str = ERAS[-1]) -> Iterator[tuple[str, str]]:
    """Yield each tool's name and its JSON text with exact key order and number spelling.

    Clients of handshake versions reject a list with an `outputSchema` that is not an object,
    so servers omit it for them.
    """
    for tool in _get_tool_list(value):
        listed = dict(tool)
        schema = listed.get("outputSchema")
        has_root = isinstance(schema, dict) and schema.get("type") == "object"
        if era != ERAS[-1] and not has_root:
            listed.pop("outputSchema", None)
        yield tool["name"], encode_exact(listed)


def _read_exact(text: str) -> Any:
    return read_json(text)[0]
