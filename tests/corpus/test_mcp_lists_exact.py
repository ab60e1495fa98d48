"""Real tool lists are served unchanged after import and generation, over stdio and HTTP.

Lists are equal if values, key order and number spelling are the same; missing, empty and null
values differ.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
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
from toolcast_runtime.testing.generated_package import (
    assert_same,
    parse_exact_json,
    read_text,
)
from toolcast_runtime.testing.specs import Specs
from toolcast_runtime.testing.type_modules import read_types
from toolcast_runtime.values.tool_types import format_tool_types

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
Generate = Callable[..., Path]
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
TARGETS = ("mcp", "registry", "langchain", "prompts", "providers", "snapshots")


@pytest.fixture(scope="session")
def generate(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that generates toolsets for tool lists, each only once."""
    root = tmp_path_factory.mktemp("lists")
    generated: set[str] = set()

    def generate_lists(*names: str) -> Path:
        missing = {name: LISTS[name] for name in names if name not in generated}
        if missing:
            import_lists(root, missing, TARGETS)
            generate_project(root)
            generated.update(missing)
        return root

    return generate_lists


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
@pytest.mark.parametrize(
    ("name", "era"),
    [
        (name, era)
        for name, text in LISTS.items()
        # The lists of the protocol versions differ only in output schemas.
        for era in (ERAS if "outputSchema" in text else ERAS[-1:])
    ],
)
def test_generated_stdio_server_lists_the_imported_mcp_tools_unchanged(
    generate: Generate, servers: ForkServer, name: str, era: str
) -> None:
    requests = encode_requests(era, ("tools/list", {}))
    result = servers.run(generate(name), f"generated.{name}.mcp_server", input=requests)
    assert result.returncode == 0, result.stderr
    _assert_same_tools(result.stdout.splitlines()[-1], LISTS[name], era)


@pytest.mark.parametrize("name", HTTP_LISTS)
def test_http_server_lists_the_imported_tools(generate: Generate, name: str) -> None:
    with http_server(generate(name), f"generated.{name}") as server:
        for era in ERAS:
            answer = server.raw(era, "tools/list").decode()
            _assert_same_tools(answer, LISTS[name], era)


@pytest.mark.rows(1)
@pytest.mark.parametrize(
    "name", ["playwright_mcp", "notion_mcp_server", "server_everything", *NASTY_LISTS]
)
def test_generated_python_is_formatted_by_black(generate: Generate, name: str) -> None:
    folder = generate(name) / "generated" / name
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        assert black.format_str(source, mode=MODE) == source, path


@pytest.mark.slow
def test_generated_definitions_and_types_match_the_specs(generate: Generate) -> None:
    """The comparisons of generated tests pass for the tools of real servers."""
    root = generate(*LISTS)
    for toolset in LISTS:
        specs = Specs(root, f"specs/{toolset}")
        names = set()
        for file in (root / "generated" / toolset / "tools").glob("*.json"):
            text = read_text(file)
            definition = json.loads(text)
            name = definition["mcp"]["name"]
            names.add(name)
            exact = parse_exact_json(text)
            for part, *values in specs.compare_definition(name, exact, ["prompts"]):
                assert_same(f"{toolset}: {name}: {part}", *values)
            types = read_types(read_text(file.with_suffix(".py")), ())
            expected = format_tool_types(definition, False)
            assert_same(f"{toolset}: {file.stem}.py", types, expected)
        assert names == specs.tools.keys()


def run_module(folder: Path, *command: str) -> None:
    """Run a Python module in a folder and assert that it succeeds."""
    result = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True
    )
    assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_generated_code_for_public_tool_lists_passes_ruff_and_mypy_strict(
    generate: Generate, mypy_cache: str
) -> None:
    """Ruff has its default rules."""
    root = generate(*LISTS)
    run_module(root, "ruff", "check", "--isolated", "--no-cache", "generated")
    options = ("--strict", "--explicit-package-bases", "--cache-dir", mypy_cache)
    run_module(root, "mypy", *options, "generated")


def test_generated_files_in_this_repository_pass_ruff_with_default_rules() -> None:
    run_module(ROOT, "ruff", "check", "--isolated", "--no-cache", "generated")


@pytest.mark.slow
def test_generated_tool_modules_pass_the_projects_ruff_and_mypy_settings(
    generate: Generate, mypy_cache: str
) -> None:
    """Three lists suffice; the server modules are checked with the repository's own."""
    names = ("server_everything", "mcp_server_sqlite", "nasty_keys")
    folders = [f"generated/{name}/tools" for name in names]
    settings = str(ROOT / "pyproject.toml")
    root = generate(*names)
    run_module(root, "ruff", "check", "--config", settings, *folders)
    options = ("--config-file", settings, "--cache-dir", mypy_cache)
    run_module(root, "mypy", *options, *folders)


@pytest.mark.slow
def test_stdio_server_lists_1271_tools(tmp_path: Path, servers: ForkServer) -> None:
    # The variety of tools is tested with the lists, so small tools suffice.
    names = ("mcp_server_git", "server_memory", "server_filesystem", "nasty_keys")
    lists = [_get_tool_list(_read_exact(LISTS[name])) for name in names]
    tool_list = [*itertools.chain(*lists)]
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
    # The other protocol version differs in the same way as for small lists.
    requests = encode_requests(ERAS[-1], ("tools/list", {}))
    result = servers.run(tmp_path, "generated.many.mcp_server", input=requests)
    actual = _encode_tools(read_json(result.stdout.splitlines()[-1])[0]["result"])
    assert _parse_tools(actual) == _parse_tools(_encode_tools(json.loads(source)))


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
